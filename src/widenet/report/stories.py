"""Three results in short, each with a picture from its own numbers; one that lacks its figure or claim is left out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from widenet.claims import Verdict
from widenet.report.axes import Axis
from widenet.report.statements import Library, Statement
from widenet.run import FigureOutcome

COROLLARY, WIDTHS = "brutzkus2018.corollary_3", "brutzkus2018.updates_by_width"
WIDTH_FREE = "brutzkus2018.corollary_3_width_free"
DISCS = "brutzkus2019.figure_3"
PRINTED, REPAIRED = "brutzkus2019.theorem_3_3_iterations_as_printed", "brutzkus2019.theorem_3_3_iterations"


@dataclass(frozen=True)
class WidthColumn:
    """The runs of one width: where they stand, from the fewest updates to the most."""

    x: float
    label: str
    low: float
    high: float
    middle: float


@dataclass(frozen=True)
class WidthStory:
    """Updates against the width, below a bound without the width in it."""

    statement: Statement
    width_free: Statement | None
    figure: str
    columns: tuple[WidthColumn, ...]
    grid: tuple[tuple[float, str], ...]
    wall: float
    bound: float
    fewest: float
    most: float
    factor: int
    growth: float

    @property
    def grows(self) -> bool:
        """Whether the widest network makes more updates than the narrowest, by more than a tenth."""
        return self.growth > 1.1

    @property
    def share(self) -> float:
        """How much of the bound is used up."""
        return self.most / self.bound


@dataclass(frozen=True)
class Arrow:
    """A filter, from the middle of its disc."""

    x: float
    y: float
    vote: str


@dataclass(frozen=True)
class Disc:
    """The filters of one network, and in how many runs such a network finds the rule."""

    at: float
    arrows: tuple[Arrow, ...]
    n_runs: int
    share: float


@dataclass(frozen=True)
class DiscStory:
    """Filters of a wide and of a narrow network after training."""

    figure: str
    discs: tuple[Disc, ...]
    both_fit: bool
    margin: float | None

    @property
    def differ(self) -> bool:
        """Whether the wide network finds the rule in nearly all runs, and the narrow one in few."""
        wide, narrow = self.discs
        return wide.share >= 0.9 and narrow.share <= 0.5


@dataclass(frozen=True)
class CountStory:
    """A printed count of iterations that every run exceeds.

    Attributes:
      limit: what the theorem prints; `kinder`, the larger number of its proof, against which the runs were checked.
    """

    statement: Statement
    repaired: Statement
    axis: tuple[tuple[float, str], ...]
    wall: float
    limit: float
    kinder: float
    low: float
    middle: float
    high: float
    fewest: int
    most: int
    n_runs: int
    n_broken: int
    step_constant: float


@dataclass(frozen=True)
class Stories:
    """Those that can be told."""

    width: WidthStory | None
    discs: DiscStory | None
    count: CountStory | None

    @property
    def are_there(self) -> bool:
        """Whether there is one."""
        return any(each is not None for each in (self.width, self.discs, self.count))


def stories_of(library: Library, figures: Mapping[str, FigureOutcome]) -> Stories:
    """The stories of these results."""
    return Stories(
        _width(library.by_id.get(COROLLARY), library.by_id.get(WIDTH_FREE), figures.get(WIDTHS)),
        _discs(figures.get(DISCS)),
        _count(library.by_id.get(PRINTED), library.by_id.get(REPAIRED)),
    )


def _width(
    statement: Statement | None, width_free: Statement | None, figure: FigureOutcome | None
) -> WidthStory | None:
    if statement is None or figure is None or statement.evidence.verdict is not Verdict.HOLDS:
        return None
    numbers = figure.numbers.sel(normalization="1/√(2k)")
    updates = np.asarray(numbers["updates"].transpose("half_width", "run"), float)
    widths = 2 * np.asarray(numbers["half_width"], int)
    bound = float(np.asarray(numbers["update_bound"]).flat[0])
    lowest, highest = np.nanmin(updates, axis=1), np.nanmax(updates, axis=1)
    across = Axis(math.log(widths[0]), math.log(widths[-1]), 44.0, 330.0)
    up = Axis(math.log10(min(10, lowest.min())), math.log10(bound), 150.0, 24.0)
    columns = tuple(
        WidthColumn(
            round(across.at(math.log(width)), 1), f"{width}", *(round(up.at(math.log10(each)), 1) for each in found)
        )
        for width, found in zip(widths, zip(lowest, highest, np.nanmedian(updates, axis=1), strict=True), strict=True)
    )
    powers = [10.0**power for power in range(1, math.floor(math.log10(bound)) + 1)]
    return WidthStory(
        statement=statement,
        width_free=width_free,
        figure=figure.figure.id,
        columns=columns,
        grid=tuple((round(up.at(math.log10(each)), 1), f"{each:,.0f}") for each in powers),
        wall=round(up.at(math.log10(bound)), 1),
        bound=bound,
        fewest=float(lowest.min()),
        most=float(highest.max()),
        factor=int(widths[-1] // widths[0]),
        growth=float(np.nanmean(updates[-1]) / np.nanmean(updates[0])),
    )


def _discs(figure: FigureOutcome | None) -> DiscStory | None:
    if figure is None:
        return None
    numbers, radius, discs = figure.numbers, 70.0, []
    for at, network in ((88.0, "wide"), (262.0, "narrow")):
        filters = numbers[f"{network}_filters"].isel({f"{network}_step": -1}).transpose(f"{network}_channel", "axis")
        rows = np.asarray(filters, float)
        sizes = np.linalg.norm(rows, axis=1)
        arrows = []
        for place, (row, size) in enumerate(zip(rows, sizes, strict=True)):
            # The length on a logarithmic scale, so that filters that hardly moved are seen.
            length = radius * max(0.06, 1 + math.log10(size / sizes.max()) / 4) if size else 0.0
            x, y = (row / size * length) if size else (0.0, 0.0)
            vote = "plus" if place < len(rows) // 2 else "minus"
            arrows.append(Arrow(round(at + x, 1), round(84 - y, 1), vote))
        runs = numbers.sel(network=network)
        found = (np.asarray(runs["n_wrong_sets"]) == 0) & (np.asarray(runs["train_error"]) == 0)
        discs.append(Disc(at, tuple(reversed(arrows)), len(found), float(found.mean())))
    both_fit = all(float(np.median(numbers["train_error"].sel(network=each))) == 0 for each in ("wide", "narrow"))
    margins = {setting.get("margin") for setting in figure.circumstances.settings}
    margin = margins.pop() if len(margins) == 1 else None
    return DiscStory(figure.figure.id, tuple(discs), both_fit, margin)


def _count(statement: Statement | None, repaired: Statement | None) -> CountStory | None:
    if (
        statement is None
        or repaired is None
        or not statement.is_broken
        or repaired.evidence.verdict is not Verdict.HOLDS
    ):
        return None
    part, found = statement.evidence.headline, statement.evidence.details["iterations"][0]
    if part.promised is None:
        return None
    limit = found["printed"][0]
    axis = Axis(0.0, 1.1 * max(found["most"], limit), 12.0, 338.0)
    return CountStory(
        statement=statement,
        repaired=repaired,
        axis=tuple((round(axis.at(value), 1), text) for value, text in axis.ticks(4)),
        wall=round(axis.at(limit), 1),
        limit=limit,
        kinder=part.promised,
        low=round(axis.at(found["fewest"]), 1),
        middle=round(axis.at(found["median"]), 1),
        high=round(axis.at(found["most"]), 1),
        fewest=found["fewest"],
        most=found["most"],
        n_runs=part.n_cases,
        n_broken=part.broken,
        step_constant=found["step_constant"],
    )
