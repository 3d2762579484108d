"""What every data set offers: draws made from a key alone."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
from jaxtyping import Array, Float

from widenet.errors import DataError
from widenet.types import Dataset, RunKey


@runtime_checkable
class Distribution(Protocol):
    """Something to draw points from.

    A draw depends on its key and on nothing else: not on the other runs of a batch, and not on whether it was
    compiled.
    """

    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n points and their labels."""
        ...


class Pool(eqx.Module):
    """A finite data set to draw from, without replacement: one's own arrays, for instance."""

    inputs: Float[Array, "sample dim"]
    labels: Float[Array, " sample"]

    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n of the points, in random order, none of them twice."""
        rows = draw_rows(key, self.labels.shape[0], n_samples)
        return Dataset(self.inputs[rows], self.labels[rows])


def draw_rows(key: RunKey, n_available: int, n_samples: int) -> Array:
    """Row numbers without replacement."""
    if not 1 <= n_samples <= n_available:
        raise DataError(
            f"cannot draw {n_samples} points without replacement from {n_available}; ask for 1 to {n_available}."
        )
    return jax.random.permutation(key, n_available)[:n_samples]
