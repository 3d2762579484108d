"""Why the lower-bound sequence is one scalar recursion: the rows of the network never part (proof of Theorem 10).

The whole (2k, d) network is trained here in fractions, so that "equal" and "at least" are meant exactly.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_most, less_than, more_than
from widenet.claims.legacy import Evidence_, decide
from widenet.papers.brutzkus2018.runs.lower_bound import BasisSequence, basis_sequence
from widenet.types import Progress, Scale, silent


@dataclass(frozen=True)
class ExactNetwork:
    """A ±v network on R^d before training on e_1, …, e_d.

    Attributes:
      hidden: W_0 as an object array of fractions, (2k, d); the first k rows vote plus.
      output_weight: v.
      slope: α.
      step_size: η.
      row_bound: R.
    """

    hidden: np.ndarray
    output_weight: Fraction
    slope: Fraction
    step_size: Fraction
    row_bound: Fraction

    @property
    def half_width(self) -> int:
        """k."""
        return len(self.hidden) // 2

    @property
    def sequence(self) -> BasisSequence:
        """The scalar recursion that the run is said to collapse to."""
        return basis_sequence(
            self.hidden.shape[1],
            self.slope,
            self.step_size,
            gain=self.half_width * self.output_weight**2,
            radius=self.row_bound / self.output_weight,
        )


@dataclass(frozen=True)
class ExactRun:
    """What the training left: T, W, and how often two tied rows or two visited coordinates differed."""

    updates: int
    hidden: np.ndarray
    untied_rows: int
    untied_coordinates: int


def tied_network(
    dim: int, half_width: int, slope: Fraction, step_size: Fraction, output_weight: Fraction, row_bound: Fraction
) -> ExactNetwork:
    """The start of the theorem: plus rows −(R/√d)·1, minus rows +(R/√d)·1; d a square."""
    entry = row_bound / math.isqrt(dim)
    hidden = np.array([[-entry] * dim] * half_width + [[entry] * dim] * half_width, dtype=object)
    return ExactNetwork(hidden, output_weight, slope, step_size, row_bound)


def train_exactly(network: ExactNetwork, max_passes: int) -> ExactRun:
    """SGD on e_1, …, e_d, all labelled +1, cycled until a pass makes no update."""
    hidden, k = network.hidden.copy(), network.half_width
    dim = hidden.shape[1]
    votes = np.array([network.output_weight] * k + [-network.output_weight] * k, dtype=object)
    points = np.array([[Fraction(int(i == j)) for j in range(dim)] for i in range(dim)], dtype=object)
    updates = untied_rows = untied_coordinates = 0
    for _ in range(max_passes):
        before = updates
        for x in points:
            z = hidden @ x
            slopes = np.array([Fraction(1) if each >= 0 else network.slope for each in z], dtype=object)
            if votes @ (slopes * z) < 1:
                hidden = hidden + network.step_size * np.outer(votes * slopes, x)
                updates += 1
                untied_rows += not ((hidden[:k] == hidden[0]).all() and (hidden[k:] == hidden[k]).all())
        untied_coordinates += not (hidden == hidden[:, :1]).all()
        if updates == before:
            break
    return ExactRun(updates, hidden, untied_rows, untied_coordinates)


def check_theorem_10_collapse(
    networks: Sequence[ExactNetwork],
    progress: Progress = silent,
    *,
    count: Callable[[BasisSequence], int] = BasisSequence.updates,
) -> Evidence:
    """Rows stay tied, T is that of the recursion, and at the end w ≥ 1/(2kv) or u ≤ −1/(2αkv) on some coordinate."""
    conditions = [
        at_most("start", "start: largest distance of an entry from ∓R/√d", max(_distance(net) for net in networks), 0),
        more_than(
            "smallest_output_weight_v", "smallest output weight v", float(min(net.output_weight for net in networks)), 0
        ),
        more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", float(min(net.slope for net in networks)), 0),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", float(max(net.slope for net in networks)), 1),
        more_than(
            "smallest_step_size_step_size", "smallest step size η", float(min(net.step_size for net in networks)), 0
        ),
    ]
    runs, expected, far = [], [], []
    for index, network in enumerate(networks):
        expected.append(count(network.sequence))
        # One pass more than expected shows that the updates have ended; a few more, that they did not end too late.
        runs.append(train_exactly(network, expected[-1] // network.hidden.shape[1] + 3))
        far.append(_reached(network, runs[-1]))
        progress((index + 1) / len(networks), "networks")
    untied = sum(run.untied_rows + run.untied_coordinates > 0 for run in runs)
    miscounted = sum(run.updates != t for run, t in zip(runs, expected, strict=True))
    conclusion = not untied and not miscounted and all(far)
    apart = [abs(run.updates - t) for run, t in zip(runs, expected, strict=True)]
    worst = int(np.argmax(apart if miscounted else expected))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(runs)),
        conclusion=conclusion,
        quantity="non-zero updates of the whole network, against those of the scalar recursion",
        promised=float(expected[worst]),
        measured=float(runs[worst].updates),
        tightness=runs[worst].updates / expected[worst] if expected[worst] else None,
        config={
            "arithmetic": "fractions",
            "dims": sorted({net.hidden.shape[1] for net in networks}),
            "neurons": sorted({2 * net.half_width for net in networks}),
            "most_updates": max(run.updates for run in runs),
            "runs_with_rows_or_coordinates_apart": untied,
            "runs_with_another_count": miscounted,
            "runs_that_reach_neither_threshold": far.count(False),
        },
    )


def _distance(network: ExactNetwork) -> float:
    tied = tied_network(
        network.hidden.shape[1],
        network.half_width,
        network.slope,
        network.step_size,
        network.output_weight,
        network.row_bound,
    )
    return float(np.abs(network.hidden - tied.hidden).max())


def _reached(network: ExactNetwork, run: ExactRun) -> bool:
    """The condition that the proof shows to be necessary for zero loss."""
    threshold = 1 / (2 * network.half_width * network.output_weight)
    k = network.half_width
    return bool((run.hidden[:k] >= threshold).any() or (run.hidden[k:] <= -threshold / network.slope).any())


def _setting(scale: Scale, seed: int) -> list[ExactNetwork]:
    """Small networks with round parameters, where thresholds are hit exactly, and counts that fractions can reach."""
    draw = np.random.default_rng(seed)
    networks: list[ExactNetwork] = []
    count, root, half, most = (20, 3, 3, 400) if scale is Scale.QUICK else (100, 4, 5, 2000)
    while len(networks) < count:
        network = tied_network(
            int(draw.integers(1, root + 1)) ** 2,
            int(draw.integers(1, half + 1)),
            Fraction(int(draw.integers(1, 10)), 10),
            Fraction(int(draw.integers(1, 50)), 10),
            Fraction(int(draw.integers(1, 10)), 4),
            Fraction(int(draw.integers(0, 12)), 2),
        )
        if network.sequence.updates() <= most:
            networks.append(network)
    return networks


theorem_10_collapse = Claim(
    id="brutzkus2018.theorem_10_collapse",
    kind=Kind.STEP,
    statement=(
        "On the sequence of Theorem 10 all plus rows stay equal, all minus rows stay equal, and after each pass all "
        "coordinates are equal: training the 2k×d network is one scalar recursion. When it ends, some coordinate has "
        "w ≥ 1/(2kv) or u ≤ −1/(2αkv)."
    ),
    where="proof of Theorem 10, Appendix 9.1.4",
    judge=check_theorem_10_collapse,
    draws=_setting,
)
