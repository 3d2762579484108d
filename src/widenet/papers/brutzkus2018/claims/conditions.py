"""The hypotheses of the convergence theorems, measured on the runs that a statement is judged on."""

import numpy as np

from widenet.claims.base import Hypothesis, Runs, at_least, at_most, less_than, more_than, separable
from widenet.claims.sides import Sense, Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.runs.ledgers import Ledgers
from widenet.types import RunStatus


def conditions(runs: Ledgers) -> tuple[Hypothesis, ...]:
    """Each at the run that is nearest to breaking it. A NaN anywhere fails what it enters.

    The proof needs σ'(0) between α and 1, wherever the paper's own choice is 1.
    """
    return (
        separable(runs.smallest_margin),
        at_most("input_norm", "largest input norm ‖x‖", np.max(runs.largest_input), 1, tolerance=ROUNDING),
        at_most("row_norm", "largest initial row norm / R", np.max(runs.relative_row), 1, tolerance=ROUNDING),
        at_most("labels", "labels: largest distance from ±1", np.max(runs.label_error), 0),
        more_than("output_weight", "smallest output weight v", np.min(runs.smallest_output), 0),
        at_most("equal_outputs", "unequal output weights (+v, …, −v)", np.max(runs.output_spread), 0),
        more_than("slope_positive", "smallest Leaky slope α", np.min(runs.slope), 0),
        less_than("slope_below_one", "largest Leaky slope α", np.max(runs.slope), 1),
        at_least("derivative_above_slope", "smallest σ'(0) − α", np.min(runs.at_zero - runs.slope), 0),
        at_most("derivative_at_zero", "largest σ'(0)", np.max(runs.at_zero), 1),
        more_than("step_size", "smallest step size η", np.min(runs.step_size), 0),
    )


def ended(runs: Ledgers) -> Runs:
    """How the runs ended."""
    return Runs(
        tried=len(runs),
        diverged=runs.count(RunStatus.DIVERGED),
        unfinished=runs.count(RunStatus.BUDGET_SPENT),
    )


def lost(runs: Ledgers) -> np.ndarray:
    """Runs that float64 lost: they overflowed, rounding could carry a margin across 1, or their updates round to 0.

    Where η, v and α are positive every point with y N(x) < 1 but 0 has a gradient, so nothing else makes a run stall.
    """
    moves = (runs.step_size > 0) & (runs.smallest_output > 0) & (runs.slope > 0)
    vanished = (runs.status == RunStatus.STALLED) & moves
    return (runs.status == RunStatus.DIVERGED) | runs.blurred | vanished


def zero_loss(runs: Ledgers, undecided: np.ndarray) -> Sides:
    """The hinge loss is 0 at the end on every training point, so the training loss is. Shown is the largest of them."""
    return Sides(
        np.maximum(1 - runs.last_margin, 0.0),
        0.0,
        Sense.AT_MOST,
        room=ROUNDING,
        undecided=undecided,
        text="training loss 0 at the end",
        quantity="largest hinge loss of a training point at the end of a run",
    )


def active_before(runs: Ledgers) -> Sides:
    """Only points with y N(x) < 1 make updates. Within rounding of 1, or beside a blurred run, nothing is broken."""
    near = (runs.margins >= 1) & ((runs.margins <= 1 + STEP) | runs.blurred.any())
    return Sides(
        runs.margins,
        1.0,
        Sense.AT_MOST,
        strict=True,
        undecided=near,
        text="$y N(x) < 1$ before every update",
        quantity="y N(x) before an update",
    )


def promised_updates(runs: Ledgers, bounds: np.ndarray) -> np.ndarray:
    """Bounds per run; infinite where w* does not separate the data, because then nothing is promised."""
    return np.where(runs.has_separator, bounds, np.inf)
