"""Figure 1 of brutzkus2018: train and test error on MNIST 3 against 5, first layer trained."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from scipy import stats

from widenet.claims.brutzkus2018.bounds import max_nonzero_updates
from widenet.claims.statistics import clopper_pearson
from widenet.data import load_mnist35
from widenet.diagnostics import find_separator, training_error
from widenet.losses import hinge
from widenet.networks import leaky_relu, make_two_layer
from widenet.papers.base import Comparison, Figure
from widenet.training import Permutation, Recipe, Record, ensemble
from widenet.types import Dataset, Progress, RunStatus, Scale, Trajectory, silent


def compute_figure_1(
    seed: int,
    progress: Progress = silent,
    *,
    widths: Sequence[int] = (10, 100, 1000),
    n_runs: Sequence[int] = (40, 40, 40),
    step_size: float = 1.0,
    slope: float = 0.2,
    max_epochs: int = 1000,
    n_train: int = 3000,
    n_test: int = 1000,
    dtype: str = "float32",
) -> xr.Dataset:
    """Train and test error per epoch on MNIST 3 against 5, first layer only, for several widths.

    All runs share one split; the initial weights and the sample order vary.
    """
    train_set, test_set = (_rounded(part, dtype) for part in load_mnist35(n_train=n_train, n_test=n_test))
    separation = find_separator(train_set)
    record = Record(
        tuple(epoch * n_train for epoch in _looked_at(max_epochs)),
        {"train_error": training_error, "test_error": functools.partial(_error_on, test_set)},
    )
    recipe = Recipe(hinge, step_size, max_epochs * n_train, order=Permutation(), check_every=n_train)
    # The cost of a run grows with its width; the bar should too.
    shares = np.cumsum([0.0, *(runs * (width + 100) for width, runs in zip(widths, n_runs, strict=True))])
    trajectories = []
    for index, (width, runs) in enumerate(zip(widths, n_runs, strict=True)):
        keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(seed), width * 10_000 + jnp.arange(runs))
        init_keys, order_keys = jax.vmap(jax.random.split, out_axes=1)(keys)
        networks = jax.vmap(
            lambda key, width=width: make_two_layer(key, width, train_set.dim, leaky_relu(slope), dtype=dtype)
        )(init_keys)
        low, high = shares[index : index + 2] / shares[-1]
        trajectories.append(
            ensemble(
                networks,
                train_set,
                recipe,
                order_keys,
                record=record,
                progress=lambda done, words, low=low, high=high, width=width: progress(
                    low + (high - low) * done, f"{words} of width {width}"
                ),
            )
        )
    bounds = [
        float(max_nonzero_updates(separation.norm_upper, slope, step_size, width**-0.5, width**-0.5, width // 2))
        for width in widths
    ]
    numbers = _collect(widths, n_runs, n_train, trajectories)
    # Without a separator there is no bound, and a NaN agrees with nothing.
    numbers["update_bound"] = ("width", bounds if separation.separable else [np.nan] * len(widths))
    numbers.attrs.update(
        step_size=step_size,
        slope=slope,
        n_train=n_train,
        n_test=n_test,
        max_epochs=max_epochs,
        separator_norm=float(separation.norm_upper) if separation.separable else "none found",
        dtype=dtype,
        seed=seed,
    )
    return numbers


def compare_figure_1(numbers: xr.Dataset) -> list[Comparison]:
    """The paper prints no numbers for this figure, only statements; each becomes a band."""
    basis = "the paper prints a curve and no number; the band was set by this project from pilot runs"
    reading = "not a statement about this figure; what the paper's results say of it"
    exists = numbers.status >= 0
    converged = ((numbers.status == RunStatus.CONVERGED) & exists).sum("run")
    tried = exists.sum("run")
    final_test = numbers.test_error.isel(epoch=-1)
    final_train = numbers.train_error.isel(epoch=-1)
    means = final_test.mean("run")
    mean_curve = numbers.test_error.mean("run")
    total, solved = int(tried.sum()), int(converged.sum())
    # Counts of runs that did not finish are no counts of updates to zero loss.
    mean_updates = numbers.updates.mean("run") if solved == total else numbers.updates.mean("run") * np.nan
    low, high = clopper_pearson(total - solved, total)
    rows = [
        Comparison(
            name="share of runs at zero training loss",
            reported="in all experiments SGD converges to a global minimum",
            measured=solved / total,
            interval=(1 - high, 1 - low),
            band=(1.0, 1.0),
        ),
        Comparison(
            name="largest final training error",
            reported="0 (a global minimum)",
            measured=float(final_train.max()),
            interval=None,
            band=(0.0, 0.0),
            basis=reading,
        ),
    ]
    rows += [
        Comparison(
            name=f"mean final test error, width {int(width)}",
            reported="generalizes well in all settings",
            measured=float(means.sel(width=width)),
            interval=_mean_interval(final_test.sel(width=width).values),
            band=(0.012, 0.040),
            basis=basis,
        )
        for width in numbers.width.values
    ]
    rows += [
        Comparison(
            name="largest difference of mean test error between widths",
            reported="generalizes well in all settings",
            measured=float(means.max() - means.min()),
            interval=None,
            band=(0.0, 0.012),
            basis=basis,
        ),
        Comparison(
            name="rise of the mean test error after its minimum",
            reported="generalizes well in all settings",
            measured=float((mean_curve.isel(epoch=-1) - mean_curve.min("epoch")).max()),
            interval=None,
            band=(0.0, 0.005),
            basis=basis,
        ),
        Comparison(
            name="most / fewest mean updates across widths",
            reported="M_k does not depend on the width (Corollary 3)",
            measured=float(mean_updates.max() / mean_updates.min()),
            interval=None,
            band=(1.0, 2.0),
            basis=reading,
        ),
        Comparison(
            name="largest updates / M_k with a certified separator",
            reported="at most 1 (Theorem 2)",
            measured=float((numbers.updates.max("run") / numbers.update_bound).max(skipna=False)),
            interval=None,
            band=(0.0, 1.0),
            basis=reading,
        ),
    ]
    return rows


def _collect(
    widths: Sequence[int], n_runs: Sequence[int], n_train: int, trajectories: Sequence[Trajectory]
) -> xr.Dataset:
    """One data set for all widths; where a width has fewer runs, NaN and status −1."""
    most = max(n_runs)
    epochs = np.asarray(trajectories[0].times) // n_train
    longest = max(int(run.steps.max()) for run in trajectories) / n_train
    last = min(int(np.searchsorted(epochs, longest)) + 1, len(epochs))
    shape = (len(widths), most)
    variables: dict[str, Any] = {
        name: (("width", "run", "epoch"), np.full((*shape, last), np.nan)) for name in ("train_error", "test_error")
    }
    for name in ("updates", "zero_loss_epoch"):
        variables[name] = (("width", "run"), np.full(shape, np.nan))
    variables["status"] = (("width", "run"), np.full(shape, -1))
    for row, run in enumerate(trajectories):
        count = len(run.status)
        for name in ("train_error", "test_error"):
            variables[name][1][row, :count] = run.records[name][:, :last]
        variables["updates"][1][row, :count] = run.updates
        reached = np.where(run.zero_loss_step >= 0, run.zero_loss_step / n_train, np.nan)
        variables["zero_loss_epoch"][1][row, :count] = reached
        variables["status"][1][row, :count] = run.status
    coords = {"width": list(widths), "run": np.arange(most), "epoch": epochs[:last]}
    return xr.Dataset(variables, coords)


def _error_on(held_out: Dataset, network: Any, _: Dataset) -> jax.Array:
    return training_error(network, held_out)


def _looked_at(max_epochs: int) -> list[int]:
    """Every epoch up to 10, then every fifth: a look costs more than an epoch of training late in a run."""
    return [epoch for epoch in range(max_epochs + 1) if epoch <= 10 or epoch % 5 == 0]


def _rounded(data: Dataset, dtype: str) -> Dataset:
    """In this dtype, shrunk by a millionth so that rounding leaves no input outside the unit ball."""
    inputs, labels = np.asarray(data.inputs) * (1 - 2**-20), np.asarray(data.labels)
    return Dataset(jnp.asarray(inputs, dtype), jnp.asarray(labels, dtype))


def _mean_interval(values: np.ndarray) -> tuple[float, float] | None:
    """The 95 % t-interval of a mean; None below two runs."""
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.ptp(values) == 0:
        return None
    low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    return (float(low), float(high))


figure_1 = Figure(
    id="brutzkus2018.figure_1",
    title="MNIST 3 against 5: train and test error of networks with 10, 100 and 1000 neurons",
    caption=(
        "First layer trained by batch-1 SGD with the hinge loss until the loss is exactly 0; a run that has stopped "
        "keeps its last values. The paper does not state the step size, the Leaky slope, the pixel scaling or the "
        "sampling rule; here: slope 0.2, pixels divided by the largest norm, a fresh permutation per epoch, one split "
        "of 3000 training and 1000 test images for all runs."
    ),
    compute=compute_figure_1,
    compare=compare_figure_1,
    sizes={
        Scale.QUICK: {"n_runs": (8, 8, 2), "step_size": 10.0, "max_epochs": 400, "dtype": "float32"},
        Scale.PAPER: {"n_runs": (40, 40, 40), "step_size": 1.0, "max_epochs": 1000, "dtype": "float32"},
    },
)
