"""Mini-batch SGD of Section 7 on the engine: accuracy, patterns, distance and spectra, for several repeats at once."""

from dataclasses import dataclass
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from pydantic import Field

from widenet.claims.experiments import Experiment
from widenet.losses import cross_entropy, zero_one
from widenet.networks import TwoLayer, relu
from widenet.networks.two_layer import EXACT
from widenet.papers.li2018.sources import Gaussians, Images, Sample
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import SGD, Listed, Recipe, Record, Snapshot, ensemble
from widenet.training.small.softmax import start_softmax
from widenet.types import Dataset


class CurveSetting(ClosedModel):
    """Runs of mini-batch SGD with W⁰ of standard deviation m^{−1/2} and η = scaled_step/m.

    Every run has a start and an order of its own, and Gaussians of its own; images are the same for all.

    Attributes:
      data: the training points. width: m.
      n_test: fresh points on which the accuracy is measured; n_patterns: the first of them, on which patterns are.
      each_step_until: runs are looked at after every step up to here, and after every `cadence` steps from then on.
    """

    data: Annotated[Gaussians | Images, Field(discriminator="kind")]
    width: int
    n_runs: int = 5
    n_steps: int = 400
    batch_size: int = 16
    scaled_step: float = 10.0
    n_test: int = 1000
    n_patterns: int = 1000
    each_step_until: int = 60
    cadence: int = 10
    seed: int = 0

    @property
    def looks(self) -> tuple[int, ...]:
        """Steps after which the runs are looked at, 0 and the last one among them."""
        first = range(min(self.each_step_until, self.n_steps) + 1)
        return tuple(sorted({*first, *range(0, self.n_steps + 1, self.cadence), self.n_steps}))


@dataclass(frozen=True, eq=False)
class Curves:
    """What was seen of the runs of a setting."""

    setting: CurveSetting
    steps: Int[np.ndarray, " look"]
    accuracy: Float[np.ndarray, "run look"]  #: share of test points whose own class leads; a tie is wrong
    flips: Float[np.ndarray, "run look"]  #: share of (neuron, point) pairs whose 1[⟨w, x⟩ > 0] is not that of the start
    changed: Float[np.ndarray, "run look"]  #: share of neurons whose pattern changed on some point
    distance: Float[np.ndarray, "run look"]  #: ‖W − W⁰‖/‖W⁰‖
    longest: Float[np.ndarray, "run look"]  #: max_r ‖w_r − w_r⁰‖
    update_values: Float[np.ndarray, "run place"]  #: singular values of W − W⁰ at the end, in falling order
    weight_values: Float[np.ndarray, "run place"]  #: and of W


@dataclass(frozen=True)
class CurveLook:
    """What is seen of a run whose data are `n_train` training points and behind them the test points."""

    n_train: int
    n_patterns: int

    def __call__(self, seen: Snapshot) -> Float[Array, " number"]:
        """Accuracy, flips, changed, distance and longest move."""
        inputs, labels = seen.data.inputs[self.n_train :], seen.data.labels[self.n_train :]
        now, watched = seen.network, inputs[: self.n_patterns]
        z = jnp.dot(inputs, now.hidden_weights.T, precision=EXACT)
        outputs = jnp.dot(now.activation(z), now.output_weights.T, precision=EXACT)
        before = jnp.dot(watched, seen.start.hidden_weights.T, precision=EXACT)
        flipped = (z[: self.n_patterns] > 0) != (before > 0)
        moves = jnp.sum(_squares(now.hidden_weights - seen.start.hidden_weights), axis=1)
        size = jnp.sum(_squares(seen.start.hidden_weights))
        return jnp.stack(
            [
                1 - jnp.mean(zero_one(outputs, labels), dtype=jnp.float64),
                jnp.mean(flipped, dtype=jnp.float64),
                jnp.mean(jnp.any(flipped, axis=0), dtype=jnp.float64),
                jnp.sqrt(jnp.sum(moves) / size),
                jnp.sqrt(jnp.max(moves)),
            ]
        )


def _squares(values: Array) -> Array:
    return values.astype(jnp.float64) ** 2


def run_curves(setting: CurveSetting, progress: Progress) -> Curves:
    """Draw, train and look."""
    seeds = [1000 * setting.seed + run for run in range(setting.n_runs)]
    data, n_train = points_of(setting, seeds)
    n_classes = int(data.labels.max()) + 1
    starts = [start_softmax(np.random.default_rng([seed, 87]), setting.width, data.dim, n_classes) for seed in seeds]
    networks = TwoLayer(
        jnp.asarray(np.stack([start.hidden.astype(np.float32) for start in starts])),
        jnp.asarray(np.stack([start.votes.astype(np.float32) for start in starts])),
        None,
        relu(1.0),
    )
    orders = [batches(np.random.default_rng([seed, 88]), n_train, setting) for seed in seeds]
    done = ensemble(
        networks,
        data,
        Recipe(
            cross_entropy,
            SGD(setting.scaled_step / setting.width, Listed(np.stack(orders)), setting.batch_size),
            setting.n_steps,
            check_every=setting.n_steps,
        ),
        jax.vmap(jax.random.key)(jnp.asarray(seeds)),
        record=Record(setting.looks, {"seen": CurveLook(n_train, setting.n_patterns)}),
        progress=progress,
    )
    ends = done.network.hidden_weights
    pairs = list(zip(ends, networks.hidden_weights, strict=True))
    accuracy, flips, changed, distance, longest = np.moveaxis(np.asarray(done.records["seen"], np.float64), 2, 0)
    return Curves(
        setting=setting,
        steps=np.asarray(done.times),
        accuracy=accuracy,
        flips=flips,
        changed=changed,
        distance=distance,
        longest=longest,
        update_values=np.stack([spectrum(end, start) for end, start in pairs]),
        weight_values=np.stack([spectrum(end) for end, _ in pairs]),
    )


