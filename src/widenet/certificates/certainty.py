"""Whether the precision of the networks matters: those of one width once more, in float64."""

from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.certificates.widths import NOWHERE, StudiedWidth, widths
from widenet.progress import Progress, silent
from widenet.records import ClosedModel
from widenet.run.cells import Cells, Task
from widenet.run.outcomes import read_all
from widenet.run.watch import InTurn


class Certainty(ClosedModel):
    """Networks in float32 beside the same ones in float64.

    Attributes:
      n_neurons: of each.
      repeated: how many.
      flipped: how many of them get every training point right in one precision and not in the other.
      changed, points: of so many held-out points, how many are put in another class.
    """

    n_neurons: int
    repeated: int
    flipped: int
    changed: int
    points: int


def repeat(found: StudiedWidth, cells: Cells, clock: TimeLimit, progress: Progress = silent) -> Certainty | None:
    """Train these networks again in float64; None where a time limit does not allow it.

    Raises:
      StoreError: the store cannot be read or written.
    """
    setting = found.setting.model_copy(update={"dtype": "float64"})
    try:
        ((reading,),) = read_all([[Task(widths, setting)]], cells, InTurn(clock.watched(progress), 1))
    except OutOfTime:
        return None
    again = reading.result
    return Certainty(
        n_neurons=setting.n_neurons,
        repeated=setting.n_networks,
        flipped=int(((again.train_error == 0) != (found.train_error == 0)).sum()),
        changed=int((again.predicted != found.predicted).sum()),
        points=int((found.parts != NOWHERE).sum()),
    )
