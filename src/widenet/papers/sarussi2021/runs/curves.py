"""Batch-1 SGD on the exact kernels, epoch by epoch: how neurons of one sign cluster and agree."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float

from widenet.claims.experiments import Experiment
from widenet.diagnostics.agreement import most_disagreements, right_share
from widenet.diagnostics.agreement_program import separate, solve_perfect_agreement
from widenet.diagnostics.sign_clusters import (
    cluster_radius,
    cluster_ratio,
    mean_difference,
    nonlinear_share,
    widest_angle,
)
from widenet.losses import logistic
from widenet.networks import TwoLayer
from widenet.networks.activations import PiecewiseLinear
from widenet.networks.arrays import leaky, plus_minus_weights
from widenet.networks.two_layer import plus_minus
from widenet.papers.sarussi2021.formulas import sharp_factor
from widenet.papers.sarussi2021.sources import DigitPair, OutlierCloud, PointsSetting, PointsSource, TwoGaussians
from widenet.progress import Progress
from widenet.records import Scale
from widenet.training import SGD, Recipe, Record, ensemble
from widenet.types import Dataset


class ClusteringSetting(PointsSetting):
    """Runs of SGD, each on points of its own seed.

    Attributes:
      deviation: of the entries of W_0.
      looks: epochs after which the weights are looked at.
      shown: the look of which the weights are kept, in the plane; the last one if left out.
      data_seed: all runs share the points of this seed; None draws others for every run.
    """

    deviation: float
    n_runs: int
    looks: tuple[int, ...]
    shown: int | None = None
    half_width: int = 50
    output_weight: float = 0.1
    slope: float = 0.1
    step_size: float = 0.01
    data_seed: int | None = None
    seed: int = 0


def run_curves(setting: ClusteringSetting, progress: Progress) -> xr.Dataset:
    """Train the runs of a setting and measure them at every look."""
    seeds = [1000 * setting.seed + run for run in range(setting.n_runs)]
    shared = setting.data_seed is not None
    sets = [all_points(setting.points, seed) for seed in (seeds if setting.data_seed is None else [setting.data_seed])]
    n, slope = n_training(setting.points), setting.slope
    inputs, labels = np.stack([each[0][:n] for each in sets]), np.stack([each[1][:n] for each in sets])
    k, dim = setting.half_width, inputs.shape[2]
    start = setting.deviation * np.stack([start_rows(seed, k, dim) for seed in seeds])
    data = (inputs[0], labels[0]) if shared else (inputs, labels)
    weights = trained(
        data,
        start,
        seeds,
        setting.output_weight,
        np.full(len(seeds), slope),
        setting.step_size,
        setting.looks,
        progress,
    )
    own = sets * len(seeds) if shared else sets
    rows = [measured(each, points, n, slope) for each, points in zip(weights, own, strict=True)]
    numbers = xr.Dataset(
        {name: (("run", "epoch"), np.stack([row[name] for row in rows])) for name in rows[0]},
        coords={"epoch": list(setting.looks)},
    )
    repeats = len(seeds) // len(sets)
    norms = [separate(x, y).norm_upper for x, y in zip(inputs, labels, strict=True)]
    numbers["separator_norm"] = ("run", np.repeat(norms, repeats))
    if dim == 2:
        look = setting.looks.index(setting.looks[-1] if setting.shown is None else setting.shown)
        numbers["weights"] = (("run", "neuron", "dim"), weights[:, look])
        numbers["inputs"] = (("run", "point", "dim"), np.repeat(inputs, repeats, axis=0))
        numbers["labels"] = (("run", "point"), np.repeat(labels, repeats, axis=0))
        solved = [solve_perfect_agreement(x, y, slope).solution for x, y in zip(inputs, labels, strict=True)]
        numbers["predicted"] = (("run", "pair"), np.repeat(np.stack(solved), repeats, axis=0))
    return numbers.assign_attrs(setting.model_dump(exclude={"points", "looks"}, exclude_none=True))


def all_points(points: PointsSource, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The training points, and behind them the test points where there are any."""
    return points.draw_all(seed) if isinstance(points, DigitPair | TwoGaussians) else points.draw(seed)


def n_training(points: PointsSource) -> int:
    """How many of them are for training."""
    return points.n_samples if isinstance(points, DigitPair) else len(points.draw(0)[1])


def start_rows(seed: int, half_width: int, dim: int) -> np.ndarray:
    """W_0 of deviation 1."""
    return np.random.default_rng([seed, 1]).normal(size=(2 * half_width, dim))


def trained(
    data: tuple[np.ndarray, np.ndarray],
    start: Float[np.ndarray, "run both dim"],
    seeds: Sequence[int],
    output_weight: float,
    slopes: Float[np.ndarray, " run"],
    step_size: float | Float[np.ndarray, " run"],
    looks: Sequence[int],
    progress: Progress,
) -> Float[np.ndarray, "run look both dim"]:
    """The weights at every look; `data` are shared, or have a leading axis of runs."""
    n = data[1].shape[-1]
    networks = TwoLayer(
        jnp.asarray(start),
        jnp.tile(plus_minus(start.shape[1], output_weight), (len(start), 1)),
        None,
        PiecewiseLinear(jnp.asarray(slopes), jnp.asarray(slopes)),
    )
    done = ensemble(
        networks,
        Dataset(jnp.asarray(data[0]), jnp.asarray(data[1])),
        Recipe(logistic, SGD(jnp.asarray(np.broadcast_to(step_size, len(start)))), n * looks[-1]),
        jax.vmap(jax.random.key)(jnp.asarray(seeds)),
        record=Record(tuple(n * look for look in looks), {"weights": _weights}),
        progress=progress,
    )
    return np.asarray(done.records["weights"])


