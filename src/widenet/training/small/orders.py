"""Which sample comes next, of those that would make an update.

Between two updates the weights rest, so samples that make none can be passed over without a look at each: an order is
asked for the next sample that makes one. A run has a random stream of its own, so its order does not depend on what is
trained beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.training.small.networks import SmallNetworks


@dataclass(frozen=True, eq=False)
class Choice:
    """Runs between two updates, as an order sees them.

    Attributes:
      runs: the numbers of the runs that still train; the axes of all else follow them.
      active: the samples that would make an update; at least one for each run.
      margins: y N(x).
      preactivations: ⟨w_r, x⟩ + b_r.
      networks: as they are.
    """

    runs: Int[np.ndarray, " run"]
    active: Bool[np.ndarray, "run sample"]
    margins: Float[np.ndarray, "run sample"]
    preactivations: Float[np.ndarray, "run sample neuron"]
    networks: SmallNetworks


NextSample = Callable[[Choice], Int[np.ndarray, " run"]]
"""The next active sample of each run. An adversary looks at the networks; the orders below do not."""


def cyclic() -> NextSample:
    """0, 1, …, n − 1, again and again."""
    return _Passes(lambda run, n_samples: np.arange(n_samples))


def permutations(seeds: Sequence[Any]) -> NextSample:
    """All samples in a new random order, again and again; one seed per run."""
    draws = [np.random.default_rng(seed) for seed in seeds]
    return _Passes(lambda run, n_samples: draws[run].permutation(n_samples))


def with_replacement(seeds: Sequence[Any]) -> NextSample:
    """Independent uniform draws; one seed per run."""
    draws = [np.random.default_rng(seed) for seed in seeds]
    return _Passes(lambda run, n_samples: draws[run].integers(n_samples, size=n_samples))


def uniform(seeds: Sequence[Any]) -> NextSample:
    """A uniform choice among the active samples: the law of draws with replacement, the idle ones left out."""
    draws = [np.random.default_rng(seed) for seed in seeds]

    def choose(look: Choice) -> Int[np.ndarray, " run"]:
        orders = np.stack([draws[run].permutation(look.active.shape[1]) for run in look.runs])
        return _first(look.active, orders)

    return choose


_NOTHING = np.zeros(0, int)


class _Passes:
    """Pass after pass; a run remembers what is left of its own."""

    def __init__(self, make: Callable[[int, int], Int[np.ndarray, " sample"]]):
        self.make = make
        self.left: dict[int, np.ndarray] = {}

    def __call__(self, look: Choice) -> Int[np.ndarray, " run"]:
        return np.array([self._next(int(run), active) for run, active in zip(look.runs, look.active, strict=True)])

    def _next(self, run: int, active: Bool[np.ndarray, " sample"]) -> int:
        left = self.left.get(run, _NOTHING)
        while (place := active[left].tobytes().find(1)) < 0:  # of the first active one; this is asked at every update
            left = self.make(run, len(active))
        self.left[run] = left[place + 1 :]
        return int(left[place])


def _first(active: Bool[np.ndarray, "run sample"], orders: Int[np.ndarray, "run sample"]) -> Int[np.ndarray, " run"]:
    runs = np.arange(len(active))
    return orders[runs, np.take_along_axis(active, orders, axis=1).argmax(axis=1)]
