"""Section 6.2: a network with zero training loss that is wrong on every test point, and one that SGD finds instead."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.formulas import printed_half_width
from widenet.papers.brutzkus2018.runs.memorization import memorize, outputs
from widenet.papers.brutzkus2018.runs.online import OnlineStart, train_online
from widenet.papers.brutzkus2018.runs.point_sets import PointSet, separable_set
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale


class BadGlobalSetting(ClosedModel):
    """Separable sets (n, d), half of each for training, at the k that Theorem 7 asks for on all points."""

    shapes: tuple[tuple[int, int], ...]
    slope: float = 0.2
    seed: int = 0


@dataclass(frozen=True, eq=False)
class BadGlobal:
    """Two networks on the same points.

    Attributes:
      built: y N(x) of the network that fits the training points and the test points with flipped labels.
      trained: y N(x) of the network that SGD finds on the training points.
      n_train: the first points are for training.
      dim, half_width, slope: d, k and α.
      smallest_margin: min y⟨w*, x⟩.
      fit_error: how closely the built network takes the values asked for, before its weights are doubled.
      trained_to_the_end: whether SGD had no update left to make.
    """

    built: Float[np.ndarray, " sample"]
    trained: Float[np.ndarray, " sample"]
    n_train: int
    dim: int
    half_width: int
    slope: float
    smallest_margin: float
    fit_error: float
    trained_to_the_end: bool


@dataclass(frozen=True, eq=False)
class BadGlobals:
    """What a setting leaves: one case per shape."""

    cases: tuple[BadGlobal, ...]


def build_and_train(
    points: PointSet, n_train: int, half_width: int, slope: float, draw: np.random.Generator
) -> BadGlobal:
    """Both networks. SGD starts under R = v = 1/√(2k)."""
    size = (2 * half_width) ** -0.5
    rows = draw.normal(size=(1, 2 * half_width, points.inputs.shape[1]))
    rows *= size / np.linalg.norm(rows, axis=2, keepdims=True)
    start = OnlineStart(points.inputs[:n_train], points.labels[None, :n_train], rows, 1.0, size, slope)
    runs = train_online(start)

    flipped = np.concatenate([points.labels[:n_train], -points.labels[n_train:]])
    found = memorize(draw, points.inputs, flipped[:, None], half_width, slope, random_draws=10)
    return BadGlobal(
        # Twice the weights give yN = 2: zero loss with room for rounding.
        built=points.labels * outputs(2 * found.weights[0], points.inputs, slope),
        trained=points.labels * outputs(size * runs.weights[0], points.inputs, slope),
        n_train=n_train,
        dim=points.inputs.shape[1],
        half_width=half_width,
        slope=slope,
        smallest_margin=points.smallest_margin,
        fit_error=found.error,
        trained_to_the_end=bool(runs.ended.all()),
    )


def run_bad_globals(setting: BadGlobalSetting, progress: Progress) -> BadGlobals:
    """Draw the sets of a setting, then build and train on each."""
    draw = np.random.default_rng([setting.seed, 62])
    sets = [separable_set(draw, n, dim, 10.0, 0.3) for n, dim in setting.shapes]
    cases = []
    for index, points in enumerate(over(sets, progress, "sets of points")):
        n_samples, dim = points.inputs.shape
        inner = np.random.default_rng([index, 62])
        cases.append(build_and_train(points, n_samples // 2, printed_half_width(n_samples, dim), setting.slope, inner))
    return BadGlobals(tuple(cases))


def bad_global_settings(scale: Scale, seed: int) -> list[BadGlobalSetting]:
    """A hundred points in twenty dimensions, and others."""
    shapes = ((200, 20), (120, 10)) if scale is Scale.QUICK else ((200, 20), (120, 10), (400, 20), (600, 30))
    return [BadGlobalSetting(shapes=shapes, seed=seed)]


bad_globals = Experiment("brutzkus2018.bad_globals", bad_global_settings, run_bad_globals, seconds=0.2)
