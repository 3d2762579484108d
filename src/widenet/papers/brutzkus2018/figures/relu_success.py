"""ReLU on orthonormal points: the share of runs at loss 0, by width and dimension. The paper draws no such figure."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.claims.statistics import fails_at_most
from widenet.figures.base import Comparison, Figure
from widenet.papers.brutzkus2018.formulas import narrow_width, success_probability, wide_width
from widenet.papers.brutzkus2018.runs.relu_phase import PhaseColumn, relu_phase

DELTA = 0.1
"""δ of Theorem 9."""


def reduce_relu_success(columns: Sequence[PhaseColumn]) -> xr.Dataset:
    """How many runs end at loss 0, how many K_0 says will, and the probability (1 − 2^{−k})^d."""
    setting, axes = columns[0].setting, ("half_width", "dim")
    dims, half_widths = [column.setting.dim for column in columns], setting.half_widths
    counts = ("reached", "predicted", "disagree", "unfinished")
    exact = [[success_probability(dim, half) for dim in dims] for half in half_widths]
    return xr.Dataset(
        {
            **{name: (axes, np.stack([getattr(column, name) for column in columns], axis=1)) for name in counts},
            "exact": (axes, exact),
            "stuck_up_to": ("dim", [narrow_width(dim, DELTA) for dim in dims]),
            "solved_from": ("dim", [wide_width(dim, DELTA) for dim in dims]),
        },
        coords={"half_width": list(half_widths), "dim": dims},
        attrs={"n_runs": setting.n_runs, "step_size": setting.step_size, "delta": DELTA, "seed": setting.seed},
    )


def compare_relu_success(numbers: xr.Dataset) -> list[Comparison]:
    """Theorem 9 in each cell where it speaks, and the exact probability in every cell."""
    runs, delta, exact = numbers.attrs["n_runs"], numbers.attrs["delta"], numbers.exact
    share = numbers.reached / runs
    allowed = 4 * np.sqrt(exact * (1 - exact) / runs) + 0.01
    narrow = (numbers.half_width <= numbers.stuck_up_to).transpose(*numbers.reached.dims)
    wide = (numbers.half_width >= numbers.solved_from).transpose(*numbers.reached.dims)
    return [
        Comparison(
            name="runs that end otherwise than K_0 says, or do not end",
            reported="0: stuck iff K_0 is not empty (Section 7.2)",
            measured=float(numbers.disagree.sum() + numbers.unfinished.sum()),
            interval=None,
            band=(0.0, 0.0),
            basis="an equivalence has no exception",
        ),
        Comparison(
            name="largest |share − (1 − 2^−k)^d| / (4 standard errors + 0.01)",
            reported="the probability that the proof of Theorem 9 bounds",
            measured=float((np.abs(share - exact) / allowed).max(skipna=False)),
            interval=None,
            band=(0.0, 1.0),
            basis="the exact probability under independent signs; four standard errors, set by this project",
            added=True,
        ),
        Comparison(
            name=f"cells with k ≤ log2(d/ln(1/δ)) that succeed more often than δ = {delta:g}",
            reported="none (Theorem 9, first part)",
            measured=_broken(numbers.reached, narrow, runs, delta),
            interval=None,
            band=(0.0, 0.0),
            basis="a cell counts if the exact 95 % lower limit of its rate is above δ",
        ),
        Comparison(
            name=f"cells with k ≥ log2(2d/δ) that get stuck more often than δ = {delta:g}",
            reported="none (Theorem 9, second part)",
            measured=_broken(runs - numbers.reached, wide, runs, delta),
            interval=None,
            band=(0.0, 0.0),
            basis="a cell counts if the exact 95 % lower limit of its rate is above δ",
        ),
    ]


def _broken(failures: xr.DataArray, where: xr.DataArray, runs: int, delta: float) -> float:
    """How many of these cells fail more often than δ; NaN where there is no such cell to judge."""
    counts = failures.values[where.values]
    if not len(counts):
        return np.nan
    return float(sum(fails_at_most(int(count), runs, delta) is False for count in counts))


relu_success = Figure(
    id="brutzkus2018.relu_success",
    title="ReLU on orthonormal points: how often SGD reaches zero loss, over width and dimension",
    caption=(
        "The paper states Theorem 9 and draws no such figure. Data e_1, …, e_d labelled +1, output weights ±1, entries "
        "of W_0 uniform on [−1, 1], step size 0.6, samples drawn with replacement until no point makes an update."
    ),
    claims=("theorem_9a", "theorem_9b", "theorem_9_equivalence"),
    reads=(relu_phase,),
    reduce=reduce_relu_success,
    compare=compare_relu_success,
)
