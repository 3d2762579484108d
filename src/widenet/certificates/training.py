"""What really happened when networks were trained, in numbers and words."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from widenet.certificates.ensemble import Ensemble, EnsembleSetting, networks
from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.claims.statistics import clopper_pearson
from widenet.progress import Progress, silent, stretch
from widenet.records import ClosedModel
from widenet.run.cells import Cells, Task
from widenet.run.outcomes import read_all
from widenet.run.watch import InTurn
from widenet.types import RunStatus

PER_STEP, PER_STEP_OF_MANY, PER_PRODUCT = 2e-6, 5e-6, 1.5e-10
"""About how many seconds of a core a step of one network costs, with two classes and with more, and beside it each of
its products."""
SHARE = 0.1
"""The share of your time that the steps may cost on one core, by these two numbers."""
MOST_EPOCHS, FEWEST_EPOCHS = 1000, 8
FEWER_RUNS, FEWER_EPOCHS = 8, 4
"""What is trained where the time does not allow what was asked: so many runs, and a part of the epochs."""
FOR_FIRST, FOR_ALL = 0.75, 0.5
"""The shares of the time left for a first try, and for all networks once a few are there."""
RERUN = 8
"""So many of the float32 runs are repeated in float64."""


class Spread(ClosedModel):
    """A number over the runs: the least, the middle and the largest, and the mean."""

    least: float
    middle: float
    largest: float
    mean: float


class Curve(ClosedModel):
    """A number along training: the middle run, and the band that nine runs of ten stay in."""

    epochs: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class Training(ClosedModel):
    """The networks that were trained.

    Attributes:
      setting: how.
      trained_on, held_out: how many points.
      runs, asked: how many networks were trained, and how many were asked for.
      fitted: how many runs brought the training loss to exactly 0.
      fitted_limits: 95 % limits for the share of such runs.
      stalled, diverged, cut_off: how the others ended.
      updates: changes of the weights, over the runs that reached loss 0; None without one.
      train_error, test_error: shares of points on the wrong side at the end.
      flat_error: the share of the same training points on the wrong side of the best linear boundary that was found for
        all points; None where there is none to compare with.
      class_errors: the middle over the runs of the share of each class's held-out points; None without one.
      test_limits: 95 % limits of the error that the mean network makes on points like these, from the held-out ones.
      flipped: the share of (neuron, point) pairs that changed sides during training.
      margin: the smallest y N(x) over the training points, as far as it lies below 1.
    """

    setting: EnsembleSetting
    trained_on: int
    held_out: int
    runs: int
    asked: int
    fitted: int
    fitted_limits: tuple[float, float]
    stalled: int
    diverged: int
    cut_off: int
    updates: Spread | None
    train_error: Spread
    test_error: Spread | None
    flat_error: float | None
    class_errors: tuple[float | None, ...]
    test_limits: tuple[float, float] | None
    flipped: Spread
    margin: Spread
    train_curve: Curve
    test_curve: Curve | None
    loss_curve: Curve


def epochs_for(n_points: int, dim: int, n_neurons: int, n_runs: int, n_classes: int, seconds: float | int) -> int:
    """How many passes over the data fit in your time; the same on every machine, so that runs are the same."""
    step = PER_STEP if n_classes == 2 else PER_STEP_OF_MANY
    epoch = n_points * n_runs * (step + PER_PRODUCT * dim * n_neurons)
    return int(min(max(SHARE * seconds / epoch, FEWEST_EPOCHS), MOST_EPOCHS))


def train(setting: EnsembleSetting, cells: Cells, clock: TimeLimit, progress: Progress = silent) -> Ensemble | None:
    """The networks of this setting, or fewer of them where the time does not allow more; None where it allows none.

    Of many networks a few are trained first, so that there is something to show.

    Raises:
      StoreError: the store cannot be read or written.
    """
    fewer = setting.model_copy(
        update={
            "n_runs": min(setting.n_runs, FEWER_RUNS),
            "max_epochs": max(setting.max_epochs // FEWER_EPOCHS, 1),
        }
    )
    if setting.n_runs <= FEWER_RUNS:
        found = train_once(setting, cells, clock.share(FOR_FIRST), progress)
        return train_once(fewer, cells, clock, progress) if found is None else found
    few = train_once(fewer, cells, clock, stretch(progress, 0.0, 0.3))
    if few is None:
        return None
    return train_once(setting, cells, clock.share(FOR_ALL), stretch(progress, 0.3, 1.0)) or few


def train_once(
    setting: EnsembleSetting, cells: Cells, clock: TimeLimit, progress: Progress = silent
) -> Ensemble | None:
    """The networks of this setting, or None where the time does not allow them.

    Raises:
      StoreError: the store cannot be read or written.
    """
    try:
        ((reading,),) = read_all([[Task(networks, setting)]], cells, InTurn(clock.watched(progress), 1))
        return reading.result
    except OutOfTime:
        return None


def summed(found: Ensemble, asked: int, clashing: Bool[np.ndarray, " sample"] | None = None) -> Training:
    """The runs in few numbers; so many were asked for.

    `clashing` are the points of their data that are on the wrong side of the best linear boundary.
    """
    fitted, held_out = found.fitted, int(found.held_out.sum())
    return Training(
        setting=found.setting,
        trained_on=int((~found.held_out).sum()),
        held_out=held_out,
        runs=len(found.status),
        asked=asked,
        fitted=int(fitted.sum()),
        fitted_limits=clopper_pearson(int(fitted.sum()), len(fitted), 0.975),
        stalled=int(np.isin(found.status, (RunStatus.STALLED, RunStatus.FROZEN)).sum()),
        diverged=int((found.status == RunStatus.DIVERGED).sum()),
        cut_off=int((found.status == RunStatus.BUDGET_SPENT).sum()),
        updates=_spread(found.updates[fitted]) if fitted.any() else None,
        train_error=_spread(found.train_error),
        test_error=_spread(found.test_error) if held_out else None,
        flat_error=None if clashing is None else float(clashing[~found.held_out].mean()),
        class_errors=tuple(
            None if math.isnan(each) else each for each in np.median(found.class_errors, axis=0).tolist()
        ),
        test_limits=_limits(found.test_error, held_out) if held_out else None,
        flipped=_spread(found.flipped),
        margin=_spread(found.least_margin),
        train_curve=_curve(found.epochs, found.train_curve),
        test_curve=_curve(found.epochs, found.test_curve) if held_out else None,
        loss_curve=_curve(found.epochs, found.loss_curve),
    )


def _spread(values: np.ndarray | Sequence[float]) -> Spread:
    values = np.asarray(values, np.float64)
    return Spread(
        least=float(values.min()),
        middle=float(np.median(values)),
        largest=float(values.max()),
        mean=float(values.mean()),
    )


def _limits(errors: Float[np.ndarray, " run"], points: int) -> tuple[float, float]:
    """Exact limits of a middle run's error: all runs are tried on the same points, so more runs do not narrow them."""
    wrong = round(float(np.median(errors)) * points) if math.isfinite(float(np.median(errors))) else 0
    return clopper_pearson(wrong, points, 0.975)


def _curve(epochs: Float[np.ndarray, " look"], values: Float[np.ndarray, "run look"]) -> Curve:
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95), axis=0)
    return Curve(epochs=tuple(epochs), middle=tuple(middle), low=tuple(low), high=tuple(high))
