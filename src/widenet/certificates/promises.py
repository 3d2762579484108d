"""What the theorems promise for this data, width and step, in the words of somebody who trains a network."""

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from widenet.certificates.comparisons import carrying, is_too_small, left_open, says_nothing
from widenet.certificates.data_forms import AT_RANDOM
from widenet.certificates.missing_assumptions import lack
from widenet.certificates.plain_numbers import plain
from widenet.certificates.rows import ClaimRow
from widenet.claims.base import Evidence, Verdict
from widenet.claims.meaning import Topic
from widenet.console.wording import number
from widenet.records import ClosedModel

MOST_BARS = 6
GENEROUS = 10.0
"""A limit this many times larger than what was needed is said to be generous."""


class Standing(enum.StrEnum):
    """What a promise is worth here."""

    BROKEN = "broken"
    GUARANTEED = "holds here, and was seen"
    GOOD_TO_KNOW = "good to know: holds here, and is a warning"
    UNSEEN = "holds here, but is too slow or too small to see"
    EMPTY = "holds here, but says nothing"
    UNCONFIRMED = "its assumptions hold, but the runs could not confirm it"
    UNKNOWN = "not known whether it applies"
    NO_NUMBER = "cannot be tested: the paper leaves a number open"
    NOT_HERE = "promises nothing here"


class ListedPromise(ClosedModel):
    """One promise.

    Attributes:
      id: of the claim.
      about: which form of the data it is a promise about; "" for the data as it was prepared.
      words: the promise, with its number.
      remark: how it compares with what was seen, or what it lacks.
      generosity: how many times larger the limit is than what was needed; None where that is no number.
      sense, promised, measured: the two sides, where both are numbers that were seen; "" and None otherwise.
    """

    id: str
    about: str
    topic: Topic
    standing: Standing
    words: str
    remark: str
    generosity: float | None = None
    sense: str = ""
    promised: float | None = None
    measured: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it is a promise about all the data, and no warning: what a headline may count."""
        return AT_RANDOM not in self.about and not self.topic.is_warning


def promises_of(rows: Iterable[ClaimRow]) -> list[ListedPromise]:
    """The promises of the claims that apply and have a meaning: what is guaranteed first, then by topic."""
    found = [_promise(row, row.evidence) for row in rows if row.evidence is not None and row.meaning is not None]
    return sorted(found, key=lambda each: (list(Standing).index(each.standing), list(Topic).index(each.topic)))


def _promise(row: ClaimRow, evidence: Evidence) -> ListedPromise:
    # The first part is the one whose numbers a statement is known for.
    part, meaning = evidence.parts[0], row.meaning
    if meaning is None:
        raise ValueError(f"{row.id} has no meaning in plain words")
    standing = standing_of(evidence)
    if standing is Standing.GUARANTEED and meaning.topic.is_warning:
        standing = Standing.GOOD_TO_KNOW
    generosity = None
    if part.sense in ("≤", "<") and part.measured and part.promised and part.measured > 0:
        generosity = part.promised / part.measured
    # A number that is promised elsewhere would be taken for one that holds here.
    promised = "…" if part.promised is None or standing is Standing.NOT_HERE else plain(part.promised)
    is_seen = standing is Standing.GUARANTEED and part.measured is not None and part.promised is not None
    return ListedPromise(
        id=row.id,
        about=row.about,
        topic=meaning.topic,
        standing=standing,
        words=meaning.promise.replace("{promised}", promised),
        remark=_remark(row, evidence, standing, generosity),
        generosity=generosity,
        sense=part.sense if is_seen else "",
        promised=part.promised if is_seen else None,
        measured=part.measured if is_seen else None,
    )


def standing_of(evidence: Evidence) -> Standing:
    """What a promise is worth, from its verdict."""
    match evidence.verdict:
        case Verdict.HOLDS:
            if says_nothing(evidence):
                return Standing.EMPTY
            return Standing.UNSEEN if is_too_small(evidence) else Standing.GUARANTEED
        case Verdict.VIOLATED:
            return Standing.BROKEN
        case Verdict.HYPOTHESES_NOT_MET:
            return Standing.NOT_HERE
        case Verdict.CONSTANT_UNSPECIFIED:
            return Standing.NO_NUMBER
    if any(each.met is None for each in evidence.hypotheses):
        return Standing.UNKNOWN
    return Standing.EMPTY if says_nothing(evidence) else Standing.UNCONFIRMED


def _remark(row: ClaimRow, evidence: Evidence, standing: Standing, generosity: float | None) -> str:
    said = []
    if standing in (Standing.NOT_HERE, Standing.UNKNOWN):
        said += [lack(each) for each in row.missing[:1]]
    else:
        if standing is Standing.NO_NUMBER:
            said.append(f"what is left open: {evidence.open_constant}")
        part, seen = evidence.parts[0], row.meaning.seen if row.meaning is not None else ""
        if standing is Standing.UNSEEN:
            shown = carrying(evidence)
            said.append(
                f"a change of {number(shown.promised)} is promised here, and {number(shown.measured)} was measured"
            )
        elif evidence.conclusion is None:
            # "The run that came closest" would be the one farthest off.
            said.append(left_open(next(each for each in evidence.parts if each.kept is None)))
        elif seen and (part.measured is not None or "{measured}" not in seen):
            said.append(_filled(seen, {"measured": part.measured} | evidence.details))
    if generosity is not None and generosity >= GENEROUS and standing is Standing.GUARANTEED:
        said.append(f"the limit is {plain(float(f'{generosity:.2g}'))} times what was needed")
    words = "; ".join(each for each in said if each)
    sentences = [f"{words[:1].upper()}{words[1:]}."] if words else []
    warning = evidence.parts[0].warning if standing in (Standing.GUARANTEED, Standing.GOOD_TO_KNOW) else ""
    return " ".join([*sentences, *([warning] if warning else [])])


def _filled(seen: str, numbers: Mapping[str, Any]) -> str:
    """The words with their numbers; "" where one of them is not known."""
    wanted = re.findall(r"{(\w+)}", seen)
    if not all(isinstance(numbers.get(name), int | float) for name in wanted):
        return ""
    return re.sub(r"{(\w+)}", lambda found: plain(numbers[found[1]]), seen)


def bars_of(promises: Sequence[ListedPromise]) -> list[ListedPromise]:
    """Promises to draw beside what was made: both sides positive, those about all data first, equal numbers once."""
    found = {
        (each.topic, plain(each.promised), plain(each.measured)): each
        for each in sorted(promises, key=lambda each: each.counts)
        if (each.promised or 0) > 0 and (each.measured or 0) > 0 and each.sense in ("≤", "<", "≥", ">")
    }
    return list(reversed(found.values()))[:MOST_BARS]
