"""What the claims of this paper require of your data, and how they mention choices that they cannot honour."""

import numpy as np
from jaxtyping import Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.user_data import UserData

MOST_POINTS = 2000
"""Networks are looked at on the whole set; with more points that would take minutes."""
MOST_PAIRED = 100
"""All pairs of points are counted; with more of them that takes long."""
UNIT = 1e-6
"""Inputs whose norms are farther from 1 were not meant to be unit vectors."""
HARDLY = 2.5e-10
"""What rounding may add to the norm of a point of a cluster."""


def reason_in_inputs(user_data: UserData) -> NotApplicable | None:
    """Labels other than −1 and +1, inputs that are no unit vectors, and too many points are reasons."""
    if not set(user_data.classes) <= {-1.0, 1.0}:
        found = ", ".join(f"{label:g}" for label in user_data.classes[:5])
        return NotApplicable(f"It is about labels −1 and +1, and this data has the labels {found}.")
    if len(user_data.labels) > MOST_POINTS:
        return NotApplicable(f"All points are looked at together here, at most {MOST_POINTS} of them.")
    norms = _norms(user_data)
    if not np.abs(norms - 1).max() <= UNIT:
        return NotApplicable(f"It is about inputs of norm 1, and {_lengths_in_words(norms)}")
    return None


def reason_in_clusters(user_data: UserData) -> NotApplicable | None:
    """Two classes of unit vectors, four points at least, and not so many that their pairs take long."""
    if not user_data.has_signs_as_labels:
        found = ", ".join(f"{label:g}" for label in user_data.classes[:5])
        return NotApplicable(f"It is about two classes, −1 and +1, and this data has the labels {found}.")
    n = len(user_data.labels)
    if n < 4:
        return NotApplicable(f"It is about four clusters, so at least 4 points, and this data has {n}.")
    if n > MOST_PAIRED:
        return NotApplicable(f"All pairs of points are counted here, for at most {MOST_PAIRED} points, not {n}.")
    norms = _norms(user_data)
    if not np.abs(norms - 1).max() <= HARDLY:
        return NotApplicable(f"It is about inputs of norm 1, and {_lengths_in_words(norms)}")
    return None


def _norms(user_data: UserData) -> Float[np.ndarray, " point"]:
    with np.errstate(over="ignore"):
        return np.linalg.norm(user_data.inputs, axis=1)


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


def is_chosen(user_data: UserData, name: str) -> bool:
    """Whether the user made this choice, as opposed to its default."""
    return name in user_data.choices.model_fields_set and getattr(user_data.choices, name) is not None


def other_width(user_data: UserData, *widths: int, why: str) -> str:
    """What to say where the user chose a width and the networks have these."""
    if not is_chosen(user_data, "n_neurons") or widths == (user_data.choices.n_neurons,):
        return ""
    sizes = " and ".join(f"{width:,}" for width in widths)
    return f"These networks have {sizes} neurons, not n_neurons = {user_data.choices.n_neurons:,}: {why}."


def other_runs(user_data: UserData, n_runs: int, why: str) -> str:
    """What to say where the user chose a number of runs and there are that many."""
    if not is_chosen(user_data, "n_runs") or n_runs == user_data.choices.n_runs:
        return ""
    there = "There is 1 run" if n_runs == 1 else f"There are {n_runs:,} runs"
    return f"{there}, not n_runs = {user_data.choices.n_runs:,}: {why}."


def sentences(*said: str) -> str:
    """Those that say something, in order."""
    return " ".join(filter(None, said))
