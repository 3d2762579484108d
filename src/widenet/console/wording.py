"""How verdicts and numbers are written for a reader. The terminal and the report say the same words."""

import enum
import math
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Part, Runs, Verdict, plain
from widenet.records import Form

if TYPE_CHECKING:  # what only lists claims needs neither
    from widenet.figures import Comparison
    from widenet.run import CheckOutcome, FigureOutcome, NotComputed

    Outcome = CheckOutcome | FigureOutcome

NOTHING = "–"
WHOLE_BELOW = 1e7


class Tone(enum.StrEnum):
    """What a badge means to a reader in a hurry."""

    GOOD = "good"
    FINDING = "finding"
    """A statement that is false as printed, as expected: worth knowing, and no alarm."""
    OPEN = "open"
    ALARM = "alarm"


@dataclass(frozen=True)
class Badge:
    """A verdict as a sign, a word and a tone, so that colour is never the only bearer of the message."""

    sign: str
    word: str
    tone: Tone


NOT_COMPUTED = Badge("✗", "not computed", Tone.ALARM)
"""The badge of a claim or a figure of which something failed."""


EXPECTED = {
    Verdict.HOLDS: "holds",
    Verdict.VIOLATED: "false as printed",
    Verdict.CONSTANT_UNSPECIFIED: "open constant",
}
"""The verdicts that a claim may be expected to have."""


def badge(claim: Claim, evidence: Evidence) -> Badge:
    """The badge of a checked claim."""
    verdict = evidence.verdict
    if verdict is Verdict.VIOLATED:
        if claim.expected is Verdict.VIOLATED:
            return Badge("!", EXPECTED[verdict], Tone.FINDING)
        return Badge("✗", "violated", Tone.ALARM)
    if verdict is Verdict.CONSTANT_UNSPECIFIED:
        return Badge("?", EXPECTED[verdict], Tone.OPEN)
    word = verdict.value.replace("_", " ").lower()
    if verdict is Verdict.HOLDS:
        if claim.expected is Verdict.VIOLATED:
            return Badge("?", "holds here, expected to fail", Tone.OPEN)
        if evidence.vacuous:  # nothing was at stake, so it must not look like a success
            return Badge("○", "holds vacuously", Tone.OPEN)
        return Badge("✓", word, Tone.GOOD)
    return Badge("?", word, Tone.OPEN)


def verdict(value: str | None, is_finding: bool) -> str:
    """A verdict of results.json for a reader; `is_finding` where the statement is known to be false as printed."""
    if value is None:
        return NOTHING
    words = EXPECTED if is_finding else EXPECTED | {Verdict.VIOLATED: "violated"}
    return {each.value: word for each, word in words.items()}.get(value, value.replace("_", " ").lower())


def answer(is_kept: bool | None) -> str:
    """Whether a part is kept, in a word."""
    return "undecided" if is_kept is None else "kept" if is_kept else "broken"


def agreement(comparison: "Comparison") -> Badge:
    """The badge of a reported number beside a measured one."""
    word = comparison.verdict.lower()
    if comparison.verdict == "MEASURED":
        return Badge("·", word, Tone.OPEN)
    if comparison.agrees:
        return Badge("✓", word, Tone.GOOD)
    return Badge("✗", word, Tone.ALARM if comparison.added else Tone.FINDING)


def coming_out(comparisons: "Iterable[Comparison]") -> Badge:
    """The badge of a figure: how much of what the paper says about it comes out."""
    agree = [each.agrees for each in comparisons if not each.added]
    if not agree:
        return Badge("·", "the paper prints no number about this", Tone.OPEN)
    count, verb = sum(agree), "comes" if sum(agree) == 1 else "come"
    words = f"{count} of {counted(len(agree), 'number or trend', 'numbers and trends')} of the paper {verb} out"
    return Badge("✓", words, Tone.GOOD) if all(agree) else Badge("✗", words, Tone.FINDING)


def kept(part: Part) -> Badge:
    """The badge of one part of a conclusion, with how many of its cases decide against it or nothing."""
    if part.kept is None:
        return Badge("?", f"undecided{_of_cases(part.undecided, part)}", Tone.OPEN)
    if not part.kept:
        return Badge("✗", f"broken{_of_cases(part.broken, part)}", Tone.ALARM)
    return Badge("○", "kept, vacuously", Tone.OPEN) if part.vacuous else Badge("✓", "kept", Tone.GOOD)


def _of_cases(count: int, part: Part) -> str:
    return f" in {count:,} of {part.n_cases:,}" if count and part.n_cases > 1 else ""


def tested(part: Part) -> str:
    """`237 cases, median tightness 0.031`: how far a part was tested."""
    cases = counted(part.n_cases, "case")
    if part.median_tightness is None:
        return cases if part.n_cases else NOTHING
    return cases if part.n_cases == 1 else f"{cases}, median tightness {two_digits(part.median_tightness)}"


def two_digits(value: float) -> str:
    """A number that is no more than a rough share."""
    return number(float(f"{value:.2g}"))


