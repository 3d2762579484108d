"""Why the lower-bound sequence is one scalar recursion: the rows of the network never part (proof of Theorem 10)."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from widenet.claims.base import Evidence, Kind, at_most, claim, less_than, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.papers.brutzkus2018.runs.exact_networks import ExactRun, ExactRuns, exact_networks


def recursion_count(run: ExactRun) -> int:
    """T of the scalar recursion with the parameters of this run."""
    return run.sequence.updates()


@claim("brutzkus2018.theorem_10_collapse", Kind.STEP, "proof of Theorem 10, Appendix 9.1.4", reads=exact_networks)
def theorem_10_collapse(
    cells: Sequence[ExactRuns],
    *,
    count: Callable[[ExactRun], int] = recursion_count,
    threshold_factor: Fraction = Fraction(1),
) -> Evidence:
    """On the sequence of Theorem 10 all plus rows stay equal, all minus rows stay equal, and after each pass all
    coordinates are equal: training the 2k×d network is one scalar recursion. When it ends, some coordinate has
    w ≥ 1/(2kv) or u ≤ −1/(2αkv).

    Controls pass another count, or thresholds that are larger by a factor.
    """
    # The longest first: of cases that are equally close the first is shown.
    runs = sorted((run for cell in cells for run in cell.runs), key=lambda run: -run.updates)
    expected = [count(run) for run in runs]
    same = [run.updates == number for run, number in zip(runs, expected, strict=True)]
    apart = [run.untied_plus + run.untied_minus + run.untied_coordinates > 0 for run in runs]
    reached = [_reached(run, threshold_factor) for run in runs]
    return evidence(
        {
            "as many updates as the recursion": Sides(
                [run.updates for run in runs],
                expected,
                Sense.EQUAL,
                quantity="non-zero updates of the whole network, against those of the scalar recursion",
            ),
            "plus rows stay equal": Fact([run.untied_plus == 0 for run in runs]),
            "minus rows stay equal": Fact([run.untied_minus == 0 for run in runs]),
            "coordinates are equal after each pass": Fact([run.untied_coordinates == 0 for run in runs]),
            "a coordinate has reached its threshold at the end": Fact(reached),
        },
        [
            at_most(
                "start",
                "start: largest distance of an entry from ∓R/√d",
                float(max(run.start_distance for run in runs)),
                0,
            ),
            more_than("output_weight", "smallest output weight v", float(min(run.output_weight for run in runs)), 0),
            more_than("slope_positive", "smallest Leaky slope α", float(min(run.slope for run in runs)), 0),
            less_than("slope_below_one", "largest Leaky slope α", float(max(run.slope for run in runs)), 1),
            more_than("step_size", "smallest step size η", float(min(run.step_size for run in runs)), 0),
        ],
        details={
            "arithmetic": "fractions",
            "dims": sorted({run.dim for run in runs}),
            "neurons": sorted({2 * run.half_width for run in runs}),
            "most_updates": max(run.updates for run in runs),
            "runs_with_rows_or_coordinates_apart": sum(apart),
            "runs_with_another_count": same.count(False),
            "runs_that_reach_neither_threshold": reached.count(False),
        },
    )


def _reached(run: ExactRun, factor: Fraction) -> bool:
    """The condition that the proof shows to be necessary for zero loss."""
    size = 2 * run.half_width * run.output_weight
    return run.largest_plus * size >= factor or -run.smallest_minus * run.slope * size >= factor
