"""Batch-1 SGD on the exact kernels, epoch by epoch: how neurons of one sign cluster and agree."""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

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
from widenet.networks.two_layer import plus_minus
from widenet.papers.sarussi2021.formulas import sharp_factor
from widenet.papers.sarussi2021.settings import DigitPair, Gaussians, OutlierCloud, PointsSetting
from widenet.progress import Progress
from widenet.records import Scale
from widenet.training import Recipe, Record, ensemble
from widenet.types import Dataset


class CurveSetting(PointsSetting):
    """Runs of SGD, each on points of its own seed.

    Attributes:
      deviation: of the entries of W_0.
      looks: epochs after which the weights are looked at.
      data_seed: all runs share the points of this seed; None draws others for every run.
    """

    deviation: float
    n_runs: int
    looks: tuple[int, ...]
    half_width: int = 50
    output_weight: float = 0.1
    slope: float = 0.1
    step_size: float = 0.01
    data_seed: int | None = None
    seed: int = 0


def run_curves(setting: CurveSetting, progress: Progress) -> xr.Dataset:
    """Train the runs of a setting and measure them at every look."""
    seeds = [1000 * setting.seed + run for run in range(setting.n_runs)]
    drawn = [_points(setting, seed if setting.data_seed is None else setting.data_seed) for seed in seeds]
    n = len(setting.points.draw(0)[1])
    inputs, labels = np.stack([each[0][:n] for each in drawn]), np.stack([each[1][:n] for each in drawn])
    k, slope = setting.half_width, setting.slope
    start = np.stack([np.random.default_rng([seed, 1]).normal(size=(2 * k, inputs.shape[2])) for seed in seeds])
    networks = TwoLayer(
        jnp.asarray(setting.deviation * start),
        jnp.tile(plus_minus(2 * k, setting.output_weight), (len(seeds), 1)),
        None,
        PiecewiseLinear(slope, slope),
    )
    done = ensemble(
        networks,
        Dataset(jnp.asarray(inputs), jnp.asarray(labels)),
        Recipe(logistic, setting.step_size, n * setting.looks[-1]),
        jax.vmap(jax.random.key)(jnp.asarray(seeds)),
        record=Record(tuple(n * look for look in setting.looks), {"weights": _weights}),
        progress=progress,
    )
    weights = np.asarray(done.records["weights"])
    rows = [_measure(weights[run], drawn[run], n, setting) for run in range(len(seeds))]
    numbers = xr.Dataset(
        {name: (("run", "epoch"), np.stack([row[name] for row in rows])) for name in rows[0]},
        coords={"epoch": list(setting.looks)},
    )
    numbers["separator_norm"] = ("run", [separate(x, y).norm_upper for x, y in zip(inputs, labels, strict=True)])
    if inputs.shape[2] == 2:
        numbers["weights"] = (("run", "neuron", "dim"), weights[:, -1])
        numbers["inputs"] = (("run", "point", "dim"), inputs)
        numbers["labels"] = (("run", "point"), labels)
        solved = [solve_perfect_agreement(x, y, slope).solution for x, y in zip(inputs, labels, strict=True)]
        numbers["predicted"] = (("run", "pair"), np.stack(solved))
    return numbers.assign_attrs(setting.model_dump(exclude={"points", "looks"}, exclude_none=True))


def _weights(seen):
    return seen.network.hidden_weights


def _points(setting: CurveSetting, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The training points, and behind them the test points where there are any."""
    points = setting.points
    return points.draw_all(seed) if isinstance(points, DigitPair) else points.draw(seed)


def _measure(
    weights: np.ndarray, points: tuple[np.ndarray, np.ndarray], n: int, setting: CurveSetting
) -> dict[str, np.ndarray]:
    """Everything the figures show, at every look."""
    k, (inputs, labels) = setting.half_width, points
    plus, minus, train, signs = weights[:, :k], weights[:, k:], inputs[:n], labels[:n]
    difference = mean_difference(plus, minus)
    radius = np.maximum(cluster_radius(plus), cluster_radius(minus))
    factor = float(sharp_factor(setting.slope))
    products = np.einsum("tjd,nd->tnj", weights, train)
    outputs = np.where(products > 0, products, setting.slope * products) @ np.repeat([1.0, -1.0], k)
    return {
        "nonlinear": nonlinear_share(difference, radius, inputs),
        "nonlinear_sharp": nonlinear_share(difference, radius, inputs, factor),
        "ratio": cluster_ratio(plus, minus),
        "angle": np.array(
            [max(float(widest_angle(w)), float(widest_angle(u))) for w, u in zip(plus, minus, strict=True)]
        ),
        "train_error": (signs * outputs <= 0).mean(axis=1),
        "plus_right": right_share(plus, train, signs),
        "minus_right": right_share(minus, train, -signs),
        "plus_differ": most_disagreements(plus, train),
        "minus_differ": most_disagreements(minus, train),
    }


def small_start(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figures 1 and 3: two Gaussians in the plane, from small weights."""
    runs, looks = (4, (0, 1, 10, 100, 300, 1000)) if scale is Scale.QUICK else (12, (0, 1, 10, 100, 300, 1000, 2000))
    return [CurveSetting(points=Gaussians(), deviation=1e-3, n_runs=runs, looks=looks, seed=seed)]


def large_start(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figure 1: the same from large weights."""
    runs, looks = (4, (0, 1, 10, 100, 300, 1000)) if scale is Scale.QUICK else (12, (0, 1, 10, 100, 300, 1000, 2000))
    return [CurveSetting(points=Gaussians(), deviation=30.0, n_runs=runs, looks=looks, seed=seed)]


def high_dimension(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figure 8: 400 points of two Gaussians in R^50."""
    points = Gaussians(n_samples=400, mean=(4.0, *(0.0,) * 49), least_margin=1.0)
    looks = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
    runs = 5 if scale is Scale.QUICK else 10
    return [
        CurveSetting(points=points, deviation=1e-2, n_runs=runs, looks=looks, step_size=1e-3, seed=seed),
    ]


def outlier(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figure 9: two Gaussians in the plane and one positive outlier."""
    looks = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60)
    return [
        CurveSetting(points=OutlierCloud(), deviation=1e-4, n_runs=5, looks=looks, slope=0.3, data_seed=0, seed=seed)
    ]


curves = Experiment("sarussi2021.curves", small_start, run_curves, seconds=10.0)
