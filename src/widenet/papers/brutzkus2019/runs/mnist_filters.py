"""Filters learned on MNIST by wide and by narrow networks: what Figures 4, 7 and 8 of brutzkus2019 show.

Part (a) of each figure asks whether the filters of a wide network cluster: k-means on their directions, and the angle
of each filter to its nearest centre, trained against untrained. Part (b) asks whether the wide network has explored:
a narrow network whose filters are the centres, and stay as they are, against one that learns its own.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from widenet.claims.experiments import Experiment
from widenet.data import load_mnist
from widenet.diagnostics.error_rates import Forward, error_rates
from widenet.diagnostics.filter_clusters import FilterClusters, cluster_filters
from widenet.losses import cross_entropy
from widenet.networks.conv_classifier import (
    ConvClassifier,
    OnFlat,
    PooledHead,
    cut_patches,
    make_conv_classifier,
    patch_pixels,
    pooled_responses,
)
from widenet.progress import Progress, over, stretch
from widenet.records import ClosedModel, Scale
from widenet.training import Adam, Recipe, ensemble, never, zero_error
from widenet.types import Dataset, Layers, RunKeys, RunStatus

WIDE, NARROW = 120, 4
"""Channels of the large and of the small network; the small one has as many as there are clusters."""
WIDE_STEP, WIDE_SCALE = 0.01, 0.05
"""Learning rate and standard deviation of the large network, and of the small one on frozen filters."""
PAIRS = ((0.01, 0.01), (0.01, 0.05), (0.05, 0.05), (0.05, 0.01), (0.1, 0.5), (0.1, 0.1))
"""The paper's (learning rate, standard deviation) of the small network that learns its filters."""
FROZEN = ("centres", "raw centres", "centres before training", "random directions")
"""Where frozen filters come from; the last two are controls."""
AFTER_FIT = 2
"""Epochs that a large network goes on after the first one without training mistakes."""
WIDE_RUNS, NARROW_RUNS, FROZEN_RUNS, OTHER_WIDE, DIRECTIONS = range(5)
"""What keys are for: each belongs to its purpose, its number and the seed, and to nothing else."""


class FilterSetting(ClosedModel):
    """Networks with filters of one side on one training set.

    Attributes:
      n_train: images of the training set, the first ones of a random order of MNIST's training images.
      pairs: (learning rate, standard deviation) of the small networks that learn their filters.
      n_runs: small networks of each kind; those on centres are divided evenly among the large networks.
      n_wide: large networks.
    """

    seed: int
    filter_side: int
    n_train: int
    pairs: tuple[tuple[float, float], ...] = PAIRS
    n_runs: int = 20
    n_wide: int = 5
    wide_epochs: int = 40
    narrow_epochs: int = 40
    n_test: int = 10_000
    dtype: str = "float32"


def filter_settings(scale: Scale, seed: int, filter_side: int = 3) -> list[FilterSetting]:
    """One setting per size of the training set."""
    if scale is Scale.PAPER:
        return [FilterSetting(seed=seed, filter_side=filter_side, n_train=size) for size in (1000, 2000, 6000)]
    few: dict[str, Any] = {"pairs": PAIRS[:2], "n_runs": 3, "n_wide": 1, "wide_epochs": 8, "narrow_epochs": 20}
    return [FilterSetting(seed=seed, filter_side=filter_side, n_train=size, n_test=1000, **few) for size in (500, 1000)]


class DigitImages(eqx.Module):
    """Images with pixels from 0 to 1, and their classes."""

    images: Float[Array, "sample row column"]
    classes: Int[Array, " sample"]


@dataclass(frozen=True)
class TrainedClassifiers:
    """Networks after training, one per run.

    Attributes:
      status: CONVERGED at training error 0, BUDGET_SPENT above it, DIVERGED where something is no longer finite.
      epochs: epochs trained.
      train_error: share of the training images that are classified wrongly at the end.
    """

    network: Any
    status: Int[np.ndarray, " run"]
    epochs: Int[np.ndarray, " run"]
    train_error: Float[np.ndarray, " run"]


