"""What Figures 4, 7 and 8 of brutzkus2019 share: filters learned on MNIST by wide and by narrow networks.

Part (a) of each figure asks whether the filters of a wide network cluster: k-means on their directions, and the angle
of each filter to its nearest centre, trained against untrained. Part (b) asks whether the wide network has explored:
a narrow network whose filters are the centres, and stay as they are, against one that learns its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from widenet.data import load_mnist
from widenet.diagnostics.filter_clusters import FilterClusters, cluster_filters
from widenet.networks.conv_classifier import ConvClassifier, PooledHead, make_conv_classifier, pooled_responses
from widenet.training.adam import AdamRecipe, AdamRuns, error_rates, train_adam
from widenet.types import Progress, RunKeys, RunStatus, silent

WIDE, NARROW = 120, 4
"""Channels of the large and of the small network; the small one has as many as there are clusters."""
WIDE_STEP, WIDE_SCALE = 0.01, 0.05
"""Learning rate and standard deviation of the large network, and of the small one on frozen filters."""
PAIRS = ((0.01, 0.01), (0.01, 0.05), (0.05, 0.05), (0.05, 0.01), (0.1, 0.5), (0.1, 0.1))
"""The paper's (learning rate, standard deviation) of the small network that learns its filters."""
FROZEN = ("centres", "raw centres", "centres before training", "random directions")
"""Where frozen filters come from; the last two are controls."""


class Digits(eqx.Module):
    """Images with pixels from 0 to 1, and their classes."""

    images: Float[Array, "sample row column"]
    classes: Int[Array, " sample"]

    def first(self, count: int) -> "Digits":
        """The first images."""
        return Digits(self.images[:count], self.classes[:count])


@dataclass(frozen=True)
class Wide:
    """The large networks of one training-set size, before and after training, with their clusters."""

    runs: AdamRuns
    test_error: Float[np.ndarray, " run"]
    initial: Float[np.ndarray, "run channel pixel"]
    trained: Float[np.ndarray, "run channel pixel"]
    clusters: list[FilterClusters]
    raw_clusters: list[FilterClusters]
    initial_clusters: list[FilterClusters]


def compute_mnist_filters(
    seed: int,
    progress: Progress = silent,
    *,
    filter_side: int,
    sizes: Sequence[int],
    clustered_size: int,
    pairs: Sequence[tuple[float, float]] = PAIRS,
    n_runs: int = 20,
    n_wide: int = 5,
    wide_epochs: int = 40,
    narrow_epochs: int = 40,
    n_test: int = 10_000,
    dtype: str = "float32",
) -> xr.Dataset:
    """Angles of the filters to their centres for one training-set size, and test errors for all sizes.

    The training sets are the beginnings of one random order of MNIST's training images. The narrow networks on frozen
    filters are divided evenly among the wide networks.
    """
    if clustered_size not in sizes:
        raise ValueError(f"clustered_size {clustered_size} must be one of the training-set sizes {list(sizes)}")
    train_set, test_set = _digits("train", max(sizes), seed, dtype), _digits("test", n_test, seed, dtype)
    draws = _Draws(jax.random.key(seed), filter_side, dtype)
    wides, learned, frozen = [], [], []
    done, total = 0.0, float(sum(sizes))
    for size in sizes:
        part = train_set.first(size)
        progress(done / total, f"{WIDE} channels, {size} images")
        wides.append(_train_wide(draws, part, test_set, n_wide, wide_epochs, seed))
        progress((done + size / 2) / total, f"{NARROW} channels, {size} images")
        learned.append([_train_narrow(draws, part, test_set, pair, n_runs, narrow_epochs) for pair in pairs])
        frozen.append(_train_frozen(draws, part, test_set, wides[-1], n_runs, narrow_epochs))
        done += size
        progress(done / total, f"{NARROW} channels, {size} images")
    numbers = _collect(sizes, pairs, wides, learned, frozen)
    numbers = numbers.merge(_clustering(draws, wides[list(sizes).index(clustered_size)], seed))
    numbers.attrs.update(
        filter_side=filter_side,
        clustered_size=clustered_size,
        wide_epochs=wide_epochs,
        narrow_epochs=narrow_epochs,
        n_test=n_test,
        dtype=dtype,
        seed=seed,
    )
    return numbers


