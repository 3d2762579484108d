"""What Figures 1 to 3 share: runs on MNIST 3 against 5 at several widths, and the comparisons made of them."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy
import xarray as xr
from jaxtyping import Array, Float

from widenet.claims.statistics import clopper_pearson
from widenet.data import load_mnist35
from widenet.diagnostics import find_separator, training_error
from widenet.diagnostics.separability import Separation
from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu, make_two_layer, plus_minus
from widenet.papers.base import Comparison
from widenet.training import OutputWatch, Permutation, Recipe, Record, Snapshot, ensemble
from widenet.types import Dataset, Layers, Progress, RunStatus, Trajectory, silent

PILOT_BASIS = "the paper prints a curve and no number; the band was set by this project from pilot runs"
READING = "not a statement about this figure; what the paper's results say of it"


@dataclass(frozen=True)
class Split:
    """Training and test images, and the separator of the training images if there is one."""

    train: Dataset
    test: Dataset
    separation: Separation


@functools.lru_cache(maxsize=2)
def load_split(n_train: int, n_test: int, dtype: str) -> Split:
    """One split for all runs, in this dtype. Cached: finding the separator takes seconds."""
    train, test = (_rounded(part, dtype) for part in load_mnist35(n_train=n_train, n_test=n_test))
    return Split(train, test, find_separator(train))


class Ratios(OutputWatch):
    """c and C of a run: the smallest and the largest v_t/v_0 over all neurons and all updates so far, v_0 = ±v."""

    def start(self, network: TwoLayer) -> tuple[Array, Array]:
        """Both are 1 before the first update."""
        one = jnp.ones((), network.output_weights.dtype)
        return one, one

    def fold(self, value: tuple[Array, Array], output_weights: Float[Array, " neuron"]) -> tuple[Array, Array]:
        """A NaN stays: `jnp.minimum` and `jnp.maximum` hand it on."""
        ratios = output_ratios(output_weights)
        return jnp.minimum(value[0], ratios.min()), jnp.maximum(value[1], ratios.max())


def output_ratios(output_weights: Float[Array, " neuron"]) -> Float[Array, " neuron"]:
    """v_t/v_0 of every neuron, for v_0 = (+v, …, +v, −v, …, −v) and v = 1/√(number of neurons)."""
    n_neurons = output_weights.shape[0]
    return output_weights / plus_minus(n_neurons, n_neurons**-0.5, output_weights.dtype)


def train_widths(
    split: Split,
    seed: int,
    progress: Progress = silent,
    *,
    widths: Sequence[int],
    n_runs: Sequence[int],
    step_sizes: Sequence[float],
    slope: float,
    max_epochs: int,
    layers: Layers,
    dtype: str,
    first_run: int = 0,
) -> xr.Dataset:
    """Train and test error per epoch, batch-1 SGD with the hinge loss from R = v = 1/√(2k), for several widths.

    With both layers, also v_t/v_0: the extremes over neurons at each epoch, and the extremes over all updates. A run's
    start and order depend on the seed, its width and its number alone, counted from `first_run`.
    """
    n_train = split.train.n_samples
    what: dict[str, Any] = {
        "train_error": _train_error,
        "test_error": functools.partial(_error_on, split.test),
    }
    if layers is Layers.BOTH:
        what |= {"smallest_ratio": _smallest_ratio, "largest_ratio": _largest_ratio}
    record = Record(tuple(epoch * n_train for epoch in _looked_at(max_epochs)), what)
    # The cost of a run grows with its width; the bar should too.
    shares = np.cumsum([0.0, *(runs * (width + 100) for width, runs in zip(widths, n_runs, strict=True))])
    trajectories = []
    for index, (width, runs) in enumerate(zip(widths, n_runs, strict=True)):
        keys = jax.vmap(jax.random.fold_in, (None, 0))(
            jax.random.key(seed), width * 10_000 + first_run + jnp.arange(runs)
        )
        init_keys, order_keys = jax.vmap(jax.random.split, out_axes=1)(keys)
        networks = jax.vmap(
            lambda key, width=width: make_two_layer(key, width, split.train.dim, leaky_relu(slope), dtype=dtype)
        )(init_keys)
        low, high = shares[index : index + 2] / shares[-1]
        trajectories.append(
            ensemble(
                networks,
                split.train,
                Recipe(
                    hinge,
                    step_sizes[index],
                    max_epochs * n_train,
                    order=Permutation(),
                    layers=layers,
                    check_every=n_train,
                ),
                order_keys,
                record=record,
                watch=Ratios() if layers is Layers.BOTH else None,
                progress=lambda done, words, low=low, high=high, width=width: progress(
                    low + (high - low) * done, f"{words} of width {width}"
                ),
            )
        )
    return _collect(widths, n_runs, n_train, trajectories, tuple(what))


def describe(numbers: xr.Dataset, split: Split, **sizes: Any) -> None:
    """Write what was run into the attributes."""
    separation = split.separation
    numbers.attrs.update(
        n_train=split.train.n_samples,
        n_test=split.test.n_samples,
        separator_norm=float(separation.norm_upper) if separation.separable else "none found",
        **sizes,
    )


def finished(numbers: xr.Dataset) -> xr.DataArray:
    """Which runs reached zero training loss."""
    return numbers.status == RunStatus.CONVERGED


def zero_loss_share(numbers: xr.Dataset, reported: str, band: tuple[float, float], basis: str = "") -> Comparison:
    """The share of all runs at zero training loss, with its exact interval."""
    total, solved = int((numbers.status >= 0).sum()), int(finished(numbers).sum())
    low, high = clopper_pearson(total - solved, total)
    return Comparison(
        name="share of runs at zero training loss",
        reported=reported,
        measured=solved / total,
        interval=(1 - high, 1 - low),
        band=band,
        basis=basis,
    )


def largest_train_error(numbers: xr.Dataset, reported: str) -> Comparison:
    """The worst run's final training error."""
    return Comparison(
        name="largest final training error",
        reported=reported,
        measured=float(numbers.train_error.isel(epoch=-1).max()),
        interval=None,
        band=(0.0, 0.0),
        basis=READING,
    )