def sides(part: Part) -> str:
    """`321 ≤ 12,345`: what was measured, and what is promised; `0.2 > 0.02` where that was not kept or not reached."""
    if part.measured is None and part.promised is None:
        return NOTHING
    left, right = number(part.measured), number(part.promised)
    if part.is_within_rounding:
        left, right = rounded_alike(part.measured or 0.0, part.promised or 0.0, _rounded)
        return f"{left} {part.relation} {right}, {WITHIN_ROUNDING}"
    if left == right and part.relation in ("<", ">") and part.measured != part.promised:
        left, right = _told_apart(part.measured or 0.0, part.promised or 0.0)
    return ", ".join(filter(None, (f"{left} {part.relation} {right}", reason_kept(part))))


WITHIN_ROUNDING = "to within rounding"
WITHIN_TOLERANCE = "within the tolerance of the check"
"""Why a side beyond its promise does not break it, where rounding is not the reason."""


def reason_kept(part: Part) -> str:
    """Why a part is kept whose sides are equal as they are written, on the wrong side, or only about equal; or ""."""
    if part.is_within_rounding:
        return WITHIN_ROUNDING
    return WITHIN_TOLERANCE if part.is_within_tolerance or part.relation == "≈" else ""


def rounded_alike(left: float, right: float, written: Callable[[float, int], str]) -> tuple[str, str]:
    """Two numbers that differ by rounding alone, with the most digits, up to four, that write them alike."""
    texts = [(written(left, digits), written(right, digits)) for digits in (4, 3, 2, 1)]
    return next((pair for pair in texts if pair[0] == pair[1]), texts[0])


def _rounded(value: float, digits: int) -> str:
    return number(float(f"{value:.{digits}g}"))


LIMITS = "one-sided 95 % limits"
"""What a verdict about a probability rests on (`claims.statistics`): 5 % lies beyond each end, 10 % beyond both."""


def limits(part: Part) -> str:
    """`one-sided 95 % limits 0.0186 to 0.03`, with what they limit where that is not the number beside them; or ""."""
    if part.interval is None:
        return ""
    low, high = part.interval
    of = f" of {part.interval_of}:" if part.interval_of else ""
    return f"{LIMITS}{of} {number(low)} to {number(high)}"


def _told_apart(left: float, right: float) -> tuple[str, str]:
    """As many digits as show that they differ."""
    digits = next(count for count in range(5, 18) if f"{left:.{count}g}" != f"{right:.{count}g}")
    return f"{left:.{digits}g}", f"{right:.{digits}g}"


def reasons(hypotheses: Iterable[Hypothesis]) -> list[str]:
    """Why hypotheses are not met, or could not be decided, where that is known; each with its sign."""
    return [f"{met(each).sign} {each.name}: {each.why}" for each in hypotheses if not each.met and each.why]


def met(hypothesis: Hypothesis) -> Badge:
    """The badge of one hypothesis."""
    if hypothesis.met is None:
        return Badge("?", "undecided", Tone.OPEN)
    if hypothesis.met and hypothesis.normalization:
        return Badge("✓", "by choice", Tone.GOOD)
    return Badge("✓", "yes", Tone.GOOD) if hypothesis.met else Badge("✗", "no", Tone.ALARM)


def is_met_exactly(hypothesis: Hypothesis) -> bool:
    """Whether nothing but the tolerance for rounding lies between what was measured and failing."""
    if not hypothesis.met or hypothesis.slack is None:
        return False
    size = abs(hypothesis.actual) if isinstance(hypothesis.actual, float) else 0.0
    return 0 <= hypothesis.slack <= EXACTLY * max(size, 1.0) and ("(to " in hypothesis.required or not hypothesis.slack)


EXACTLY = 2e-9
"""A distance from failing that is a tolerance for rounding: twice the largest in `claims.tolerances` for one step."""


def how_many_met(hypotheses: Sequence[Hypothesis]) -> str:
    """`2 of 4 met, 1 undecided`."""
    answers = [each.met for each in hypotheses]
    undecided = f", {answers.count(None)} undecided" if None in answers else ""
    return f"{answers.count(True)} of {len(answers)} met{undecided}"


