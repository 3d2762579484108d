"""Activations that carry their own derivative at 0.

At a kink every paper picks a subgradient, and the picks differ: brutzkus2018 takes 1 for Leaky ReLU and 0 for
ReLU. The choice is a field here, so no two call sites can disagree. The Huberized ReLU of chatterji2021 has no kink;
its derivative does, and there the choice is about the second derivative.
"""

import math
from typing import Any

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
    # A single number was typed, and a wrong one is a mistake. One per run may hold anything: claims measure theirs.
    if isinstance(slope, str) or slope is None or (isinstance(slope, float) and not math.isfinite(slope)):
        raise ValueError(f"slope must be a finite number, got {slope!r}")
    return PiecewiseLinear(slope, derivative_at_zero)


class Huberized(eqx.Module):
    """φ(z) = 0 for z < 0, z²/(2h) on [0, h] and z − h/2 beyond: a ReLU whose corner is a parabola.

    `bandwidth` is the paper's h, positive; it may be an array (one per run). φ' is continuous, so automatic
    differentiation has nothing to choose.
    """

    bandwidth: float | Float[Array, "*run"]

    def derivative(self, z: Float[Array, "*neuron"]) -> Float[Array, "*neuron"]:
        """φ'(z) = z/h, cut at 0 and at 1."""
        return jnp.clip(z / jnp.asarray(self.bandwidth, z.dtype), 0, 1)

    def __call__(self, z: Float[Array, "*neuron"]) -> Float[Array, "*neuron"]:
        """φ(z)."""
        h = jnp.asarray(self.bandwidth, z.dtype)
        curved = jnp.where((z < 0) | (z > h), 0, z)  # the branch that is not taken must not overflow
        return jnp.where(z > h, z - h / 2, curved * curved / (2 * h))


def _as_tree(function: Any) -> Any:
    """A plain function as a tree without numbers; an `equinox.Module`, whose numbers may differ between runs, as is."""
    return function if isinstance(function, eqx.Module) else jax.tree_util.Partial(function)


class Elementwise(eqx.Module):
    """An activation of your own: any function of an array, entry by entry.

    Attributes:
      function: a plain function, or an `equinox.Module` with `__call__`. Its method `derivative` is used if it has one,
        else automatic differentiation.
    """

    function: Any = eqx.field(converter=_as_tree)

    def derivative(self, z: Float[Array, "*neuron"]) -> Float[Array, "*neuron"]:
        """σ'(z)."""
        with jax.numpy_dtype_promotion("standard"):
            if hasattr(self.function, "derivative"):
                return self.function.derivative(z).astype(z.dtype)
            return jax.grad(lambda z: jnp.sum(self.function(z)))(z)

    def __call__(self, z: Float[Array, "*neuron"]) -> Float[Array, "*neuron"]:
        """σ(z)."""
        with jax.numpy_dtype_promotion("standard"):
            value = self.function(z).astype(z.dtype)
        if not hasattr(self.function, "derivative"):
            return value
        # The same value, with the derivative that it says it has.
        return jax.lax.stop_gradient(value) + jax.lax.stop_gradient(self.derivative(z)) * (z - jax.lax.stop_gradient(z))


Activation = PiecewiseLinear | Huberized | Elementwise


def as_activation(value: Any) -> Any:
    """What a network holds for this activation: one of widenet as it is, any other callable as `Elementwise`.

    Raises:
      ValueError: it is not a function of an array, entry by entry.
    """
    if isinstance(value, Activation):
        return value
    if isinstance(value, type) or any(value is maker for maker in (relu, leaky_relu, huberized_relu)):
        raise ValueError(f"activation must be an instance such as relu() or leaky_relu(0.2), got {value!r}; call it")
    if not callable(value):
        raise ValueError(
            "activation must be relu(), leaky_relu(slope), huberized_relu(h) or a function such as jnp.tanh,"
            f" got {value!r}"
        )
    z = jax.ShapeDtypeStruct((3,), jnp.float64)
    try:
        found = jax.eval_shape(value, z)
    except (TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"activation must take one array and return one, written in jax.numpy ({reason})") from None
    if getattr(found, "shape", None) != z.shape:
        got = f"shape {found.shape}" if hasattr(found, "shape") else type(found).__name__
        raise ValueError(f"activation must return one number per entry, shape {z.shape} for (3,) of them, got {got}")
    return Elementwise(value)


def huberized_relu(bandwidth: float) -> Huberized:
    """The Huberized ReLU of this bandwidth.

    Raises:
      ValueError: the bandwidth is not a positive number.
    """
    if isinstance(bandwidth, str) or bandwidth is None or not 0 < bandwidth < math.inf:
        raise ValueError(f"bandwidth must be positive and finite, got {bandwidth!r}; relu() is its limit at 0")
    return Huberized(bandwidth)
