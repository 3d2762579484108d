"""Activations that carry their own derivative at 0.

At a kink every paper picks a subgradient, and the picks differ: brutzkus2018 takes 1 for Leaky ReLU and 0 for
ReLU. The choice is a field here, so no two call sites can disagree.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class PiecewiseLinear(eqx.Module):
    """σ(z) = z for z > 0 and slope·z for z < 0, with σ'(0) given.

    `slope` is the paper's α: 0 for ReLU, between 0 and 1 for Leaky ReLU. It may be an array (one per run).
    """

    slope: float | Float[Array, "*run"]
    derivative_at_zero: float | Float[Array, "*run"]

    def derivative(self, z: Float[Array, "*neuron"]) -> Float[Array, "*neuron"]:
        """σ'(z), with the stated value exactly at 0."""
        slope = jnp.asarray(self.slope, z.dtype)
        at_zero = jnp.asarray(self.derivative_at_zero, z.dtype)
        return jnp.where(z > 0, jnp.ones_like(z), jnp.where(z < 0, slope, at_zero))

    def __call__(self, z: Float[Array, "*neuron"]) -> Float[Array, "*neuron"]:
        """σ(z) = z σ'(z); the factor is held constant, so automatic differentiation returns `derivative`."""
        return z * jax.lax.stop_gradient(self.derivative(z))


def relu(derivative_at_zero: float = 0.0) -> PiecewiseLinear:
    """max(0, z); a unit at exactly 0 is off unless told otherwise."""
    return PiecewiseLinear(0.0, derivative_at_zero)


def leaky_relu(slope: float, derivative_at_zero: float = 1.0) -> PiecewiseLinear:
    """max(slope·z, z); a unit at exactly 0 counts as on unless told otherwise."""
    return PiecewiseLinear(slope, derivative_at_zero)