def number(value: float | int | str | None) -> str:
    """Four significant digits; from a thousand to ten million, and whole numbers, in full; words as they are."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    whole = math.isfinite(value) and (value == int(value) or abs(value) >= 1000) and abs(value) < WHOLE_BELOW
    return f"{value + 0.0:,.0f}" if whole else f"{value:.4g}"


def interval(ends: tuple[float, float] | None) -> str:
    """An interval, or a dash. An end at infinity leaves only the other side; equal ends, one number."""
    if ends is None:
        return NOTHING
    low, high = ends
    if low == high:
        return number(low)
    if low == -math.inf and high < math.inf:
        return f"≤ {number(high)}"
    if high == math.inf and low > -math.inf:
        return f"≥ {number(low)}"
    return f"{number(low)} to {number(high)}"


def band(comparison: "Comparison") -> str:
    """The range that counts as agreement; none where nothing is expected."""
    return "none" if comparison.verdict == "MEASURED" else interval(comparison.band)


def caution(comparison: "Comparison") -> str:
    """A warning about agreement that a few runs could hardly miss, or about a miss that chance may explain; or ""."""
    if comparison.nearly_agrees:
        return "the interval reaches into the band: more runs may agree"
    return "the interval is wider than the band: little is tested" if comparison.tests_little else ""


def reason(comparison: "Comparison") -> str:
    """Why this band, and which one it replaced; "" where the paper prints the number itself."""
    words = [comparison.basis, f"the band was changed. Before: {comparison.moved}" if comparison.moved else ""]
    return "; ".join(each.rstrip(".") for each in words if each)


def band_reasons(comparisons: "Iterable[Comparison]") -> list[str]:
    """Why these bands, each reason once."""
    return list(dict.fromkeys(filter(None, map(reason, comparisons))))


def clause(row: Mapping[str, Any]) -> str:
    """What a clause asks of each case, as the index has it: "≥ 1 (to 1e-12)".

    Where every case has a limit of its own, the text of a promise says which.
    """
    limit = "∞" if row.get("limit") == "Infinity" else row.get("limit")
    words = row["sense"] if limit is None else f"{row['sense']} {limit if isinstance(limit, str) else f'{limit:g}'}"
    if limit == "per case" and row["role"] == "promised":
        words = "as often as promised" if row["sense"].startswith("rate") else f"{row['sense']} case by case"
    words = {"fact": "is so"}.get(words, words)
    if "tolerance" in row:
        words += f" ({row['tolerance']})"
    if "event" in row:
        words += f", in {plain(row['event'])}"
    return words


def mark(place: int) -> str:
    """The mark of a reason: `a`. Letters: a number beside "width 1000" would read as part of it."""
    round_, letter = divmod(place, len(string.ascii_lowercase))
    return string.ascii_lowercase[letter] * (round_ + 1)


def runs(count: Runs) -> str:
    """How many runs, and what became of those that did not end well."""
    parts = [f"{count.tried:,}"]
    parts += [f"{count.diverged:,} diverged"] if count.diverged else []
    parts += [f"{count.unfinished:,} unfinished"] if count.unfinished else []
    parts += [f"{count.outside:,} outside the event and not scored"] if count.outside else []
    return ", ".join(parts)


def seconds(outcome: "Outcome") -> str:
    """How long it took; a stored result says so."""
    found = outcome.circumstances
    return f"{found.seconds:.1f} s{' (stored)' if found.reused else ''}"


def in_short(outcome: "Outcome | NotComputed") -> str:
    """The result and its time in a few words, for a line of progress."""
    from widenet.run import CheckOutcome, NotComputed

    if isinstance(outcome, NotComputed):
        return NOT_COMPUTED.word
    if isinstance(outcome, CheckOutcome):
        words = badge(outcome.claim, outcome.evidence).word
    else:
        stated = [each for each in outcome.comparisons if not each.added]
        agreeing = f"{sum(each.agrees for each in stated)} of {counted(len(stated), 'comparison')} agree"
        words = agreeing if stated else "no statement of the paper to compare"
    return f"{words}, {seconds(outcome)}"


def by_cause(not_computed: "Iterable[NotComputed]") -> dict[str, list[str]]:
    """Each cause once, with the ids of the claims and figures that it left without a result."""
    causes: dict[str, list[str]] = {}
    for each in not_computed:
        causes.setdefault(each.failure.sentence, []).append(each.item.id)
    return causes


OTHER_FORMS = {Form.REPAIR: "repaired", Form.SHARPER: "sharper", Form.OURS: "ours"}


def forms(statements: Sequence[tuple[Form, Tone]]) -> str:
    """`224 as printed (163 hold, 59 false, 2 open), 77 repaired, 39 sharper, 21 ours`: whose statements these are."""
    printed = [tone for form, tone in statements if form not in OTHER_FORMS]
    held, false = printed.count(Tone.GOOD), printed.count(Tone.FINDING)
    answers = {"hold": held, "false": false, "open": len(printed) - held - false}
    inside = ", ".join(f"{count:,} {word}" for word, count in answers.items() if count)
    counts = [f"{len(printed):,} as printed ({inside})"] if printed else []
    others = [(sum(form is each for form, _ in statements), word) for each, word in OTHER_FORMS.items()]
    return ", ".join([*counts, *(f"{count:,} {word}" for count, word in others if count)])


def counted(count: int, singular: str, plural: str = "") -> str:
    """`1 claim`, `2 claims`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def tally(badges: Iterable[Badge]) -> dict[str, int]:
    """How often each word occurs, the good ones first and the alarms last."""
    ordered = sorted(badges, key=lambda item: list(Tone).index(item.tone))
    counts: dict[str, int] = {}
    for item in ordered:
        counts[item.word] = counts.get(item.word, 0) + 1
    return counts


def kind_order(claim: Claim) -> int:
    """Main results first, proof steps last."""
    return list(Kind).index(claim.kind)
