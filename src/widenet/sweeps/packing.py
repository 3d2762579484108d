"""Which points are one pack: so many that follow each other as take about a minute, where there is that much work.

What a point takes is measured at a few places of the walk and taken for linear between them, so packs are long in a
cheap corner of a sweep and short in an expensive one. The sizes are written down once, by whoever is first.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

SECONDS_PER_PACK = 60.0
"""About how long one pack takes: long enough to be worth a message and a compilation, short enough to be lost."""
LEAST_SECONDS = 30.0
"""Of a pack, where there is that much work."""
MANY, FEW = 64, 16
"""A sweep has so many packs if they are then that long, so that many processes can share it; and always so few."""
MOST_PER_PACK = 2_000
LEAST_PRICE = 1e-4

Prices = list[tuple[int, float]]
"""Numbers of points along the walk, and the seconds that each took."""
PackSizes = list[tuple[int, int]]
"""Sizes of packs, each with how many packs of that size follow each other."""


def price_at(prices: Prices, numbers: np.ndarray) -> np.ndarray:
    """Seconds of these points."""
    places, seconds = zip(*prices, strict=True)
    return np.maximum(np.interp(numbers, places, seconds), LEAST_PRICE)


def price_of(prices: Prices, span: range) -> float:
    """Seconds of these points together."""
    return len(span) * price_at(prices, np.array([(span.start + span.stop - 1) / 2])).item()


def packed(prices: Prices, n_points: int) -> PackSizes:
    """The sizes of the packs."""
    ends = np.cumsum(price_at(prices, np.arange(n_points)))
    total = float(ends[-1])
    each = min(SECONDS_PER_PACK, max(LEAST_SECONDS, total / MANY), total / FEW)
    each = total / max(1, round(total / each))  # so that the last is as long as the others
    middles = ends - np.diff(ends, prepend=0.0) / 2
    _, counts = np.unique((middles / each).astype(np.int64), return_counts=True)
    sizes = itertools.chain.from_iterable(map(_halved, counts.tolist()))
    return [(size, len(list(several))) for size, several in itertools.groupby(sizes)]


def _halved(size: int) -> list[int]:
    """About equal parts, none of which has too many points."""
    parts = -(-size // MOST_PER_PACK)
    return [size // parts + (place < size % parts) for place in range(parts)]


def spans_of(runs: Sequence[Sequence[int]]) -> Iterator[range]:
    """The points of each pack."""
    start = 0
    for size, several in runs:
        for _ in range(several):
            yield range(start, start + size)
            start += size
