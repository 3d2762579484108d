"""What a reader in a hurry takes home: whether the data is easy, what is guaranteed, and errors on new points."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from widenet.certificates.lacks import lack
from widenet.certificates.portrait import Portrait, Separability
from widenet.certificates.promises import Promise, Standing
from widenet.certificates.training import Training
from widenet.certificates.training_words import about_error
from widenet.certificates.words import either, percent
from widenet.claims import Verdict
from widenet.claims.meaning import Topic
from widenet.console.wording import counted, number

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings

THIN, WIDE = 0.01, 0.1
SHOWN = 6


def headlines(findings: "Findings") -> list[tuple[str, str]]:
    """The few numbers at the top of the page."""
    portrait, training = findings.portrait, findings.training
    answer = {True: "yes", False: "no", None: "?"}[portrait.separable]
    promises = [each for each in findings.promises if each.counts]
    found = [
        (f"{portrait.points:,}", f"points in {len(portrait.classes)} classes"),
        (answer, "flat boundaries separate the classes"),
        (f"{len(_kept(findings))} of {len(promises)}", "promises about all the data are guaranteed here and were seen"),
    ]
    if training is not None:
        error = training.test_error or training.train_error
        where = "the points kept aside" if training.test_error else "the training points"
        found.append((percent(error.middle), f"error of a trained network on {where}"))
    return found


def in_short(findings: "Findings") -> list[str]:
    """What this certificate says, in a few sentences."""
    return [_shape(findings.portrait), _guarantee(findings), _new_points(findings)]


def _kept(findings: "Findings") -> list[Promise]:
    return [each for each in findings.promises if each.counts and each.standing is Standing.GUARANTEED]


def _shape(portrait: Portrait) -> str:
    """Whether flat boundaries tell the classes apart, and how nearly."""
    found, names = portrait.separability, [each.name for each in portrait.classes]
    if not found:
        return f"There are {len(names)} classes, too many to ask of each whether a flat boundary tells it apart."
    if len(names) > 2:
        return _each_class(found, portrait.points)
    both = f"{names[0]} and {names[1]}"
    best = max(reversed(found), key=lambda each: each.margin or 0.0)
    if best.separable:
        room = "only just" if (best.margin or 0.0) < THIN else "with room to spare"
        return f"A flat boundary tells {both} apart, {room}: its margin is {number(best.margin)}. This is proved."
    if best.separable is None:
        return f"Whether a flat boundary tells {both} apart is beyond the precision of the computer."
    nearly = max(found, key=lambda each: len(each.in_the_way))
    return (
        f"No flat boundary tells {both} apart, which is proved. The best one found has "
        f"{wrong_side(nearly, portrait.points)} on its wrong side."
    )


def wrong_side(found: Separability, points: int) -> str:
    """`27 of 200 points (14 %)`."""
    count = len(found.in_the_way)
    return f"{count:,} of {points:,} points ({percent(count / points)})"


def _each_class(found: Sequence[Separability], points: int) -> str:
    yes = [_name(each) for each in found if each.separable]
    no = [each for each in found if each.separable is False]
    if not no and len(yes) == len(found):
        return f"Each of the {len(yes)} classes is told apart from all others by a flat boundary, which is proved."
    said = f"A flat boundary tells {_and(yes)} from all others, but none" if yes else "No flat boundary"
    if not no:
        return f"A flat boundary tells {_and(yes)} from all others; of the other classes it is not known."
    counts = [f"{_name(each)} ({len(each.in_the_way):,} of {points:,} points are in the way)" for each in no]
    return f"{said} tells {either(counts[:SHOWN])} from the others. This is proved."


def _name(found: Separability) -> str:
    return found.between.removesuffix(" against the rest")


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"each of {', '.join(names[:-1])} and {names[-1]}"


def _guarantee(findings: "Findings") -> str:
    """The best promise that was kept; or why there is none."""
    portrait, kept = findings.portrait, _kept(findings)
    if kept:
        best, more = kept[0], len(kept) - 1
        about = f" for {best.about}" if best.about else ""
        rest = f" {counted(more, 'more promise')} {'is' if more == 1 else 'are'} kept." if more else ""
        return f"Guaranteed{about}, and seen to hold: {best.words[:1].lower()}{best.words[1:]} {best.remark}{rest}"
    if findings.training is None and len(findings.silent) == len(findings.rows):
        return "No theorem has spoken about this data."
    margin = max((each.margin or 0.0 for each in portrait.separability), default=0.0)
    if portrait.separable is False and len(portrait.classes) == 2:
        return (
            "No theorem promises that training succeeds here: those that do need a flat boundary between the classes. "
            "What networks really do is measured below."
        )
    if portrait.separable and margin < THIN:
        return (
            f"Theory promises little here: what it promises counts on the margin between the classes, and one of "
            f"{number(margin)} makes the limits too large to be of use."
        )
    return "No promise about all the data was seen to hold here."


def _new_points(findings: "Findings") -> str:
    """What is known about errors on new points."""
    promised = [each for each in _kept(findings) if each.topic is Topic.TEST_ERROR]
    lacks = [
        lack(row.missing[0])
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
