"""What the claims about random starts share: how often a bound fails, the worst of several settings, hypotheses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from widenet.claims.base import Hypothesis, Part, Runs, Silence, at_least, at_most, less_than, more_than
from widenet.claims.sides import Rate, Sides
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.claims.choices import other_runs, other_width, sentences
from widenet.papers.chatterji2021.specimens import silence_over_clusters
from widenet.papers.chatterji2021.cluster_formulas import first_step_size, initial_deviation
from widenet.papers.chatterji2021.cluster_settings import OwnClusters
from widenet.papers.chatterji2021.runs.first_steps import FirstSteps, FirstStepSetting

CONFIRMED = 0.05
"""A bound δ on how often something fails may be so small that no number of runs confirms it. It is refuted where the
exact lower limit of the share of failures exceeds δ, and kept where the upper limit is at most δ or this."""
SURENESS = "The runs exclude a failure rate above δ, or above 5 % where δ is smaller than they could confirm."
"""What HOLDS means where a δ is that small."""
FEWEST_RUNS = 60
"""So many runs without a failure exclude a rate above 5 %."""
WIDE = "Theorem 2 is about wide ones"


@dataclass(frozen=True, eq=False)
class Seldom:
    """ "Fails with probability at most `allowed`", one case per run; see `CONFIRMED`."""

    sides: Sides
    allowed: float

    @property
    def says_something(self) -> bool:
        """Whether it can fail at all, and not always may."""
        return not self.sides.vacuous and self.allowed < 1

    def part(self) -> Part:
        """The part of a conclusion that these runs decide."""
        failed, lost = self.sides.broken, ~self.sides.decided
        part = Rate(failed, self.allowed, lost, sides=self.sides).part("")
        if part.kept is not None:
            return part
        return Rate(failed, max(self.allowed, CONFIRMED), lost, sides=self.sides).part("")


def worst(parts: Sequence[Part]) -> Part:
    """One part for several settings: broken if one is, undecided if one is; a bound that says something is shown first.

    The numbers are those of the setting that comes closest.
    """
    order = {False: 0, None: 1, True: 2}
    shown = min(parts, key=lambda part: (order[part.kept], part.vacuous, -(part.tightness or 0.0)))
    totals = {name: sum(getattr(part, name) for part in parts) for name in ("cases", "broken", "undecided")}
    return shown.model_copy(update=totals)


def over_cells(cells: Sequence[FirstSteps], bound_of: Callable[[FirstSteps], Seldom]) -> Part:
    """The worst part over all cells."""
    return worst([bound_of(cell).part() for cell in cells])


def conditions(cells: Sequence[FirstSteps]) -> tuple[Hypothesis, ...]:
    """The hypotheses of Theorem 2 that can be measured, each at the cell nearest to breaking it."""
    return (
        at_most("unit_inputs", "largest distance of ‖x‖² from 1", _most(cells, _length_error), 0, tolerance=STEP),
        at_most("bandwidth", "largest distance of hp from 1", _most(cells, _bandwidth_error), 0, tolerance=ROUNDING),
        at_most("start", "largest distance of σ from its value, relative", _most(cells, _start_error), 0,
                tolerance=ROUNDING),
        at_most("first_step", "largest distance of α_0 from its value, relative", _most(cells, _step_error), 0,
                tolerance=ROUNDING),
        more_than("beta_positive", "smallest β", min(cell.beta for cell in cells), 0),
        less_than("beta_below_half", "largest β", max(cell.beta for cell in cells), 0.5),
        at_least("points", "fewest points n", min(cell.n_points for cell in cells), 4),
    )  # fmt: skip


def _most(cells: Sequence[FirstSteps], error: Callable[[FirstSteps], float]) -> float:
    return float(np.max([error(cell) for cell in cells]))


def _length_error(cell: FirstSteps) -> float:
    return float(np.abs(np.diag(cell.products) - 1).max())


def _bandwidth_error(cell: FirstSteps) -> float:
    return abs(cell.bandwidth * cell.half_width - 1)


def _start_error(cell: FirstSteps) -> float:
    return abs(cell.deviation / initial_deviation(cell.half_width, cell.beta, cell.scaling) - 1)


def _step_error(cell: FirstSteps) -> float:
    return abs(cell.step / first_step_size(cell.half_width, cell.beta, cell.scaling) - 1)


def products_at_least_zero(cells: Sequence[FirstSteps]) -> Hypothesis:
    """x_s·x_q ≥ 0 for all pairs."""
    lowest = min(float(cell.products.min()) for cell in cells)
    return at_least("products", "smallest x_s·x_q", lowest, 0, tolerance=ROUNDING)


def pairs_of_one_cluster(cells: Sequence[FirstSteps]) -> Hypothesis:
    """x_s·x_q ≥ 1 − 2r in one cluster."""
    gap = min(float((cell.products - 1 + 2 * cell.radius)[cell.same_cluster].min()) for cell in cells)
    return at_least("one_cluster", "smallest x_s·x_q − (1 − 2r) in one cluster", gap, 0, tolerance=ROUNDING)


def pairs_of_opposite_classes(cells: Sequence[FirstSteps]) -> Hypothesis:
    """x_s·x_q ≤ (1 + Δ)/2 + 2r for opposite classes."""
    gap = max(_excess_of_opposite(cell) for cell in cells)
    return at_most("opposite", "largest x_s·x_q − (1 + Δ)/2 − 2r of opposite classes", gap, 0, tolerance=ROUNDING)


def _excess_of_opposite(cell: FirstSteps) -> float:
    excess = (cell.products - (1 + cell.overlap) / 2 - 2 * cell.radius)[cell.opposite]
    return float(excess.max(initial=-1.0))


def runs_of(cells: Sequence[FirstSteps]) -> Runs:
    """How many starts."""
    return Runs(tried=sum(cell.n_runs for cell in cells))


def rows_of(cells: Sequence[FirstSteps], **columns: Callable[[FirstSteps], Any]) -> dict[str, Any]:
    """What a reader needs to know of each cell, `scaling` with every number."""
    return {
        "cells": [
            {
                "scaling": cell.scaling,
                "half_width": cell.half_width,
                "beta": cell.beta,
                "points": cell.n_points,
                "radius": cell.radius,
                "overlap": cell.overlap,
                "imbalance": cell.imbalance,
                "runs": cell.n_runs,
                **{name: column(cell) for name, column in columns.items()},
            }
            for cell in cells
        ]
    }


def starts_on(specimen: Specimen) -> list[FirstStepSetting] | Silence:
    """A narrow and a wider network on the reader's data, each class split into two clusters."""
    if (reason := silence_over_clusters(specimen)) is not None:
        return reason
    runs, seed = max(FEWEST_RUNS, specimen.choices.n_runs or 0), specimen.choices.seed
    start = FirstStepSetting(
        points=OwnClusters(own_data=specimen.digest),
        half_width=1000,
        beta=0.45,
        n_runs=runs,
        seed=seed,
        unmet=sentences(
            other_width(specimen, 2000, why=WIDE), other_runs(specimen, runs, why="fewer bound no small failure rate")
        ),
    )
    return [start.model_copy(update={"scaling": scaling}) for scaling in ("sec4", "exact")]
