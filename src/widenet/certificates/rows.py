"""What the theorems say: one row per claim of every paper, sorted by how much it tells about this data."""

import functools
import time
from collections.abc import Iterable, Sequence

from widenet import papers
from widenet.certificates.data_forms import DataForm
from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.claims import Claim, Evidence, Hypothesis, Kind, NotApplicable, Verdict
from widenet.claims.base import plain
from widenet.claims.meaning import Meaning
from widenet.progress import Progress, parts, silent
from widenet.records import ClosedModel
from widenet.run import Mishap, ask
from widenet.run.cells import Cells

NOT_ASKED = "It was not asked: the time was spent."
CUT_OFF = "It was asked, and stopped when its share of the time was spent."
FOR_ONE = 0.4
"""The share of the time left that a single claim may take."""


class ClaimRow(ClosedModel):
    """One claim, and what it says about the data.

    Attributes:
      id, kind, where, statement: of the claim.
      meaning: what it means to somebody who trains a network, where that is said.
      about: which form of the data it was asked about; "" for the data as it was prepared.
      evidence: what was found; None where the claim does not apply.
      not_applicable: why, in one sentence.
      is_open: whether it has no evidence for want of time, or because of a mistake in this program.
      has_crashed: whether it was such a mistake.
      seconds: how long it took.
    """

    id: str
    kind: Kind
    where: str
    statement: str
    meaning: Meaning | None = None
    about: str = ""
    evidence: Evidence | None = None
    not_applicable: str = ""
    is_open: bool = False
    has_crashed: bool = False
    seconds: float = 0.0

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]

    @property
    def verdict(self) -> Verdict | None:
        """None for a claim that does not apply."""
        return None if self.evidence is None else self.evidence.verdict

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """Those that fail first, the nearest to holding at the top; then those that hold, the tightest at the top."""
        return [] if self.evidence is None else sorted(self.evidence.hypotheses, key=_place)

    @property
    def missing(self) -> list[Hypothesis]:
        """The hypotheses that fail, or could not be decided, the nearest to holding first."""
        return [each for each in self.hypotheses if not each.met]


def nearness(hypothesis: Hypothesis) -> float:
    """The slack beside the size of what was measured: −1 for one that is missed by as much as itself."""
    if hypothesis.slack is None or not isinstance(hypothesis.actual, float):
        return float("-inf") if hypothesis.met is False else 0.0
    size = max(abs(hypothesis.actual), abs(hypothesis.slack))
    return hypothesis.slack / size if size > 0 else 0.0


def _place(hypothesis: Hypothesis) -> tuple[int, float]:
    order = {False: 0, None: 1, True: 2}[hypothesis.met]
    return order, abs(nearness(hypothesis))


def claims_by_weight() -> tuple[list[Claim], list[Claim]]:
    """The main results of all papers, and all other claims, those first that say most."""
    claims = sorted(papers.claims_of(), key=lambda claim: list(Kind).index(claim.kind))
    return [each for each in claims if each.kind is Kind.MAIN], [each for each in claims if each.kind is not Kind.MAIN]


def ask_all(
    claims: Sequence[Claim], views: Sequence[DataForm], cells: Cells, clock: TimeLimit, progress: Progress = silent
) -> list[ClaimRow]:
    """What each claim says; one that does not apply is tried on the other views in turn.

    Raises:
      StoreError: the store cannot be read or written.
    """
    return [_row(claim, views, cells, clock, share) for claim, share in parts(claims, progress)]


def ask_again(
    rows: Sequence[ClaimRow], view: DataForm, cells: Cells, clock: TimeLimit, progress: Progress = silent
) -> list[ClaimRow]:
    """The rows once more, where those that did not apply are tried on one more view while there is time.

    Raises:
      StoreError: the store cannot be read or written.
    """
    claims = {claim.id: claim for claim in papers.claims_of()}
    answers = []
    for row, share in parts(rows, progress):
        again = None
        if row.evidence is None and not row.is_open:
            if clock.left <= 0:  # it might apply to this view, which nobody had time to find out
                answers.append(row.model_copy(update={"is_open": True}))
                continue
            again = _row(claims[row.id], [view], cells, clock, share)
        if again is not None and again.is_open and not again.has_crashed:
            # There was no time for this view: the row says why the claim does not apply to the others, and stays open.
            again = row.model_copy(update={"is_open": True})
        answers.append(again or row)
    return answers


def _row(claim: Claim, views: Sequence[DataForm], cells: Cells, clock: TimeLimit, progress: Progress) -> ClaimRow:
    base = ClaimRow(
        id=claim.id, kind=claim.kind, where=claim.where, statement=plain(claim.statement), meaning=claim.meaning
    )
    start, not_applicable, has_crashed = time.perf_counter(), "", False
    for view in views:
        if clock.left <= 0:
            return base.model_copy(update={"not_applicable": not_applicable or NOT_ASKED, "is_open": True})
        try:
            answer = ask(claim, view.user_data, cells, clock.share(FOR_ONE).watched(progress))
        except OutOfTime:
            return base.model_copy(update={"not_applicable": CUT_OFF, "is_open": True})
        if not isinstance(answer, NotApplicable):
            seconds = time.perf_counter() - start
            return base.model_copy(update={"evidence": answer, "about": view.name, "seconds": seconds})
        not_applicable, has_crashed = str(answer), has_crashed or isinstance(answer, Mishap)
    return base.model_copy(
        update={"not_applicable": not_applicable, "is_open": has_crashed, "has_crashed": has_crashed}
    )


def ordered(rows: Iterable[ClaimRow]) -> list[ClaimRow]:
    """Those that apply before those that do not; main results first; what holds before what fails."""
    return sorted(rows, key=_rank)


@functools.cache
def _verdicts() -> dict[Verdict | None, int]:
    order = (
        Verdict.VIOLATED,
        Verdict.HOLDS,
        Verdict.CONSTANT_UNSPECIFIED,
        Verdict.INSUFFICIENT_EVIDENCE,
        Verdict.HYPOTHESES_NOT_MET,
        None,
    )
    return {verdict: place for place, verdict in enumerate(order)}


def _rank(row: ClaimRow) -> tuple[int, int, int, bool, float]:
    vacuous = row.evidence is not None and row.evidence.vacuous
    farthest = max((abs(nearness(each)) for each in row.missing), default=0.0)
    return (row.evidence is None, list(Kind).index(row.kind), _verdicts()[row.verdict], vacuous, farthest)
