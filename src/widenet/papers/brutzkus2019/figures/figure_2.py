"""Figure 2 of brutzkus2019: the neurons of a wide and a narrow network on XOR, before and after training."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from widenet.claims.statistics import clopper_pearson
from widenet.data.xord import PATTERNS
from widenet.diagnostics.clustering import angles_to_closest
from widenet.diagnostics.exploration import plus_and_minus
from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2019.runs.recorded_runs import as_dataset, reflected, train_and_record, xor_counts
from widenet.papers.brutzkus2019.runs.sampled_runs import draw_networks, part_of, run_keys
from widenet.types import Progress, Scale, silent


def compute_figure_2(
    seed: int,
    progress: Progress = silent,
    *,
    half_widths: Sequence[int] = (50, 2),
    n_runs: int = 200,
    step_constant: float = 0.1,
    n_times: int = 90,
    explored: bool = True,
) -> xr.Dataset:
    """Gradient descent on the four points of XOR until the update is exactly zero.

    `explored` False is a control: every plus neuron starts in the half-plane of x₁.
    """
    counts = xor_counts()
    asked, found = counts > 0, []
    for index, half_width in enumerate(half_widths):
        scale = step_constant / (16 * half_width**1.5)
        networks = draw_networks(run_keys(seed, 2 * half_width, n_runs), 2 * half_width, scale)
        found.append(
            train_and_record(
                networks if explored else reflected(networks),
                counts,
                2 * step_constant / half_width,
                margin=1.0,
                patience=None,
                asked=asked,
                failing=index > 0,
                n_times=n_times,
                progress=part_of(progress, index, len(half_widths)),
            )
        )
    numbers = as_dataset(half_widths, found, counts, asked, step_constant=step_constant, seed=seed, margin=1.0)
    # ℓ of this problem is the sum over the points; `train_patterns` took the class means.
    return numbers.assign({name: 2 * numbers[name] for name in ("final_loss", "wide_loss", "narrow_loss")})


def compare_figure_2(numbers: xr.Dataset) -> list[Comparison]:
    """The wide network solves XOR and its neurons lie on the points; the narrow one fails in three runs of four."""
    failures = (numbers.n_wrong_sets > 0).sum("run")
    n_runs = numbers.sizes["run"]
    wide, narrow = (int(failures.sel(network=name)) for name in ("wide", "narrow"))
    k_wide, k_narrow = (int(numbers.half_width.sel(network=name)) for name in ("wide", "narrow"))
    return [
        Comparison(
            name=f"share of runs that fail, k = {k_wide}",
            reported="converges to a global minimum with high probability (Theorem 3.3)",
            measured=wide / n_runs,
            interval=clopper_pearson(wide, n_runs),
            band=(0.0, 0.0),
            basis="at most 0.27 % may fail: none of 200 is expected to",
        ),
        Comparison(
            name=f"share of runs that fail, k = {k_narrow}",
            reported="at least 0.75 (Theorem 3.4)",
            measured=narrow / n_runs,
            interval=clopper_pearson(narrow, n_runs),
            band=(0.69, 0.81),
            basis="exactly 3/4 by the proof; the band is two standard deviations of 200 runs",
        ),
        Comparison(
            name=f"largest angle to the nearest point of its class at the end, degrees, k = {k_wide}",
            reported="clustering: w near ±(1, 1), u near ±(1, −1) (image)",
            measured=largest_angle(numbers.wide_filters.values[-1]),
            interval=None,
            band=(0.0, 10.0),
            basis="the paper shows arrows and no numbers; the band was set by this project from pilot runs",
        ),
        Comparison(
            name=f"final loss of the network shown, k = {k_wide}",
            reported="0 (a global minimum)",
            measured=float(numbers.wide_loss[-1]),
            interval=None,
            band=(0.0, 0.0),
        ),
        Comparison(
            name=f"final loss of the network shown, k = {k_narrow}",
            reported="a local minimum that is not global",
            measured=float(numbers.narrow_loss[-1]),
            interval=None,
            band=(1.0, 2.0),
            basis="each point without a neuron costs exactly 1 (proof of Theorem 3.4)",
        ),
    ]


def largest_angle(filters: Float[np.ndarray, "channel 2"]) -> float:
    """Degrees between a filter and the closest pattern of its own sign, the largest of all filters."""
    plus, minus = plus_and_minus(filters)
    return float(max(angles_to_closest(plus, PATTERNS[::2]).max(), angles_to_closest(minus, PATTERNS[1::2]).max()))


figure_2 = Figure(
    id="brutzkus2019.figure_2",
    title="XOR: neurons before and after training, k = 50 and k = 2",
    caption=(
        "Full-batch gradient descent on the four points of XOR with the hinge loss, first layer only, until the update "
        "is exactly zero. The paper does not state c_η or the initial scale; here c_η = 0.1, η = c_η/k and "
        "σ_g = c_η/(16 k^1.5), the largest that its theorems allow. Shown: the first run for k = 50, and for k = 2 the "
        "first one that fails; the bars count all 200."
    ),
    compute=compute_figure_2,
    compare=compare_figure_2,
    sizes={
        Scale.QUICK: {"half_widths": (50, 2), "n_runs": 200, "step_constant": 0.1, "n_times": 90},
        Scale.PAPER: {"half_widths": (50, 2), "n_runs": 200, "step_constant": 0.1, "n_times": 90},
    },
)
