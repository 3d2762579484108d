"""Small cells of brutzkus2019's experiments, trained once per process, for tests of runs and figures."""

import functools
from typing import Any

from widenet.papers.brutzkus2019.runs.recorded_runs import ShownRuns, ShownRunSetting, train_recorded
from widenet.papers.brutzkus2019.runs.recovery import Recovery, RecoverySetting, train_recovery
from widenet.papers.brutzkus2019.runs.sampled_runs import SampledRuns, SampledSetting, train_sampled
from widenet.progress import silent

N_RUNS = 100
N_RECORDED = 60
WIDE, NARROW = 32, 2


@functools.cache
def sampled(n_channels: int, seed: int = 0, **others: Any) -> SampledRuns:
    """Runs on fresh training sets."""
    return train_sampled(SampledSetting(seed=seed, n_channels=n_channels, n_runs=N_RUNS, **others), silent)


@functools.cache
def recorded(half_width: int, **others: Any) -> ShownRuns:
    """Runs on one training set; of narrow networks one that fails is recorded."""
    failing = half_width == NARROW
    return train_recorded(
        ShownRunSetting(seed=0, half_width=half_width, failing=failing, n_runs=N_RECORDED, n_times=30, **others),
        silent,
    )


def both(**others: Any) -> list[ShownRuns]:
    """A wide and a narrow network."""
    return [recorded(WIDE, **others), recorded(NARROW, **others)]


@functools.cache
def recovered(n_single: int, margins: tuple[float, ...] = (1.0, 2.5, 8.0)) -> Recovery:
    """How often wide networks recover the rule."""
    setting = RecoverySetting(seed=0, half_width=WIDE, n_single=n_single, n_runs=N_RECORDED, margins=margins)
    return train_recovery(setting, silent)
