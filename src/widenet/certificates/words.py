"""What was found, in sentences for a reader who knows no theory. The screen and the page say the same words."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from widenet.certificates.certainty import Certainty
from widenet.certificates.changes import Change
from widenet.certificates.comparisons import says_nothing
from widenet.certificates.lacks import ANSWERS, lack
from widenet.certificates.portrait import Portrait, Separability
from widenet.certificates.promises import Promise, Standing
from widenet.certificates.rows import Row
from widenet.certificates.training import Spread, Training
from widenet.claims import Hypothesis, Part, Verdict
from widenet.console.wording import counted, number, sides

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings

THIN, WIDE = 0.01, 0.1
SHOWN = 6
FROM_ONE = "the first point is row 1"
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


def about_choices(findings: "Findings") -> str:
    """Which networks theorems were asked about."""
    choices = findings.choices
    return (
        f"Asked about networks of {choices.n_neurons} neurons (Leaky ReLU, slope {number(choices.slope)}) and step "
        f"size {number(choices.step_size)}; a theorem about another loss, width or step uses its own, and says so."
    )


def in_short(findings: "Findings") -> str:
    """What theory is worth here, in one sentence."""
    portrait = findings.portrait
    useful = [each for each in findings.promises if each.counts and each.standing is Standing.GUARANTEED]
    margin = max((each.margin or 0.0 for each in portrait.separability), default=0.0)
    if portrait.separable is False and len(portrait.classes) == 2:
        return "In short: most of these theorems need a flat boundary between the classes, and there is none."
    if portrait.separable and margin < THIN:
        return (
            f"In short: theory promises little here, because the margin between the classes is only {number(margin)} "
            "wide: limits that count on a margin grow beyond all use as it shrinks."
        )
    if useful:
        hold = "holds here and was" if len(useful) == 1 else "hold here and were"
        return f"In short: {counted(len(useful), 'promise')} about all the data {hold} seen."
    return "In short: no promise about all the data was seen to hold here."


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
            f"and {first[1]}, for instance; {FROM_ONE}), so no rule at all gets every point right."
        )
    if portrait.duplicates:
        pairs = ", ".join(f"row {later} is row {earlier} again" for later, earlier in portrait.repeats[:2])
        more = ", …" if portrait.duplicates > 2 else ""
        said.append(
            f"{counted(portrait.duplicates, 'point')} repeat{'s' if portrait.duplicates == 1 else ''} an earlier one "
            f"({pairs}{more}; {FROM_ONE})."
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
        f"{counted(len(best.witnesses), 'point')} (rows {rows}; {FROM_ONE}) contradict every such boundary together."
    ]


def _each_class(found: Sequence[Separability]) -> list[str]:
    yes = [
        f"{each.between.removesuffix(' against the rest')} from all others (margin {number(each.margin)})"
        for each in found
        if each.separable
    ]
    no = [each.between.removesuffix(" against the rest") for each in found if each.separable is False]
    said = []
    if yes:
        said.append(f"A flat boundary separates {'; another '.join(yes)}. This is proved.")
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
        f"{counted(training.runs, 'network')} with {setting.n_neurons} neurons {_were(training.runs)} trained on "
        f"{training.trained_on:,} points by SGD with the hinge loss, one point per step, from random starts, with step "
        f"size {number(setting.step_size)}"
        + (f"; {training.held_out:,} points were kept aside." if training.held_out else ".")
    ]
    if training.runs < training.asked:
        said.append(f"These are {training.runs} of the {training.asked} networks asked for: time ran out.")
    if training.trained_on + training.held_out < points:
        said.append(f"These are a random part of the {points:,}: more would have taken too long.")
    said.append(_fitting(training))
    if training.test_error is not None and training.test_limits is not None:
        low, high = training.test_limits
        said.append(
            f"On the points kept aside, the middle network errs on {percent(training.test_error.middle)} (best "
            f"{percent(training.test_error.least)}, worst {percent(training.test_error.largest)}). With "
            f"{counted(training.held_out, 'point')}, its true error is only known to lie between {percent(low)} and "
            f"{percent(high)}."
        )
    said.append(
        f"A neuron is on or off at a point. During training, {percent(training.flipped.mean)} of these switches "
        f"changed: {_regime(training.flipped)}"
    )
    return said


def _fitting(training: Training) -> str:
    passes = f"after {counted(training.setting.max_epochs, 'pass', 'passes')} over the data"
    errors = training.train_error
    if training.fitted == training.runs and training.updates is not None:
        found = training.updates
        return (
            f"All of them got every training point right, with room to spare (loss exactly 0), after "
            f"{number(found.middle)} updates in the middle run ({number(found.least)} to {number(found.largest)})."
        )
    ends = [
        f"{count} {what}"
        for count, what in (
            (training.cut_off, f"{_were(training.cut_off)} stopped {passes}, still changing"),
            (training.stalled, "got stuck"),
            (training.diverged, "diverged: the step is too large"),
        )
        if count
    ]
    return (
        f"{training.fitted or 'None'} of them got every training point right with room to spare (loss exactly 0); "
        f"{', '.join(ends)}. "
        f"The middle network ends with {percent(errors.middle)} of its training points wrong."
    )


def _regime(flipped: Spread) -> str:
    if flipped.mean < 0.05:
        return "the neurons hardly moved, so the network stays close to a linear model of its start."
    if flipped.mean > 0.2:
        return "the neurons adapted to the data, far from their random start."
    return "the neurons adapted a little to the data."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


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
        return "; ".join(lack(each) for each in row.missing[:2])
    part = evidence.headline
    if part.measured is not None and part.promised is not None:
        return f"{sides(part)}: {evidence.quantity}"
    missing = "; ".join(f"{each.name}: {each.why or 'undecided'}" for each in row.missing[:1])
    return missing or evidence.note or f"{_in_cases(part)}: {part.name}"


def _in_cases(part: Part) -> str:
    if part.kept is None:
        return f"open in {part.undecided:,} of {counted(part.cases, 'case')}"
    return f"seen in {part.cases - part.broken:,} of {counted(part.cases, 'case')}"


def slack(hypothesis: Hypothesis) -> str:
    """How much room an assumption has, where that is a number."""
    return "–" if hypothesis.key in ANSWERS else number(hypothesis.slack)


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
    """What would make theorems apply, those that the same change serves together, and what is gained by it."""
    by_words: dict[str, list[Change]] = {}
    for each in changes:
        by_words.setdefault(each.words, []).append(each)
    said = []
    for words, own in by_words.items():
        ids, margin = ", ".join(each.id for each in own), own[0].margin
        room = "" if margin is None else f" The margin is then {number(margin)}."
        gains = " ".join(dict.fromkeys(each.gain for each in own if each.gain))
        said.append(
            f"A small change that is enough for {ids}: {words}.{room} Verified: asked again with it, "
            f"{'it applies' if len(own) == 1 else 'they apply'}.{f' What is gained: {gains}' if gains else ''}"
        )
    return said


def about_picture(findings: "Findings") -> str:
    """What the picture of the data shows."""
    columns, training = findings.portrait.columns, findings.training
    plane = "" if columns <= 2 else (
        ", in the plane that tells the classes apart best; classes that a flat boundary separates in all "
        f"{columns} coordinates may still overlap in it"
    )  # fmt: skip
    if training is None:
        return f"The points{plane}."
    votes = "the class that they vote for"
    if training.setting.n_classes > 2:
        votes += ", grey where that is several"
    shaded = " Shaded: where the network votes for which class." if columns == 2 else ""
    return (
        f"The points{plane}. Arrows: the directions of the neurons of one network, in the colour of {votes}; the "
        f"longest is the strongest.{shaded}"
    )


def more_time(findings: "Findings") -> str:
    """What to do where time ran out."""
    return f"Run it again (what was finished is kept), or with --time {3 * findings.time:g}."


def about_certainty(findings: "Findings") -> list[str]:
    """What the numbers rest on."""
    said, training = [], findings.training
    if findings.unasked:
        said.append(
            f"{counted(findings.unasked, 'statement')} {_were(findings.unasked)} not asked, or not to the end: the "
            f"time of {findings.time:g} s was spent. {more_time(findings)}"
        )
    if training is not None and training.runs < training.asked:
        said.append(
            f"There was time for {training.runs} of the {training.asked} networks, and for fewer passes over the data. "
            f"{more_time(findings)}"
        )
    if findings.certainty is not None:
        said.append(about_precision(findings.certainty))
    elif training is not None:
        said.append("There was no time to train some networks again in float64, which shows whether rounding matters.")
    said.append(
        f"Theorems are decided in float64, with room for rounding; what rounding could decide is called undecided. "
        f"The same seed ({findings.choices.seed}), the same choices and time enough to finish give the same "
        f"certificate again. It took {findings.seconds:.0f} s."
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
