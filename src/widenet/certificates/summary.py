"""What a reader in a hurry takes home: whether the data is easy, what is guaranteed, and errors on new points."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from widenet.certificates.lacks import lack
from widenet.certificates.numerals import fraction
from widenet.certificates.portrait import Portrait, Separability
from widenet.certificates.promises import Promise, Standing
from widenet.certificates.training import Training
from widenet.certificates.training_words import about_error
from widenet.certificates.views import FEW
from widenet.certificates.words import both, either, percent
from widenet.claims import Verdict
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
FLAT = "flat boundary (one straight cut through the data)"


def headlines(findings: "Findings") -> list[tuple[str, str]]:
    """The few numbers at the top of the page."""
    portrait, training = findings.portrait, findings.training
    promises = [each for each in findings.promises if each.counts]
    kept = (f"{len(_kept(findings))} of {len(promises)}", "promises about all the data hold here and were seen")
    found = [
        (f"{portrait.points:,}", f"points in {len(portrait.classes)} classes"),
        _flat(portrait),
        kept if promises else ("none", "of the promises is about all the data"),
    ]
    if training is not None:
        error = training.test_error or training.train_error
        where = "the points kept aside" if training.test_error else "the training points"
        found.append((percent(error.middle), f"error of a trained network on {where}"))
    return found


def about_count(promises: Sequence[Promise]) -> str:
    """What became of the promises that a headline counts; "" where it counts none."""
    counts = Counter(each.standing for each in promises if each.counts)
    if not counts:
        return ""
    found = both([f"{count} {COUNTED[standing]}" for standing, count in counts.items()])
    return (
        f"Promises about all the data ({counts.total()}): {found}. Warnings, and promises about a part of the data, "
        "are not counted."
    )


def _flat(portrait: Portrait) -> tuple[str, str]:
    if len(portrait.classes) > 2 and portrait.separability:
        apart = sum(each.separable is True for each in portrait.separability)
        return f"{apart} of {len(portrait.separability)}", "classes are told from the rest by a flat boundary"
    return {True: "yes", False: "no", None: "?"}[portrait.separable], "a flat boundary separates the classes"


def in_short(findings: "Findings") -> list[str]:
    """What this certificate says, in a few sentences."""
    return [_shape(findings.portrait), _guarantee(findings), _new_points(findings)]


def best_kept(findings: "Findings") -> Promise | None:
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


def _kept(findings: "Findings") -> list[Promise]:
    return [each for each in findings.promises if each.counts and each.standing is Standing.GUARANTEED]


def _shape(portrait: Portrait) -> str:
    """Whether flat boundaries tell the classes apart, and how nearly; what that means for a linear model."""
    found, names = portrait.separability, [each.name for each in portrait.classes]
    if not found:
        return f"There are {len(names)} classes, too many to ask of each whether a flat boundary tells it apart."
    if len(names) > 2:
        return _each_class(found, portrait.points)
    both = f"{names[0]} and {names[1]}"
    best = max(reversed(found), key=lambda each: each.margin or 0.0)
    if best.separable:
        room = "though only just" if (best.margin or 0.0) < THIN else "with room to spare"
        return (
            f"A {FLAT} tells {both} apart, {room} (margin {fraction(best.margin)}). So a linear model can get every "
            "point right. This is proved."
        )
    if best.separable is None:
        return f"Whether a {FLAT} tells {both} apart is beyond the precision of the computer."
    nearly = max(found, key=lambda each: len(each.in_the_way))
    return (
        f"No {FLAT} tells {both} apart, so a linear model must err on some points. This is proved. The best one found "
        f"has {_of(nearly, portrait.points)} on its wrong side."
    )


def _of(found: Separability, points: int) -> str:
    """`27 of 200 points (14 %)`."""
    count = len(found.in_the_way)
    return f"{count:,} of {points:,} points ({percent(count / points)})"


def _each_class(found: Sequence[Separability], points: int) -> str:
    yes = [_name(each) for each in found if each.separable]
    no = [each for each in found if each.separable is False]
    if not no and len(yes) == len(found):
        return f"A {FLAT} tells each of the {len(yes)} classes from all others. This is proved."
    if not no:
        return f"A {FLAT} tells {_and(yes)} from all others; of the other classes it is not known."
    counts = [f"{_name(each)} (the best found has {_of(each, points)} on its wrong side)" for each in no[:1]]
    counts += [f"{_name(each)} ({len(each.in_the_way):,})" for each in no[1:SHOWN]]
    said = f"A {FLAT} tells {_and(yes)} from all others, but none" if yes else f"No {FLAT}"
    return f"{said} tells {either(counts)} from the rest. This is proved."


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
    if len(findings.silent) == len(findings.rows):
        return "No theorem has spoken about this data."
    late = (
        f", but time ran out before {counted(findings.unasked, 'statement')} could be asked" if findings.unasked else ""
    )
    return _obstacle(findings.portrait) or f"No promise about all the data was seen to hold here{late}."


def _obstacle(portrait: Portrait) -> str:
    """Why theorems promise little; "" where nothing is known to be in their way."""
    margin = max((each.margin or 0.0 for each in portrait.separability), default=0.0)
    if portrait.separable is False and len(portrait.classes) == 2:
        return (
            "No theorem promises that training succeeds here: those that do need a flat boundary between the classes. "
            "What networks really do is measured below."
        )
    if portrait.separable and margin < THIN:
        return (
            "Theory promises little about training here: its limits count on the margin between the classes, and with "
            f"a margin of {fraction(margin)} they are too large to be of use."
        )
    return ""


def _new_points(findings: "Findings") -> str:
    """What is known about errors on new points."""
    promised = [each for each in _kept(findings) if each.topic is Topic.TEST_ERROR]
    lacks = [
        lack(row.missing[0]) + (f", to tell {row.about}" if row.about.endswith(" against the rest") else "")
        for row in findings.main
        if row.verdict is Verdict.HYPOTHESES_NOT_MET and row.meaning and row.meaning.topic is Topic.TEST_ERROR
    ]
    if promised:
        said = f"On new points: {promised[0].words[:1].lower()}{promised[0].words[1:]}"
    else:
        why = f": {lacks[0]}" if lacks else ""
        said = f"No theorem limits the errors on new points here{why}."
    training = findings.training
    return f"{said} {_measured(training)}" if training is not None and training.test_error is not None else said


def _measured(training: Training) -> str:
    return f"Measured: {about_error(training)}"
