"""All inputs of XORD with d patches: what a network answers on them, and how many are diverse."""

import itertools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.cases import Cases, Count, column
from widenet.data.xord import PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.runs.outputs import on_sets, outputs
from widenet.records import Scale

Filters = Float[np.ndarray, "channel 2"]


SOLUTION = np.stack([3 * PATTERNS[0], 3 * PATTERNS[2], PATTERNS[1], PATTERNS[3]])
"""w = 3p_1, 3p_3 and u = p_2, p_4."""


def every_word(n_patches: int) -> tuple[Int[np.ndarray, "word patch"], Float[np.ndarray, " word"]]:
    """All 4^d inputs by the numbers 0 to 3 of their patterns, and f*."""
    words = np.array(list(itertools.product(range(4), repeat=n_patches)))
    return words, np.where((words % 2 == 0).any(axis=1), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Candidates(Cases):
    """A network and its outputs on all inputs with d patches, and many networks with k = 1."""

    rows = "word"

    filters: Filters  #: of the network
    labels: Float[np.ndarray, " word"]  #: f*
    outputs: Float[np.ndarray, " word"]  #: N
    singles: Float[np.ndarray, "network each 2"]  #: the networks with k = 1
    n_patches: Count  #: d

    @property
    def margins(self) -> np.ndarray:
        """f*·N."""
        return self.labels * self.outputs

    @column
    def half_width(self) -> int:
        """k."""
        return len(self.filters) // 2

    @column
    def wrong_sets(self) -> int:
        """Pattern sets with a wrong sign."""
        return int((SET_LABELS * on_sets(self.filters) <= 0).sum())

    @column
    def solved(self) -> int:
        """Networks with k = 1 that are right on {1} and {3}."""
        both = on_sets(self.singles, (set_index(1), set_index(3))) > 0
        return int(both.all(axis=1).sum())

    @column
    def n_singles(self) -> int:
        """Networks with k = 1."""
        return len(self.singles)

    def counts(self) -> dict[str, int]:
        """All inputs, and all networks with k = 1."""
        return {"tried": len(self) + int(self.per("cell").n_singles.sum()), "diverged": 0, "unfinished": 0}


def candidates_on(filters: Filters, singles: Float[np.ndarray, "network each 2"], n_patches: int = 4) -> Candidates:
    """The outputs of a network on all 4^d inputs."""
    words, labels = every_word(n_patches)
    values = np.array([outputs(filters, x) for x in PATTERNS[words].reshape(len(words), -1)])
    return Candidates(filters, labels, values, singles, n_patches)


def candidates(scale: Scale, seed: int) -> Candidates:
    """The solution on all inputs, and Gaussian weights with k = 1."""
    n_networks = 20_000 if scale is Scale.QUICK else 10**6
    singles = np.random.default_rng([seed, 4]).normal(size=(n_networks, 2, 2))
    return candidates_on(SOLUTION, singles, 4 if scale is Scale.QUICK else 6)


Lengths = Int[np.ndarray, " length"]


@dataclass(frozen=True, eq=False)
class DiverseShares(Cases):
    """How many of all inputs with d patches are diverse, among the positive and among the negative ones."""

    rows = "length"

    n_patches: Lengths  #: d
    positive: Lengths  #: positive inputs
    negative: Lengths  #: negative inputs
    diverse_positive: Lengths  #: the diverse ones of these
    diverse_negative: Lengths

    @column
    def share_of_positive(self) -> Float[np.ndarray, " length"]:
        """p₊."""
        return self.diverse_positive / self.positive

    @column
    def share_of_negative(self) -> Float[np.ndarray, " length"]:
        """p₋."""
        return self.diverse_negative / self.negative

    def counts(self) -> dict[str, int]:
        """All inputs."""
        return {"tried": int((self.positive + self.negative).sum()), "diverged": 0, "unfinished": 0}


def count_diverse(*lengths: int) -> DiverseShares:
    """The numbers by listing all 4^d inputs."""
    return DiverseShares(*(np.array(column) for column in zip(*map(_count, lengths), strict=True)))


def _count(n_patches: int) -> tuple[int, int, int, int, int]:
    words, labels = every_word(n_patches)
    held = np.stack([(words == pattern).any(axis=1) for pattern in range(4)], axis=1)
    positive, negative = held[labels > 0], held[labels < 0][:, 1::2]
    first, second = (int(possible.all(axis=1).sum()) for possible in (positive, negative))
    return n_patches, len(positive), len(negative), first, second


def diverse_shares(scale: Scale, seed: int) -> DiverseShares:
    """For d from 4 on."""
    return count_diverse(*((4, 5, 6) if scale is Scale.QUICK else (4, 5, 6, 7, 8)))
