"""What was found, in sentences for a reader who knows no theory. The screen and the page say the same words."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from widenet.certificates.certainty import Certainty
from widenet.certificates.changes import Change
from widenet.certificates.comparisons import says_nothing, sides
from widenet.certificates.lacks import lack
from widenet.certificates.portrait import Portrait, Separability
from widenet.certificates.promises import Promise, Standing
from widenet.certificates.rows import Row
from widenet.certificates.training import Spread, Training
from widenet.claims import Hypothesis, Verdict
from widenet.console.wording import counted, number

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings

THIN, WIDE = 0.01, 0.1
SHOWN = 6
PLURALS = {"holds": "hold", "holds, says nothing": "hold and say nothing", "does not apply": "do not apply"}


def headlines(findings: "Findings") -> list[tuple[str, str]]:
    """The few numbers that a reader in a hurry sees."""
    portrait, training = findings.portrait, findings.training
    answer = {True: "yes", False: "no", None: "?"}[portrait.separable]
    promises = [each for each in findings.promises if each.counts]
    kept = sum(each.standing is Standing.GUARANTEED for each in promises)
    found = [
        (f"{portrait.points:,}", f"points in {len(portrait.classes)} classes"),
        (answer, "flat boundaries separate the classes"),
        (f"{kept} of {len(promises)}", "promises about all the data are guaranteed here and were seen"),
    ]
    if training is not None:
        error = training.test_error or training.train_error
        where = "the points kept aside" if training.test_error else "the training points"
        found.append((percent(error.middle), f"error of a trained network on {where}"))
    return found


def about_data(portrait: Portrait) -> list[str]:
    """What the data is, and what separates its classes."""
    kinds = [f"{each.name} ({each.points:,})" for each in portrait.classes[:SHOWN]]
    more = f" and {len(portrait.classes) - SHOWN} more" if len(portrait.classes) > SHOWN else ""
    numbers = counted(portrait.columns, "number")
    said = [
        f"{portrait.points:,} points of {numbers} each, in {len(portrait.classes)} classes: {', '.join(kinds)}{more}."
    ]
    said += portrait.reading
    if portrait.n_contradicting:
        first = portrait.contradictions[0]
        said.append(
            f"{portrait.n_contradicting:,} points have the same numbers as a point of another class (rows {first[0]} "
            f"and {first[1]}, for instance), so no rule at all gets every point right."
        )
    if portrait.duplicates:
        said.append(
            f"{counted(portrait.duplicates, 'point')} repeat{'s' if portrait.duplicates == 1 else ''} an earlier one."
        )
    return [*said, *about_separability(portrait)]


def about_separability(portrait: Portrait) -> list[str]:
    """Whether flat boundaries separate the classes, and how we know."""
    found = portrait.separability
    if not found:
        return ["Whether flat boundaries separate the classes was not asked."]
    if len(portrait.classes) > 2:
        return _each_class(found)
    best = max(reversed(found), key=lambda each: each.margin or 0.0)
    if best.separable:
        return [
            f"A flat boundary separates the two classes perfectly. The closest points are {number(best.margin)} away "
            f"from it, where the farthest point is 1 from the origin; {_room(best.margin or 0.0)} This is proved: the "
            f"boundary was checked on every point, and {counted(len(best.witnesses), 'point')} on its edge show that "
            "none leaves more room."
        ]
    if best.separable is None:
        return ["Whether a flat boundary separates the two classes is beyond the precision of the computer: neither a "
                "boundary nor a proof against one was found."]  # fmt: skip
    rows = ", ".join(map(str, best.witnesses[:SHOWN])) + (", …" if len(best.witnesses) > SHOWN else "")
    return [
        "No flat boundary separates the two classes. This is proved: "
        f"{counted(len(best.witnesses), 'point')} (rows {rows}) contradict every such boundary together."
    ]


def _each_class(found: Sequence[Separability]) -> list[str]:
    yes = [
        f"{each.between.removesuffix(' against the rest')} (margin {number(each.margin)})"
        for each in found
        if each.separable
    ]
    no = [each.between.removesuffix(" against the rest") for each in found if each.separable is False]
    said = []
    if yes:
        said.append(
            f"A flat boundary separates each of these classes from all others, which is proved: {', '.join(yes)}."
        )
    if no:
        said.append(f"No flat boundary separates {_or(no)} from the others (proved).")
    return said


def _room(margin: float) -> str:
    if margin < THIN:
        return "that is a thin margin, and theorems that count on one promise little."
    return "that is a wide margin, which theorems reward." if margin > WIDE else "that is a moderate margin."


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def about_structure(portrait: Portrait) -> list[str]:
    """The numbers by which theories of clusters measure the data."""
    said = []
    if (found := portrait.components) is not None:
        said.append(
            f"Points of length 1, as clusters: k = {found.classes} classes of at most l = {found.per_class} tight "
            f"groups; the classes are δ = {number(found.distance)} apart, and a group is at most "
            f"λ = {number(found.relative_diameter)} of that wide ({found.points:,} points compared)."
        )
    if (four := portrait.clusters) is not None:
        said.append(
            f"As two clusters per class: radius r = {number(four.radius)}, overlap Δ = {number(four.overlap)}, "
            f"imbalance ε = {number(four.imbalance)}."
        )
    return said


def about_training(training: Training, points: int) -> list[str]:
    """What the networks did, on data of so many points."""
    setting = training.setting
    said = [
        f"{counted(training.runs, 'network')} with {setting.n_neurons} neurons were trained on {training.trained_on:,} "
        f"points, from random starts, with step size {number(setting.step_size)}"
        + (f"; {training.held_out:,} points were kept aside." if training.held_out else ".")
    ]
    if training.trained_on + training.held_out < points:
        said.append(f"These are a random part of the {points:,}: more would have taken too long.")
    said.append(_fitting(training))
    if training.test_error is not None and training.test_limits is not None:
        low, high = training.test_limits
        said.append(
            f"On the points kept aside, the middle network errs on {percent(training.test_error.middle)} (best "
            f"{percent(training.test_error.least)}, worst {percent(training.test_error.largest)}). So many points pin "
            f"its true error down to between {percent(low)} and {percent(high)}."
        )
    said.append(
        f"During training, {percent(training.flipped.mean)} of all (neuron, point) pairs changed sides: "
        f"{_regime(training.flipped)}"
    )
    return said


def _fitting(training: Training) -> str:
    passes = f"within {training.setting.max_epochs:,} passes over the data"
    errors = training.train_error
    if training.fitted == training.runs and training.updates is not None:
        found = training.updates
        return (
            f"All of them fit every training point with room to spare (loss exactly 0), after {number(found.middle)} "
            f"updates in the middle run ({number(found.least)} to {number(found.largest)})."
        )
    ends = [
        f"{count} {what}"
        for count, what in (
            (training.cut_off, f"were still improving or wavering {passes}"),
            (training.stalled, "got stuck"),
            (training.diverged, "diverged: the step is too large"),
        )
        if count
    ]
    return (
        f"{training.fitted or 'None'} of them fit every training point with room to spare; {', '.join(ends)}. "
        f"The middle network ends with {percent(errors.middle)} of its training points wrong."
    )


def _regime(flipped: Spread) -> str:
    if flipped.mean < 0.05:
        return "the neurons hardly moved, so the network stays close to a linear model of its start."
    return "the neurons found directions of their own." if flipped.mean > 0.2 else "the neurons moved a little."


def percent(share: float) -> str:
    """`2.6 %`."""
    if not math.isfinite(share):
        return "–"
    return f"{100 * share:.3g} %" if share < 0.9995 or share == 1 else "99.9 %"


def verdict(row: Row) -> tuple[str, str]:
    """The sign and the word of a row."""
    evidence = row.evidence
    if evidence is None:
        return "·", "silent"
    match evidence.verdict:
        case Verdict.HOLDS:
            return ("○", "holds, says nothing") if says_nothing(evidence) else ("✓", "holds")
        case Verdict.VIOLATED:
            return ("!", "false as printed") if row.id.endswith("_as_printed") else ("✗", "violated")
        case Verdict.HYPOTHESES_NOT_MET:
            return "–", "does not apply"
        case Verdict.CONSTANT_UNSPECIFIED:
            return "?", "cannot be tested"
    return "?", "undecided"


def why(row: Row) -> str:
    """The numbers behind a verdict, or what is missing, in a line."""
    evidence = row.evidence
    if evidence is None:
        return row.silence
    if evidence.verdict is Verdict.HYPOTHESES_NOT_MET:
        return "; ".join(f"{each.name}: {distance(each)}" for each in row.missing[:2])
    part = evidence.headline
    if part.measured is not None and part.promised is not None:
        return f"{evidence.quantity}: {sides(part)}"
    return "; ".join(f"{each.name}: {each.why or 'undecided'}" for each in row.missing[:1]) or evidence.note


def distance(hypothesis: Hypothesis) -> str:
    """`required ≥ 1, is 0.4 (0.6 short)`."""
    short = ""
    if hypothesis.slack is not None and not hypothesis.met and math.isfinite(hypothesis.slack) and hypothesis.slack:
        short = f", {number(abs(hypothesis.slack))} off"
    return f"needs {hypothesis.required}, is {number(hypothesis.actual)}{short}"


def tone(row: Row) -> str:
    """How alarming a row is, as a class of the style sheet."""
    word = verdict(row)[1]
    return {"holds": "good", "violated": "alarm", "false as printed": "finding"}.get(word, "open")


def about_rows(findings: "Findings") -> str:
    """How many statements say something, and what; how many have nothing to say, and how many were not asked."""
    counts = Counter(verdict(row)[1] for row in findings.speaking)
    kinds = [f"{count} {word if count == 1 else PLURALS.get(word, word)}" for word, count in counts.most_common()]
    said = f" ({', '.join(kinds)})" if kinds else ""
    speaking, unasked = len(findings.speaking), findings.unasked
    dumb = len(findings.silent) - unasked
    return (
        f"Of {len(findings.rows)} statements in the papers, {speaking} {'speaks' if speaking == 1 else 'speak'} about "
        f"this data{said}, {dumb} {'has' if dumb == 1 else 'have'} nothing to say "
        f"about such data, and {unasked} {'was' if unasked == 1 else 'were'} not asked to the end."
    )


def promise(found: Promise) -> str:
    """A promise, what it is about if not the whole data, and how it compares."""
    about = f"[{found.about}] " if found.about else ""
    return f"{about}{found.words} {found.remark}".strip()


def about_lacks(findings: "Findings") -> list[str]:
    """What the main results that promise nothing here lack, those that lack the same together."""
    by_lack: dict[str, list[str]] = {}
    for row in findings.main:
        if row.verdict is Verdict.HYPOTHESES_NOT_MET:
            by_lack.setdefault(lack(row.missing[0]), []).append(row.id)
    return [f"{', '.join(ids)}: {reason}." for reason, ids in by_lack.items()]


def about_changes(changes: Sequence[Change]) -> list[str]:
    """What would make theorems apply, those that the same change serves together."""
    by_words: dict[str, list[str]] = {}
    for each in changes:
        by_words.setdefault(each.words, []).append(each.id)
    return [
        f"The smallest change found for {', '.join(ids)}: {words}. Verified: asked again with it, "
        f"{'it applies' if len(ids) == 1 else 'they apply'}."
        for words, ids in by_words.items()
    ]


def about_picture(portrait: Portrait) -> str:
    """What the picture of the data shows."""
    plane = "" if portrait.columns == 2 else ", in the plane that tells the classes apart best"
    shaded = " Shaded: where the network votes for which class." if portrait.columns == 2 else ""
    return (
        f"The points{plane}, and the neurons of one network as arrows in the colour of the class that they vote for."
        f"{shaded}"
    )


def about_certainty(findings: "Findings") -> list[str]:
    """What the numbers rest on."""
    said = []
    if findings.unasked:
        said.append(
            f"{counted(findings.unasked, 'statement')} were not asked, or not to the end: the time of "
            f"{findings.time:g} s was spent. A larger --time asks them."
        )
    if findings.certainty is not None:
        said.append(about_precision(findings.certainty))
    said.append(
        f"Theorems are decided in float64, with room for rounding; what rounding could decide is called undecided. "
        f"Seed {findings.choices.seed} gives the same certificate again; it took {findings.seconds:.0f} s."
    )
    versions = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    return [*said, f"widenet {findings.version}; {versions}."]


def about_precision(found: Certainty) -> str:
    """Whether the precision of the networks matters."""
    return (
        f"{counted(found.repeated, 'network')} of those above, which were trained in float32, were trained again in "
        f"float64: {found.flipped or 'none'} of them ended differently (fitted or not), and their errors on training "
        f"points differ by at most {percent(found.largest_difference)}."
    )
