"""What the statements of Appendix E about trajectories run, beside `traces.all_runs`.

No run reaches this module: what stands here is in the key of no cell.
"""

from widenet.papers.brutzkus2019.runs.traces import TraceSetting, all_runs, faster_runs, wide_runs
from widenet.records import Scale


def crossing_counterexample(scale: Scale, seed: int) -> list[TraceSetting]:
    """c_η = 1/412.95, |W13| = 40 and |U13| = 60: both within 2√k of k/2, so inside the event of Lemma E.2."""
    setting = TraceSetting(
        half_width=120,
        step_constant=20 / 8259,
        margin=8.0,
        n_positive=40,
        n_minus_positive=60,
        n_runs=10 if scale is Scale.QUICK else 200,
        seed=10 * seed,
    )
    return setting.in_cells_of(25)


def crossing_settings(scale: Scale, seed: int) -> list[TraceSetting]:
    """All runs, and those that refute the print."""
    return [*all_runs(scale, seed), *crossing_counterexample(scale, seed)]


def overshoot_settings(scale: Scale, seed: int) -> list[TraceSetting]:
    """The regime of Theorem 6.3, and |W13| = 62, |U13| = 60 in it."""
    instance = TraceSetting(
        half_width=120, step_constant=1 / 410, margin=8.0, n_runs=10, seed=10 * seed, n_positive=62, n_minus_positive=60
    )
    return [*wide_runs(scale, seed), instance]


def wide_and_faster(scale: Scale, seed: int) -> list[TraceSetting]:
    """The settings with k = 120."""
    return [*wide_runs(scale, seed), *faster_runs(scale, seed)]
