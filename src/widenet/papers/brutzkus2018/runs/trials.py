"""The setting of the paper: separable data, a ±v Leaky ReLU network, hinge loss, batch-1 SGD.

`Trials` is a batch of such settings of one shape, each with its own data, step size and initial weights, together
with its measured hypotheses. Generated grids, the lower-bound sequence and a user's own data all become `Trials`.
"""

import functools
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from widenet.claims.base import Hypothesis, at_least, at_most, less_than, more_than
from widenet.data import make_separable
from widenet.diagnostics import Separation, find_separator
from widenet.errors import InputError
from widenet.losses import hinge
from widenet.networks import PiecewiseLinear, TwoLayer, leaky_relu, make_two_layer, plus_minus, sphere_rows
from widenet.training import Cyclic, Permutation, Recipe, WithReplacement, ensemble
from widenet.training.orders import Order
from widenet.types import Dataset, Progress, Trajectory, silent

ORDER_STREAM = 2**31 - 1

ROUNDING = 1e-12
"""What float64 may add to a norm or a margin of size 1."""


class Trials(eqx.Module):
    """A batch of trials of one shape.

    Attributes:
      data: one data set per trial.
      separators: w* of each trial; zero where none exists.
      networks: the networks before training.
      step_sizes: η of each trial.
      row_bounds: R of each trial.
      order: how samples are chosen.
      seed: where the sample orders come from.
    """

    data: Dataset
    separators: Float[Array, "run dim"]
    networks: TwoLayer
    step_sizes: Float[Array, " run"]
    row_bounds: Float[Array, " run"]
    order: Order
    seed: int = eqx.field(static=True)

    def __len__(self) -> int:
        """The number of trials."""
        return self.step_sizes.shape[0]

    @property
    def slopes(self) -> np.ndarray:
        """α of each trial."""
        return np.broadcast_to(np.asarray(self.networks.activation.slope), (len(self),))

    @property
    def output_weights(self) -> np.ndarray:
        """v of each trial."""
        return np.asarray(self.networks.output_weights[:, 0])

    @property
    def separator_norms(self) -> np.ndarray:
        """‖w*‖ of each trial."""
        return np.linalg.norm(np.asarray(self.separators), axis=1)

    @property
    def half_width(self) -> int:
        """k, half the number of neurons."""
        return self.networks.n_neurons // 2

    @property
    def min_margins(self) -> np.ndarray:
        """min_i y_i⟨w*, x_i⟩ of each trial."""
        scores = np.einsum("rnd,rd->rn", np.asarray(self.data.inputs), np.asarray(self.separators))
        return (np.asarray(self.data.labels) * scores).min(axis=1)

    def train(self, max_steps: int, progress: Progress = silent, **others: Any) -> Trajectory:
        """Batch-1 SGD with the hinge loss until the loss is 0, or until `max_steps`."""
        stream = jax.random.fold_in(jax.random.key(self.seed), ORDER_STREAM)  # apart from data and initial weights
        keys = jax.vmap(jax.random.fold_in, (None, 0))(stream, jnp.arange(len(self)))
        recipe = Recipe(hinge, self.step_sizes, max_steps, order=self.order, **others)
        return ensemble(self.networks, self.data, recipe, keys, progress=progress)


def hypotheses(batches: Sequence[Trials]) -> list[Hypothesis]:
    """The hypotheses of the convergence theorems, each at the trial that is nearest to breaking it.

    The proof needs σ'(0) between α and 1, wherever the paper's own choice is 1. A NaN anywhere fails what it enters.
    """
    measured = [_measure(trials) for trials in batches]
    over_all = {name: np.concatenate([each[name] for each in measured]) for name in measured[0]}
    lowest = lambda name: float(np.min(over_all[name]))  # noqa: E731
    highest = lambda name: float(np.max(over_all[name]))  # noqa: E731
    return [
        at_least("separable", "separable: smallest y⟨w*, x⟩", lowest("margin"), 1, tolerance=ROUNDING),
        at_most("largest_input_norm", "largest input norm ‖x‖", highest("input norm"), 1, tolerance=ROUNDING),
        at_most(
            "largest_initial_row_norm_r", "largest initial row norm / R", highest("row norm"), 1, tolerance=ROUNDING
        ),
        at_most("labels", "labels: largest distance from ±1", highest("label"), 0),
        more_than("smallest_output_weight_v", "smallest output weight v", lowest("output weight"), 0),
        at_most("unequal_output_weights_v_v", "unequal output weights (+v, …, −v)", highest("unequal"), 0),
        at_most("largest_bias", "largest bias", highest("bias"), 0),
        more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", lowest("slope"), 0),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", highest("slope"), 1),
        at_least("smallest_deviation_0_slope", "smallest σ'(0) − α", lowest("at zero"), 0),
        at_most("largest_deviation_0", "largest σ'(0)", highest("derivative"), 1),
        more_than("smallest_step_size_step_size", "smallest step size η", lowest("step size"), 0),
    ]


