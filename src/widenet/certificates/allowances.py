"""What each theorem allows at each width: its promise about training or errors, asked without training."""

from collections.abc import Sequence

from widenet import papers
from widenet.certificates.data_forms import DataForm
from widenet.certificates.missing_assumptions import lack
from widenet.certificates.rows import ClaimRow
from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.claims import Evidence, Kind, NotApplicable, Verdict
from widenet.claims.meaning import Topic
from widenet.claims.user_data import UserData
from widenet.progress import Progress, parts, silent
from widenet.records import ClosedModel
from widenet.run import ask
from widenet.run.cells import Cells

TOPICS = (Topic.UPDATES, Topic.TEST_ERROR)
AT_ONCE = {"n_runs": 1, "max_updates": 1}
"""A promise is known before the first step."""


class Allowance(ClosedModel):
    """What a theorem allows at some widths.

    Attributes:
      id, topic, about: of the claim, and which form of the data it is about.
      widths: at which it was asked.
      promised: its number at each of them; None where its assumptions fail or are not known to hold, or without one.
      missing: what it lacks at each, in plain words; "" where its assumptions hold.
    """

    id: str
    topic: Topic
    about: str
    widths: tuple[int, ...]
    promised: tuple[float | None, ...]
    missing: tuple[str, ...]


def allowances(
    rows: Sequence[ClaimRow],
    views: Sequence[DataForm],
    widths: Sequence[int],
    cells: Cells,
    clock: TimeLimit,
    progress: Progress = silent,
) -> list[Allowance]:
    """What main results that count updates or errors allow at each width, about the form of the data they apply to.

    Raises:
      StoreError: the store cannot be read or written.
    """
    claims = {claim.id: claim for claim in papers.claims_of()}
    by_name = {view.name: view for view in views}
    own = [row for row in rows if row.evidence is not None and row.kind is Kind.MAIN and row.about in by_name]
    wanted = [(row, row.meaning) for row in own if row.meaning is not None and row.meaning.topic in TOPICS]
    found = []
    for (row, meaning), share in parts(wanted, progress):
        user_data, answers = by_name[row.about].user_data, list[Evidence]()
        for width in widths:
            choices = user_data.choices.model_copy(update={"n_neurons": width, **AT_ONCE})
            try:
                asked = UserData(user_data.data, choices)
                if user_data.has_signs_as_labels:  # the same points: nothing to find out again
                    vars(asked)["separation"] = user_data.separation
                answer = ask(claims[row.id], asked, cells, clock.watched(share))
            except OutOfTime:
                return found
            if not isinstance(answer, NotApplicable):
                answers.append(answer)
        if len(answers) == len(widths):
            numbers, lacks = zip(*map(_at, answers), strict=True)
            found.append(
                Allowance(
                    id=row.id,
                    topic=meaning.topic,
                    about=row.about,
                    widths=tuple(widths),
                    promised=numbers,
                    missing=lacks,
                )
            )
    return found


def _at(answer: Evidence) -> tuple[float | None, str]:
    unmet = next((each for each in answer.hypotheses if not each.met), None)
    if unmet is not None:
        return None, lack(unmet)
    if answer.verdict is Verdict.CONSTANT_UNSPECIFIED:
        return None, f"the paper leaves {answer.open_constant} open"
    return answer.parts[0].promised, ""
