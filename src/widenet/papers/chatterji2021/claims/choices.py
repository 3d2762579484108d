"""A user's choices that claims of this paper cannot honour: settings carry a sentence about them, and notes show it."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from widenet.claims.specimen import Specimen


@runtime_checkable
class Runs(Protocol):
    """Finished runs; `unmet` says which choices they do not honour, or is empty."""

    @property
    def unmet(self) -> str:
        """The sentence."""
        ...


def noted(runs: Sequence[Runs], note: str = "") -> str:
    """The note of a claim, with what its runs do not honour after it."""
    return " ".join(filter(None, [note, *dict.fromkeys(run.unmet for run in runs)]))


def is_chosen(specimen: Specimen, name: str) -> bool:
    """Whether the user made this choice, as opposed to its default."""
    return name in specimen.choices.model_fields_set and getattr(specimen.choices, name) is not None


def other_width(specimen: Specimen, *widths: int, why: str) -> str:
    """What to say where the user chose a width and the networks have these."""
    if not is_chosen(specimen, "n_neurons") or widths == (specimen.choices.n_neurons,):
        return ""
    sizes = " and ".join(f"{width:,}" for width in widths)
    return f"These networks have {sizes} neurons, not n_neurons = {specimen.choices.n_neurons:,}: {why}."


def other_runs(specimen: Specimen, n_runs: int, why: str) -> str:
    """What to say where the user chose a number of runs and there are that many."""
    if not is_chosen(specimen, "n_runs") or n_runs == specimen.choices.n_runs:
        return ""
    there = "There is 1 run" if n_runs == 1 else f"There are {n_runs:,} runs"
    return f"{there}, not n_runs = {specimen.choices.n_runs:,}: {why}."


def sentences(*said: str) -> str:
    """Those that say something, in order."""
    return " ".join(filter(None, said))
