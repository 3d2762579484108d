"""What the statements about XOR run, beside `xor.xor_traces`.

No run reaches this module: what stands here is in the key of no cell.
"""

from widenet.papers.brutzkus2019.runs.xor import xor_traces
from widenet.papers.brutzkus2019.xor_sources import XorSetting, octant_setting, placed_start
from widenet.records import Scale

ACTIVE_AGAIN = placed_start(1 / 10, (-12, 9), (-1, -1), (20, 5), (-18, 1))
"""x_1 and x_4 are forgotten. At t = 3 x_2 and x_3 are satisfied (1.011 and 1.052), at t = 4 x_2 is active (0.997)."""


def exploration_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """The smallest width, the smallest of Section 3.2 and a usual one, with two step sizes."""
    n_runs = 60 if scale is Scale.QUICK else 1000
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed) for k in (2, 17, 50) for c in (0.1, 0.4)
    ]


def wide_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """Section 3.2 assumes k > 16."""
    return [setting for setting in xor_traces.settings(scale, seed) if setting.half_width > 16]


def angle_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """Step sizes from the largest to a fiftieth of it, for the angles at the end."""
    n_runs = 30 if scale is Scale.QUICK else 300
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed)
        for k in (17, 50, 100)
        for c in (0.49, 0.3, 0.1, 0.01)
    ]


def growth_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """Three widths above 16 with one step size."""
    n_runs = 60 if scale is Scale.QUICK else 1000
    return [XorSetting(half_width=k, step_constant=0.1, n_runs=n_runs, seed=seed) for k in (17, 50, 200)]


def nearest_growth_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """And a start with k = 2 in which the opposing sum of x_4 comes to 127/128 of its limit."""
    return [*growth_settings(scale, seed), placed_start(64 / 603, (14, 1), (-10, 1), (-7, 19), (-18, -12))]


def satisfaction_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """Four widths with three step sizes each, for how long a point stays active."""
    n_runs = 40 if scale is Scale.QUICK else 500
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed)
        for k in (17, 25, 50, 100)
        for c in (0.4, 0.1, 0.01)
    ]


def slow_growth_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """A small step size, at which a point stays active longer than is printed."""
    return [XorSetting(half_width=50, step_constant=0.01, n_runs=100 if scale is Scale.QUICK else 600, seed=seed)]


def probability_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """A usual width and the smallest, with the largest η and with far less beside the same σ_g."""
    n_runs = 1200 if scale is Scale.QUICK else 2000
    rows = ((50, 0.4, 1.0), (50, 0.4, 0.1), (17, 0.49, 1.0), (17, 0.49, 0.05))
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed, step_share=share) for k, c, share in rows
    ]


def convergence_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """A usual width with three step sizes, and the smallest of Section 3.2."""
    n_runs = 200 if scale is Scale.QUICK else 600
    pairs = ((50, 0.4), (50, 0.1), (50, 0.01), (17, 0.1))
    return [XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed) for k, c in pairs]


def nearest_convergence_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """And a start with k = 2, c_η = 32/513 that comes nearest to the lower bound: 15.85, and T = 16."""
    return [*convergence_settings(scale, seed), placed_start(16 / 513, (-13, -3), (18, -11), (9, -22), (1, 4))]


def slow_convergence_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """A small step size, which takes more iterations than are printed."""
    return [setting for setting in convergence_settings(scale, seed) if setting.step_constant == 0.01]


def drawn_narrow_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """Drawn starts with k = 2, enough to tell 3/4 from a rate that is off by a fifth."""
    n_runs = 3000 if scale is Scale.QUICK else 10_000
    return [XorSetting(half_width=2, step_constant=0.1, n_runs=n_runs, seed=seed)]


def octant_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """One start from every octant with k = 2."""
    return [octant_setting(0.1)]


def stuck_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """Drawn starts with k = 2 and three step sizes, and one after which a point is active again."""
    count = 200 if scale is Scale.QUICK else 4000
    drawn = [XorSetting(half_width=2, step_constant=c, n_runs=count, seed=seed) for c in (0.1, 0.4, 0.01)]
    return [*drawn, ACTIVE_AGAIN]
