"""Eqs. 24 and 25 with the ranges that are printed: one update past a clean epoch."""

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.sarussi2021.runs.past_the_epoch import PastTheEpoch, go_past
from widenet.records import Scale


def draw_past(scale: Scale, seed: int) -> PastTheEpoch:
    """Nothing here is random."""
    return go_past()


@claim("sarussi2021.equation_24_as_printed", Kind.STEP, "the range printed with Eq. 24, Section 9", draws=draw_past)
def equation_24_as_printed(past: PastTheEpoch) -> Evidence:
    """For (i_e − 1)n + 1 ≤ t ≤ i_e·n, where i_e is a clean epoch, and 1 ≤ s ≤ n, every loss at t + s differs from that
    at t by at most 2v²R_x²ηknε_0.

    The range runs into the next epoch.
    """
    limit = past.reach * past.clean_level
    return evidence({"losses move by at most 2v²R_x²ηknε_0": Sides(past.moved, limit)}, (_clean(past),))


@claim("sarussi2021.equation_25_as_printed", Kind.STEP, "the time T* = i_e·n + 1 of Eq. 25, Section 9", draws=draw_past)
def equation_25_as_printed(past: PastTheEpoch) -> Evidence:
    """After i_e·n + 1 updates, where i_e is a clean epoch, every loss is at most (1 + 2v²R_x²ηkn)ε_0.

    One update too late.
    """
    limit = (1 + past.reach) * past.clean_level
    return evidence({"every loss is at most (1 + 2v²R_x²ηkn)ε_0": Sides(past.late_losses, limit)}, (_clean(past),))


def _clean(past: PastTheEpoch):
    return at_most(
        "clean_epoch", "largest loss sampled in the epoch / ε_0", past.sampled.max() / past.clean_level, 1,
        tolerance=ROUNDING,
    )  # fmt: skip