def _measure(trials: Trials) -> dict[str, np.ndarray]:
    """What the hypotheses speak of, one number per trial."""
    networks, count = trials.networks, len(trials)
    weights = np.asarray(networks.output_weights)
    half = weights.shape[1] // 2
    halves = np.concatenate([weights[:, :half], -weights[:, half:]], axis=1)
    rows = np.linalg.norm(np.asarray(networks.hidden_weights), axis=2).max(axis=1)
    bounds = np.asarray(trials.row_bounds)
    with np.errstate(divide="ignore", invalid="ignore"):
        # R = 0 allows rows of zeros and no others.
        relative = np.where((bounds == 0) & (rows == 0), 0.0, rows / bounds)
    derivative = np.broadcast_to(np.asarray(networks.activation.derivative_at_zero), (count,))
    return {
        "margin": trials.min_margins,
        "input norm": np.linalg.norm(np.asarray(trials.data.inputs), axis=2).max(axis=1),
        "row norm": relative,
        "label": np.abs(np.abs(np.asarray(trials.data.labels)) - 1).max(axis=1),
        "output weight": halves.min(axis=1),
        # An odd number of neurons has no two equal halves.
        "unequal": np.ptp(halves, axis=1) if weights.shape[1] % 2 == 0 else np.full(count, np.inf),
        "bias": np.zeros(count) if networks.bias is None else np.abs(np.asarray(networks.bias)).max(axis=1),
        "slope": trials.slopes,
        "derivative": derivative,
        "at zero": derivative - trials.slopes,
        "step size": np.asarray(trials.step_sizes),
    }


def trials_on(
    data: Dataset,
    *,
    n_runs: int = 5,
    n_neurons: int = 20,
    activation: PiecewiseLinear | None = None,
    step_size: float = 1.0,
    order: Order | None = None,
    seed: int = 0,
    separation: Separation | None = None,
) -> Trials:
    """A user's own data under the paper's initialization R = v = 1/√(2k).

    The data is taken as it is; `scale_to_unit_ball` first if its norms exceed 1. The separator is found and
    certified here, unless `separation` brings it; it is zero when there is none, so that the margin hypothesis fails
    visibly.
    """
    if n_runs < 1:
        raise InputError(f"n_runs must be at least 1, got {n_runs}.")
    if n_neurons < 2 or n_neurons % 2:
        raise InputError(f"n_neurons must be even and at least 2 (half vote plus, half minus), got {n_neurons}.")
    separation = find_separator(data) if separation is None else separation
    separator = separation.separator if separation.separator is not None else np.zeros(data.dim)
    activation = leaky_relu(0.2) if activation is None else activation
    keys = jax.random.split(jax.random.key(seed), n_runs)
    networks = jax.vmap(lambda key: make_two_layer(key, n_neurons, data.dim, activation))(keys)
    networks = eqx.tree_at(lambda net: net.activation, networks, activation)
    repeat = lambda array: jnp.broadcast_to(jnp.asarray(array), (n_runs, *np.shape(array)))  # noqa: E731
    return Trials(
        Dataset(repeat(data.inputs), repeat(data.labels)),
        repeat(separator),
        networks,
        jnp.full(n_runs, step_size),
        jnp.full(n_runs, n_neurons**-0.5),
        Permutation() if order is None else order,
        seed,
    )


