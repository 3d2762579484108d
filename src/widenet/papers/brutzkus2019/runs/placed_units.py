"""One step of filters u that were placed in U13, where no trajectory has any after its first step.

They are u_0 inside the event of Lemma E.3, and u_0 − ηp_i, the only other place where Lemma E.7 could leave a unit of
U13 without a step along p_l. Fits are in units of η, on the grid of `traces`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2019.runs.lattice import moves
from widenet.papers.brutzkus2019.runs.traces import EVENT_RADIUS, GRID
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale

UnitFits = Float[np.ndarray, "unit 2"]


class PlacedUnitsSetting(ClosedModel):
    """How many units are drawn, beside those in the corners of the event."""

    n_drawn: int
    seed: int = 0


@dataclass(frozen=True, eq=False)
class PlacedUnits(Cases):
    """Filters u of U13, and where one step takes them: two units from each start, u_0 and u_0 − ηp_i."""

    rows: ClassVar = "unit"

    starts: Float[np.ndarray, "start 2"]  #: u_0 as (S, R)
    fits: UnitFits  #: all u_0, then all u_0 − ηp_i
    after_minus: UnitFits  #: after a step with only x⁻ active
    after_plus: UnitFits  #: with only x⁺


def place(starts: np.ndarray | Sequence[tuple[float, float]]) -> PlacedUnits:
    """Take the steps of u_0 and u_0 − ηp_i, for each start (S, R) with |S| > |R|."""
    starts = np.asarray(starts, float).reshape(-1, 2)
    moved = starts - np.stack([2 * np.sign(starts[:, 0]), np.zeros(len(starts))], axis=1)
    fits = np.concatenate([starts, moved])
    s, r = fits.T
    minus, plus = (
        fits + np.stack(moves(s, r, -1.0, plus=only_plus, minus=not only_plus), axis=1) for only_plus in (False, True)
    )
    return PlacedUnits(starts, fits, minus, plus)


def run_placed_units(setting: PlacedUnitsSetting, progress: Progress) -> PlacedUnits:
    """Units spread over the event, its corners included."""
    drawn = np.random.default_rng(setting.seed).uniform(-EVENT_RADIUS, EVENT_RADIUS, (setting.n_drawn, 2))
    drawn = np.where((np.abs(drawn[:, 0]) > np.abs(drawn[:, 1]))[:, None], drawn, drawn[:, ::-1])
    drawn = np.trunc(drawn / GRID) * GRID
    edge = np.trunc(EVENT_RADIUS / GRID) * GRID
    corners = [(a * edge, b * small) for a in (1, -1) for b in (1, -1) for small in (GRID, edge - GRID)]
    return place(np.concatenate([drawn, corners]))


def _settings(scale: Scale, seed: int) -> list[PlacedUnitsSetting]:
    return [PlacedUnitsSetting(n_drawn=1000 if scale is Scale.QUICK else 100_000, seed=seed)]


placed_units = Experiment("brutzkus2019.placed_units", _settings, run_placed_units, seconds=0.01)
