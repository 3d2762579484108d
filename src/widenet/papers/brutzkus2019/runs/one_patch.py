"""XOR beside XORD with one patch (footnote 3): the same starts, each with its own loss, followed step by step.

XOR is trained here as Section 3 writes it, on the sum of four hinges and without patches or pooling; XORD is the
gradient descent of `xord_descent`, on the means of its two classes.
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases, Number, column
from widenet.claims.experiments import Experiment
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2019.formulas import largest_deviation
from widenet.papers.brutzkus2019.runs.outputs import outputs
from widenet.papers.brutzkus2019.runs.xord_descent import XordRuns, descend
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.training.small import SmallNetworks, Update, train_small
from widenet.types import Dataset

Weights = Float[np.ndarray, " time run channel 2"]
Margins = Float[np.ndarray, " time run 4"]
LABELS_OF_XORD = np.where((XOR_POINTS == 1).all(axis=1) | (XOR_POINTS == -1).all(axis=1), 1.0, -1.0)
"""f* for d = 1: +1 where (1, 1) or (−1, −1) occurs."""


class OnePatchSetting(ClosedModel):
    """Networks of XOR: k, c_η (the step is c_η/k), and how many times that step XORD takes."""

    half_width: int
    step_constant: float = 0.1
    step_ratio: float = 2.0
    n_runs: int = 20
    seed: int = 0


@dataclass(frozen=True, eq=False)
class OnePatch(Cases):
    """Both trajectories at every t, until nothing moves."""

    step_constant: Number  #: c_η
    step_ratio: Number  #: how many times the step of XOR that of XORD is
    xor_labels: Float[np.ndarray, " 4"]  #: y_i of XOR, on the four points
    xord_labels: Float[np.ndarray, " 4"]  #: f* for d = 1
    xor_weights: Weights  #: the filters, the w's before the u's
    xord_weights: Weights
    xor_outputs: Margins  #: N on the four points
    xord_outputs: Margins

    @column
    def half_width(self) -> int:
        """k."""
        return self.xor_weights.shape[2] // 2

    @column
    def unfinished(self) -> Bool[np.ndarray, " run"]:
        """The runs that still move when the record ends."""
        return np.any(self.xord_weights[-1] != self.xord_weights[-2], axis=(1, 2))

    @column
    def xor_loss(self) -> Float[np.ndarray, " time run"]:
        """ℓ: the sum of the four hinges."""
        return np.maximum(1 - self.xor_labels * self.xor_outputs, 0).sum(axis=2)

    @column
    def xord_loss(self) -> Float[np.ndarray, " time run"]:
        """The means over the positive and over the negative points, added; γ = 1."""
        hinges = np.maximum(1 - self.xord_labels * self.xord_outputs, 0)
        return hinges[..., self.xord_labels > 0].mean(axis=2) + hinges[..., self.xord_labels < 0].mean(axis=2)


def beside(
    filters: Float[np.ndarray, "run channel 2"],
    step_constant: float,
    step_ratio: float = 2.0,
    progress: Progress = silent,
) -> OnePatch:
    """Both problems from these filters; XORD takes `step_ratio` times the step of XOR."""
    step_size = step_constant / (filters.shape[1] // 2)
    data = Dataset(jnp.asarray(XOR_POINTS), jnp.asarray(LABELS_OF_XORD))
    xord = descend(XordRuns(data, filters, step_ratio * step_size, 1.0))
    moving = np.flatnonzero(np.any(xord[1:] != xord[:-1], axis=(1, 2, 3)))
    xord = xord[: int(moving.max(initial=0)) + 3]
    progress(0.5, "XORD")
    xor = _descend_xor(filters, step_size, len(xord))
    progress(1.0, "XOR")
    on_points = (np.stack([outputs(path, x) for x in XOR_POINTS], axis=-1) for path in (xor, xord))
    return OnePatch(step_constant, step_ratio, XOR_LABELS, LABELS_OF_XORD, xor, xord, *on_points)


def _descend_xor(
    filters: Float[np.ndarray, "run channel 2"], step_size: float, length: int
) -> Float[np.ndarray, " time run channel 2"]:
    """Gradient descent on ℓ = Σ_i max(1 − y_i N(x_i), 0), N(x) = Σσ(⟨w, x⟩) − Σσ(⟨u, x⟩)."""
    n_runs, n_filters, _ = filters.shape
    networks = SmallNetworks(filters, np.tile(plus_minus_weights(n_filters // 2), (n_runs, 1)))
    path = np.tile(filters, (length, 1, 1, 1))

    def keep(update: Update) -> None:
        path[update.updates, update.runs] = update.networks.hidden

    trained = train_small(
        networks,
        XOR_POINTS,
        np.tile(XOR_LABELS, (n_runs, 1)),
        step_size=step_size,
        max_updates=length - 1,
        order=None,
        shares=np.ones((n_runs, len(XOR_POINTS))),
        watch=keep,
    )
    for run, last in enumerate(trained.updates):
        path[last:, run] = path[last, run]
    return path


def run_one_patch(setting: OnePatchSetting, progress: Progress) -> OnePatch:
    """Gaussian filters of the largest σ_g that XOR allows."""
    draw = np.random.default_rng([setting.seed, setting.half_width, setting.n_runs, 3])
    deviation = largest_deviation(setting.step_constant, setting.half_width)
    filters = draw.normal(0, deviation, (setting.n_runs, 2 * setting.half_width, 2))
    return beside(filters, setting.step_constant, setting.step_ratio, progress)


def _settings(scale: Scale, seed: int) -> list[OnePatchSetting]:
    n_runs = 20 if scale is Scale.QUICK else 200
    return [OnePatchSetting(half_width=half_width, n_runs=n_runs, seed=seed) for half_width in (2, 17)]


one_patch = Experiment("brutzkus2019.one_patch", _settings, run_one_patch, seconds=1.0)
