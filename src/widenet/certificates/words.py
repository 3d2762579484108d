"""What was found, in sentences for someone who knows no theory. The screen and the page say the same words."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from widenet.certificates.boundaries import Separability
from widenet.certificates.certainty import Certainty
from widenet.certificates.comparisons import says_nothing
from widenet.certificates.fixes import Change
from widenet.certificates.missing_assumptions import ANSWERS, lack, measured
from widenet.certificates.plain_numbers import fraction
from widenet.certificates.portrait import Portrait
from widenet.certificates.preparation_words import about_reading
from widenet.certificates.promises import ListedPromise
from widenet.certificates.rows import ClaimRow
from widenet.claims import Hypothesis, Part, Verdict
from widenet.console.wording import counted, number, sides

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings

THIN, WIDE = 0.01, 0.1
SHOWN = 6
MOST_RINGS = 150
SAME = 1e-6
"""A margin and its limit that differ by less than this share are the same."""
ROUNDING = 1e-11
"""A slack below this share of what was measured is one of rounding."""
SPACE = "\N{NO-BREAK SPACE}"
FROM_ONE = "the first point is row 1"
PLURALS = {"holds": "hold", "holds, says nothing": "hold and say nothing", "does not apply": "do not apply"}


def about_choices(findings: "Findings") -> str:
    """Which networks theorems were asked about."""
    choices = findings.choices
    start = "" if choices.init_scale is None else f", first weights of length {number(choices.init_scale)}"
    return (
        f"Asked about networks of {choices.n_neurons} neurons (Leaky ReLU, slope {number(choices.slope)}), step size "
        f"{number(choices.step_size)}{start}; a theorem about another loss, width, step or start uses its own, and "
        "says so."
    )


def about_data(portrait: Portrait) -> list[str]:
    """What the data is, and what separates its classes."""
    kinds = [f"{each.name} ({each.points:,})" for each in portrait.classes[:SHOWN]]
    more = f" and {len(portrait.classes) - SHOWN} more" if len(portrait.classes) > SHOWN else ""
    numbers = counted(portrait.columns, "number")
    said = [
        f"{portrait.points:,} points of {numbers} each, in {len(portrait.classes)} classes: {', '.join(kinds)}{more}."
    ]
    return [*said, *about_reading(portrait.reading), *about_equal_points(portrait), *about_separability(portrait)]


def about_equal_points(portrait: Portrait) -> list[str]:
    """Points that contradict each other, and points that occur twice."""
    said = []
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
    return said


def about_separability(portrait: Portrait) -> list[str]:
    """Whether linear boundaries separate the classes, and how we know."""
    found = [each for each in portrait.separability if not each.through_origin]
    if not found:
        return ["Whether linear boundaries separate the classes was not asked."]
    if len(portrait.classes) > 2:
        return [*_each_class(found), *_theorem_margins(found, portrait)]
    (best,) = found
    if best.separable:
        return [
            f"A linear boundary separates the two classes perfectly. The closest points are {fraction(best.margin)} "
            f"away from it, where the farthest point is {number(portrait.longest)} from the origin. This is proved: "
            f"the boundary was checked on all {best.points:,} points, and {_no_wider(best)}.",
            *_theorem_margins(found, portrait),
        ]
    if best.separable is None:
        return [f"{inconclusive('Whether a linear boundary separates the two classes', best)} Neither a boundary nor a "
                "proof against one was found."]  # fmt: skip
    proof = (
        f"No linear boundary separates the two classes{beyond_rounding(best)}. This is proved: "
        f"{counted(len(best.witnesses), 'point')} ({_rows(best.witnesses)}; {FROM_ONE}) contradict every such boundary "
        "together."
    )
    if portrait.hardly_helps(best):
        return [proof, no_better(portrait, best)]
    return [
        proof,
        f"The best linear boundary that was found has {counted(len(best.in_the_way), 'point')} on its wrong side "
        f"({_rows(best.in_the_way)}): look at these first, they may be mislabelled or special.",
    ]


def no_better(portrait: Portrait, best: Separability) -> str:
    """That the best boundary found between two classes is hardly better than none."""
    common = max(portrait.classes, key=lambda each: each.points)
    return (
        f"No linear boundary that was found does much better than always answering {common.name}: the best has "
        f"{counted(len(best.in_the_way), 'point')} of {best.points:,} on its wrong side, where always answering "
        f"{common.name} is wrong on {portrait.points - common.points:,}."
    )


def inconclusive(what: str, found: Separability) -> str:
    """That something is not known, and why."""
    if found.is_truncated:
        return f"{what} is inconclusive: the work allowed for the search was spent."
    return f"{what} is beyond the precision of the computer."


def beyond_rounding(found: Separability) -> str:
    """What is left open where no boundary was found and rounding plays a part; else ""."""
    return f" by a margin above {number(found.margin_limit)}" if found.margin_limit else ""


def _no_wider(found: Separability) -> str:
    margin, limit = found.margin or 0.0, found.margin_limit or 0.0
    if limit <= (1 + SAME) * margin:
        return f"no other has a wider margin than it has at the {counted(len(found.witnesses), 'point')} closest to it"
    return f"none has a margin wider than {fraction(limit)}"


def _theorem_margins(found: Sequence[Separability], portrait: Portrait) -> list[str]:
    """The margin that theorems get, which is another where they get a bias as a coordinate."""
    known = [each for each in found if each.theorem_margin is not None]
    if not known:
        return []
    best = max(known, key=lambda each: each.theorem_margin or 0.0)
    margin, which = best.theorem_margin or 0.0, f" for {_name(best)}" if len(found) > 1 else ""
    where = ", in the coordinates (x, 1)/√2" if portrait.preparation.has_bias else ""
    room = (
        "but labels at random have such a margin too."
        if portrait.relabelled is not None and portrait.relabelled.is_any
        else _room(margin / portrait.longest)
    )
    return [
        f"Theorems get a margin of {fraction(margin)}{which} (that of boundaries through the origin{where}): {room}"
    ]


def _name(found: Separability) -> str:
    return found.between.removesuffix(" against the rest")


def _each_class(found: Sequence[Separability]) -> list[str]:
    yes = [f"{_name(each)} (margin {fraction(each.margin)})" for each in found if each.separable]
    no = [
        f"{_name(each)}{beyond_rounding(each)} ({counted(len(each.in_the_way), 'point')} on the wrong side of the best "
        f"one found: {_rows(each.in_the_way)})"
        for each in found
        if each.separable is False
    ]
    said = []
    if yes:
        one, several = f"A linear boundary separates {yes[0]} from all others.", ", ".join(yes)
        many = f"For each of these classes there is a linear boundary that separates it from all others: {several}."
        said.append(f"{one if len(yes) == 1 else many} This is proved.")
    if no:
        said.append(f"No linear boundary separates {either(no)} from the others. This is proved.")
    said += [
        inconclusive(f"Whether a linear boundary separates {_name(each)} from all others", each)
        for each in found
        if each.separable is None
    ]
    return said


def _rows(rows: Sequence[int]) -> str:
    named = ", ".join(map(str, rows[:SHOWN])) + (", …" if len(rows) > SHOWN else "")
    return f"row{'' if len(rows) == 1 else 's'} {named}"


def _room(margin: float) -> str:
    if margin < THIN:
        return "that is thin, and those that count on it promise little."
    return "that is wide, which they reward." if margin > WIDE else "that is moderate."


def both(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def either(names: Sequence[str]) -> str:
    """`a, b or c`."""
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
            f"imbalance ε = {number(four.imbalance)} ({four.points:,} points compared)."
        )
    return said


def were(count: int) -> str:
    """`1 was`, `2 were`."""
    return "was" if count == 1 else "were"


def percent(share: float) -> str:
    """`2.6 %`."""
    if not math.isfinite(share):
        return "–"
    if 0.995 < share < 1:
        return f"99.9{SPACE}%" if share > 0.9985 else f"{100 * share:.1f}{SPACE}%"
    return f"{100 * share:.2g}{SPACE}%" if share < 0.1 else f"{100 * share:.0f}{SPACE}%"


def verdict(row: ClaimRow) -> tuple[str, str]:
    """The sign and the word of a row."""
    evidence = row.evidence
    if evidence is None:
        return "·", "cannot be checked"
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


def why(row: ClaimRow) -> str:
    """The numbers behind a verdict, or what is missing, in a line."""
    evidence = row.evidence
    if evidence is None:
        return row.not_applicable
    if evidence.verdict is Verdict.HYPOTHESES_NOT_MET:
        return "; ".join(lack(each) for each in row.missing[:2])
    part = evidence.headline
    if part.measured is not None and part.promised is not None:
        return f"{sides(part)}: {evidence.quantity}"
    missing = "; ".join(f"{measured(each)}: {each.why or 'undecided'}" for each in row.missing[:1])
    return missing or evidence.note or f"{_in_cases(part)}: {part.name}"


def _in_cases(part: Part) -> str:
    if not part.n_cases:
        return "there was no case to look at"
    if part.kept is None:
        return f"open in {part.undecided:,} of {counted(part.n_cases, 'case')}"
    return f"seen in {part.n_cases - part.broken:,} of {counted(part.n_cases, 'case')}"


def slack(hypothesis: Hypothesis) -> str:
    """The slack of an assumption, where that is a number; 0 where it has no more than rounding."""
    if hypothesis.key in ANSWERS:
        return "–"
    room, size = hypothesis.slack, hypothesis.actual
    is_rounding = room is not None and isinstance(size, float) and hypothesis.met and room < ROUNDING * abs(size)
    return "0" if is_rounding else number(room)


def tone(row: ClaimRow) -> str:
    """How alarming a row is, as a class of the style sheet."""
    word = verdict(row)[1]
    return {"holds": "good", "violated": "alarm", "false as printed": "finding"}.get(word, "open")


def about_rows(findings: "Findings") -> str:
    """How many statements can be checked, with which verdicts; how many cannot, and how many were not evaluated."""
    counts = Counter(verdict(row)[1] for row in findings.applicable)
    kinds = [f"{count} {word if count == 1 else PLURALS.get(word, word)}" for word, count in counts.most_common()]
    said = f" ({', '.join(kinds)})" if kinds else ""
    applicable, unasked = len(findings.applicable), findings.unasked
    others = len(findings.not_applicable) - unasked
    return (
        f"Of {len(findings.rows)} statements in the papers, {applicable} can be checked on this data{said}, {others} "
        f"cannot, and {unasked} {'was' if unasked == 1 else 'were'} not evaluated to the end."
    )


def promise(found: ListedPromise, *, about: bool = True) -> str:
    """A promise, what it is about if not the whole data, and how it compares."""
    prefix = f"[{found.about}] " if found.about and about else ""
    return f"{prefix}{found.words} {found.remark}".strip()


def about_lacks(findings: "Findings") -> list[tuple[str, str]]:
    """What main results lack that promise nothing here, and a sentence with what they would be about.

    Those that lack the same come together, and warnings last: nobody misses them.
    """
    by_lack: dict[str, list[ClaimRow]] = {}
    rows = [row for row in findings.main if row.verdict is Verdict.HYPOTHESES_NOT_MET and row.missing]
    for row in sorted(rows, key=lambda row: row.meaning is None or row.meaning.topic.is_warning):
        by_lack.setdefault(lack(row.missing[0]), []).append(row)
    said = []
    for reason, own in by_lack.items():
        topics = list(dict.fromkeys(row.meaning.topic.value for row in own if row.meaning is not None))
        ids = ", ".join(row.id for row in own)
        said.append((reason, f"{' and '.join(topics) or 'the rest'}: {reason} ({ids})."))
    return said


def about_changes(changes: Sequence[Change]) -> list[str]:
    """What would make theorems apply, those that the same change serves together, and what is gained by it."""
    by_words: dict[tuple[str, str], list[Change]] = {}
    for each in changes:
        by_words.setdefault((each.words, each.about), []).append(each)
    said = []
    for (words, about), own in by_words.items():
        ids, margin = ", ".join(each.id for each in own), own[0].margin
        room = "" if margin is None else f" The margin that it gets is then {fraction(margin)}."
        gains = " ".join(dict.fromkeys(each.gain for each in own if each.gain))
        form, follows = f" about {about}" if about else "", "it applies" if len(own) == 1 else "they apply"
        said.append(
            f"A small change that is enough for {ids}: {words}.{room} Verified: asked again with it{form}, "
            f"{follows}.{f' What is gained: {gains}' if gains else ''}"
        )
    return said


def about_picture(findings: "Findings") -> str:
    """What the picture of the data shows."""
    columns = findings.portrait.columns_used
    plane = "." if columns <= 2 else (
        f", seen from where the classes are best separated: each axis is a mix of the {columns} columns."
    )  # fmt: skip
    if findings.has_boundary:
        plane += " Dashed: a linear boundary, with each class on its own side."
    elif columns > 2:
        plane += " Classes that overlap here may still be apart in all the columns together."
    if ringed_rows(findings.portrait):
        plane += " Rings: points on the wrong side of the best linear boundary that was found."
    shaded = " Shaded: which class the first network of that width names." if columns == 2 and findings.study else ""
    return f"The points{plane}{shaded}"


def ringed_rows(portrait: Portrait) -> tuple[int, ...]:
    """The rows (from 1) of points that the picture rings: those in the way of a linear boundary between two classes."""
    told = [each for each in portrait.separability if not portrait.hardly_helps(each)]
    rows = max((each.in_the_way for each in told), key=len, default=())
    return rows if len(portrait.classes) == 2 and len(rows) <= MOST_RINGS else ()


def more_time() -> str:
    """What to do where time ran out."""
    return "Run it again (what was finished is kept), or without --time."


def about_certainty(findings: "Findings") -> list[str]:
    """What the numbers rest on."""
    said = []
    if findings.unasked:
        limit = "" if findings.time is None else f": the time of {findings.time:g} s was spent. {more_time()}"
        said.append(
            f"{counted(findings.unasked, 'statement')} {were(findings.unasked)} not evaluated, or not to the end"
            f"{limit or '; a check failed.'}"
        )
    if findings.certainty is not None:
        said.append(about_precision(findings.certainty))
    elif findings.study is not None:
        said.append("There was no time to train some networks again in float64, which shows whether rounding matters.")
    said.append(
        f"Theorems are decided in float64, with a tolerance for rounding; what rounding could decide is called "
        f"inconclusive. The same seed ({findings.choices.seed}) and the same choices give the same certificate, "
        f"however busy the machine is{'' if findings.time is None else ', unless the time limit cuts it short'}. "
        f"It took {findings.seconds:.0f} s ({findings.computed:.0f} s of processor time)."
    )
    versions = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    return [*said, f"widenet {findings.version}; {versions}."]


def about_precision(found: Certainty) -> str:
    """Whether the precision of the networks matters."""
    return (
        f"The {counted(found.repeated, 'network')} of {counted(found.n_neurons, 'neuron')} {were(found.repeated)} "
        f"trained again in float64: {found.flipped or 'none'} of them ended differently (every training point right or "
        f"not), and {found.changed:,} of {found.points:,} held-out points are put in another class."
    )
