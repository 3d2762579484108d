"""What the claims of this paper require of your data, and how they mention choices that they cannot honour."""

import numpy as np
from jaxtyping import Float

from widenet.claims.silence import Silence
from widenet.claims.specimen import Specimen

MOST_POINTS = 2000
"""Networks are looked at on the whole set; with more points that would take minutes."""
MOST_PAIRED = 100
"""All pairs of points are counted; with more of them that takes long."""
UNIT = 1e-6
"""Inputs whose norms are farther from 1 were not meant to be unit vectors."""
HARDLY = 2.5e-10
"""What rounding may add to the norm of a point of a cluster."""


def silence_over_inputs(specimen: Specimen) -> Silence | None:
    """Labels other than −1 and +1, inputs that are no unit vectors, and too many points are reasons for silence."""
    if not set(specimen.classes) <= {-1.0, 1.0}:
        found = ", ".join(f"{label:g}" for label in specimen.classes[:5])
        return Silence(f"It is about labels −1 and +1, and this data has the labels {found}.")
    if len(specimen.labels) > MOST_POINTS:
        return Silence(f"All points are looked at together here, at most {MOST_POINTS} of them.")
    norms = _norms(specimen)
    if not np.abs(norms - 1).max() <= UNIT:
        return Silence(f"It is about inputs of norm 1, and {_lengths_in_words(norms)}")
    return None


def silence_over_clusters(specimen: Specimen) -> Silence | None:
    """Two classes of unit vectors, four points at least, and not so many that their pairs take long."""
    if not specimen.has_signs_as_labels:
        found = ", ".join(f"{label:g}" for label in specimen.classes[:5])
        return Silence(f"It is about two classes, −1 and +1, and this data has the labels {found}.")
    n = len(specimen.labels)
    if n < 4:
        return Silence(f"It is about four clusters, so at least 4 points, and this data has {n}.")
    if n > MOST_PAIRED:
        return Silence(f"All pairs of points are counted here, for at most {MOST_PAIRED} points, not {n}.")
    norms = _norms(specimen)
    if not np.abs(norms - 1).max() <= HARDLY:
        return Silence(f"It is about inputs of norm 1, and {_lengths_in_words(norms)}")
    return None


def _norms(specimen: Specimen) -> Float[np.ndarray, " point"]:
    with np.errstate(over="ignore"):
        return np.linalg.norm(specimen.inputs, axis=1)


def _lengths_in_words(norms: Float[np.ndarray, " point"]) -> str:
    """What to do about inputs that are no unit vectors."""
    error = float(np.abs(norms - 1).max())
    if error <= UNIT:
        return (
            f"these norms are 1 to {error:.0e} only. Divide every row by its norm once more, in float64, and ask again."
        )
    return (
        f"this data has norms from {norms.min():.3g} to {norms.max():.3g}. Divide every row by its norm and ask again."
    )


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