class _Draws:
    """Initial networks and keys: each belongs to its purpose, its number and the seed, and to nothing else."""

    def __init__(self, key: Array, filter_side: int, dtype: str):
        self.key, self.filter_side, self.dtype = key, filter_side, dtype

    def keys(self, purpose: int, count: int) -> tuple[RunKeys, RunKeys]:
        """Keys of initial weights and keys of the order of the batches."""
        own = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.fold_in(self.key, purpose), jnp.arange(count))
        weights, orders = jax.vmap(jax.random.split, out_axes=1)(own)
        return weights, orders

    def networks(self, keys: RunKeys, n_channels: int, scale: float) -> ConvClassifier:
        """One untrained network per key."""
        return jax.vmap(lambda key: make_conv_classifier(key, n_channels, self.filter_side, scale, dtype=self.dtype))(
            keys
        )


WIDE_RUNS, NARROW_RUNS, FROZEN_RUNS, OTHER_WIDE, DIRECTIONS = range(5)  # purposes of keys


def _digits(split: Any, count: int, seed: int, dtype: str) -> Digits:
    images, classes = load_mnist(split)
    rows = np.random.default_rng(seed).permutation(len(classes))[:count]
    if len(rows) < count:
        raise ValueError(f"MNIST's {split} split has {len(classes)} images, not {count}")
    pixels = (images[rows] / 255).reshape(count, 28, 28)
    return Digits(jnp.asarray(pixels, dtype), jnp.asarray(classes[rows].astype(np.int32)))


