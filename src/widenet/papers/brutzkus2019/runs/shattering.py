"""Which labellings of pattern sets the networks of Remark 4.1 realize, by linear programs in eight features.

A filter w has positive fits with two neighbouring patterns a and b (in the cycle p_1, p_2, p_3, p_4), say M ≥ m, and
answers (M − m)·1[a ∈ A] + m·1[A meets {a, b}] on a point with pattern set A. So N is linear in eight features of A.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float, Int

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.data.xord import PATTERN_SETS, PATTERNS, set_index
from widenet.progress import Progress, over, silent
from widenet.records import ClosedModel, Scale

FEATURES = np.concatenate([PATTERN_SETS, PATTERN_SETS | np.roll(PATTERN_SETS, -1, axis=1)], axis=1).astype(float)
"""(set, 8): 1[i ∈ A] for i = 1, …, 4, then 1[A meets {i, i + 1}]."""
SHATTERED = tuple(set_index(*held) for held in ((1,), (2,), (3,), (4,), (1, 2), (2, 3), (3, 4), (1, 4)))
"""The eight sets with one or two neighbouring patterns: their features are independent."""
SOLVED, INFEASIBLE = 0, 2
"""What `scipy.optimize.linprog` answers when it is sure; anything else is a failed search."""


class ShatteringSetting(ClosedModel):
    """Pattern sets by their place among the 15, and how many random filters are asked for their answers."""

    sets: tuple[int, ...] = SHATTERED
    n_filters: int = 200
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Shattering(Cases):
    """Every labelling of some pattern sets, up to its sign, and coefficients that realize it.

    A labelling and its opposite stand or fall together: exchange the w's and the u's. So the first label is always +1.
    """

    rows = "labelling"

    sets: Int[np.ndarray, " set"]  #: the pattern sets by their place among the 15
    filters: Float[np.ndarray, "filter 2"]  #: random filters, whose answers must lie in the span of the features
    labellings: Float[np.ndarray, "labelling set"]  #: one row of labels ±1 per labelling
    coefficients: Float[np.ndarray, "labelling 8"]  #: y·⟨coefficients, features⟩ ≥ 1; NaN where none were found
    status: Int[np.ndarray, " labelling"]  #: of the linear program: `SOLVED`, `INFEASIBLE`, or a failed search

    def counts(self) -> dict[str, int]:
        """Every labelling and its opposite."""
        return {"tried": 2 * len(self), "diverged": 0, "unfinished": 0}


def shatter(sets: Sequence[int], filters: Float[np.ndarray, "filter 2"], progress: Progress = silent) -> Shattering:
    """Look for coefficients for every labelling of these sets."""
    labellings = [(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=len(sets) - 1)]
    coefficients, status = np.full((len(labellings), 8), np.nan), np.empty(len(labellings), int)
    for number, labels in enumerate(over(labellings, progress, "labellings")):
        rows = np.asarray(labels)[:, None] * FEATURES[list(sets)]
        found = scipy.optimize.linprog(
            np.zeros(8), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None), method="highs"
        )
        status[number] = found.status
        if found.status == SOLVED:
            coefficients[number] = found.x
    return Shattering(np.array(sets), filters, np.array(labellings), coefficients, status)


def run_shattering(setting: ShatteringSetting, progress: Progress) -> Shattering:
    """The labellings of a setting, with its random filters."""
    filters = np.random.default_rng([setting.seed, 8]).normal(size=(setting.n_filters, 2))
    return shatter(setting.sets, filters, progress)


def _settings(scale: Scale, seed: int) -> list[ShatteringSetting]:
    return [ShatteringSetting(seed=seed)]


shatterings = Experiment("brutzkus2019.shatterings", _settings, run_shattering, seconds=0.5)


DIRECTIONS = np.concatenate([PATTERNS, PATTERNS + np.roll(PATTERNS, -1, axis=0)])
"""A filter c·direction answers 2c·feature."""


Coefficients = Float[np.ndarray, "*labelling 8"]


def network_for(coefficients: Coefficients) -> Float[np.ndarray, "*labelling 16 2"]:
    """Eight w's and eight u's whose network is Σ coefficient·feature on every pattern set."""
    plus, minus = np.maximum(coefficients, 0) / 2, np.maximum(-coefficients, 0) / 2
    return np.concatenate([plus[..., None] * DIRECTIONS, minus[..., None] * DIRECTIONS], axis=-2)
