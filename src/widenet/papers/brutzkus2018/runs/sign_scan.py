"""Section 5.3 on MNIST 3 against 5: the step size at which no output weight changes its sign, and runs with it.

Pilot runs try the step sizes of a list, the largest first. The choice and the runs made with it are one cell, because
a setting must be known before it is run.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.runs.mnist import MnistRuns, MnistSetting, run_mnist
from widenet.progress import Progress, stretch
from widenet.records import ClosedModel, Scale
from widenet.types import Layers, RunStatus

PILOT_RUN = 5000
"""Number of the first pilot run: pilots are other runs than those of the figure."""
NOT_TRIED = -1
"""In the place of a status."""


class SignScanSetting(ClosedModel):
    """One width, the step sizes to try, and how many runs to make with the one that is found.

    Attributes:
      step_sizes: the largest first.
      n_pilot: pilot runs per step size.
      n_runs: runs at the step size that was chosen.
      others: as in `MnistSetting`.
    """

    width: int
    step_sizes: tuple[float, ...]
    n_pilot: int
    n_runs: int
    max_epochs: int
    slope: float = 0.2
    n_train: int = 3000
    n_test: int = 1000
    dtype: str = "float32"
    seed: int = 0

    def pilots(self, step_size: float, max_epochs: int) -> MnistSetting:
        """The pilot runs of one step size."""
        return self.runs(step_size).model_copy(
            update={"n_runs": self.n_pilot, "max_epochs": max_epochs, "first_run": PILOT_RUN}
        )

    def runs(self, step_size: float) -> MnistSetting:
        """The runs at the chosen step size."""
        return MnistSetting(
            width=self.width,
            n_runs=self.n_runs,
            step_size=step_size,
            layers=Layers.BOTH,
            max_epochs=self.max_epochs,
            slope=self.slope,
            n_train=self.n_train,
            n_test=self.n_test,
            dtype=self.dtype,
            seed=self.seed,
        )


@dataclass(frozen=True, eq=False)
class SignScan(Cases):
    """What a scan found.

    Where a sign changes in the first epoch already, the rest of the run is spared, and C is that of the first epoch.
    """

    rows: ClassVar = "pilot"

    setting: SignScanSetting
    smallest_ratios: Float[np.ndarray, "step pilot"]  #: c of every pilot run; NaN where a step size was not tried
    largest_ratios: Float[np.ndarray, "step pilot"]  #: C
    status: Int[np.ndarray, "step pilot"]  #: a `RunStatus`, −1 where a step size was not tried
    runs: MnistRuns  #: those made with the chosen step size

    @property
    def tried(self) -> np.ndarray:
        """Which step sizes were tried."""
        return np.all(self.status != NOT_TRIED, axis=1)

    @property
    def keeps_signs(self) -> np.ndarray:
        """The step sizes at which every pilot run keeps c > 0."""
        return np.all(self.smallest_ratios > 0, axis=1)

    @property
    def suitable(self) -> np.ndarray:
        """The step sizes at which every pilot run also reaches zero loss."""
        return self.keeps_signs & np.all(self.status == RunStatus.CONVERGED, axis=1)

    @property
    def chosen(self) -> int:
        """The place of the chosen step size: the first suitable one, or the last of the list if there is none."""
        return int(np.argmax(self.suitable)) if self.suitable.any() else len(self.suitable) - 1


def sign_scan_settings(scale: Scale, seed: int) -> list[SignScanSetting]:
    """Figure 3: the widths of Figure 2."""
    sizes = {10: 4, 100: 3} if scale is Scale.QUICK else {10: 40, 100: 40, 1000: 40}
    return [
        SignScanSetting(width=width, step_sizes=(1.0, 0.3, 0.1, 0.03), n_pilot=3, n_runs=n, max_epochs=400, seed=seed)
        for width, n in sizes.items()
    ]


def run_sign_scan(setting: SignScanSetting, progress: Progress) -> SignScan:
    """Pilot runs until a step size is suitable; then the runs with it, or with the smallest if none is."""
    shape = (len(setting.step_sizes), setting.n_pilot)
    smallest, largest, status = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, NOT_TRIED)
    chosen = setting.step_sizes[-1]
    for index, step_size in enumerate(setting.step_sizes):
        first, last = index / len(setting.step_sizes) / 2, (index + 1) / len(setting.step_sizes) / 2
        pilot = _pilot(setting, step_size, stretch(progress, first, last))
        if pilot.ratios is not None:
            smallest[index], largest[index] = pilot.ratios.smallest_ever, pilot.ratios.largest_ever
        status[index] = pilot.status
        if (smallest[index] > 0).all() and pilot.finished.all():
            chosen = step_size
            break
    return SignScan(setting, smallest, largest, status, run_mnist(setting.runs(chosen), stretch(progress, 0.5, 1.0)))


def _pilot(setting: SignScanSetting, step_size: float, progress: Progress) -> MnistRuns:
    """The pilot runs of a step size; one epoch is enough where a sign changes in it."""
    short = run_mnist(setting.pilots(step_size, 1), stretch(progress, 0.0, 0.1))
    if short.ratios is None or not (short.ratios.smallest_ever > 0).all():
        return short
    return run_mnist(setting.pilots(step_size, setting.max_epochs), stretch(progress, 0.1, 1.0))


sign_scan = Experiment("brutzkus2018.sign_scan", sign_scan_settings, run_sign_scan, seconds=4.0)
