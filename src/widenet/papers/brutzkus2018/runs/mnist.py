"""Batch-1 SGD on MNIST 3 against 5: the runs that Figures 1 to 3 show, and the separator of the images they see."""

import functools
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.data import load_mnist35
from widenet.diagnostics import find_separator, training_error
from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu, make_two_layer, plus_minus
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import SGD, OutputWatch, Permutation, Recipe, Record, Snapshot, ensemble
from widenet.types import Dataset, Layers, RunKey, RunStatus, Trajectory

Scalar = int | Int[Array, ""]

RUNS_OF_A_WIDTH = 10_000
"""Runs are numbered within their width; those of one width lie this far from those of the next."""


class MnistSetting(ClosedModel):
    """Runs of one width on one split."""

    width: int  #: 2k, the number of neurons
    n_runs: int  #: how many runs, numbered from `first_run` on
    #: η and α
    step_size: float
    layers: Layers
    max_epochs: int  #: when a run without zero loss is given up
    slope: float = 0.2
    #: images of the split, which is the same for all runs
    n_train: int = 3000
    n_test: int = 1000
    dtype: str = "float32"
    first_run: int = 0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class OutputRatios:
    """v_t/v_0 of runs with both layers trained."""

    #: over the neurons, at each look
    smallest: Float[np.ndarray, "run look"]
    largest: Float[np.ndarray, "run look"]
    #: c and C of each run, over all neurons and all updates
    smallest_ever: Float[np.ndarray, " run"]
    largest_ever: Float[np.ndarray, " run"]


@dataclass(frozen=True, eq=False)
class MnistRuns:
    """What the runs of a setting left behind."""

    setting: MnistSetting
    #: when they were looked at; the last look is the first at which every run had ended
    epochs: Int[np.ndarray, " look"]
    #: shares of misclassified images; a run that has ended keeps its last ones
    train_error: Float[np.ndarray, "run look"]
    test_error: Float[np.ndarray, "run look"]
    updates: Int[np.ndarray, " run"]  #: T, the non-zero updates of each run
    zero_loss_epoch: Float[np.ndarray, " run"]  #: when the training loss became 0; NaN if it did not
    status: Int[np.ndarray, " run"]  #: a `RunStatus` per run
    ratios: OutputRatios | None = None  #: of the output weights, where they are trained

    @property
    def finished(self) -> np.ndarray:
        """Which runs reached zero training loss."""
        return self.status == RunStatus.CONVERGED

    def first(self, n_runs: int) -> "MnistRuns":
        """The first of these runs. A run does not depend on how many there are beside it."""
        ratios = self.ratios
        if ratios is not None:
            ratios = OutputRatios(
                ratios.smallest[:n_runs],
                ratios.largest[:n_runs],
                ratios.smallest_ever[:n_runs],
                ratios.largest_ever[:n_runs],
            )
        return replace(
            self,
            setting=self.setting.model_copy(update={"n_runs": len(self.status[:n_runs])}),
            train_error=self.train_error[:n_runs],
            test_error=self.test_error[:n_runs],
            updates=self.updates[:n_runs],
            zero_loss_epoch=self.zero_loss_epoch[:n_runs],
            status=self.status[:n_runs],
            ratios=ratios,
        )


class SeparatorSetting(ClosedModel):
    """The training images of a split: how many, and in which precision."""

    n_train: int = 3000
    dtype: str = "float32"


@dataclass(frozen=True)
class MnistSeparator(Cases):
    """What is certified about the training images."""

    separable: bool  #: whether a separator through the origin was found
    norm: float  #: ‖w*‖ of that separator; infinite without one
    smallest_margin: float  #: min y⟨w*, x⟩ in float64; 0 without a separator
    largest_input: float  #: max ‖x‖

    def counts(self) -> dict[str, int]:
        """Nothing is trained."""
        return {"tried": 0, "diverged": 0, "unfinished": 0}


def mnist_settings(scale: Scale, seed: int) -> list[MnistSetting]:
    """Figure 1: the first layer alone, at three widths."""
    runs, eta, epochs = ((8, 8, 2), 10.0, 400) if scale is Scale.QUICK else ((40, 40, 40), 1.0, 1000)
    return [
        MnistSetting(width=width, n_runs=n, step_size=eta, layers=Layers.HIDDEN, max_epochs=epochs, seed=seed)
        for width, n in zip((10, 100, 1000), runs, strict=True)
    ]


def mnist_both_layers_settings(scale: Scale, seed: int) -> list[MnistSetting]:
    """Figure 2: both layers with one step size for all widths."""
    sizes = {10: 4, 100: 4} if scale is Scale.QUICK else {10: 40, 100: 40, 1000: 40}
    return [
        MnistSetting(width=width, n_runs=n, step_size=1.0, layers=Layers.BOTH, max_epochs=400, seed=seed)
        for width, n in sizes.items()
    ]


def mnist_reference_settings(scale: Scale, seed: int) -> list[MnistSetting]:
    """The runs of Figure 1 at the widths of Figure 2: same starts, same orders, a fixed second layer."""
    widths = {setting.width for setting in mnist_both_layers_settings(scale, seed)}
    return [setting for setting in mnist_settings(scale, seed) if setting.width in widths]


def separator_settings(scale: Scale, seed: int) -> list[SeparatorSetting]:
    """The images of the three figures, at both scales and for every seed."""
    return [SeparatorSetting()]


