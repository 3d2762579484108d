"""Trials drawn in plain NumPy: for claims whose runs are so small that compiling would cost more than they do."""

import jax.numpy as jnp
import numpy as np

from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.trials import ORDERS, SLOPES, STARTS, Trials
from widenet.training import Cyclic
from widenet.training.orders import Order
from widenet.types import Dataset

ROOM = 1e-12
"""Points keep this far inside ‖x‖ ≤ 1 and y⟨w*, x⟩ ≥ 1, so that rounding does not carry them out."""


def separable_points(
    draw: np.random.Generator, dim: int, n_samples: int, separator_norm: float, largest_margin: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(inputs, labels, w*) as in `widenet.data.separable`: margins uniform on [1/‖w*‖, largest_margin]."""
    direction = unit_rows(draw, 1, dim)[0]
    labels = draw.choice([-1.0, 1.0], n_samples)
    margins = np.minimum(draw.uniform((1 + ROOM) / separator_norm, largest_margin, n_samples), 1 - ROOM)
    across = draw.normal(size=(n_samples, dim))
    across -= np.outer(across @ direction, direction)
    if dim > 1:
        radii = np.sqrt((1 - ROOM) ** 2 - margins**2) * draw.random(n_samples) ** (1 / (dim - 1))
        across *= (radii / np.linalg.norm(across, axis=1))[:, None]
    inputs = np.outer(labels * margins, direction) + across * (dim > 1)
    return inputs, labels, separator_norm * direction


def unit_rows(draw: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Rows uniform on the unit sphere."""
    rows = draw.normal(size=(count, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def plus_minus_weights(half_width: int, output_weight: float) -> np.ndarray:
    """(+v, …, +v, −v, …, −v)."""
    return output_weight * np.repeat([1.0, -1.0], half_width)


def as_trials(
    inputs: np.ndarray,
    labels: np.ndarray,
    separators: np.ndarray,
    hidden: np.ndarray,
    outputs: np.ndarray,
    slopes: np.ndarray,
    step_sizes: np.ndarray,
    row_bounds: np.ndarray,
    order: Order,
    seed: int,
) -> Trials:
    """A batch from arrays with a leading run axis."""
    slope = jnp.asarray(slopes)
    return Trials(
        Dataset(jnp.asarray(inputs), jnp.asarray(labels)),
        jnp.asarray(separators),
        TwoLayer(
            jnp.asarray(hidden),
            jnp.asarray(outputs),
            None,
            PiecewiseLinear(slope, jnp.asarray(np.ones(len(slopes)))),
        ),
        jnp.asarray(step_sizes),
        jnp.asarray(row_bounds),
        order,
        seed,
    )


def basis_sequence(
    dim: int,
    half_width: int,
    slope: float,
    step_size: float,
    output_weight: float | None = None,
    row_bound: float | None = None,
) -> Trials:
    """The trial of `lower_bound.basis_trials`, made without JAX: e_1, …, e_d, cycled; R = v = 1/√(2k) unless given."""
    weight = (2 * half_width) ** -0.5 if output_weight is None else output_weight
    radius = (2 * half_width) ** -0.5 if row_bound is None else row_bound
    outputs = plus_minus_weights(half_width, weight)
    return as_trials(
        np.eye(dim)[None],
        np.ones((1, dim)),
        np.ones((1, dim)),
        np.outer(-radius / np.sqrt(dim) * np.sign(outputs), np.ones(dim))[None],
        outputs[None],
        np.full(1, slope),
        np.full(1, step_size),
        np.full(1, radius),
        Cyclic(),
        seed=0,
    )


def draw_trials(seed: int, n_batches: int, per_batch: int, max_bound: float) -> list[Trials]:
    """Trials all over the parameter space; those with M_k above `max_bound` are drawn again."""
    draw = np.random.default_rng(seed)
    return [_batch(draw, per_batch, max_bound, ORDERS[index % len(ORDERS)], seed + index) for index in range(n_batches)]


def _batch(draw: np.random.Generator, count: int, max_bound: float, order: Order, seed: int) -> Trials:
    dim, n_samples, half = int(draw.integers(2, 21)), int(draw.integers(5, 81)), int(draw.integers(1, 31))
    rows_of_values = []
    for _ in range(count):
        norm, slope, eta, weight, radius = _parameters(draw, half, max_bound)
        inputs, labels, separator = separable_points(draw, dim, n_samples, norm)
        outputs = plus_minus_weights(half, weight)
        rows = {
            "sphere": radius * unit_rows(draw, 2 * half, dim),
            "zeros": np.zeros((2 * half, dim)),
            "adversarial": -radius * np.outer(np.sign(outputs), separator / norm),
        }[STARTS[draw.integers(len(STARTS))]]
        rows_of_values.append((inputs, labels, separator, rows, outputs, slope, eta, radius))
    inputs, labels, separators, hidden, outputs, slopes, etas, radii = (
        np.stack(column) for column in zip(*rows_of_values, strict=True)
    )
    return as_trials(inputs, labels, separators, hidden, outputs, slopes, etas, radii, order, seed)


def _parameters(draw: np.random.Generator, half: int, max_bound: float) -> tuple[float, float, float, float, float]:
    """(‖w*‖, α, η, v, R) with a bound that can be waited for."""
    while True:
        norm = float(1 / draw.uniform(0.05, 0.5))
        slope = float(draw.choice(SLOPES))
        eta = float(np.exp(draw.uniform(np.log(0.03), np.log(100))))
        weight = radius = (2 * half) ** -0.5
        if draw.random() < 0.5:
            weight, radius = (float(value) for value in np.exp(draw.uniform(np.log(0.05), np.log(5), size=2)))
        if max_nonzero_updates(norm, slope, eta, weight, radius, half) <= max_bound:
            return norm, slope, eta, weight, radius