def test_error_rows(numbers: xr.Dataset, reported: str, bands: Sequence[tuple[float, float]]) -> list[Comparison]:
    """The mean final test error of each width, with its interval."""
    final = numbers.test_error.isel(epoch=-1)
    return [
        Comparison(
            name=f"mean final test error, width {int(width)}",
            reported=reported,
            measured=float(final.sel(width=width).mean("run")),
            interval=mean_interval(final.sel(width=width).values),
            band=band,
            basis=PILOT_BASIS,
        )
        for width, band in zip(numbers.width.values, bands, strict=True)
    ]


def zero_error_share(numbers: xr.Dataset, reported: str, band: tuple[float, float]) -> Comparison:
    """The share of all runs without a training error at the end, with its exact interval."""
    exists = numbers.status >= 0
    final = numbers.train_error.isel(epoch=-1)
    # A network that overflowed is no solution, whatever its signs.
    total, solved = int(exists.sum()), int(((final == 0) & exists & (numbers.status != RunStatus.DIVERGED)).sum())
    low, high = clopper_pearson(total - solved, total)
    return Comparison(
        name="share of runs at zero training error",
        reported=reported,
        measured=solved / total,
        interval=(1 - high, 1 - low),
        band=band,
        basis=PILOT_BASIS,
    )


def level_rows(numbers: xr.Dataset, reported: str, other: str) -> list[Comparison]:
    """The mean final test error of each width beside that of another figure's runs; ±0.015 counts as similar.

    Runs of either kind that diverged have no test error, and then nothing agrees.
    """
    final = numbers.test_error.isel(epoch=-1).where(numbers.status != RunStatus.DIVERGED)
    reference = numbers.reference_test_error.where(numbers.reference_status != RunStatus.DIVERGED)
    rows = []
    for index, width in enumerate(numbers.width.values):
        exists = numbers.status.values[index] >= 0
        ours, theirs = (float(values.values[index][exists].mean()) for values in (final, reference))
        rows.append(
            Comparison(
                name=f"mean final test error, width {int(width)}",
                reported=f"{reported} ({theirs:.4f} here)",
                measured=ours,
                interval=mean_interval(final.values[index][exists]),
                band=(theirs - 0.015, theirs + 0.015),
                basis=f"{PILOT_BASIS}, around the mean of {other}'s runs from the same starts",
            )
        )
    return rows


def mean_interval(values: np.ndarray) -> tuple[float, float] | None:
    """The 95 % t-interval of a mean; None below two runs."""
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.ptp(values) == 0:
        return None
    low, high = scipy.stats.t.interval(0.95, len(values) - 1, values.mean(), scipy.stats.sem(values))
    return (float(low), float(high))


def _collect(
    widths: Sequence[int],
    n_runs: Sequence[int],
    n_train: int,
    trajectories: Sequence[Trajectory],
    names: Sequence[str],
) -> xr.Dataset:
    """One data set for all widths; where a width has fewer runs, NaN and status −1."""
    most = max(n_runs)
    epochs = np.asarray(trajectories[0].times) // n_train
    longest = max(int(run.steps.max()) for run in trajectories) / n_train
    last = min(int(np.searchsorted(epochs, longest)) + 1, len(epochs))
    shape = (len(widths), most)
    variables: dict[str, Any] = {name: (("width", "run", "epoch"), np.full((*shape, last), np.nan)) for name in names}
    watched = ("c", "C") if trajectories[0].watched is not None else ()
    for name in ("updates", "zero_loss_epoch", *watched):
        variables[name] = (("width", "run"), np.full(shape, np.nan))
    variables["status"] = (("width", "run"), np.full(shape, -1))
    for row, run in enumerate(trajectories):
        count = len(run.status)
        for name in names:
            variables[name][1][row, :count] = run.records[name][:, :last]
        variables["updates"][1][row, :count] = run.updates
        reached = np.where(run.zero_loss_step >= 0, run.zero_loss_step / n_train, np.nan)
        variables["zero_loss_epoch"][1][row, :count] = reached
        variables["status"][1][row, :count] = run.status
        for place, name in enumerate(watched):
            variables[name][1][row, :count] = run.watched[place]
    coords = {"width": list(widths), "run": np.arange(most), "epoch": epochs[:last]}
    return xr.Dataset(variables, coords)


def _train_error(now: Snapshot) -> jax.Array:
    return training_error(now.network, now.data)


def _error_on(held_out: Dataset, now: Snapshot) -> jax.Array:
    return training_error(now.network, held_out)


def _smallest_ratio(now: Snapshot) -> jax.Array:
    return output_ratios(now.network.output_weights).min()


def _largest_ratio(now: Snapshot) -> jax.Array:
    return output_ratios(now.network.output_weights).max()


def _looked_at(max_epochs: int) -> list[int]:
    """Every epoch up to 10, then every fifth: a look costs more than an epoch of training late in a run."""
    return [epoch for epoch in range(max_epochs + 1) if epoch <= 10 or epoch % 5 == 0]


def _rounded(data: Dataset, dtype: str) -> Dataset:
    """In this dtype, shrunk by a millionth so that rounding leaves no input outside the unit ball."""
    inputs, labels = np.asarray(data.inputs) * (1 - 2**-20), np.asarray(data.labels)
    return Dataset(jnp.asarray(inputs, dtype), jnp.asarray(labels, dtype))
