"""The hypotheses of Section 4, measured on the runs that a statement is judged on."""

from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Hypothesis, at_most, less_than, more_than, normalized, separable
from widenet.claims.tolerances import ROUNDING
from widenet.papers.sarussi2021.runs.epochs import Epochs
from widenet.papers.sarussi2021.runs.ledgers import Ledger
from widenet.papers.sarussi2021.runs.small_steps import SmallSteps

Written = Ledger | Epochs
NETWORK = ("output_weight", "slope_positive", "slope_below_one")
SHAPE = (*NETWORK, "step_size")


def conditions(cells: Sequence[Written]) -> tuple[Hypothesis, ...]:
    """Each at the run that is nearest to breaking it. A NaN anywhere fails what it enters, but for a margin: there it
    says that no separator was found, nor a proof that there is none.
    """
    return (
        separable(margin for runs in cells for margin in runs.smallest_margin),
        normalized(
            at_most("input_norm", "largest input norm ‖x‖/R_x", _most(cells, "relative_input"), 1, tolerance=ROUNDING),
            "R_x is the largest input norm",
        ),
        normalized(
            at_most("row_norm", "largest initial row norm / R_0", _most(cells, "relative_row"), 1, tolerance=ROUNDING),
            "R_0 is the largest initial row norm",
        ),
        at_most("labels", "labels: largest distance from ±1", _most(cells, "label_error"), 0),
        at_most("once_per_epoch", "visits of a point in an epoch, beyond or below 1", _most(cells, "visits"), 0),
        *network_shape(cells),
        more_than("step_size", "smallest step size η", min(runs.step_size for runs in cells), 0),
    )


def network_shape(cells: Sequence[Written | SmallSteps]) -> tuple[Hypothesis, ...]:
    """v > 0 and 0 < α < 1, of every run."""
    return (
        more_than("output_weight", "smallest output weight v", min(runs.output_weight for runs in cells), 0),
        more_than("slope_positive", "smallest Leaky slope α", min(runs.slope for runs in cells), 0),
        less_than("slope_below_one", "largest Leaky slope α", max(runs.slope for runs in cells), 1),
    )


def _most(cells: Sequence[Written], name: str) -> float:
    return float(np.max([np.max(getattr(runs, name)) for runs in cells]))
