"""How many filters of random starts look at each point of XOR; nothing is trained."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.diagnostics import exploration
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.xor_sources import XorSetting, XorStart, start_of
from widenet.progress import Progress
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class XorCounts(Cases):
    """How many filters of many starts look at each point."""

    half_width: Count  #: k
    half_planes: Int[np.ndarray, "run 2 4"]  #: |W_0⁺(1)|, …, |W_0⁺(4)|, then |U_0⁺(1)|, …, |U_0⁺(4)|
    uniform: Number  #: the p-value that a filter is in each octant of the plane equally often

    @column
    def uncovered(self) -> Int[np.ndarray, "run 2"]:
        """k − |W_0⁺(1)| − |W_0⁺(3)| and k − |U_0⁺(2)| − |U_0⁺(4)|."""
        pairs = self.half_planes[:, 0, ::2].sum(axis=1), self.half_planes[:, 1, 1::2].sum(axis=1)
        return self.half_width - np.stack(pairs, axis=1)


def count_filters(start: XorStart) -> XorCounts:
    """The counts of given starts, through the half-planes of `diagnostics`."""
    halves = exploration.plus_and_minus(start.filters)
    counts = np.stack([exploration.sizes(exploration.half_planes(half)) for half in halves], axis=1)
    return XorCounts(start.half_width, counts, octants.equally_likely(start.filters))


def run_xor_counts(setting: XorSetting, progress: Progress) -> XorCounts:
    """Draw the starts of a setting, and count."""
    counts = count_filters(start_of(setting))
    progress(1.0, f"k = {setting.half_width}")
    return counts


def _widths(scale: Scale, seed: int) -> list[XorSetting]:
    n_runs = 5000 if scale is Scale.QUICK else 20_000
    return [XorSetting(half_width=k, step_constant=0.1, n_runs=n_runs, seed=seed) for k in (17, 50, 200)]


xor_counts = Experiment("brutzkus2019.xor_counts", _widths, run_xor_counts, seconds=0.2)
