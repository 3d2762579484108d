"""Full-batch gradient descent on the ReLU loss of many small problems of different sizes at once, in numpy.

Smaller problems are filled up with points of weight 0, coordinates 0 and neurons of vote 0, which change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.runs.bad_minima import antipodal_sets, as_start
from widenet.papers.brutzkus2018.runs.online import votes
from widenet.papers.brutzkus2018.runs.point_sets import PointSet, separable_set
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale

Problem = tuple[PointSet, np.ndarray]
"""A set and the weights (neuron, dim) that descent starts from."""
LOOK = 200
"""Steps between two reports of progress."""


class DescentSetting(ClosedModel):
    """Random small sets, one start on each.

    Attributes:
      antipodal: the sets are direction-antipodal; otherwise of one to eight points in up to three dimensions.
      n_problems: how many.
      largest_half_width: k is drawn up to this.
      max_steps: runs whose gradient is not 0 after so many steps have not ended.
    """

    antipodal: bool
    n_problems: int
    largest_half_width: int
    max_steps: int
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Descent:
    """Where gradient descent from each start ended.

    Attributes:
      margins: y N(x) of each run at each point; 1 at points that only fill up.
      any_on: whether some neuron is on there.
      n_samples, dim: of each problem.
      ended: whether the trainer found no point that moves a weight.
      gradient: the largest |entry| of the gradient at the end, computed apart from the trainer.
      smallest_margin, largest_norm, imbalance: of each set; see `PointSet`.
      steps: the most steps any run took.
    """

    margins: Float[np.ndarray, "run sample"]
    any_on: Bool[np.ndarray, "run sample"]
    n_samples: Int[np.ndarray, " run"]
    dim: Int[np.ndarray, " run"]
    ended: Bool[np.ndarray, " run"]
    gradient: Float[np.ndarray, " run"]
    smallest_margin: Float[np.ndarray, " run"]
    largest_norm: Float[np.ndarray, " run"]
    imbalance: Int[np.ndarray, " run"]
    steps: int

    @property
    def losses(self) -> Float[np.ndarray, " run"]:
        """L_S at the end."""
        return np.maximum(1 - self.margins, 0).sum(axis=1) / self.n_samples


@dataclass(eq=False)
class _Padded:
    """Problems of different sizes on common axes; `weights` move."""

    inputs: Float[np.ndarray, "run sample dim"]
    labels: Float[np.ndarray, "run sample"]
    shares: Float[np.ndarray, "run sample"]
    votes: Float[np.ndarray, "run neuron"]
    weights: Float[np.ndarray, "run neuron dim"]

    def select(self, runs: Bool[np.ndarray, " run"]) -> "_Padded":
        return _Padded(*(part[runs] for part in (self.inputs, self.labels, self.shares, self.votes, self.weights)))

    def look(self) -> tuple[Bool[np.ndarray, "run neuron sample"], Float[np.ndarray, "run sample"]]:
        """Which neurons are on where, and yN(x)."""
        z = self.weights @ self.inputs.transpose(0, 2, 1)
        on = (z > 0) & (self.votes != 0)[:, :, None]
        return on, self.labels * np.einsum("rn,rns->rs", self.votes, np.where(on, z, 0))


def descend(
    problems: Sequence[Problem], progress: Progress, *, step_size: float = 0.05, max_steps: int = 6000
) -> Descent:
    """Gradient descent from each W until its gradient is exactly 0, with σ'(0) = 0 and v = 1.

    A negative `step_size` climbs, for a control.
    """
    padded = _pad(problems)
    real = padded.shares > 0
    margins, any_on = np.ones(real.shape), np.zeros(real.shape, bool)
    final = padded.weights.copy()
    alive, steps = np.arange(len(problems)), 0
    while True:
        on, margin = padded.look()
        margins[alive], any_on[alive] = np.where(real[alive], margin, 1.0), on.any(axis=1)
        final[alive] = padded.weights
        pull = np.where((margin < 1) & (padded.shares > 0), padded.shares * padded.labels, 0.0)
        moving = ((pull != 0) & on.any(axis=1)).any(axis=1)
        if not moving.all():
            alive, padded, on, pull = alive[moving], padded.select(moving), on[moving], pull[moving]
        if not len(alive) or steps == max_steps:
            break
        padded.weights += step_size * padded.votes[:, :, None] * ((on * pull[:, None, :]) @ padded.inputs)
        steps += 1
        if steps % LOOK == 0:
            progress(1 - len(alive) / len(problems), "runs of gradient descent that ended")
    sets = [points for points, _ in problems]
    return Descent(
        margins,
        any_on,
        np.array([len(points.labels) for points in sets]),
        np.array([points.inputs.shape[1] for points in sets]),
        ~np.isin(np.arange(len(problems)), alive),
        np.array([_gradient(problem, weights) for problem, weights in zip(problems, final, strict=True)]),
        np.array([points.smallest_margin for points in sets]),
        np.array([points.largest_norm for points in sets]),
        np.array([points.imbalance for points in sets]),
        steps,
    )


def _pad(problems: Sequence[Problem]) -> _Padded:
    sizes = np.array([(len(points.labels), *weights.shape) for points, weights in problems])
    n_samples, n_neurons, dim = sizes.max(axis=0)
    count = len(problems)
    padded = _Padded(
        np.zeros((count, n_samples, dim)),
        np.ones((count, n_samples)),
        np.zeros((count, n_samples)),
        np.zeros((count, n_neurons)),
        np.zeros((count, n_neurons, dim)),
    )
    for index, (points, weights) in enumerate(problems):
        n, neurons, width = sizes[index].tolist()
        padded.inputs[index, :n, :width] = points.inputs
        padded.labels[index, :n] = points.labels
        padded.shares[index, :n] = 1 / n
        padded.votes[index, :neurons] = votes(neurons // 2)
        padded.weights[index, :neurons, :width] = weights
    return padded


def _gradient(problem: Problem, padded_weights: Float[np.ndarray, "padded_neuron padded_dim"]) -> float:
    points, (neurons, dim) = problem[0], problem[1].shape
    return float(np.abs(as_start(points, neurons // 2).gradient(padded_weights[None, :neurons, :dim])).max())


def problems_of(setting: DescentSetting) -> list[Problem]:
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


def _with_weights(draw: np.random.Generator, points: PointSet, most: int) -> Problem:
    half = int(draw.integers(1, most + 1))
    return points, draw.normal(size=(2 * half, points.inputs.shape[1]))


def run_descent(setting: DescentSetting, progress: Progress) -> Descent:
    """Descend on the problems of a setting."""
    return descend(problems_of(setting), progress, max_steps=setting.max_steps)


def general_settings(scale: Scale, seed: int) -> list[DescentSetting]:
    """Separable sets of every kind."""
    count = 300 if scale is Scale.QUICK else 3000
    return [DescentSetting(antipodal=False, n_problems=count, largest_half_width=2, max_steps=20_000, seed=seed)]


def antipodal_settings(scale: Scale, seed: int) -> list[DescentSetting]:
    """The sets of `bad_minima.antipodal_settings`."""
    count = 400 if scale is Scale.QUICK else 3000
    return [DescentSetting(antipodal=True, n_problems=count, largest_half_width=3, max_steps=6000, seed=seed)]


descent = Experiment("brutzkus2018.descent", general_settings, run_descent, seconds=0.3)
