"""Figure 6 of brutzkus2019: a decoy set with a non-diverse negative point; and how recovery depends on the margin."""

import functools
from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures import Comparison, Figure
from widenet.papers.brutzkus2019.figures.figure_3 import figure_3_numbers
from widenet.papers.brutzkus2019.figures.recorded_pair import half_widths, share_row, shown_rows
from widenet.papers.brutzkus2019.runs.recorded_runs import ShownRuns, decoy_settings, recorded_runs
from widenet.papers.brutzkus2019.runs.recovery import MAP_PER_CLASS, PAPER_SINGLES, Recovery, recovery


def figure_6_numbers(cells: Sequence[ShownRuns], maps: Sequence[Recovery]) -> xr.Dataset:
    """The runs of the picture, and two maps of recovery: over γ and k, and over γ and the p₂-only share."""
    found = {(each.setting.half_width, each.setting.n_single): each.shares for each in maps}
    widths = sorted(width for width, n_single in found if n_single == PAPER_SINGLES)
    singles = sorted(n_single for width, n_single in found if width == widths[-1])
    axes = ("map_margin", "map_half_width"), ("map_margin", "single_share")
    both = xr.Dataset(
        {
            "recovery_by_width": (axes[0], np.stack([found[width, PAPER_SINGLES] for width in widths], axis=1)),
            "recovery_by_share": (axes[1], np.stack([found[widths[-1], each] for each in singles], axis=1)),
        },
        coords={
            "map_margin": list(maps[0].setting.margins),
            "map_half_width": widths,
            "single_share": np.array(singles) / MAP_PER_CLASS,
        },
    )
    return figure_3_numbers(cells).merge(both).assign_attrs(map_runs=maps[0].setting.n_runs)


def compare_figure_6(numbers: xr.Dataset) -> list[Comparison]:
    """As Figure 3, and the margin that helps Theorem 6.3 hurts here once it is large."""
    k_wide, k_narrow = half_widths(numbers)
    pilots = "the paper shows one run; the band was set by this project from pilot runs"
    added = "not a statement of the paper, which does not say which γ it took; found by this project"
    at_largest = numbers.recovery_by_width.isel(map_half_width=-1)
    best = at_largest.max("map_margin")
    return [
        *shown_rows(numbers),
        share_row(numbers, "wide", "recovers", f"f* recovered, k = {k_wide}", (0.85, 1.0), pilots),
        share_row(
            numbers,
            "narrow",
            "zero training error, wrong elsewhere",
            f"zero training error and wrong elsewhere, k = {k_narrow}",
            (0.5, 1.0),
            pilots,
        ),
        Comparison(
            name="best recovery over γ minus recovery at the smallest γ, largest k of the map",
            reported="–",
            measured=float(best - at_largest.isel(map_margin=0)),
            interval=None,
            band=(0.5, 1.0),
            basis=added,
            added=True,
        ),
        Comparison(
            name="best recovery over γ minus recovery at the largest γ, largest k of the map",
            reported="–",
            measured=float(best - at_largest.isel(map_margin=-1)),
            interval=None,
            band=(0.5, 1.0),
            basis=added,
            added=True,
        ),
    ]


figure_6 = Figure(
    id="brutzkus2019.figure_6",
    title="XORD, a decoy set with a non-diverse negative point: filters, and recovery against the margin",
    caption=(
        "6 diverse positive points, 5 diverse negative ones and one negative point that holds p₂ alone; the paper says "
        "that one negative point is not diverse, and no more. It does not state γ either, and γ matters in both "
        "directions: too small and positive sets are lost as in Figure 3, too large and the set {p₄} turns positive. "
        "Here γ = 2; step size, scale and stopping rule of Appendix A. The maps show the share of "
        "runs that recover f* over γ and k, and over γ and the share of negative points that hold p₂ alone."
    ),
    setting=(
        "“In total, the training set has 6 positive points and 6 negative points”, with “a non-diverse negative "
        "point”; k = 100 and k = 2. γ, step size and initial scale are not printed."
    ),
    claims=("theorem_6_3", "theorem_6_4", "proposition_e_22"),
    reads=(recorded_runs.at(functools.partial(decoy_settings, margin=2.0, n_single=1)), recovery),
    compare=compare_figure_6,
    reduce=figure_6_numbers,
)
