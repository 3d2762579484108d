"""Footnote 4: the results hold with first-layer biases, because a bias is a weight on a constant coordinate."""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, at_least, at_most, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.biased import BiasedRuns, biased_runs
from widenet.types import RunStatus


@claim("brutzkus2018.footnote_4", Kind.STEP, "footnote 4, Section 2", reads=biased_runs)
def footnote_4(cells: Sequence[BiasedRuns], *, bound: Callable[..., np.ndarray] = max_nonzero_updates) -> Evidence:
    """With first-layer biases, on data with y(⟨w, x⟩ + b) ≥ 1, SGD makes at most M_k non-zero updates, M_k taken
    for ‖w'‖² = 2(‖w‖² + b²): the biased network is the plain one on the inputs (x, 1)/√2.
    """
    (runs,) = cells
    limits = bound(*runs.parameters)
    hypotheses = (
        at_least(
            "separable_with_bias",
            "separable with a bias: smallest y(⟨w, x⟩ + b)",
            runs.smallest_margin.min(),
            1,
            tolerance=ROUNDING,
        ),
        at_most("input_norm", "largest norm of a lifted input", runs.largest_input.max(), 1, tolerance=ROUNDING),
    )
    lost = runs.status == RunStatus.DIVERGED
    return evidence(
        {
            "at most M_k non-zero updates": Sides(
                runs.updates,
                limits,
                Sense.AT_MOST,
                room=ROUNDING * limits,
                undecided=lost,
                quantity="non-zero updates in the tightest lifted run",
            ),
            "loss 0 at the end": Sides(
                runs.last_margin, 1.0, Sense.AT_LEAST, room=ROUNDING, undecided=lost, trivial=0.0
            ),
            "the biased network is updated by the same samples": Fact(runs.same_samples, undecided=lost),
            "both networks say the same": Sides(runs.difference, 0.0, Sense.EQUAL, room=ROUNDING),
            "‖w'‖² = 2(‖w‖² + b²)": Sides(
                runs.separator_norm**2, 2 * runs.affine_square, Sense.EQUAL, room=ROUNDING * runs.affine_square
            ),
        },
        hypotheses,
        note=(
            "The extra coordinate is 1/√2 and x is divided by √2 too, so that ‖x‖ ≤ 1 still holds: a plain 1 leaves "
            "the unit ball. M_k is that of w' = √2(w, b)."
        ),
    )
