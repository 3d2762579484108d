"""Networks of many widths in few compiled programs: narrow ones are filled up with filters of zero.

A filter of zero responds with 0 to every patch, and its derivative is 0 (σ'(0) = 0): it never moves and changes no sum.
So a run that was filled up has the bits of the run as it was, and the widths of a figure share one compilation, which
takes longer than their training.
"""

from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.sources import as_networks
from widenet.training import PatternTrajectory, train_patterns

FILLED_TO = (20, 200)
"""The widths of the programs. Wider networks have their own."""


def train_filled_up(
    networks: ConvMaxPool,
    counts: Int[np.ndarray, "run 15"],
    step_sizes: Float[np.ndarray, " run"] | float,
    **options: Any,
) -> PatternTrajectory:
    """`train_patterns` with its options, on networks that were filled up; what returns has their own width."""
    width = networks.n_channels
    more = next((filled for filled in FILLED_TO if filled >= width), width) - width
    half = width // 2
    plus, minus = np.split(np.asarray(networks.filters), [half], axis=1)
    nothing = ((0, 0), (0, more // 2), (0, 0))
    filters = np.concatenate([np.pad(plus, nothing), np.pad(minus, nothing)], axis=1)
    runs = train_patterns(as_networks(filters), counts, step_sizes, leap=False, **options)
    trained = np.asarray(runs.network.filters)
    own = np.concatenate([trained[:, :half], trained[:, half + more // 2 :][:, :half]], axis=1)
    return eqx.tree_at(lambda run: run.network, runs, as_networks(own))
