"""What every data set offers: draws made from a key alone."""

from typing import Protocol, runtime_checkable

import jax
from jaxtyping import Array

from widenet.errors import DataError
from widenet.types import Dataset, RunKey, require_key


@runtime_checkable
class Distribution(Protocol):
    """Something to draw points from.

    A draw depends on its key and on nothing else: not on the other runs of a batch, and not on whether it was
    compiled.
    """

    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n points and their labels."""
        ...


def draw_rows(key: RunKey, n_available: int, n_samples: int) -> Array:
    """Row numbers without replacement."""
    if not 1 <= n_samples <= n_available:
        raise DataError(
            f"cannot draw {n_samples} points without replacement from {n_available}; ask for 1 to {n_available}."
        )
    return jax.random.permutation(require_key(key), n_available)[:n_samples]