@dataclass(frozen=True)
class Wide:
    """The large networks, before and after training, with their clusters."""

    runs: TrainedClassifiers
    test_error: Float[np.ndarray, " run"]
    initial: Float[np.ndarray, "run channel pixel"]
    trained: Float[np.ndarray, "run channel pixel"]
    clusters: list[FilterClusters]
    raw_clusters: list[FilterClusters]
    initial_clusters: list[FilterClusters]


def run_mnist_filters(setting: FilterSetting, progress: Progress) -> xr.Dataset:
    """Test errors of all networks, and angles of the filters of the large ones to their centres."""
    bench = Bench(setting)
    progress(0.0, f"{WIDE} channels, {setting.n_train} images")
    wide = bench.train_wide()
    words = f"{NARROW} channels, {setting.n_train} images"
    learned = [bench.train_narrow(*pair) for pair in over(setting.pairs, stretch(progress, 0.5, 0.9), words)]
    kinds = bench.frozen_filters(wide)
    frozen = [bench.train_frozen(filters) for filters in over(kinds, stretch(progress, 0.9, 1.0), words)]
    numbers = _errors(setting, wide, learned, frozen).merge(_angles(bench, wide))
    return numbers.assign_attrs(setting.model_dump(exclude={"n_train", "pairs", "n_runs", "n_wide"}))


mnist_filters = Experiment("brutzkus2019.mnist_filters", filter_settings, run_mnist_filters, seconds=9.0)


class Bench:
    """The data and the random draws of a setting, and the three ways to train on them."""

    def __init__(self, setting: FilterSetting):
        """Load the images."""
        self.setting, self.key = setting, jax.random.key(setting.seed)
        self.train, self.test = (
            load_digits(split, count, setting.seed, setting.dtype)
            for split, count in (("train", setting.n_train), ("test", setting.n_test))
        )
        self.patches = jnp.asarray(cut_patches(np.asarray(self.train.images), setting.filter_side))

    def keys(self, purpose: int, count: int) -> tuple[RunKeys, RunKeys]:
        """Keys of initial weights and keys of the order of the batches."""
        own = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.fold_in(self.key, purpose), jnp.arange(count))
        weights, orders = jax.vmap(jax.random.split, out_axes=1)(own)
        return weights, orders

    def networks(self, keys: RunKeys, n_channels: int, scale: float) -> ConvClassifier:
        """One untrained network per key."""
        return draw_classifiers(keys, n_channels, self.setting.filter_side, jnp.asarray(scale), self.setting.dtype)

    def train_wide(self) -> Wide:
        """The large networks."""
        seed, n_wide = self.setting.seed, self.setting.n_wide
        weight_keys, order_keys = self.keys(WIDE_RUNS, n_wide)
        networks = self.networks(weight_keys, WIDE, WIDE_SCALE)
        runs = self._train(networks, self.setting.wide_epochs, WIDE_STEP, order_keys, until_fit=True)
        initial, trained = (np.asarray(each.filters, np.float64) for each in (networks, runs.network))
        return Wide(
            runs,
            self._test_error(runs.network),
            initial,
            trained,
            clusters=[cluster_filters(each, NARROW, seed) for each in trained],
            raw_clusters=[cluster_filters(each, NARROW, seed, unit=False) for each in trained],
            initial_clusters=[cluster_filters(each, NARROW, seed) for each in initial],
        )

    def train_narrow(self, step_size: float, scale: float) -> tuple[TrainedClassifiers, Float[np.ndarray, " run"]]:
        """Small networks that learn their filters, and their test errors."""
        weight_keys, order_keys = self.keys(NARROW_RUNS, self.setting.n_runs)
        networks = self.networks(weight_keys, NARROW, scale)
        runs = self._train(networks, self.setting.narrow_epochs, step_size, order_keys)
        return runs, self._test_error(runs.network)

    def frozen_filters(self, wide: Wide) -> list[Float[np.ndarray, "run channel pixel"]]:
        """The filters that small networks are given, in the order of `FROZEN`."""
        direction_keys, _ = self.keys(DIRECTIONS, self.setting.n_runs)
        directions = np.asarray(self.networks(direction_keys, NARROW, 1.0).filters, np.float64)
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        turns = np.arange(self.setting.n_runs) % self.setting.n_wide
        found = (wide.clusters, wide.raw_clusters, wide.initial_clusters)
        return [*(np.stack([each.centres for each in clusters])[turns] for clusters in found), directions]

    def train_frozen(
        self, filters: Float[np.ndarray, "run channel pixel"]
    ) -> tuple[TrainedClassifiers, Float[np.ndarray, " run"]]:
        """Bias and fully connected layer on filters that stay. Their pooled responses never change: computed once."""
        own = jnp.asarray(filters, self.setting.dtype)
        weight_keys, order_keys = self.keys(FROZEN_RUNS, self.setting.n_runs)
        heads, inputs = self.networks(weight_keys, NARROW, WIDE_SCALE).head, responses_to(own, self.train.images)
        epochs, forward = self.setting.narrow_epochs, PooledHead.__call__
        runs = train(heads, inputs, self.train.classes, epochs, WIDE_STEP, order_keys, forward, inputs_per_run=True)
        seen = responses_to(own, self.test.images)
        errors = error_rates(runs.network, seen, self.test.classes, forward=PooledHead.__call__, inputs_per_run=True)
        return runs, errors

    def _train(
        self, networks: ConvClassifier, epochs: int, step_size: float, keys: RunKeys, *, until_fit: bool = False
    ) -> TrainedClassifiers:
        forward = ConvClassifier.on_patches
        return train(networks, self.patches, self.train.classes, epochs, step_size, keys, forward, until_fit=until_fit)

    def _test_error(self, networks: ConvClassifier) -> Float[np.ndarray, " run"]:
        cut = functools.partial(cut_patches, filter_side=self.setting.filter_side)
        forward = ConvClassifier.on_patches
        return error_rates(networks, self.test.images, self.test.classes, forward=forward, prepare=cut)


