"""What stands in the plane where a statement of brutzkus2019 fails: patterns, and filters before and after training."""

import numpy as np

from widenet.claims.instance import Instance, in_plane, instance
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.papers.brutzkus2019.runs.traces import Trace
from widenet.papers.brutzkus2019.runs.xor import XorTrace
from widenet.papers.brutzkus2019.xor_sources import XorStart

SIGNS = XOR_LABELS
"""Of the patterns of XORD too: p_1 and p_3 are the positive ones."""


@in_plane.register
def of_xor_start(found: XorStart, run: int) -> Instance | None:
    """The filters of a start."""
    return _filters(f"XOR, $k = {found.half_width}$", XOR_POINTS, found.fits[run])


@in_plane.register
def of_xor(found: XorTrace, run: int) -> Instance | None:
    """Where they got to."""
    words = f"XOR, $k = {found.half_width}$, after {int(found.steps[run])} iterations"
    return _filters(words, XOR_POINTS, found.end[run], found.fits[run])


@in_plane.register
def of_trace(found: Trace, run: int) -> Instance | None:
    """The filters of XORD."""
    half = found.setting.half_width
    start, end = (each[run].reshape(2, half, 2) for each in (found.start, found.end))
    return _filters(f"XORD, $k = {half}$, after {int(found.steps[run])} iterations", PATTERNS, end, start)


def _filters(words: str, points: np.ndarray, fits: np.ndarray, before: np.ndarray | None = None) -> Instance | None:
    """Filters in units of η by their fits (sign, filter, 2) with the first two of these points."""
    weights, starts = ((each @ points[:2] / 2).reshape(-1, 2) for each in (fits, fits if before is None else before))
    return instance(
        f"{words}",
        points=points,
        classes=SIGNS < 0,
        weights=weights,
        signs=np.repeat([1, -1], fits.shape[1]),
        starts=() if before is None else starts,
    )
