"""What the next step needs: the network, the counters that travel with it, and what the method keeps."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int, PyTree


class Tally(eqx.Module):
    """Event counters, kept inside the loop."""

    updates: Int[Array, "*run"]
    mistakes: Int[Array, "*run"]
    last_update: Int[Array, "*run"]

    @classmethod
    def zero(cls, n_runs: int) -> "Tally":
        """Nothing has happened yet. No run takes two billion steps, but a step has as many mistakes as samples."""
        return cls(*(jnp.zeros(n_runs, kind) for kind in (jnp.int32, jnp.int64, jnp.int32)))

    def count(self, is_update: Array, mistakes: Array, number: Array) -> "Tally":
        """The tally after step `number` (from 1)."""
        return Tally(
            self.updates + is_update.astype(jnp.int32),
            self.mistakes + mistakes.astype(jnp.int64),
            jnp.where(is_update, number.astype(jnp.int32), self.last_update),
        )

    def add(self, is_update: Array, mistakes: Array, numbers: Array) -> "Tally":
        """The tally after the steps `numbers`, all at once."""
        last = jnp.max(jnp.where(is_update, numbers.astype(jnp.int32), 0))
        return Tally(
            self.updates + jnp.sum(is_update, dtype=jnp.int32),
            self.mistakes + jnp.sum(mistakes).astype(jnp.int64),
            jnp.maximum(self.last_update, last),
        )


class State(eqx.Module):
    """A run between two steps.

    Attributes:
      network, tally: its weights and its counters.
      watched: what the watch has folded so far.
      own: what the method keeps from step to step (`init`); None where it keeps nothing.
      records: what a `Recording` has seen in the current segment; None where there is none.
    """

    network: PyTree
    tally: Tally
    watched: PyTree = None
    own: PyTree = None
    records: PyTree = None
