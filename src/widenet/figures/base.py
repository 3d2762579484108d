"""A figure reduces cells to labelled numbers; a comparison sets a reported number beside a measured one."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr
from pydantic import model_validator

from widenet.claims.experiments import Experiment
from widenet.records import ClosedModel

ANY = (-math.inf, math.inf)
"""The band of a measurement from which nothing is expected."""


PLAIN_NUMBER = re.compile(r"([+−-]?)([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(\.[0-9]+)?(e[+-]?[0-9]+)?( ?%)?", re.IGNORECASE)
"""One decimal number and nothing else, with commas between thousands or a percent sign if need be."""


def number_in(text: str) -> float | None:
    """The number that a text is: 0.95 for "0.95" and "95 %", 10000 for "10,000"; None where it has other words."""
    found = PLAIN_NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    sign, whole, fraction, power, percent = found.groups()
    size = float(f"{whole.replace(',', '')}{fraction or ''}{power or ''}")
    return (-size if sign in ("−", "-") else size) / (100 if percent else 1)


class Comparison(ClosedModel):
    """A reported number or statement beside the measured one.

    `reported_value` is the number the paper prints about this very quantity, or the range (low, high), in the units of
    `measured`. It is read from `reported` where that is one plain number ("1.17", "95 %"); words give None.

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
    reported_value: float | tuple[float, float] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_reported(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and "reported_value" not in fields and isinstance(fields.get("reported"), str):
            return {**fields, "reported_value": number_in(fields["reported"])}
        return fields

    @model_validator(mode="after")
    def _check_range(self) -> "Comparison":
        value = self.reported_value
        if isinstance(value, tuple) and not value[0] <= value[1]:
            raise ValueError(f"reported_value must be (low, high) with low ≤ high, got {value}")
        return self

    def __repr__(self) -> str:
        return f"<Comparison: {self}>"

    def __str__(self) -> str:
        """The two sides and the verdict: one line."""
        return f"{self.name}: measured {self.measured:.4g}, reported {self.reported}: {self.verdict}"

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
    def tests_little(self) -> bool:
        """Whether the interval is at least as wide as the band: runs that agree less would often agree as well."""
        if self.interval is None or not self.agrees or self.band[0] == self.band[1]:
            return False
        ends = (*self.interval, *self.band)
        return all(map(math.isfinite, ends)) and self.interval[1] - self.interval[0] >= self.band[1] - self.band[0]

    @property
    def nearly_agrees(self) -> bool:
        """Whether the value lies outside the band and its interval reaches into it: more runs may agree."""
        if self.interval is None or self.agrees:
            return False
        return self.interval[0] <= self.band[1] and self.band[0] <= self.interval[1]

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
      setting: what the paper prints about how it was made, in its own words between “ ”; "" where it draws no such
        figure.
      claims: the names of the claims of the paper that it illustrates.
      reads: the experiments whose cells it shows.
      compare: sets each reported number beside the measured one.
      reduce: one list of results per experiment in, the numbers with named axes out. By default the experiment has
        one cell, which holds them.
      drawing: the module of the paper's `drawings` that draws it; named after the figure unless given.
    """

    id: str
    title: str
    caption: str
    reads: tuple[Experiment, ...]
    compare: Callable[[xr.Dataset], list[Comparison]]
    reduce: Callable[..., xr.Dataset] = only
    drawing: str = ""
    setting: str = ""
    claims: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Figure {self.id}: {self.title}>"

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]

    @property
    def name(self) -> str:
        """The id without its paper."""
        return self.id.split(".")[1]
