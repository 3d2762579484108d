"""A user's choices that claims of this paper cannot honour: settings carry a sentence about them, and notes show it."""

from collections.abc import Sequence
from typing import Any

from widenet.papers.chatterji2021.specimens import other_runs, other_width, sentences

__all__ = ["noted", "other_runs", "other_width", "sentences"]


def noted(runs: Sequence[Any], note: str = "") -> str:
    """The note of a claim, with what its runs do not honour after it."""
    return " ".join(filter(None, [note, *dict.fromkeys(run.unmet for run in runs)]))
