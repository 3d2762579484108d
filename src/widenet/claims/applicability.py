"""What a claim says about your data: what to run there, or why it does not apply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class NotApplicable(str):
    """Why a claim does not apply to a data set, in one sentence."""

    __slots__ = ()


NOT_ABOUT_DATA = NotApplicable("It is about constructions or laws of its own, not about a data set.")


@dataclass(frozen=True, eq=False)
class Applied:
    """What to run on your data, where there is something to say about it.

    Attributes:
      settings: of the experiment, as without these words.
      note: sentences for the reader: how the rows were prepared, which choices are not used (`UserData.unused`).
      normalized: hypotheses, by key, that this preparation makes true, with what it did ("rows were divided by …").
    """

    settings: Any
    note: str = ""
    normalized: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def all_of(cls, several: Sequence[Any]) -> "Applied":
        """Of several experiments that one claim reads."""
        answers = [each if isinstance(each, cls) else cls(each) for each in several]
        return cls(
            tuple(each.settings for each in answers),
            " ".join(dict.fromkeys(each.note for each in answers if each.note)),
            {key: choice for each in answers for key, choice in each.normalized.items()},
        )
