"""What the claims say about your data, by their ids."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from widenet.claims import Evidence, NotApplicable
from widenet.errors import UnknownName

if TYPE_CHECKING:
    import pandas as pd


class Answers(Mapping[str, "Evidence | NotApplicable"]):
    """Of each claim its evidence, or why it does not apply to your data, in the order of the papers."""

    def __init__(self, answers: Mapping[str, Evidence | NotApplicable]):
        """As `check_on` found them."""
        self._answers = dict(answers)

    def __getitem__(self, id: str) -> Evidence | NotApplicable:
        if id not in self._answers:
            raise KeyError(str(UnknownName("answer", id, self._answers)))
        return self._answers[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def applicable(self) -> dict[str, Evidence]:
        """The evidence of the claims that apply."""
        return {id: answer for id, answer in self._answers.items() if isinstance(answer, Evidence)}

    @property
    def not_applicable(self) -> dict[str, NotApplicable]:
        """Of the other claims, why they do not apply."""
        return {id: answer for id, answer in self._answers.items() if not isinstance(answer, Evidence)}

    def to_frame(self, part: str | None = None) -> "pd.DataFrame":
        """One row per claim: verdict, both sides of the closest run and a warning where even that is far from breaking
        the promise; or the reason why it does not apply.

        Arguments:
          part: the key of the part of the conclusion whose sides are shown; the headline if left out.

        Raises:
          UnknownName: a claim that applies has no such part.
        """
        import pandas as pd

        return pd.DataFrame([_row(id, answer, part) for id, answer in self.items()]).set_index("claim")

    def __repr__(self) -> str:
        verdicts = [str(answer.verdict) for answer in self.applicable.values()]
        counts = ", ".join(f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts))
        claims = "1 claim" if len(self) == 1 else f"{len(self)} claims"
        return f"<Answers: {claims}, {len(verdicts)} applicable{f' ({counts})' if counts else ''}>"


def _row(id: str, answer: Evidence | NotApplicable, key: str | None) -> dict[str, Any]:
    if not isinstance(answer, Evidence):
        return {"claim": id, "applies": False, "why": str(answer)}
    part = answer.headline if key is None else answer.part(key)
    return {
        "claim": id,
        "applies": True,
        "verdict": answer.verdict.value,
        "unmet": ", ".join(each.key for each in answer.hypotheses if not each.met),
        "quantity": part.quantity or part.name,
        "measured": part.measured,
        "promised": part.promised,
        "tightness": part.tightness,
        "median_tightness": part.median_tightness,
        "cases": part.n_cases,
        "warning": part.warning,
        "why": answer.note,
    }
