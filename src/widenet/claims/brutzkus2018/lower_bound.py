"""The sequence that forces many updates (Theorems 4 and 10), in exact arithmetic.

Data e_1, …, e_d, all labelled +1, cycled; plus rows start at −(R/√d)·1, minus rows at +(R/√d)·1. The coordinates
never meet, so the whole training is one scalar recursion. On round parameters it hits its thresholds exactly,
where float64 miscounts by whole passes: fractions do not.
"""

from fractions import Fraction

import jax.numpy as jnp
import numpy as np

from widenet.claims.brutzkus2018.trials import Trials
from widenet.data import make_basis
from widenet.networks import TwoLayer, leaky_relu, plus_minus
from widenet.training import Cyclic
from widenet.types import Dataset


def basis_updates(
    dim: int,
    half_width: int,
    slope: Fraction,
    step_size: Fraction,
    output_weight: Fraction,
    start: Fraction,
) -> int:
    """T on the basis sequence, exactly. `start` is R/√d, the size of every entry of W_0."""
    plus, minus, passes = -start, start, 0

    def activation(z: Fraction) -> Fraction:
        return z if z >= 0 else slope * z

    def derivative(z: Fraction) -> Fraction:
        return Fraction(1) if z >= 0 else slope

    while half_width * output_weight * (activation(plus) - activation(minus)) < 1:
        plus, minus = (
            plus + step_size * output_weight * derivative(plus),
            minus - step_size * output_weight * derivative(minus),
        )
        passes += 1
    return dim * passes


def basis_trials(
    dim: int,
    half_width: int,
    slope: float,
    step_size: float,
    output_weight: float | None = None,
    row_bound: float | None = None,
) -> Trials:
    """The same sequence as one trial for the training engine; R = v = 1/√(2k) unless given."""
    weight = (2 * half_width) ** -0.5 if output_weight is None else output_weight
    radius = (2 * half_width) ** -0.5 if row_bound is None else row_bound
    entries = radius / np.sqrt(dim) * np.repeat([-1.0, 1.0], half_width)
    basis = make_basis(dim).points
    network = TwoLayer(
        jnp.asarray(np.repeat(entries[:, None], dim, axis=1)[None]),
        plus_minus(2 * half_width, weight)[None],
        None,
        leaky_relu(slope),
    )
    return Trials(
        Dataset(jnp.asarray(basis.inputs)[None], jnp.asarray(basis.labels)[None]),
        jnp.ones((1, dim)),
        network,
        jnp.full(1, step_size),
        jnp.full(1, radius),
        Cyclic(),
        seed=0,
    )