def train(
    networks: Any,
    inputs: Float[Array, "..."],
    classes: Int[Array, " sample"],
    epochs: int,
    step_size: float,
    keys: RunKeys,
    forward: Forward,
    *,
    until_fit: bool = False,
    inputs_per_run: bool = False,
) -> TrainedClassifiers:
    """Mini-batch Adam on the cross-entropy of all weights, batches of a tenth of the training set.

    With `until_fit` a run ends `AFTER_FIT` epochs after the first one without training mistakes.
    """
    flat, lead, n_samples = inputs.reshape, inputs.shape[: 1 + inputs_per_run], classes.shape[0]
    labels = jnp.broadcast_to(classes.astype(inputs.dtype), lead)
    method = Adam(step_size, batch_size=n_samples // 10)
    epoch = method.steps_per_epoch(n_samples)
    recipe = Recipe(
        cross_entropy,
        method=method,
        max_steps=epochs * epoch,
        layers=Layers.BOTH,
        stop=zero_error if until_fit else never,
        check_every=epoch,
        after_goal=AFTER_FIT * epoch if until_fit else 0,
    )
    # The program of one run serves any number of them.
    trained = ensemble(
        OnFlat(networks, inputs.shape[len(lead) :], forward), Dataset(flat(*lead, -1), labels), recipe, keys, chunk=1
    )
    network = trained.network.network
    error = error_rates(network, inputs, classes, forward=forward, inputs_per_run=inputs_per_run)
    status = np.where(error == 0, RunStatus.CONVERGED, RunStatus.BUDGET_SPENT)
    status = np.where(trained.status == RunStatus.DIVERGED, RunStatus.DIVERGED, status)
    return TrainedClassifiers(network, status.astype(np.int64), trained.steps // epoch, error)


def load_digits(split: Any, count: int, seed: int, dtype: str) -> DigitImages:
    """The first images of a random order of this split of MNIST."""
    images, classes = load_mnist(split)
    rows = np.random.default_rng(seed).permutation(len(classes))[:count]
    if len(rows) < count:
        raise ValueError(f"MNIST's {split} split has {len(classes)} images, not {count}")
    pixels = (images[rows] / 255).reshape(count, 28, 28)
    return DigitImages(jnp.asarray(pixels, dtype), jnp.asarray(classes[rows].astype(np.int32)))


@functools.partial(jax.jit, static_argnums=(1, 2, 4))
def draw_classifiers(
    keys: RunKeys, n_channels: int, filter_side: int, scale: Float[Array, ""], dtype: str
) -> ConvClassifier:
    """One untrained network per key."""
    return jax.vmap(lambda key: make_conv_classifier(key, n_channels, filter_side, scale, dtype=dtype))(keys)


@jax.jit
def responses_to(
    filters: Float[Array, "run channel pixel"], images: Float[Array, "sample row column"]
) -> Float[Array, "run sample channel place"]:
    """The pooled responses of every run's filters to every image."""
    where = patch_pixels(round(filters.shape[-1] ** 0.5), images.shape[-1])
    flat = filters.reshape(-1, filters.shape[-1])
    seen = jax.lax.map(lambda image: pooled_responses(flat, image.ravel()[where]), images, batch_size=500)
    return jnp.moveaxis(seen.reshape(len(images), *filters.shape[:2], -1), 0, 1)


def _errors(
    setting: FilterSetting,
    wide: Wide,
    learned: Sequence[tuple[TrainedClassifiers, np.ndarray]],
    frozen: Sequence[tuple[TrainedClassifiers, np.ndarray]],
) -> xr.Dataset:
    """Test errors and how the runs ended."""
    variables: dict[str, Any] = {}
    for name, axis, results in (("learned", "pair", learned), ("frozen", "filters", frozen)):
        variables[f"{name}_error"] = ((axis, "run"), np.array([error for _, error in results]))
        variables[f"{name}_status"] = ((axis, "run"), np.array([runs.status for runs, _ in results]))
    variables |= {
        "wide_error": ("wide_run", wide.test_error),
        "wide_train_error": ("wide_run", wide.runs.train_error),
        "wide_epochs": ("wide_run", wide.runs.epochs),
        "wide_status": ("wide_run", wide.runs.status),
    }
    coords = {"pair": [f"{step_size:g}, {scale:g}" for step_size, scale in setting.pairs], "filters": list(FROZEN)}
    numbers = xr.Dataset(variables, coords)
    counted = [numbers[name] == RunStatus.DIVERGED for name in ("learned_status", "frozen_status", "wide_status")]
    return numbers.assign(diverged=sum(int(each.sum()) for each in counted), size=setting.n_train).set_coords("size")


def _angles(bench: Bench, wide: Wide) -> xr.Dataset:
    """Angles to the nearest centre, and the filters of the first network in the order of their clusters."""
    other_keys, _ = bench.keys(OTHER_WIDE, len(wide.trained))
    others = np.asarray(bench.networks(other_keys, WIDE, WIDE_SCALE).filters, np.float64)
    other_clusters = [cluster_filters(each, NARROW, bench.setting.seed) for each in others]
    angles = {"trained": wide.clusters, "untrained": wide.initial_clusters, "other_untrained": other_clusters}
    variables: dict[str, Any] = {
        f"{name}_angle": (("wide_run", "channel"), np.array([each.angles for each in found]))
        for name, found in angles.items()
    }
    for name, filters, found in (
        ("trained", wide.trained[0], wide.clusters[0]),
        ("untrained", wide.initial[0], wide.initial_clusters[0]),
    ):
        order = np.lexsort((found.angles, found.cluster))
        unit = filters / np.linalg.norm(filters, axis=1, keepdims=True)
        # Four digits are enough to draw, and keep the file small.
        variables[f"{name}_filters"] = (("channel", "pixel"), np.round(unit[order], 4))
        variables[f"{name}_centres"] = (("cluster", "pixel"), np.round(found.centres, 4))
        variables[f"{name}_cluster"] = (("channel",), found.cluster[order])
    return xr.Dataset(variables)
