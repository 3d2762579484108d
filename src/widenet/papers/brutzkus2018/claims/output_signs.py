"""Section 5.3: there are step sizes at which training both layers changes the sign of no output weight."""

from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, Runs, at_most, claim, separable
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.runs.mnist import MnistSeparator, mnist_separator
from widenet.papers.brutzkus2018.runs.sign_scan import SignScan, sign_scan
from widenet.types import RunStatus

ALIKE = 4.0
"""The paper says of c and C that they behave similarly for different network sizes; up to this factor is similar."""
CUT_OFF = (RunStatus.BUDGET_SPENT, RunStatus.DIVERGED)
"""Runs of which it is not known whether they would have reached loss 0."""


@claim("brutzkus2018.section_5_3_signs", Kind.TREND, "Section 5.3 and Figure 3", reads=(sign_scan, mnist_separator))
def section_5_3_signs(
    scans: Sequence[SignScan], separators: Sequence[MnistSeparator], *, alike: float = ALIKE
) -> Evidence:
    """With a suitable constant step size, training both layers on MNIST 3 against 5 changes the sign of no output
    weight (c > 0) and reaches loss 0, at every width; the list tried is η = 1, 0.3, 0.1, 0.03.

    Judged are the pilot runs of each width at the step size that serves it best. A run that was cut off before loss 0,
    or that overflowed, decides nothing. That C is alike at all widths is what the text beside Figure 3 adds.
    """
    places = [_best(scan) for scan in scans]
    low = [scan.smallest_ratios[place] for scan, place in zip(scans, places, strict=True)]
    high = np.asarray([scan.largest_ratios[place].mean() for scan, place in zip(scans, places, strict=True)])
    status = np.concatenate([scan.status[place] for scan, place in zip(scans, places, strict=True)])
    every = np.concatenate([scan.status[scan.tried].ravel() for scan in scans])
    found = [scan for scan in scans if scan.suitable.any()]
    return evidence(
        {
            "no output weight changes its sign (c > 0)": Sides(
                np.sort(np.concatenate(low)),  # the smallest first: all are equally far from a promise of 0
                0.0,
                Sense.AT_LEAST,
                strict=True,
                quantity="c, the smallest v_t/v_0 over all widths at their chosen step size; it must stay above 0",
            ),
            "loss 0": Fact(status == RunStatus.CONVERGED, undecided=np.isin(status, CUT_OFF)),
            "C is alike at all widths": Sides(
                high.max(), alike * high.min(), quantity="largest mean C of a width, and the most that is alike"
            ),
        },
        (
            separable(each.smallest_margin for each in separators),
            at_most(
                "input_norm",
                "largest input norm ‖x‖",
                max(each.largest_norm for each in separators),
                1,
                tolerance=ROUNDING,
            ),
        ),
        runs=Runs(
            tried=len(every),
            diverged=int((every == RunStatus.DIVERGED).sum()),
            unfinished=int((status == RunStatus.BUDGET_SPENT).sum()),
        ),
        details={
            "samples": scans[0].setting.n_train,
            "step_sizes": list(scans[0].setting.step_sizes),
            "chosen": {str(scan.setting.width): _chosen(scan) for scan in scans},
            "scan": [row for scan in scans for row in _rows(scan)],
            "alpha": scans[0].setting.slope,
        },
        note="; ".join(
            f"{row['neurons']} neurons: η = {row['eta']:g} keeps c = {row['c']:.3g}, C = {row['C']:.3g}"
            for scan in found
            for row in _rows(scan)
            if row["eta"] == _chosen(scan)
        )
        or "No step size of the list keeps the signs.",
    )


def _best(scan: SignScan) -> int:
    """The place of the step size to judge a width by: a suitable one, else one that keeps the signs, else the last.

    Where pilot runs kept the signs and were cut off, a longer run might have reached loss 0: nothing is decided.
    """
    for kind in (scan.suitable, scan.keeps_signs):
        if kind.any():
            return int(np.argmax(kind))
    return int(np.flatnonzero(scan.tried)[-1])


def _chosen(scan: SignScan) -> float | None:
    return scan.setting.step_sizes[scan.chosen] if scan.suitable.any() else None


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