def points_of(setting: CurveSetting, seeds: list[int]) -> tuple[Dataset, int]:
    """Training points and behind them test points, in float32, for every seed or for all; and how many train."""
    if isinstance(setting.data, Images):
        test = setting.data.model_copy(update={"part": "test"})
        pairs = [(setting.data.draw(setting.seed), test.draw(setting.seed, n_points=setting.n_test))]
    else:
        pairs = [(setting.data.draw(seed), setting.data.draw(seed, fresh=1, n_points=setting.n_test)) for seed in seeds]
    inputs = np.stack([_joined(pair, "points") for pair in pairs])
    labels = np.stack([_joined(pair, "classes") for pair in pairs])
    if len(pairs) == 1 and isinstance(setting.data, Images):
        inputs, labels = inputs[0], labels[0]
    return Dataset(jnp.asarray(inputs), jnp.asarray(labels)), len(pairs[0][0].points)


def _joined(pair: tuple[Sample, Sample], name: str) -> Float[np.ndarray, "..."]:
    return np.concatenate([getattr(sample, name).astype(np.float32) for sample in pair])


def batches(draw: np.random.Generator, n_train: int, setting: CurveSetting) -> Int[np.ndarray, " place"]:
    """Fresh permutations of the training points one after the other, cut into batches across their borders."""
    wanted = setting.n_steps * setting.batch_size
    passes = [draw.permutation(n_train) for _ in range(-(-wanted // n_train))]
    return np.concatenate(passes)[:wanted].astype(np.int32)


@jax.jit
def _gram(matrix: Float[Array, "row column"]) -> Float[Array, "side side"]:
    wide = matrix.astype(jnp.float64)
    return wide @ wide.T if wide.shape[0] <= wide.shape[1] else wide.T @ wide


def spectrum(
    matrix: Float[Array, "row column"], start: Float[Array, "row column"] | None = None
) -> Float[np.ndarray, " place"]:
    """Singular values, of the difference where a start is given, from inner products in float64.

    Values below some 1e-8 of the largest are noise.
    """
    if start is not None:
        matrix = matrix.astype(jnp.float64) - start.astype(jnp.float64)
    squares = np.linalg.eigvalsh(np.asarray(_gram(matrix)))
    return np.sqrt(np.maximum(squares, 0))[::-1].copy()


WIDTHS = (500, 1000, 2000, 4000, 8000, 16_000)
"""Not printed; factors of 2 show a power law."""
QUICK_WIDTHS = (250, 500, 1000)
SPREADS = (1.0, 2.0, 5.0, 10.0)
"""σ of Figure 6, not printed."""


def synthetic(data: Gaussians, width: int, scale: Scale, seed: int) -> CurveSetting:
    """T = 400, B = 16, η = 10/m, as printed."""
    if scale is Scale.QUICK:
        return CurveSetting(
            data=data, width=width, n_test=200, n_patterns=100, each_step_until=20, cadence=20, seed=seed
        )
    return CurveSetting(data=data, width=width, seed=seed)


def both_norms(data: Gaussians) -> tuple[Gaussians, Gaussians]:
    """Points of norm 1, as (A2) asks, and as they are drawn: which of them was trained on is not printed."""
    return data, data.model_copy(update={"unit_norm": False})


def synthetic_widths(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figures 1, 4 and 5."""
    widths = QUICK_WIDTHS if scale is Scale.QUICK else WIDTHS
    return [synthetic(data, width, scale, seed) for data in both_norms(Gaussians()) for width in widths]


def at_one_width(data: Gaussians, scale: Scale, seed: int) -> CurveSetting:
    """Figures 6 and 7, whose width is not printed."""
    return synthetic(data, 250 if scale is Scale.QUICK else 1000, scale, seed)


def synthetic_spreads(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figure 6: σ varies, σ₀ = 5."""
    mixtures = [data for spread in SPREADS for data in both_norms(Gaussians(spread=spread))]
    return [at_one_width(data, scale, seed) for data in mixtures]


def synthetic_components(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figure 7: l from 1 to 7."""
    numbers = (1, 2, 4, 7) if scale is Scale.QUICK else range(1, 8)
    mixtures = [data for number in numbers for data in both_norms(Gaussians(per_class=number))]
    return [at_one_width(data, scale, seed) for data in mixtures]


def mnist_setting(width: int, scale: Scale, seed: int, unit_norm: bool = True) -> CurveSetting:
    """B = 64, η = 400/m and at paper scale T = 20,000, as printed."""
    common = {"width": width, "batch_size": 64, "scaled_step": 400.0, "seed": seed}
    if scale is Scale.QUICK:
        data = Images(n_points=30_000, unit_norm=unit_norm)
        return CurveSetting(
            data=data, n_runs=3, n_steps=800, n_test=1500, n_patterns=150, each_step_until=0, cadence=20, **common
        )
    return CurveSetting(
        data=Images(n_points=60_000, unit_norm=unit_norm),
        n_steps=20_000,
        n_test=10_000,
        each_step_until=1500,
        cadence=50,
        **common,
    )


def mnist_widths(scale: Scale, seed: int) -> list[CurveSetting]:
    """Figures 2, 4 and 5: images of norm 1."""
    return [mnist_setting(width, scale, seed) for width in WIDTHS[: 2 if scale is Scale.QUICK else 4]]


def raw_pixels(scale: Scale, seed: int) -> list[CurveSetting]:
    """The other reading of MNIST, pixels from 0 to 1, at one width."""
    return [mnist_setting(500, scale, seed, unit_norm=False)]


curves = Experiment("li2018.curves", synthetic_widths, run_curves, seconds=4.0)
