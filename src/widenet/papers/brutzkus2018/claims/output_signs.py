"""Section 5.3: there are step sizes at which training both layers changes the sign of no output weight."""

import itertools
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Count, Number, derived
from widenet.claims.given import separable
from widenet.claims.implication import Promise, at_most, more_than
from widenet.claims.sides import Fact
from widenet.papers.brutzkus2018.hypotheses import input_norm
from widenet.papers.brutzkus2018.runs.mnist import MnistSeparator, mnist_separator
from widenet.papers.brutzkus2018.runs.sign_scan import SignScan, sign_scan
from widenet.types import RunStatus

ALIKE = 4.0
"""The paper says of c and C that they behave similarly for different network sizes; up to this factor is similar."""
CUT_OFF = (RunStatus.BUDGET_SPENT, RunStatus.DIVERGED)
"""Runs of which it is not known whether they would have reached loss 0."""


class Pilots(SignScan):
    """The pilot runs of each width at the step size that serves it best."""

    low: Float[np.ndarray, " pilot"] = derived(lambda scan: scan.smallest_ratios[_best(scan)])  #: c
    end: Int[np.ndarray, " pilot"] = derived(lambda scan: scan.status[_best(scan)])  #: a `RunStatus`
    mean_high: Number = derived(lambda scan: scan.largest_ratios[_best(scan)].mean())  #: C
    n_tried: Count = derived(lambda scan: scan.status[scan.tried].size)  #: pilot runs at all step sizes
    n_diverged: Count = derived(lambda scan: (scan.status[scan.tried] == RunStatus.DIVERGED).sum())  #: of them
    chosen_step: Any = derived(lambda scan: scan.setting.step_sizes[scan.chosen] if scan.suitable.any() else None)
    scanned: Any = derived(lambda scan: _rows(scan))  #: c and C of every step size that was tried

    def counts(self) -> dict[str, int]:
        """All pilot runs; of those that are judged, the unfinished ones."""
        each, unfinished = self.per("cell"), self.end == RunStatus.BUDGET_SPENT
        sums = {"tried": each.n_tried, "diverged": each.n_diverged, "unfinished": unfinished}
        return {name: int(values.sum()) for name, values in sums.items()}


@claim(
    "brutzkus2018.section_5_3_signs",
    Kind.TREND,
    "Section 5.3 and Figure 3",
    reads=(sign_scan, mnist_separator),
    given=[separable.of(1), input_norm.of(1)],
    title="A suitable step size keeps the signs of output weights",
)
def section_5_3_signs(scans: Pilots, images: MnistSeparator, *, alike: float = ALIKE) -> Promise:
    """With a suitable constant step size, training both layers on MNIST 3 against 5 changes the sign of no output
    weight ($c > 0$) and reaches loss $0$, at every width. The step sizes tried are $η = 1$, $0.3$, $0.1$ and $0.03$.

    Judged are the pilot runs of each width at the step size that serves it best. A run that was cut off before loss 0,
    or that overflowed, decides nothing. That C is alike at all widths is what the text beside Figure 3 adds.
    """
    high = np.asarray(scans.per("cell").mean_high)
    highest, lowest = high.max(initial=-np.inf, keepdims=True), high.min(initial=np.inf, keepdims=True)
    return Promise(
        {
            "signs": more_than(
                np.sort(scans.low),  # the smallest first: all are equally far from a promise of 0
                0.0,
                text="no output weight changes its sign ($c > 0$)",
                quantity="c, the smallest v_t/v_0 over all widths at their chosen step size; it must stay above 0",
            ),
            "zero_loss": Fact(scans.end == RunStatus.CONVERGED, undecided=np.isin(scans.end, CUT_OFF), text="loss 0"),
            "alike": at_most(
                highest,
                alike * lowest,
                text="$C$ is alike at all widths",
                quantity="largest mean C of a width, and the most that is alike",
            ),
        },
        details=lambda: _details(scans),
        note=lambda: _note(scans),
    )


def _details(scans: Pilots) -> dict[str, Any]:
    each = scans.per("cell")
    setting, neurons = scans.cells[0].setting, each.map(lambda scan: scan.setting.width, int)
    return {
        "samples": setting.n_train,
        "step_sizes": setting.step_sizes,
        "chosen": dict(zip(neurons.tolist(), each.chosen_step, strict=True)),
        "scan": list(itertools.chain(*each.scanned)),
        "alpha": setting.slope,
    }


def _note(scans: Pilots) -> str:
    each = scans.per("cell")
    chosen = [
        row for rows, step in zip(each.scanned, each.chosen_step, strict=True) for row in rows if row["eta"] == step
    ]
    words = "{neurons} neurons: η = {eta:g} keeps c = {c:.3g}, C = {C:.3g}"
    return "; ".join(words.format(**row) for row in chosen) or "No step size of the list keeps the signs."


def _best(scan: SignScan) -> int:
    """The place of the step size to judge a width by: a suitable one, else one that keeps the signs, else the last.

    Where pilot runs kept the signs and were cut off, a longer run might have reached loss 0: nothing is decided.
    """
    for kind in (scan.suitable, scan.keeps_signs):
        if kind.any():
            return int(np.argmax(kind))
    return int(np.flatnonzero(scan.tried)[-1])


def _rows(scan: SignScan) -> list[dict[str, int | float]]:
    """c and C of every step size that was tried."""
    return [
        {
            "neurons": scan.setting.width,
            "eta": scan.setting.step_sizes[place],
            "c": float(scan.smallest_ratios[place].min()),
            "C": float(scan.largest_ratios[place].max()),
        }
        for place in np.flatnonzero(scan.tried)
    ]
