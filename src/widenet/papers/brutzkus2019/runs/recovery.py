"""How often networks recover f* on decoy sets, over the margin, the width and the share of p₂-only negatives.

The maps of Figure 6 of brutzkus2019. All runs of a width share their initial filters.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.experiments import Experiment
from widenet.data.xord import SET_LABELS
from widenet.papers.brutzkus2019.runs.few_widths import train_filled_up
from widenet.papers.brutzkus2019.runs.recorded_runs import decoy_counts
from widenet.papers.brutzkus2019.runs.sampled_runs import INITIAL_SCALE, STEP_CONSTANT, draw_networks
from widenet.papers.brutzkus2019.sources import as_networks
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import on_grid

MARGINS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
SINGLES = (0, 1, 2, 3, 4, 5, 6, 8)
MAP_PER_CLASS = 24
"""Points per class in the maps; only shares matter."""
PAPER_SINGLES = 4
"""4 of 24 is the one of six of the paper."""


class RecoverySetting(ClosedModel):
    """Networks of one width on one decoy set, with several margins γ.

    Attributes:
      n_single: how many of the `MAP_PER_CLASS` negative points hold p₂ alone.
      n_runs: runs per margin.
    """

    seed: int
    half_width: int
    n_single: int
    n_runs: int
    margins: tuple[float, ...] = MARGINS


@dataclass(frozen=True, eq=False)
class Recovery:
    """The share of runs that recover f*, for each margin."""

    setting: RecoverySetting
    shares: Float[np.ndarray, " margin"]


def recovery_settings(scale: Scale, seed: int) -> list[RecoverySetting]:
    """Every width with the paper's share of p₂-only negatives, and the largest width with all shares."""
    half_widths = (2, 8, 32, 100) if scale is Scale.QUICK else (2, 4, 8, 16, 32, 64, 100)
    cases = [(width, PAPER_SINGLES) for width in half_widths[:-1]] + [(half_widths[-1], each) for each in SINGLES]
    n_runs = 60 if scale is Scale.QUICK else 300
    return [RecoverySetting(seed=seed, half_width=width, n_single=n, n_runs=n_runs) for width, n in cases]


def train_recovery(setting: RecoverySetting, progress: Progress) -> Recovery:
    """Train the runs of all margins together."""
    n_margins = len(setting.margins)
    drawn = draw_networks(setting.seed, 2 * setting.half_width, setting.n_runs, INITIAL_SCALE)
    networks = as_networks(np.tile(np.asarray(drawn.filters), (n_margins, 1, 1)))
    counts = np.tile(decoy_counts(setting.n_single, MAP_PER_CLASS), (n_margins * setting.n_runs, 1))
    networks, step_sizes = on_grid(networks, counts, STEP_CONSTANT / setting.half_width)
    margin = np.repeat(setting.margins, setting.n_runs)
    runs = train_filled_up(networks, counts, step_sizes, margin=margin, progress=progress)
    recovered = (SET_LABELS * runs.outputs > 0).all(axis=1)
    return Recovery(setting, recovered.reshape(n_margins, setting.n_runs).mean(axis=1))


recovery = Experiment("brutzkus2019.recovery", recovery_settings, train_recovery, seconds=0.8)
