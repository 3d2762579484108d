"""What the run counts of Figure 1 of brutzkus2019 would be under other choices where the paper is silent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import xarray as xr

from widenet.claims.statistics import clopper_pearson
from widenet.data import Xord, make_xord
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERN_SETS, SET_LABELS, from_set_probabilities
from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2019.figures.figure_1 import FISHER_LEVEL, REPORTED, agreeing_shares, fisher_p
from widenet.papers.brutzkus2019.runs.sampled_runs import draw_counts, part_of, run_keys, train_sampled
from widenet.types import Progress, Scale, silent

POSITIVE_SETS = ((1,), (3,), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4), (1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4))
"""The 11 positive sets that are not diverse."""


def _uniform_patches(n_patches: int = 7) -> Xord:
    """Non-diverse points as d independent uniform patches give them; p₊ and p₋ as in the paper."""
    sizes = PATTERN_SETS.sum(axis=1)
    # How likely exactly these patterns occur in d patches: inclusion and exclusion.
    chances = np.array(
        [sum((-1) ** (size - n) * comb(size, n) * (n / 4) ** n_patches for n in range(size + 1)) for size in sizes]
    )
    law = np.zeros(15)
    for label, share, diverse in ((1, 0.5, DIVERSE_POSITIVE), (-1, 0.9, DIVERSE_NEGATIVE)):
        others = (label == SET_LABELS) & (np.arange(15) != diverse)
        law[others] = (1 - share) / 2 * chances[others] / chances[others].sum()
        law[diverse] = share / 2
    return from_set_probabilities(law, 8)  # the number of patches of the other laws; only the sets matter


def _among(wanted: Callable[[tuple[int, ...]], bool]) -> Xord:
    return make_xord(non_diverse=[*filter(wanted, POSITIVE_SETS), (2,), (4,)])


@dataclass(frozen=True)
class Choice:
    """A law of the points and a margin γ; `lenient` counts an output of 0 as positive."""

    law: Callable[[], Xord]
    margin: float = 1.0
    lenient: bool = False


CHOICES: dict[str, Choice] = {
    "all 11 sets (figure_1)": Choice(make_xord),
    "sets of three patterns": Choice(lambda: _among(lambda held: len(held) == 3)),
    "sets of two patterns": Choice(lambda: _among(lambda held: len(held) == 2)),
    "one pattern alone": Choice(lambda: _among(lambda held: len(held) == 1)),
    "{1,2,4} or {2,3,4}": Choice(lambda: _among(lambda held: held in ((1, 2, 4), (2, 3, 4)))),
    "sets with both 1 and 3": Choice(lambda: _among(lambda held: {1, 3} <= set(held))),
    "7 uniform patches": Choice(_uniform_patches),
    "all 11 sets, γ = 2": Choice(make_xord, margin=2.0),
    "all 11 sets, γ = 5": Choice(make_xord, margin=5.0),
    "all 11 sets, N = 0 counts as +": Choice(make_xord, lenient=True),
}
DEFAULT = next(iter(CHOICES))


def compute_figure_1_laws(
    seed: int,
    progress: Progress = silent,
    *,
    choices: Sequence[str] = tuple(CHOICES),
    channels: Sequence[int] = (4, 6, 8, 20),
    n_runs: int = 1000,
) -> xr.Dataset:
    """How many runs end at zero training error, for each choice and width."""
    solved = np.zeros((len(choices), len(channels)), int)
    for row, name in enumerate(choices):
        choice = CHOICES[name]
        law = choice.law()
        for column, width in enumerate(channels):
            part = part_of(progress, row * len(channels) + column, solved.size)
            runs = train_sampled(seed, law, width, n_runs, choice.margin, progress=part)
            # Training does not look at signs: what counts as wrong changes the count and nothing else.
            right = (SET_LABELS * runs.outputs > 0) | (choice.lenient & (SET_LABELS > 0) & (runs.outputs == 0))
            held = np.asarray(draw_counts(law, run_keys(seed, width, n_runs))) > 0
            solved[row, column] = (right | ~held).all(axis=1).sum()
    return xr.Dataset(
        {"solved": (("choice", "channels"), solved)},
        coords={"choice": list(choices), "channels": list(channels)},
        attrs={"n_runs": n_runs, "seed": seed},
    )


def compare_figure_1_laws(numbers: xr.Dataset) -> list[Comparison]:
    """The choice of `figure_1` with more runs; and how many of the choices no reported count contradicts."""
    n_runs = numbers.attrs["n_runs"]
    rows = [
        Comparison(
            name=f"share of runs at zero training error, {width} channels, {DEFAULT}",
            reported=f"{REPORTED[width]} of 100",
            measured=count / n_runs,
            interval=clopper_pearson(count, n_runs),
            band=agreeing_shares(n_runs, REPORTED[width]),
            basis="Fisher's exact test at 1 % against the 100 reported runs",
        )
        for width, count in zip(
            map(int, numbers.channels.values), map(int, numbers.solved.sel(choice=DEFAULT).values), strict=True
        )
    ]
    agreeing = (smallest_p(numbers) >= FISHER_LEVEL).sum()
    return [
        *rows,
        Comparison(
            name="choices that agree at every width",
            reported="one choice, not stated",
            measured=float(agreeing),
            interval=None,
            band=(1.0, float(numbers.sizes["choice"])),
            basis="Fisher's exact test at 1 %; the picture shows every choice",
        ),
    ]


def smallest_p(numbers: xr.Dataset) -> np.ndarray:
    """For each choice, the smallest p-value over the widths: how hard the reported counts speak against it."""
    n_runs, widths = numbers.attrs["n_runs"], [int(width) for width in numbers.channels.values]
    return np.array(
        [
            min(fisher_p(int(count), n_runs, REPORTED[width]) for width, count in zip(widths, row, strict=True))
            for row in numbers.solved.transpose("choice", "channels").values
        ]
    )


figure_1_laws = Figure(
    id="brutzkus2019.figure_1_laws",
    title="XORD: runs at zero training error under other laws of the non-diverse points",
    caption=(
        "Not a figure of the paper. Figure 1 leaves open which positive pattern sets its non-diverse points have, the "
        "margin γ, and how an output of exactly 0 counts. Each row makes one choice and trains as Figure 1 does, with "
        "more runs; dashed lines are the reported counts. A p-value is that of Fisher's exact test."
    ),
    compute=compute_figure_1_laws,
    compare=compare_figure_1_laws,
    sizes={
        Scale.QUICK: {"choices": tuple(CHOICES), "channels": (4, 6, 8, 20), "n_runs": 1000},
        Scale.PAPER: {"choices": tuple(CHOICES), "channels": (4, 6, 8, 20), "n_runs": 5000},
    },
)
