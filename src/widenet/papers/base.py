"""What a paper, a figure and a comparison with a reported number are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import xarray as xr

from widenet.types import ClosedModel, Scale


class Comparison(ClosedModel):
    """A reported number or statement beside the measured one.

    `band` is the range of measured values that counts as agreement; `agrees` says whether it does. `reported` is
    the paper's own words or number; `band` says where it came from in `basis` when the paper prints no number.
    """

    name: str
    reported: str
    measured: float
    interval: tuple[float, float] | None
    band: tuple[float, float]
    basis: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the measured value lies in the band (a NaN does not)."""
        return bool(self.band[0] <= self.measured <= self.band[1])

    @property
    def verdict(self) -> str:
        """The comparison in one word."""
        return "AGREES" if self.agrees else "DIFFERS"


Compute = Callable[..., xr.Dataset]
"""(seed, progress, **sizes) → the numbers behind a figure, with named axes."""


@dataclass(frozen=True)
class Figure:
    """A figure of a paper as a function.

    Attributes:
      id: `paper.figure`, the same in code, command line, store and report.
      title: what it shows, in one line.
      caption: what was assumed where the paper is silent.
      compute: the numbers; no disk, no plots.
      compare: sets each reported number beside the measured one.
      sizes: keyword arguments of `compute` per scale.
    """

    id: str
    title: str
    caption: str
    compute: Compute
    compare: Callable[[xr.Dataset], list[Comparison]]
    sizes: Mapping[Scale, Mapping[str, Any]]

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]


@dataclass(frozen=True)
class Paper:
    """A paper: what to cite, and its figures. Its claims live in `widenet.claims`."""

    key: str
    title: str
    authors: str
    venue: str
    arxiv: str
    in_one_line: str
    figures: tuple[Figure, ...] = field(default=())
