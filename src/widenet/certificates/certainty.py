"""Whether the precision of the networks matters: some of them once more, in float64."""

import numpy as np

from widenet.certificates.ensemble import Ensemble
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.training import RERUN, train_once
from widenet.progress import Progress, silent
from widenet.records import ClosedModel
from widenet.run.cells import Cells


class Certainty(ClosedModel):
    """Networks in float32 beside the same ones in float64.

    Attributes:
      repeated: how many.
      flipped: how many of them fit every point in one precision and not in the other.
      largest_difference: of their errors on the training points; what float32 rounds off such a share is left out.
    """

    repeated: int
    flipped: int
    largest_difference: float


def repeat(ensemble: Ensemble, cells: Cells, clock: TimeLimit, progress: Progress = silent) -> Certainty | None:
    """Train the first few networks again in float64; None where there is no time for it.

    Raises:
      StoreError: the store cannot be read or written.
    """
    few = min(RERUN, ensemble.setting.n_runs)
    setting = ensemble.setting.model_copy(update={"n_runs": few, "dtype": "float64"})
    again = train_once(setting, cells, clock, progress)
    if again is None:
        return None
    return Certainty(
        repeated=few,
        flipped=int((again.fitted != ensemble.fitted[:few]).sum()),
        largest_difference=float(np.abs(again.train_error - ensemble.train_error[:few]).max().round(6)),
    )
