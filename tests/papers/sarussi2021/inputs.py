"""What a claim promises, with both sides in every case, and which looks of a path it reads."""

from typing import Any

import numpy as np

from tests.papers.records import altered
from widenet.claims.base import Claim, Evidence, plain
from widenet.claims.sides import Sides


def handed(claim: Claim, *runs: Any, **constants: Any) -> tuple[dict[str, Any], Evidence]:
    """What it promises, by the words a reader sees, with both sides in every case; and the evidence."""
    parts: dict[str, Any] = dict(claim.promise(*runs, **constants).parts)
    return {plain(part.text): part for part in parts.values()}, claim(*runs, **constants)


def promised(claim: Claim, key: str, *runs: Any) -> Any:
    """What it promises under this key, with both sides in every case."""
    return claim.promise(*runs).parts[key]


def looks_read(claim, runs):
    """By part, the readings at which the weights enter it: those where a change of the weights changes its cases."""
    before, _ = handed(claim, [runs])
    read = {name: set() for name in before}
    tilt = np.array([[1.0, 0.02], [-0.02, 1.0]]) + 0.05 * np.arange(6)[:, None, None] * np.eye(2)
    for look, reading in enumerate(runs.readings.tolist()):
        weights = runs.weights.copy()
        weights[0, look] = np.einsum("jd,jde->je", weights[0, look], tilt)
        after, _ = handed(claim, [altered(runs, weights=weights)])
        for name in read:
            if isinstance(before[name], Sides) and not np.array_equal(sides_of(before[name]), sides_of(after[name])):
                read[name].add(reading)
    return read


def sides_of(part):
    return np.where(part.scored, np.stack([part.measured, part.promised]), 0.0)
