"""What a reader in a hurry takes home: whether the data is easy, what is guaranteed, and errors on new points."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from widenet.certificates.boundaries import Separability
from widenet.certificates.data_forms import FEW
from widenet.certificates.missing_assumptions import lack
from widenet.certificates.plain_numbers import fraction
from widenet.certificates.portrait import Portrait
from widenet.certificates.promises import ListedPromise, Standing
from widenet.certificates.rivals import MAJORITY
from widenet.certificates.words import beyond_rounding, both, either, inconclusive, no_better, percent
from widenet.claims import Kind, Verdict
from widenet.claims.meaning import Topic
from widenet.console.wording import counted

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings

THIN = 0.01
SHOWN = 6
STRONG = (Topic.UPDATES, Topic.RATE, Topic.TEST_ERROR)
"""What promises about how training goes are about."""
COUNTED = {
    Standing.BROKEN: "broken",
    Standing.GUARANTEED: "seen to be kept",
    Standing.GOOD_TO_KNOW: "a warning",
    Standing.UNSEEN: "too small to see",
    Standing.EMPTY: "empty",
    Standing.UNCONFIRMED: "not confirmed",
    Standing.UNKNOWN: "not known to apply",
    Standing.NO_NUMBER: "impossible to test",
    Standing.NOT_HERE: "for other data",
}
"""What became of a promise, in few words."""
FLAT = "linear boundary (one straight cut through the data)"


def headlines(findings: "Findings") -> list[tuple[str, str]]:
    """The few numbers at the top of the page."""
    portrait, study = findings.portrait, findings.study
    promises = [each for each in findings.promises if each.counts]
    kept = (f"{len(_kept(findings))} of {len(promises)}", "promises about all the data hold here and were seen")
    none = (
        ("?", "no statement was evaluated")
        if _is_unasked(findings)
        else ("none", "of the promises is about all the data")
    )
    found = [
        (f"{portrait.points:,}", f"points in {len(portrait.classes)} classes"),
        _flat(portrait),
        kept if promises else none,
    ]
    if study is not None and study.held_out:
        majority = study.rival(MAJORITY)
        rest = "" if majority is None else f"; {percent(majority.score.error)} by always answering {study.majority}"
        found.append((percent(study.best.score.error), f"error of a network on held-out points{rest}"))
    return found


def about_count(promises: Sequence[ListedPromise]) -> str:
    """What became of the promises that a headline counts; "" where it counts none."""
    counts = Counter(each.standing for each in promises if each.counts)
    if not counts:
        return ""
    found = both([f"{count} {COUNTED[standing]}" for standing, count in counts.items()])
    return (
        f"Promises about all the data ({counts.total()}): {found}. Warnings, and promises about a part of the data, "
        "are not counted."
    )


def about_no_promise(findings: "Findings") -> str:
    """What is said where there is no promise at all."""
    if _is_unasked(findings):
        return _nothing_evaluated(findings)
    late = f" {_not_evaluated(findings.unasked, len(findings.rows))}" if findings.unasked else ""
    return f"No theorem that was evaluated and applies to this data promises anything.{late}"


def _is_unasked(findings: "Findings") -> bool:
    """Whether time ran out before a single statement was evaluated."""
    return bool(findings.rows) and findings.unasked == len(findings.rows)


def _nothing_evaluated(findings: "Findings") -> str:
    return f"Nothing is known about promises of theorems: {_time_ran_out(findings.unasked, findings.unasked)}."


def _not_evaluated(unasked: int, among: int) -> str:
    """`3 of 8 statements were not evaluated, for lack of time.`"""
    return f"{_counted_of(unasked, among)} {'was' if unasked == 1 else 'were'} not evaluated, for lack of time."


def _time_ran_out(unasked: int, among: int) -> str:
    return f"time ran out before {_counted_of(unasked, among)} could be evaluated"


def _counted_of(count: int, among: int) -> str:
    if count == among:
        return "the statement" if count == 1 else f"any of the {count} statements"
    return f"{count} of {counted(among, 'statement')}"


def _flat(portrait: Portrait) -> tuple[str, str]:
    if len(portrait.classes) > 2 and portrait.separability:
        apart = sum(each.separable is True for each in portrait.separability)
        return f"{apart} of {len(portrait.separability)}", "classes are separated from the rest by a linear boundary"
    return {True: "yes", False: "no", None: "?"}[portrait.separable], "a linear boundary separates the classes"


def in_short(findings: "Findings") -> list[str]:
    """What is known apart from networks that were trained: the shape of the data, and the best promise."""
    return [_shape(findings.portrait), _guarantee(findings)]


def best_kept(findings: "Findings") -> ListedPromise | None:
    """The promise that is told in short: one about how training goes, or any where nothing stands in its way.

    Of large data theorems are asked about a random part, so a promise about that part is told if there is no other.
    """
    kept = _kept(findings)
    if strong := [each for each in kept if each.topic in STRONG]:
        return strong[0]
    if _obstacle(findings.portrait):
        return None
    part = [each for each in findings.promises if each.standing is Standing.GUARANTEED and each.topic in STRONG]
    return next(iter(kept or [each for each in part if f"{FEW} points" not in each.about]), None)


def _kept(findings: "Findings") -> list[ListedPromise]:
    return [each for each in findings.promises if each.counts and each.standing is Standing.GUARANTEED]


def _shape(portrait: Portrait) -> str:
    """Whether linear boundaries separate the classes, and how nearly; what that means for a linear model."""
    found = [each for each in portrait.separability if not each.through_origin]
    names = [each.name for each in portrait.classes]
    if not found:
        return f"There are {len(names)} classes, too many to ask of each whether a linear boundary separates it."
    if len(names) > 2:
        return _each_class(found)
    both = f"{names[0]} and {names[1]}"
    (best,) = found
    if best.separable:
        room = "though only just" if (best.margin or 0.0) < THIN * portrait.longest else "with margin"
        return (
            f"A {FLAT} separates {both}, {room} (margin {fraction(best.margin)}). So a linear model can get every "
            f"point right. This is proved.{about_relabelled(portrait)}"
        )
    if best.separable is None:
        return inconclusive(f"Whether a {FLAT} separates {both}", best)
    so = "" if beyond_rounding(best) else ", so a linear model must err on some points"
    proved = f"No {FLAT} separates {both}{beyond_rounding(best)}{so}. This is proved."
    if portrait.hardly_helps(best):
        return f"{proved} {no_better(portrait, best)}"
    return f"{proved} The best one found has {_of(best)} on its wrong side."


def about_relabelled(portrait: Portrait) -> str:
    """How many labels drawn at random are separable too, so that it says little that the given ones are."""
    found = portrait.relabelled
    if found is None:
        return ""
    said = f" With labels drawn at random {found.separable} of {found.tried} times a linear boundary separates them too"
    if not found.is_any:
        return f"{said}."
    why = "there are as many columns as points" if portrait.columns_used >= portrait.points else "there are few points"
    return f"{said}: {why}, so this says nothing about these labels."


def _of(found: Separability) -> str:
    """`27 of 200 points (14 %)`."""
    count = len(found.in_the_way)
    return f"{count:,} of {found.points:,} points ({percent(count / found.points)})"


def _each_class(found: Sequence[Separability]) -> str:
    yes = [_name(each) for each in found if each.separable]
    no = [each for each in found if each.separable is False]
    if len(yes) == len(found):
        return f"A {FLAT} separates each of the {len(yes)} classes from all others. This is proved."
    if not yes and not no:
        return (
            f"For no class is it known whether a {FLAT} separates it from all others: the searches were inconclusive."
        )
    unknown = [_name(each) for each in found if each.separable is None]
    rest = f" For {both(unknown)} it is not known." if unknown else ""
    if not no:
        return f"A {FLAT} separates {_and(yes)} from all others. This is proved.{rest}"
    counts = [
        f"{_name(each)}{beyond_rounding(each)} (the best found has {_of(each)} on its wrong side)" for each in no[:1]
    ]
    counts += [f"{_name(each)}{beyond_rounding(each)} ({len(each.in_the_way):,})" for each in no[1:SHOWN]]
    more = f" Nor is there one for {counted(len(no) - SHOWN, 'more class', 'more classes')}." if len(no) > SHOWN else ""
    said = f"A {FLAT} separates {_and(yes)} from all others, but none" if yes else f"No {FLAT}"
    return f"{said} separates {either(counts)} from the rest.{more} This is proved.{rest}"


def _name(found: Separability) -> str:
    return found.between.removesuffix(" against the rest")


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"each of {', '.join(names[:-1])} and {names[-1]}"


def _guarantee(findings: "Findings") -> str:
    """The best promise that was kept; or why there is none."""
    best, more = best_kept(findings), len(_kept(findings))
    if best is not None:
        about = f" for {best.about}" if best.about else ""
        rest = f" {counted(more - 1, 'more promise')} {'is' if more == 2 else 'are'} kept." if more > 1 else ""
        said = f"{best.words[:1].lower()}{best.words[1:]} {best.remark}".strip()
        return f"Guaranteed{about}, and seen to hold: {said}{rest}"
    if _is_unasked(findings):
        return _nothing_evaluated(findings)
    late = f" {_not_evaluated(findings.unasked, len(findings.rows))}" if findings.unasked else ""
    if len(findings.not_applicable) == len(findings.rows):
        return f"No theorem that was evaluated applies to this data.{late}"
    obstacle = _obstacle(findings.portrait)
    if obstacle and not any(each.counts and each.topic in STRONG and _is_unsure(each) for each in findings.promises):
        return f"{obstacle}{late}"
    if more:
        was, none = ("was", "it is not") if more == 1 else ("were", "none of them is")
        kept = f"{counted(more, 'promise')} about all the data {was} seen to be kept"
        return f"{kept}; {none} about how training goes.{late}"
    return f"No promise about all the data was seen to hold here.{late}"


def _obstacle(portrait: Portrait) -> str:
    """Why theorems promise little; "" where nothing is known to be in their way."""
    margin = max((each.theorem_margin or 0.0 for each in portrait.separability), default=0.0)
    if portrait.separable is False and len(portrait.classes) == 2:
        return (
            "No theorem that was evaluated promises that training succeeds here: most that do need a linear boundary "
            "between the classes."
        )
    if portrait.separable and 0 < margin < THIN:
        return (
            "Theory promises little about training here: its limits count on the margin between the classes, and with "
            f"the margin of {fraction(margin)} that they get they are too large to be of use."
        )
    return ""


def about_new_points(findings: "Findings") -> str:
    """What theorems say about errors on new points."""
    own = [row for row in findings.rows if row.meaning and row.meaning.topic is Topic.TEST_ERROR]
    seen = [each for each in findings.promises if each.topic is Topic.TEST_ERROR and _holds(each)]
    promised = [each for each in seen if each.counts] + [each for each in seen if each.about]
    lacks = [
        lack(row.missing[0]) + (f", to tell {row.about}" if row.about.endswith(" against the rest") else "")
        for row in own
        if row.kind is Kind.MAIN and row.verdict is Verdict.HYPOTHESES_NOT_MET
    ]
    late, among = sum(row.is_open for row in own), len(own)
    if _is_unasked(findings):
        late, among = (late, among) if own else (findings.unasked, findings.unasked)
    if promised:
        about = f" ({promised[0].about})" if promised[0].about else ""
        said = f"On new points{about}: {promised[0].words[:1].lower()}{promised[0].words[1:]}"
    elif late:
        why = ", and the others promise nothing here" if late < among else ""
        said = f"Whether a theorem limits the errors on new points is not known: {_time_ran_out(late, among)}{why}."
    else:
        why = f": {lacks[0]}" if lacks else ""
        unsure = any(each.topic is Topic.TEST_ERROR and _is_unsure(each) for each in findings.promises)
        said = f"No theorem {'is known to limit' if unsure else 'limits'} the errors on new points here{why}."
    return said


def about_updates(findings: "Findings") -> str:
    """What theorems say about how long training takes; "" where they say nothing."""
    seen = [each for each in findings.promises if each.topic is Topic.UPDATES and _holds(each)]
    if not seen:
        return ""
    best = next((each for each in seen if each.counts), seen[0])
    about = f" for {best.about}" if best.about else ""
    return f"Guaranteed by theory{about}: {best.words[:1].lower()}{best.words[1:]} {best.remark}".strip()


def _is_unsure(promise: ListedPromise) -> bool:
    """Whether a theorem may promise something that was not confirmed."""
    return promise.standing in (Standing.UNCONFIRMED, Standing.UNKNOWN, Standing.NO_NUMBER)


def _holds(promise: ListedPromise) -> bool:
    """Whether it is about all the data or, of large data, about a part that is not too small to be told of."""
    return promise.standing is Standing.GUARANTEED and f"{FEW} points" not in promise.about
