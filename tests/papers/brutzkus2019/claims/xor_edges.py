"""XOR runs from other starts, and the default runs on which the hypotheses of Section 3 have an edge."""

import dataclasses
import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.papers.brutzkus2019.claims.xor_toys import altered, chosen, drawn
from widenet.claims.base import Claim
from widenet.papers.brutzkus2019.runs.xor import XorTrace, trace_xor
from widenet.papers.brutzkus2019.xor_sources import XorStart
from widenet.types import RunStatus


def with_start(run: XorTrace, **changes: Any) -> XorTrace:
    """The same records from another start."""
    return dataclasses.replace(run, **changes)


def with_fit(run: XorTrace, size: float) -> XorTrace:
    """The first fit of the first w has this size, in units of η, in every run."""
    fits = run.fits.copy()
    fits[:, 0, 0, 0] = np.sign(fits[:, 0, 0, 0]) * size
    return with_start(run, fits=fits)


def second_outside(run: XorTrace) -> XorTrace:
    """One run twice, the second time from a start outside the event of Lemma B.2."""
    twice = chosen(run, np.zeros(2, int))
    fits = twice.fits.copy()
    fits[1, 0, 0, 0] = 0.36
    return with_start(twice, fits=fits)


def still_moving(run: XorTrace, place: int) -> XorTrace:
    """One run was cut off, with an output of 0 by then."""
    return altered(run, status=(place, RunStatus.BUDGET_SPENT), own_sums=((-1, place), 0.0))


def with_deviation(run: XorTrace, relative: float) -> XorTrace:
    """Scaled so that 16√k·σ_g/η, σ_g as drawn, is this."""
    return with_start(run, fits=run.fits * (relative / run.spread))


@functools.cache
def leaning(inside: int) -> XorTrace:
    """k = 64 with so many filters w in the half-plane of x_1, and 32 in every other."""
    fits = np.zeros((1, 2, 64, 2))
    fits[..., 0] = np.where(np.arange(64) < 32, 0.2, -0.2)
    fits[..., 1] = np.where(np.arange(64) % 2, 0.1, -0.1)
    fits[0, 0, :, 0] = np.where(np.arange(64) < inside, 0.2, -0.2)
    return trace_xor(XorStart(fits, 0.1 / 64, 0.1))


def wide_runs() -> XorTrace:
    """k > 16, drawn, in both events, and all of them reach loss 0."""
    return drawn(17, 0.4, 30)


def narrow_runs() -> XorTrace:
    """k = 2, drawn."""
    return drawn(2, 0.1, 200)


def deviation_rows(run: XorTrace, *claims: Claim) -> Iterator[tuple]:
    """σ_g, to six standard errors, on runs with η = c_η/k."""
    limit = 1 + 6 / math.sqrt(2 * run.fits.size)
    for claim in claims:
        yield claim, "deviation", {"spread": limit - 1e-9}, {"spread": limit + 1e-9}