def _train_wide(draws: _Draws, part: Digits, test: Digits, n_wide: int, epochs: int, seed: int) -> Wide:
    weight_keys, order_keys = draws.keys(WIDE_RUNS, n_wide)
    networks = draws.networks(weight_keys, WIDE, WIDE_SCALE)
    runs = train_adam(
        networks,
        part.images,
        part.classes,
        AdamRecipe(len(part.classes) // 10, epochs, after_fit=2),
        jnp.full(n_wide, WIDE_STEP),
        order_keys,
        forward=ConvClassifier.by_patches,
    )
    errors = error_rates(runs.network, test.images, test.classes, forward=ConvClassifier.by_patches)
    initial, trained = (np.asarray(each.filters, np.float64) for each in (networks, runs.network))
    return Wide(
        runs,
        errors,
        initial,
        trained,
        clusters=[cluster_filters(each, NARROW, seed) for each in trained],
        raw_clusters=[cluster_filters(each, NARROW, seed, unit=False) for each in trained],
        initial_clusters=[cluster_filters(each, NARROW, seed) for each in initial],
    )


def _train_narrow(
    draws: _Draws, part: Digits, test: Digits, pair: tuple[float, float], n_runs: int, epochs: int
) -> tuple[AdamRuns, Float[np.ndarray, " run"]]:
    step_size, scale = pair
    weight_keys, order_keys = draws.keys(NARROW_RUNS, n_runs)
    runs = train_adam(
        draws.networks(weight_keys, NARROW, scale),
        part.images,
        part.classes,
        AdamRecipe(len(part.classes) // 10, epochs),
        jnp.full(n_runs, step_size),
        order_keys,
        forward=ConvClassifier.by_patches,
    )
    return runs, error_rates(runs.network, test.images, test.classes, forward=ConvClassifier.by_patches)


def _train_frozen(
    draws: _Draws, part: Digits, test: Digits, wide: Wide, n_runs: int, epochs: int
) -> list[tuple[AdamRuns, Float[np.ndarray, " run"]]]:
    """Bias and fully connected layer on filters that stay. Their pooled responses never change: computed once."""
    weight_keys, order_keys = draws.keys(FROZEN_RUNS, n_runs)
    heads = draws.networks(weight_keys, NARROW, WIDE_SCALE).head
    direction_keys, _ = draws.keys(DIRECTIONS, n_runs)
    directions = np.asarray(draws.networks(direction_keys, NARROW, 1.0).filters, np.float64)
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    shared = [[each.centres for each in found] for found in (wide.clusters, wide.raw_clusters, wide.initial_clusters)]
    turns = np.arange(n_runs) % len(wide.trained)
    results = []
    for filters in (*(np.stack(each)[turns] for each in shared), directions):
        filters = jnp.asarray(filters, part.images.dtype)
        runs = train_adam(
            heads,
            _responses(filters, part.images),
            part.classes,
            AdamRecipe(len(part.classes) // 10, epochs),
            jnp.full(n_runs, WIDE_STEP),
            order_keys,
            forward=PooledHead.__call__,
            inputs_per_run=True,
        )
        seen = _responses(filters, test.images)
        errors = error_rates(runs.network, seen, test.classes, forward=PooledHead.__call__, inputs_per_run=True)
        results.append((runs, errors))
    return results


@jax.jit
def _responses(
    filters: Float[Array, "run channel pixel"], images: Float[Array, "sample row column"]
) -> Float[Array, "run sample channel place"]:
    """The pooled responses of every run's filters to every image."""
    return jax.lax.map(
        lambda own: jax.lax.map(lambda image: pooled_responses(own, image), images, batch_size=500), filters
    )


def _collect(
    sizes: Sequence[int],
    pairs: Sequence[tuple[float, float]],
    wides: Sequence[Wide],
    learned: Sequence[Sequence[tuple[AdamRuns, np.ndarray]]],
    frozen: Sequence[Sequence[tuple[AdamRuns, np.ndarray]]],
) -> xr.Dataset:
    """Test errors and how the runs ended."""
    narrow = {"learned": (("size", "pair", "run"), learned), "frozen": (("size", "filters", "run"), frozen)}
    variables: dict[str, Any] = {}
    for name, (axes, results) in narrow.items():
        variables[f"{name}_error"] = (axes, np.array([[error for _, error in row] for row in results]))
        variables[f"{name}_status"] = (axes, np.array([[runs.status for runs, _ in row] for row in results]))
    wide_axes = ("size", "wide_run")
    variables |= {
        "wide_error": (wide_axes, np.array([wide.test_error for wide in wides])),
        "wide_train_error": (wide_axes, np.array([wide.runs.train_error for wide in wides])),
        "wide_epochs": (wide_axes, np.array([wide.runs.epochs for wide in wides])),
        "wide_status": (wide_axes, np.array([wide.runs.status for wide in wides])),
    }
    coords = {
        "size": list(sizes),
        "pair": [f"{step_size:g}, {scale:g}" for step_size, scale in pairs],
        "filters": list(FROZEN),
    }
    numbers = xr.Dataset(variables, coords)
    counted = [numbers[name] == RunStatus.DIVERGED for name in ("learned_status", "frozen_status", "wide_status")]
    numbers["diverged"] = sum(int(each.sum()) for each in counted)
    return numbers


def _clustering(draws: _Draws, wide: Wide, seed: int) -> xr.Dataset:
    """Angles to the nearest centre, and the filters of the first network in the order of their clusters."""
    other_keys, _ = draws.keys(OTHER_WIDE, len(wide.trained))
    others = np.asarray(draws.networks(other_keys, WIDE, WIDE_SCALE).filters, np.float64)
    other_clusters = [cluster_filters(each, NARROW, seed) for each in others]
    angle_axes, filter_axes = ("wide_run", "channel"), ("channel", "pixel")
    drawn: dict[str, Any] = {}
    for name, filters, found in (
        ("trained", wide.trained[0], wide.clusters[0]),
        ("untrained", wide.initial[0], wide.initial_clusters[0]),
    ):
        order = np.lexsort((found.angles, found.cluster))
        unit = filters / np.linalg.norm(filters, axis=1, keepdims=True)
        # Four digits are enough to draw, and keep the file small.
        drawn[f"{name}_filters"] = (filter_axes, np.round(unit[order], 4))
        drawn[f"{name}_centres"] = (("cluster", "pixel"), np.round(found.centres, 4))
        drawn[f"{name}_cluster"] = (("channel",), found.cluster[order])
    return xr.Dataset(
        {
            "trained_angle": (angle_axes, np.array([each.angles for each in wide.clusters])),
            "untrained_angle": (angle_axes, np.array([each.angles for each in wide.initial_clusters])),
            "other_untrained_angle": (angle_axes, np.array([each.angles for each in other_clusters])),
        }
        | drawn
    )
