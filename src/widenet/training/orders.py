"""The order in which SGD meets the samples.

An order hands out one epoch at a time: an array of sample indices, one row per step. It depends on the run's own key
and the epoch number alone, in integers only, so it is the same bit for bit in any batch and on any device.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from widenet.types import RunKey


class Permutation(eqx.Module):
    """Each epoch is a fresh random permutation; a remainder smaller than the batch is left out of that epoch."""

    def steps_per_epoch(self, n_samples: int, batch_size: int) -> int:
        """n // batch."""
        return n_samples // batch_size

    def epoch(self, key: RunKey, epoch: Int[Array, ""], n_samples: int, batch_size: int) -> Int[Array, "step batch"]:
        """The indices of one epoch."""
        steps = n_samples // batch_size
        return _permutation(key, epoch, n_samples)[: steps * batch_size].reshape(steps, batch_size)


class Cyclic(eqx.Module):
    """0, 1, …, n − 1, again and again; a last remainder smaller than the batch is never met. With the batch equal to n
    this is full-batch gradient descent."""

    def steps_per_epoch(self, n_samples: int, batch_size: int) -> int:
        """n // batch."""
        return n_samples // batch_size

    def epoch(self, key: RunKey, epoch: Int[Array, ""], n_samples: int, batch_size: int) -> Int[Array, "step batch"]:
        """The indices of one epoch."""
        steps = n_samples // batch_size
        return jnp.arange(steps * batch_size, dtype=jnp.int32).reshape(steps, batch_size)


def _permutation(key: RunKey, number: Int[Array, ""], n_samples: int) -> Int[Array, " sample"]:
    return jax.random.permutation(jax.random.fold_in(key, number), jnp.arange(n_samples, dtype=jnp.int32))


def _indices(values: Any) -> Array:
    try:
        # NumPy first: JAX reads the text 'a' as the name of a dtype.
        indices = values if isinstance(values, jax.Array) else jnp.asarray(np.asarray(values))
    except (TypeError, ValueError):  # no numbers, or lists of several lengths
        raise ValueError(f"a listed order must be one list of indices, or one per run, got {values!r}") from None
    if indices.size == 0:
        raise ValueError(f"a listed order needs at least one index, got {values!r}")
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise ValueError(f"a listed order must hold whole numbers, got {indices.dtype}; name samples from 0 on")
    if indices.ndim not in (1, 2):
        raise ValueError(f"a listed order must be one list of indices, or one per run, got shape {indices.shape}")
    return indices


class Listed(eqx.Module):
    """A given list of indices, repeated for as long as training lasts. One list, or one per run of equal lengths; what
    is left of it at the end, smaller than the batch, is never met."""

    indices: Int[Array, "*run position"] = eqx.field(converter=_indices)

    def steps_per_epoch(self, n_samples: int, batch_size: int) -> int:
        """The length of the list over the batch."""
        return self.indices.shape[-1] // batch_size

    def epoch(self, key: RunKey, epoch: Int[Array, ""], n_samples: int, batch_size: int) -> Int[Array, "step batch"]:
        """The indices of one epoch."""
        steps = self.indices.shape[-1] // batch_size
        return self.indices[: steps * batch_size].astype(jnp.int32).reshape(steps, batch_size)

    def check(self, n_samples: int, batch_size: int, n_runs: int) -> None:
        """Whether the list fits this many samples and runs.

        Raises:
          ValueError: it does not.
        """
        low, high = int(self.indices.min()), int(self.indices.max())
        if low < 0 or high >= n_samples:
            raise ValueError(f"a listed order must name samples 0 to {n_samples - 1}, got {low} to {high}")
        if self.indices.ndim == 2 and len(self.indices) != n_runs:
            raise ValueError(f"a listed order must be one list or one per run, got {len(self.indices)} lists")
        if self.indices.shape[-1] < batch_size:
            raise ValueError("a listed order must be at least as long as one batch")


IndexOrder = Permutation | Cyclic | Listed
