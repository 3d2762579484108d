"""Full-batch gradient descent on the ReLU loss of many small problems of different sizes at once.

Smaller problems are filled up with points of weight 0, coordinates 0 and neurons of vote 0, which change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, column
from widenet.claims.experiments import Experiment
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.relu_sources import PointSet, separable_set
from widenet.papers.brutzkus2018.runs.bad_minima import antipodal_sets, as_start
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training.small import SmallNetworks, train_small

StartedSet = tuple[PointSet, np.ndarray]
"""A set and the weights (neuron, dim) that descent starts from."""


class SmallSetDescentSetting(ClosedModel):
    """Random small sets, one start on each."""

    antipodal: bool  #: the sets are direction-antipodal; otherwise of one to eight points in up to three dimensions
    n_problems: int  #: how many
    largest_half_width: int  #: k is drawn up to this
    max_steps: int  #: runs whose gradient is not 0 after so many steps have not ended
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Descent(Cases):
    """Where gradient descent from each start ended."""

    margins: Float[np.ndarray, "run sample"]  #: y N(x) at each point; 1 at points that only fill up
    any_on: Bool[np.ndarray, "run sample"]  #: whether some neuron is on there
    n_samples: Int[np.ndarray, " run"]  #: n
    dim: Int[np.ndarray, " run"]  #: d
    ended: Bool[np.ndarray, " run"]  #: whether the trainer found no point that moves a weight
    gradient: Float[np.ndarray, " run"]  #: the largest |entry| of the gradient at the end, apart from the trainer
    smallest_margin: Float[np.ndarray, " run"]  #: min y⟨w*, x⟩
    largest_input: Float[np.ndarray, " run"]  #: max ‖x‖
    imbalance: Int[np.ndarray, " run"]  #: see `PointSet`
    steps: Count  #: the most steps any run took

    @column
    def losses(self) -> Float[np.ndarray, " run"]:
        """L_S at the end."""
        return np.maximum(1 - self.margins, 0).sum(axis=1) / self.n_samples


def descend(
    problems: Sequence[StartedSet], progress: Progress, *, step_size: float = 0.05, max_steps: int = 6000
) -> Descent:
    """Gradient descent from each W until its gradient is exactly 0, with σ'(0) = 0 and v = 1.

    A negative `step_size` climbs, for a control.
    """
    networks, inputs, labels, shares = _pad(problems)
    trained = train_small(
        networks,
        inputs,
        labels,
        step_size=step_size,
        max_updates=max_steps,
        order=None,
        shares=shares,
        progress=progress,
    )
    on = (trained.networks.preactivations(inputs) > 0) & (networks.output != 0)[:, None, :]
    final = trained.networks.hidden
    sets = [points for points, _ in problems]
    return Descent(
        np.where(shares > 0, trained.margins, 1.0),
        on.any(axis=2),
        np.array([len(points.labels) for points in sets]),
        np.array([points.inputs.shape[1] for points in sets]),
        trained.ended,
        np.array([_gradient(problem, weights) for problem, weights in zip(problems, final, strict=True)]),
        np.array([points.smallest_margin for points in sets]),
        np.array([points.largest_norm for points in sets]),
        np.array([points.imbalance for points in sets]),
        int(trained.updates.max(initial=0)),
    )


def _pad(problems: Sequence[StartedSet]) -> tuple[SmallNetworks, np.ndarray, np.ndarray, np.ndarray]:
    """Networks, inputs, labels and the weights of the samples, on common axes."""
    sizes = np.array([(len(points.labels), *weights.shape) for points, weights in problems])
    n_samples, n_neurons, dim = sizes.max(axis=0)
    count = len(problems)
    inputs, shares, hidden = (np.zeros((count, *shape)) for shape in ((n_samples, dim), (n_samples,), (n_neurons, dim)))
    labels, output = np.ones(shares.shape), np.zeros(hidden.shape[:2])
    for index, (points, weights) in enumerate(problems):
        n, neurons, width = sizes[index].tolist()
        inputs[index, :n, :width] = points.inputs
        labels[index, :n] = points.labels
        shares[index, :n] = 1 / n
        output[index, :neurons] = plus_minus_weights(neurons // 2)
        hidden[index, :neurons, :width] = weights
    return SmallNetworks(hidden, output), inputs, labels, shares


def _gradient(problem: StartedSet, padded_weights: Float[np.ndarray, "padded_neuron padded_dim"]) -> float:
    points, (neurons, dim) = problem[0], problem[1].shape
    return float(np.abs(as_start(points, neurons // 2).gradient(padded_weights[None, :neurons, :dim])).max())


def problems_of(setting: SmallSetDescentSetting) -> list[StartedSet]:
    """The sets of a setting, each with Gaussian weights."""
    draw = np.random.default_rng([setting.seed, 73 if setting.antipodal else 72])
    if setting.antipodal:
        sets = antipodal_sets(draw, setting.n_problems)
        return [_with_weights(draw, points, setting.largest_half_width) for points in sets]
    return [
        _with_weights(
            draw,
            separable_set(draw, int(draw.integers(1, 9)), int(draw.integers(1, 4))),
            setting.largest_half_width,
        )
        for _ in range(setting.n_problems)
    ]


def _with_weights(draw: np.random.Generator, points: PointSet, most: int) -> StartedSet:
    half = int(draw.integers(1, most + 1))
    return points, draw.normal(size=(2 * half, points.inputs.shape[1]))


def run_descent(setting: SmallSetDescentSetting, progress: Progress) -> Descent:
    """Descend on the problems of a setting."""
    return descend(problems_of(setting), progress, max_steps=setting.max_steps)


def general_settings(scale: Scale, seed: int) -> list[SmallSetDescentSetting]:
    """Separable sets of every kind."""
    count = 300 if scale is Scale.QUICK else 3000
    return [
        SmallSetDescentSetting(antipodal=False, n_problems=count, largest_half_width=2, max_steps=20_000, seed=seed)
    ]


def antipodal_settings(scale: Scale, seed: int) -> list[SmallSetDescentSetting]:
    """The sets of `bad_minima.antipodal_settings`."""
    count = 400 if scale is Scale.QUICK else 3000
    return [SmallSetDescentSetting(antipodal=True, n_problems=count, largest_half_width=3, max_steps=6000, seed=seed)]


descent = Experiment("brutzkus2018.descent", general_settings, run_descent, seconds=0.3)
