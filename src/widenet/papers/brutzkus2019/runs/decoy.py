"""A network that has zero loss on diverse points of XORD and is wrong elsewhere (Section 5)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Number
from widenet.claims.user_data import UserData
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.runs.outputs import on_sets
from widenet.papers.brutzkus2019.sources import PAIR, TrainingSet
from widenet.papers.brutzkus2019.user_data import points_of
from widenet.records import Scale

DECOY = np.stack([3 * PATTERNS[0], 3 * PATTERNS[0], PATTERNS[1], PATTERNS[1]])
"""w = 3p_1, 3p_1 and u = p_2, p_2."""


@dataclass(frozen=True, eq=False)
class Decoy(Cases):
    """A network on the 15 pattern sets, beside a training set."""

    rows = "set"

    points: TrainingSet  #: the training set
    margin: Number  #: γ
    outputs: Float[np.ndarray, " set"]  #: N


def decoy_on(points: TrainingSet = PAIR, margin: float = 8.0, filters: Float[np.ndarray, "channel 2"] = DECOY) -> Decoy:
    """The decoy, or another network, beside this training set and γ."""
    return Decoy(points, margin, on_sets(filters))


def decoy(scale: Scale, seed: int) -> Decoy:
    """The decoy beside the smallest training set of diverse points; nothing of it is drawn."""
    return decoy_on()


def decoy_for(user_data: UserData) -> Applied | NotApplicable:
    """The decoy on the user's training points."""
    points, choices = points_of(user_data), user_data.choices
    if isinstance(points, NotApplicable):
        return points
    untrained = ("n_runs", "step_size", "init_scale", "max_updates")
    fixed: dict[str, str] = dict.fromkeys(untrained, "one network is given, and not trained")
    if choices.n_neurons != len(DECOY):
        fixed["n_neurons"] = f"the network has {len(DECOY)} neurons"
    return Applied(
        decoy_on(points, choices.required_margin), user_data.unused({**fixed, "slope": "the network has ReLU"})
    )
