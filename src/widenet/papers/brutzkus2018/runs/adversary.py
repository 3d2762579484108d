"""Orders chosen against Theorem 2, as lists that the training engine can follow.

"Whatever the order of the samples" includes orders that look at the network. A `Pick` is followed once, in NumPy, and
what it chose becomes the list of the trial; the engine then trains on the list and counts for itself.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from widenet.papers.brutzkus2018.runs.ledger import Pick, keep_ledger, start_of
from widenet.papers.brutzkus2018.runs.trials import Trials
from widenet.training import Listed


def against(trials: Trials, picks: Sequence[Pick] = tuple(Pick)) -> Trials:
    """The trials once in the order that each of `picks` chooses, followed by all samples in turn, again and again."""
    starts = [start_of(trials, run) for run in range(len(trials))]
    chosen = [keep_ledger(start, pick, start.budget).samples for pick in picks for start in starts]
    everyone = np.arange(trials.data.n_samples)
    longest = max(map(len, chosen))
    # A list shorter than the others goes on through all samples; at loss 0 they change nothing.
    lists = [np.concatenate([rows, np.resize(everyone, longest - len(rows) + len(everyone))]) for rows in chosen]
    repeat = lambda leaf: jnp.concatenate([jnp.asarray(leaf)] * len(picks))  # noqa: E731
    return Trials(
        jax.tree.map(repeat, trials.data),
        repeat(trials.separators),
        jax.tree.map(repeat, trials.networks),
        repeat(trials.step_sizes),
        repeat(trials.row_bounds),
        Listed(jnp.asarray(np.stack(lists), jnp.int32)),
        trials.seed,
    )