SLOPES = (0.01, 0.1, 0.3, 0.7, 0.95)
"""With α = 0.01 the bound exceeds 4e4, so that slope is drawn at paper scale only."""
ORDERS = (Permutation(), Cyclic(), WithReplacement())
STARTS = ("sphere", "zeros", "adversarial")
"""Rows uniform on the sphere of radius R, at zero, or pointing against the separator."""


def random_trials(seed: int, n_batches: int, per_batch: int, max_bound: float, bound: Any) -> list[Trials]:
    """Trials all over the parameter space: `n_batches` shapes with `per_batch` trials each.

    Draws whose bound exceeds `max_bound` would train for minutes and are drawn again.
    """
    draw = np.random.default_rng(seed)
    return [
        _random_batch(draw, per_batch, max_bound, bound, ORDERS[index % len(ORDERS)], 1_000_003 * seed + index)
        for index in range(n_batches)
    ]


def _random_batch(
    draw: np.random.Generator, count: int, max_bound: float, bound: Any, order: Order, seed: int
) -> Trials:
    dim, n_samples, half = int(draw.integers(2, 21)), int(draw.integers(5, 81)), int(draw.integers(1, 31))
    settings = [_random_parameters(draw, half, max_bound, bound) for _ in range(count)]
    norm, slope, eta, weight, radius = (np.asarray(column) for column in zip(*settings, strict=True))
    keys = jax.random.split(jax.random.key(seed), (count, 3))
    data, separators, starts = _draw(keys, jnp.asarray(norm), jnp.asarray(radius), dim, n_samples, half)
    chosen = draw.integers(len(STARTS), size=count)
    hidden = starts[chosen, np.arange(count)]
    outputs = jax.vmap(lambda weight: plus_minus(2 * half, weight))(jnp.asarray(weight))
    activation = PiecewiseLinear(jnp.asarray(slope), jnp.ones(count))
    return Trials(
        data,
        separators,
        TwoLayer(hidden, outputs, None, activation),
        jnp.asarray(eta),
        jnp.asarray(radius),
        order,
        seed,
    )


# Drawn once per shape: the time goes into compiling, so the compiler is told not to try hard.
@functools.partial(
    jax.jit,
    static_argnames=("dim", "n_samples", "half"),
    compiler_options={"xla_backend_optimization_level": 0},
)
def _draw(
    keys: Key[Array, "run 3"],
    separator_norms: Float[Array, " run"],
    radii: Float[Array, " run"],
    dim: int,
    n_samples: int,
    half: int,
) -> tuple[Dataset, Float[Array, "run dim"], Float[Array, "start run neuron dim"]]:
    """Data, separators and the three kinds of initial rows of a batch, in one compiled program."""
    votes = jnp.sign(plus_minus(2 * half, 1.0))[:, None]

    def one(keys: Array, separator_norm: Array, radius: Array) -> tuple[Dataset, Array, Array]:
        source = make_separable(keys[0], dim, separator_norm)
        sphere = sphere_rows(keys[2], 2 * half, dim, radius)
        adversarial = -votes * radius * source.separator / separator_norm
        return source.sample(keys[1], n_samples), source.separator, jnp.stack([sphere, 0 * sphere, adversarial])

    data, separators, starts = jax.vmap(one)(keys, separator_norms, radii)
    return data, separators, jnp.swapaxes(starts, 0, 1)


def _random_parameters(draw: np.random.Generator, half: int, max_bound: float, bound: Any) -> tuple[float, ...]:
    """(‖w*‖, α, η, v, R) with a bound that can be waited for."""
    while True:
        norm = 1 / draw.uniform(0.05, 0.5)
        slope = float(draw.choice(SLOPES))
        eta = float(np.exp(draw.uniform(np.log(0.03), np.log(100))))
        weight = radius = (2 * half) ** -0.5
        if draw.random() < 0.5:
            weight, radius = np.exp(draw.uniform(np.log(0.05), np.log(5), size=2))
        if bound(norm, slope, eta, weight, radius, half) <= max_bound:
            return norm, slope, eta, float(weight), float(radius)