def run_mnist(setting: MnistSetting, progress: Progress) -> MnistRuns:
    """Train and look, with the hinge loss from R = v = 1/√(2k), a fresh permutation per epoch, until the loss is 0.

    A run's start and order depend on the seed, its width and its number alone.
    """
    split = load_split(setting.n_train, setting.n_test, setting.dtype)
    both = setting.layers is Layers.BOTH
    first = setting.width * RUNS_OF_A_WIDTH + setting.first_run
    starts = [
        _start(setting.seed, first + run, setting.width, split.train.dim, setting.slope, setting.dtype)
        for run in range(setting.n_runs)
    ]
    networks, keys = jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts)
    epochs = epochs_looked_at(setting.max_epochs)
    record = Record(
        tuple(epoch * setting.n_train for epoch in epochs),
        {"seen": split.errors_and_ratios if both else split.errors},
    )
    recipe = Recipe(
        hinge,
        SGD(setting.step_size, Permutation()),
        setting.max_epochs * setting.n_train,
        layers=setting.layers,
        check_every=setting.n_train,
    )
    # One run per chunk: the same program serves any number of runs, and is compiled once per width.
    trained = ensemble(
        networks, split.train, recipe, keys, record=record, watch=Ratios() if both else None, chunk=1, progress=progress
    )
    return _collected(setting, np.asarray(epochs), trained)


def run_separator(setting: SeparatorSetting, progress: Progress) -> MnistSeparator:
    """The shortest separator of the training images, certified in float64 on the images as they are trained on."""
    images = load_split(setting.n_train, 1, setting.dtype).train
    progress(0.1, "looking for a separator")
    found = find_separator(images)
    inputs, labels = np.asarray(images.inputs, np.float64), np.asarray(images.labels, np.float64)
    margin = 0.0 if found.separator is None else float((labels * (inputs @ found.separator)).min())
    progress(1.0, "looking for a separator")
    largest = float(np.linalg.norm(inputs, axis=1).max())
    return MnistSeparator(bool(found.separable), float(found.norm_upper), margin, largest)


mnist = Experiment("brutzkus2018.mnist", mnist_settings, run_mnist, seconds=9.0)

mnist_separator = Experiment("brutzkus2018.mnist_separator", separator_settings, run_separator, seconds=2.0)


@dataclass(frozen=True, eq=False)
class ImageSplit:
    """Training and test images, and what a look at a network sees of them."""

    train: Dataset
    test: Dataset

    def errors(self, now: Snapshot) -> Float[Array, "2"]:
        """Train and test error; the images trained on come as an argument, and need not be built into the program."""
        return jnp.stack([training_error(now.network, now.data), training_error(now.network, self.test)])

    def errors_and_ratios(self, now: Snapshot) -> Float[Array, "4"]:
        """Train and test error, the smallest and the largest v_t/v_0."""
        ratios = output_ratios(now.network.output_weights)
        return jnp.concatenate([self.errors(now), jnp.stack([ratios.min(), ratios.max()])])


# Kept, as one object: a look at it is compiled once for all cells of a process.
@functools.lru_cache(maxsize=2)
def load_split(n_train: int, n_test: int, dtype: str) -> ImageSplit:
    """One split for all runs, in this dtype."""
    return ImageSplit(*(_rounded(part, dtype) for part in load_mnist35(n_train=n_train, n_test=n_test)))


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


def epochs_looked_at(max_epochs: int) -> list[int]:
    """Every epoch up to 10, then every fifth, and the last: a look costs more than an epoch of training."""
    return [epoch for epoch in range(max_epochs + 1) if epoch <= 10 or epoch % 5 == 0 or epoch == max_epochs]


# The compiler is told not to try hard: drawing takes milliseconds, and gives the same bits.
@functools.partial(
    jax.jit,
    static_argnames=("width", "dim", "slope", "dtype"),
    compiler_options={"xla_backend_optimization_level": 0},
)
def _start(seed: Scalar, number: Scalar, width: int, dim: int, slope: float, dtype: str) -> tuple[TwoLayer, RunKey]:
    """A network before training and the key of its order, in one program that all runs of a width share."""
    init_key, order_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), number))
    return make_two_layer(init_key, width, dim, leaky_relu(slope), dtype=dtype), order_key


def _collected(setting: MnistSetting, epochs: Int[np.ndarray, " look"], trained: Trajectory) -> MnistRuns:
    """The looks up to the first at which every run had ended."""
    longest = int(trained.steps.max()) / setting.n_train
    last = min(int(np.searchsorted(epochs, longest)) + 1, len(epochs))
    seen = np.moveaxis(np.asarray(trained.records["seen"])[:, :last], 2, 0)
    ratios = None
    if trained.watched is not None:
        ratios = OutputRatios(seen[2], seen[3], *(np.asarray(extreme) for extreme in trained.watched))
    return MnistRuns(
        setting=setting,
        epochs=epochs[:last],
        train_error=seen[0],
        test_error=seen[1],
        updates=np.asarray(trained.updates),
        zero_loss_epoch=np.where(trained.zero_loss_step >= 0, trained.zero_loss_step / setting.n_train, np.nan),
        status=np.asarray(trained.status),
        ratios=ratios,
    )


def _rounded(data: Dataset, dtype: str) -> Dataset:
    """In this dtype, shrunk by a millionth so that rounding leaves no input outside the unit ball."""
    inputs, labels = np.asarray(data.inputs) * (1 - 2**-20), np.asarray(data.labels)
    return Dataset(jnp.asarray(inputs, dtype), jnp.asarray(labels, dtype))
