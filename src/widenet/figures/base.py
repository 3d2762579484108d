"""A figure reduces cells to labelled numbers; a comparison sets a reported number beside a measured one."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import xarray as xr

from widenet.claims.experiments import Experiment
from widenet.records import ClosedModel

ANY = (-math.inf, math.inf)
"""The band of a measurement from which nothing is expected."""


class Comparison(ClosedModel):
    """A reported number or statement beside the measured one.

    `interval` is the measured value's, two-sided, 95 %. `band` is the range of measured values that counts as
    agreement; `agrees` says whether it does. `reported` is the paper's own words or number; `basis` says where the band
    comes from when the paper prints no number. `moved` tells of a band that replaced another after a run: the first
    band, what came out under it, and why it was replaced. `added` marks a row that is no statement of the paper (a
    control, a measurement of this project): such rows are counted apart, and none of them can disagree with the paper.
    """

    name: str
    reported: str
    measured: float
    interval: tuple[float, float] | None
    band: tuple[float, float]
    basis: str = ""
    moved: str = ""
    added: bool = False

    @property
    def agrees(self) -> bool:
        """Whether the measured value lies in the band (a NaN does not).

        The interval has no vote. The band is laid down for the value that is measured, with room for chance in it
        (`basis` says so). If it were enough that the interval meets the band, the fewer runs there are, the more would
        agree; if it had to lie inside, a number that comes out as reported would differ for want of runs. The
        interval stands beside the value, so that a reader sees how close a call it was.
        """
        return bool(self.band[0] <= self.measured <= self.band[1])

    @property
    def verdict(self) -> str:
        """The comparison in a word or two."""
        if not self.added:
            return "AGREES" if self.agrees else "DIFFERS"
        if self.band == ANY:
            return "MEASURED"
        return "AS EXPECTED" if self.agrees else "NOT AS EXPECTED"


def only(cells: Sequence[xr.Dataset]) -> xr.Dataset:
    """The numbers of a figure whose experiment makes them in one cell."""
    (numbers,) = cells
    return numbers


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a paper as a function of cells.

    Attributes:
      id: `paper.figure`, the same in code, command line, store and report.
      title: what it shows, in one line.
      caption: what was assumed where the paper is silent.
      reads: the experiments whose cells it shows.
      compare: sets each reported number beside the measured one.
      reduce: one list of results per experiment in, the numbers with named axes out. By default the experiment has
        one cell, which holds them.
      drawing: the module of the room's `drawings` that draws it; named after the figure unless given.
    """

    id: str
    title: str
    caption: str
    reads: tuple[Experiment, ...]
    compare: Callable[[xr.Dataset], list[Comparison]]
    reduce: Callable[..., xr.Dataset] = only
    drawing: str = ""

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]

    @property
    def name(self) -> str:
        """The id without its paper."""
        return self.id.split(".")[1]
