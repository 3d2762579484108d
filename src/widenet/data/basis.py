"""The orthonormal basis, on which brutzkus2018 proves its lower bounds (Theorems 4 and 10) and its ReLU results."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.types import Dataset, RunKey


class Basis(eqx.Module):
    """The uniform distribution on e_1, …, e_d, all labelled +1."""

    dim: int = eqx.field(static=True)

    @property
    def separator(self) -> Float[Array, " dim"]:
        """w* = (1, …, 1): every margin is exactly 1, and no shorter vector separates (‖w*‖² = d)."""
        return jnp.ones(self.dim)

    @property
    def points(self) -> Dataset:
        """e_1, …, e_d once each, in order: one round of the sequence of Theorem 10."""
        return Dataset(jnp.eye(self.dim), jnp.ones(self.dim))

    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n independent draws, with replacement."""
        coordinates = jax.random.randint(key, (n_samples,), 0, self.dim)
        return Dataset(jax.nn.one_hot(coordinates, self.dim, dtype=jnp.float64), jnp.ones(n_samples))


def make_basis(dim: int) -> Basis:
    """The orthonormal basis of this dimension."""
    if dim < 1:
        raise ValueError(f"dim must be at least 1, got {dim}")
    return Basis(dim)