def _weights(seen):
    return seen.network.hidden_weights


def measured(
    weights: Float[np.ndarray, "look both dim"], points: tuple[np.ndarray, np.ndarray], n: int, slope: float
) -> dict[str, np.ndarray]:
    """Everything the figures show, at every look; the first n points are those of the training."""
    k, (inputs, labels) = weights.shape[1] // 2, points
    plus, minus, train, signs = weights[:, :k], weights[:, k:], inputs[:n], labels[:n]
    difference = mean_difference(plus, minus)
    radius = np.maximum(cluster_radius(plus), cluster_radius(minus))
    products = weights @ train.T
    outputs = plus_minus_weights(k) @ leaky(products, slope)
    return {
        "nonlinear": nonlinear_share(difference, radius, inputs),
        "nonlinear_sharp": nonlinear_share(difference, radius, inputs, float(sharp_factor(slope))),
        "radius": radius,
        "ratio": cluster_ratio(plus, minus),
        "angle": np.maximum(widest_angle(plus), widest_angle(minus)),
        "train_error": (signs * outputs <= 0).mean(axis=1),
        "plus_right": right_share(plus, train, signs),
        "minus_right": right_share(minus, train, -signs),
        "plus_differ": most_disagreements(plus, train),
        "minus_differ": most_disagreements(minus, train),
    }


def small_start(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """Figures 1 and 3: two Gaussians in the plane, from small weights."""
    runs, looks = (4, (0, 1, 10, 100, 300, 1000)) if scale is Scale.QUICK else (12, (0, 1, 10, 100, 300, 1000, 2000))
    return [ClusteringSetting(points=TwoGaussians(), deviation=1e-3, n_runs=runs, looks=looks, seed=seed)]


def large_start(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """Figure 1: the same from large weights."""
    runs, looks = (4, (0, 1, 10, 100, 300, 1000)) if scale is Scale.QUICK else (12, (0, 1, 10, 100, 300, 1000, 2000))
    return [ClusteringSetting(points=TwoGaussians(), deviation=30.0, n_runs=runs, looks=looks, seed=seed)]


def high_dimension(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """Figure 8: 400 points of two Gaussians in R^50."""
    points = TwoGaussians(n_samples=400, mean=(4.0, *(0.0,) * 49), least_margin=1.0)
    looks = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
    runs = 5 if scale is Scale.QUICK else 10
    return [
        ClusteringSetting(points=points, deviation=1e-2, n_runs=runs, looks=looks, step_size=1e-3, seed=seed),
    ]


def outlier(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """Figure 9: two Gaussians in the plane and one positive outlier, for much longer than the figure shows."""
    looks = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 100, 150, 300, 600)
    looks = looks if scale is Scale.QUICK else (*looks, 1000, 2000)
    return [
        ClusteringSetting(
            points=OutlierCloud(), deviation=1e-4, n_runs=5, looks=looks, shown=60, slope=0.3, data_seed=0, seed=seed
        )
    ]


def no_outlier(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """The same without the outlier, a control."""
    (setting,) = outlier(scale, seed)
    return [setting.model_copy(update={"points": OutlierCloud(with_outlier=False), "looks": (0, 1, 10, 60)})]


HARD_PAIR = (3, 5)
PAIRS = ((0, 1), HARD_PAIR, (4, 9), (1, 7), (2, 7), (6, 8))
"""Figure 6. The paper names (0, 1) and (3, 5) alone."""
SMALL, LARGE = 1e-5, 1.0
"""Standard deviations of the initial weights on MNIST; neither is printed."""


def looks_of(scale: Scale) -> tuple[int, ...]:
    """When Figures 2, 6 and 7 look."""
    quick = (0, 1, 2, 3, 5, 7, 10, 15, 20)
    return quick if scale is Scale.QUICK else (*quick, 30, 40, 50, 60)


def digit_points(digits: tuple[int, int], scale: Scale) -> DigitPair:
    """So few that every pair was found separable, which is checked again on each draw."""
    return DigitPair(digits=digits, n_samples=300) if scale is Scale.QUICK else DigitPair(digits=digits)


def digits(pair: tuple[int, int], deviation: float, scale: Scale, seed: int) -> ClusteringSetting:
    """Five initializations on the same images of two digits."""
    points = digit_points(pair, scale)
    return ClusteringSetting(
        points=points, deviation=deviation, n_runs=5, looks=looks_of(scale), slope=0.3, step_size=1e-3, data_seed=seed,
        seed=seed,
    )  # fmt: skip


def pairs(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """Figure 6: six pairs, from small weights."""
    return [digits(pair, SMALL, scale, seed) for pair in PAIRS]


def gaussians_with_test(deviation: float, scale: Scale, seed: int) -> ClusteringSetting:
    """Two Gaussians in R^50, and as many more points as there are test images."""
    points = TwoGaussians(n_samples=400, n_test=1000, mean=(4.0, *(0.0,) * 49), least_margin=1.0)
    return ClusteringSetting(
        points=points, deviation=deviation, n_runs=5, looks=looks_of(scale), step_size=1e-3, data_seed=seed, seed=seed
    )


def from_small(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """Figures 2 and 7: Gaussians, 0 against 1 and 3 against 5, from small weights."""
    return [gaussians_with_test(1e-3, scale, seed), *pairs(scale, seed)[:2]]


def from_large(scale: Scale, seed: int) -> list[ClusteringSetting]:
    """The same from large weights."""
    return [gaussians_with_test(LARGE, scale, seed), *(digits(pair, LARGE, scale, seed) for pair in PAIRS[:2])]


curves = Experiment("sarussi2021.curves", small_start, run_curves, seconds=10.0)
