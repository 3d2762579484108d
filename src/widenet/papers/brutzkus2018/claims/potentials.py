"""The proof of Theorem 2 (Section 9.1.2), step by step: F grows linearly, G like a square root, and F ≤ G‖W*‖.

All claims here read the same ledgers: every run is trained once, under its own order and under three orders that look
at the network, and every inequality is checked at every non-zero update.
"""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, claim, pick
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import BOUND, ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.conditions import (
    active_before,
    conditions,
    ended,
    lost,
    promised_updates,
    zero_loss,
)
from widenet.papers.brutzkus2018.claims.convergence import ledgers_on
from widenet.papers.brutzkus2018.formulas import (
    largest_square_gain,
    least_alignment_gain,
    max_nonzero_updates,
    root_bound,
    start_bound,
)
from widenet.papers.brutzkus2018.runs.ledgers import Ledgers, joined, ledgers
from widenet.types import RunStatus

PerRun = Callable[[Ledgers], np.ndarray]
"""One number per run."""


def stacked_norm(runs: Ledgers) -> np.ndarray:
    """‖W*‖ = √(2k)‖w*‖."""
    return (2 * runs.half_width) ** 0.5 * runs.separator_norm


def growth_of_square(runs: Ledgers) -> np.ndarray:
    """2η + 2kη²v², the most one update adds to G²."""
    return largest_square_gain(runs.step_size, runs.output_weight, runs.half_width)


def growth_of_alignment(runs: Ledgers) -> np.ndarray:
    """2kηvα, the least one update adds to F."""
    return least_alignment_gain(runs.step_size, runs.output_weight, runs.half_width, runs.slope)


@claim("brutzkus2018.equation_9", Kind.STEP, "Eq. 9, Section 9.1.2", reads=ledgers)
def equation_9(cells: Sequence[Ledgers], *, constant: PerRun = stacked_norm) -> Evidence:
    """|F_t| ≤ ‖W*‖·G_t, where F_t = ⟨W_t, W*⟩, G_t = ‖W_t‖, and W* stacks k copies of w* and k of −w*, so that
    ‖W*‖ = √(2k)‖w*‖.

    Checked from t = 0 on.
    """
    runs = joined(cells)
    promised = runs.norms * constant(runs)[runs.time_run]
    # A start at W = 0 has 0 on both sides, and so has data without a separator: they show nothing.
    telling = (runs.norms > 0) & (runs.separator_norm > 0)[runs.time_run]
    parts = {
        name: Sides(
            sign * runs.alignments,
            promised,
            Sense.AT_MOST,
            room=ROUNDING * promised,
            scored=telling,
            quantity=f"{words} against G‖W*‖ where they are closest",
        )
        for name, sign, words in (("F_t ≤ ‖W*‖·G_t", 1, "F"), ("−F_t ≤ ‖W*‖·G_t", -1, "−F"))
    }
    return evidence(parts, runs=ended(runs), details=_counts(runs))


@claim("brutzkus2018.equation_11_step", Kind.STEP, "the display before Eq. 11, Section 9.1.2", reads=ledgers)
def equation_11_step(cells: Sequence[Ledgers], *, constant: PerRun = growth_of_square) -> Evidence:
    """Every non-zero update adds less than 2η + 2kη²v² to G², the square of the norm of all trained weights."""
    runs = joined(cells)
    promised = constant(runs)[runs.update_run]
    squares = runs.norms**2
    sides = Sides(
        runs.norm_gains,
        promised,
        Sense.AT_MOST,
        room=STEP * promised,
        quantity="growth of G² in the update that comes closest to 2η + 2kη²v²",
    )
    return evidence(
        {
            "G² grows by less than 2η + 2kη²v²": sides,
            # The bound is approached and never met, because only a point with y N(x) < 1 makes an update.
            "y N(x) < 1 before every update": active_before(runs),
            "every update adds to G² what the identity says": _identity(runs, squares, runs.norm_gains, squares),
        },
        pick(conditions(runs), *NEEDED_BY_EQUATION_11),
        runs=ended(runs),
        details=_counts(runs),
    )


@claim("brutzkus2018.equation_11", Kind.STEP, "Eq. 11 with C = 1, Section 9.1.2", reads=ledgers)
def equation_11(cells: Sequence[Ledgers], *, constant: PerRun = growth_of_square) -> Evidence:
    """After t non-zero updates, G_t² ≤ G_0² + t(2kη²v² + 2η)."""
    runs = joined(cells)
    start = runs.norms[runs.starts] ** 2
    promised = start[runs.update_run] + runs.update_number * constant(runs)[runs.update_run]
    sides = Sides(
        runs.after(runs.norms) ** 2,
        promised,
        Sense.AT_MOST,
        room=STEP * promised,
        quantity="G² in the run and at the update where it comes closest to its bound",
    )
    return evidence(
        {"G_t² ≤ G_0² + t(2kη²v² + 2η)": sides},
        pick(conditions(runs), *NEEDED_BY_EQUATION_11),
        runs=ended(runs),
        details=_counts(runs),
    )


@claim("brutzkus2018.equation_12_step", Kind.STEP, "the display before Eq. 12, Section 9.1.2", reads=ledgers)
def equation_12_step(cells: Sequence[Ledgers], *, constant: PerRun = growth_of_alignment) -> Evidence:
    """Every non-zero update adds at least 2kηvα to F = ⟨W, W*⟩."""
    runs = joined(cells)
    promised = constant(runs)[runs.update_run]
    sizes = runs.norms * stacked_norm(runs)[runs.time_run]
    sides = Sides(
        runs.alignment_gains,
        promised,
        Sense.AT_LEAST,
        room=STEP * promised,
        trivial=0.0,
        quantity="growth of F in the update that comes closest to 2kηvα",
    )
    identity = _identity(runs, runs.alignments, runs.alignment_gains, sizes)
    return evidence(
        {"F grows by at least 2kηvα": sides, "every update adds to F what the identity says": identity},
        pick(conditions(runs), *NEEDED_BY_EQUATION_12),
        runs=ended(runs),
        details=_counts(runs),
    )


