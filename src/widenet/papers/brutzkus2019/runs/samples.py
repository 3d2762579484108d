"""Training sets drawn from a law of XORD points, and networks trained on them: each run has its own."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, SET_LABELS, Xord, make_xord, set_index
from widenet.papers.brutzkus2019.claims.start import draw_filters
from widenet.papers.brutzkus2019.formulas import SMALL_NET_STEP, largest_deviation
from widenet.papers.brutzkus2019.runs.trained import as_networks
from widenet.training import on_grid, train_patterns
from widenet.types import RunStatus

HARD_SETS = ((2,), (4,), (1, 2, 4), (2, 3, 4))
"""A_1, …, A_4."""


def example_law(diverse_positive: float, diverse_negative: float, n_patches: int = 4) -> Xord:
    """The law of the examples: p* = min{(1 − p₊)/4, (1 − p₋)/4}."""
    return make_xord(n_patches, diverse_positive, diverse_negative, HARD_SETS)


def diverse_shares(law: Xord) -> tuple[float, float]:
    """p₊ and p₋: how often a positive, and a negative, point is diverse."""
    weights = np.asarray(law.probabilities)
    positive, negative = weights[SET_LABELS > 0].sum(), weights[SET_LABELS < 0].sum()
    return float(weights[DIVERSE_POSITIVE] / positive), float(weights[DIVERSE_NEGATIVE] / negative)


def smallest_hard_share(law: Xord) -> float:
    """p* = min_i P[P_x = A_i]."""
    return float(np.asarray(law.probabilities)[[set_index(*patterns) for patterns in HARD_SETS]].min())


@dataclass(frozen=True, eq=False)
class Samples:
    """Networks trained on training sets drawn from a law, each on its own.

    Attributes:
      law, delta: the distribution, and δ.
      per_class: training points of each class.
      half_width, step_size, required_margin: k, η, γ.
      start: the initial filters.
      counts: how often each pattern set occurs in each training set.
      outputs, loss, status: N on the 15 sets, ℓ and the status at the end.
    """

    law: Xord
    delta: float
    per_class: int
    half_width: int
    step_size: float
    required_margin: float
    start: Float[np.ndarray, "run filter 2"]
    counts: Int[np.ndarray, "run 15"]
    outputs: Float[np.ndarray, "run 15"]
    loss: Float[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]

    @property
    def zero_loss(self) -> Bool[np.ndarray, " run"]:
        """Whether the loss is exactly 0."""
        return (self.status == RunStatus.CONVERGED) & (self.loss == 0)

    @property
    def test_error(self) -> Float[np.ndarray, " run"]:
        """Exact, a sum over the 15 sets; an output of 0 is wrong."""
        return np.asarray(self.law.error(jnp.asarray(self.outputs)))


def draw_counts(seed: int, n_runs: int, law: Xord, per_class: int) -> Int[np.ndarray, "run 15"]:
    """How often each pattern set occurs among m positive and m negative points, for every run."""
    draw, weights = np.random.default_rng([seed, per_class, 15]), np.asarray(law.probabilities)
    parts = [np.where(label == SET_LABELS, weights, 0.0) for label in (1, -1)]
    return np.sum([draw.multinomial(per_class, part / part.sum(), n_runs) for part in parts], axis=0)


def train_on_samples(
    seed: int,
    n_runs: int,
    law: Xord,
    delta: float,
    per_class: int,
    *,
    half_width: int = 2,
    step_constant: float = SMALL_NET_STEP,
    required_margin: float = 8.0,
    max_steps: int = 6000,
) -> Samples:
    """Every run draws its own points, `per_class` of each label, and its own filters.

    Only pattern sets matter, so points are drawn as counts of sets, which are multinomial.
    """
    counts = draw_counts(seed, n_runs, law, per_class)
    filters = draw_filters(seed, n_runs, half_width, largest_deviation(step_constant, half_width), per_class)
    networks, steps = on_grid(as_networks(filters), counts, np.full(n_runs, step_constant / half_width * (1 - 1e-6)))
    run = train_patterns(networks, counts, steps, margin=required_margin, max_steps=max_steps, patience=None)
    return Samples(
        law,
        delta,
        per_class,
        half_width,
        float(steps.max()),
        required_margin,
        np.asarray(networks.filters),
        counts,
        run.outputs,
        run.loss,
        run.status,
    )