@claim("brutzkus2018.equation_12", Kind.STEP, "Eq. 12 with c = 1, Section 9.1.2", reads=ledgers)
def equation_12(cells: Sequence[Ledgers], *, constant: PerRun = growth_of_alignment) -> Evidence:
    """After t non-zero updates, F_t ≥ F_0 + 2kηvα·t."""
    runs = joined(cells)
    start, after = runs.alignments[runs.starts][runs.update_run], runs.after(runs.alignments)
    # F is a sum that may cancel: it is known to a share of G‖W*‖, not of itself.
    sizes = runs.norms * stacked_norm(runs)[runs.time_run]
    sides = Sides(
        after - start,
        runs.update_number * constant(runs)[runs.update_run],
        Sense.AT_LEAST,
        room=STEP * np.maximum(runs.after(sizes), sizes[runs.starts][runs.update_run]),
        trivial=0.0,
        quantity="F − F_0 in the run and at the update where it comes closest to its bound",
    )
    return evidence(
        {"F_t ≥ F_0 + 2kηvα·t": sides},
        pick(conditions(runs), *NEEDED_BY_EQUATION_12),
        runs=ended(runs),
        details=_counts(runs),
    )


NEEDED_BY_BOTH = ("labels", "output_weight", "equal_outputs", "slope_positive", "slope_below_one", "step_size")
NEEDED_BY_EQUATION_11 = (*NEEDED_BY_BOTH, "input_norm", "derivative_at_zero")
NEEDED_BY_EQUATION_12 = (*NEEDED_BY_BOTH, "separable", "derivative_above_slope")


def _identity(runs: Ledgers, values: np.ndarray, gains: np.ndarray, sizes: np.ndarray) -> Fact:
    """Whether a quantity changed by what its identity says: otherwise a step read from it proves nothing of the run."""
    errors = np.abs(runs.after(values) - runs.before(values) - gains)
    size = np.maximum(runs.after(sizes), runs.before(sizes))
    return Fact(errors <= STEP * np.where(size > 0, size, 1.0), undecided=~np.isfinite(errors))


def _counts(runs: Ledgers) -> dict[str, int]:
    return {"updates_checked": int(runs.updates.sum())}


def bound_of_start(runs: Ledgers) -> np.ndarray:
    """M_init of each run: from its own F_0 and G_0."""
    norm, slope, eta, weight, _, half = runs.parameters
    return start_bound(norm, slope, eta, weight, half, runs.alignments[runs.starts], runs.norms[runs.starts])


def bound_of_rows(runs: Ledgers) -> np.ndarray:
    """M_root of each run: from R."""
    return root_bound(*runs.parameters)


def bound_of_theorem_2(runs: Ledgers) -> np.ndarray:
    """M_k of each run."""
    return max_nonzero_updates(*runs.parameters)


@claim(
    "brutzkus2018.theorem_2_chain",
    Kind.STEP,
    "the end of the proof of Theorem 2, Section 9.1.2 (M_init and M_root are not named there)",
    reads=ledgers,
)
def theorem_2_chain(
    cells: Sequence[Ledgers],
    *,
    innermost: PerRun = bound_of_start,
    middle: PerRun = bound_of_rows,
    outermost: PerRun = bound_of_theorem_2,
) -> Evidence:
    """T ≤ M_init ≤ M_root ≤ M_k: the number T of non-zero updates is bounded by the proof's quadratic solved with the
    run's own F_0 and G_0 (M_init), that by the quadratic with ‖rows‖ ≤ R (M_root), and that by the M_k of Theorem 2.

    T is counted until the training loss is 0.
    """
    runs = joined(cells)
    inner, outer, printed = (promised_updates(runs, bound(runs)) for bound in (innermost, middle, outermost))
    # A run that was cut off, or whose margins are below rounding, has no T; a promise that is infinite is none.
    gone = lost(runs)
    gone |= (runs.status == RunStatus.BUDGET_SPENT) & (runs.updates <= inner * (1 + BOUND))
    return evidence(
        {
            "T ≤ M_init": Sides(
                runs.updates,
                inner,
                Sense.AT_MOST,
                room=BOUND * inner,
                undecided=gone,
                quantity="non-zero updates in the run closest to M_init",
            ),
            "M_init ≤ M_root": Sides(inner, outer, Sense.AT_MOST, room=BOUND * outer),
            "M_root ≤ M_k": Sides(outer, printed, Sense.AT_MOST, room=BOUND * printed),
            "training loss 0 at the end": zero_loss(runs, gone | (runs.status == RunStatus.BUDGET_SPENT)),
        },
        conditions(runs),
        runs=ended(runs),
        details=_medians(runs.updates, inner, outer, printed, ~gone),
    )


def _medians(
    counts: np.ndarray, inner: np.ndarray, outer: np.ndarray, printed: np.ndarray, ended: np.ndarray
) -> dict[str, float]:
    """How far apart the bounds are, over the runs that have one."""
    finite = np.isfinite(printed) & ended
    if not finite.any():
        return {}
    return {
        "median_M_init_over_M_k": float(np.median(inner[finite] / printed[finite])),
        "median_M_root_over_M_k": float(np.median(outer[finite] / printed[finite])),
        "median_tightness": float(np.median(counts[finite] / inner[finite])),
    }


for _step in (equation_9, equation_11_step, equation_11, equation_12_step, equation_12, theorem_2_chain):
    _step.speaks(ledgers_on)
