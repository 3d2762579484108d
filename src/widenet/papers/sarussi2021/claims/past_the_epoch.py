"""Eqs. 24 and 25 with the ranges that are printed: one update past a clean epoch."""

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_most, hypothesis
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING
from widenet.papers.sarussi2021.runs.past_the_epoch import PastTheEpoch, go_past
from widenet.records import Scale


def draw_past(scale: Scale, seed: int) -> PastTheEpoch:
    """Nothing here is random."""
    return go_past()


@hypothesis("loss sampled in the epoch / $ε_0$")
def clean_epoch(past: PastTheEpoch) -> Sides:
    """No sampled loss is above ε_0."""
    return at_most(past.per("sample").sampled_share, 1, within=ROUNDING)


@claim("sarussi2021.equation_24_as_printed", Kind.STEP, "the range printed with Eq. 24, Section 9", draws=draw_past,
       given=[clean_epoch], title="Losses stay close for n updates past a clean epoch too")  # fmt: skip
def equation_24_as_printed(past: PastTheEpoch) -> Promised:
    """For (i_e − 1)n + 1 ≤ t ≤ i_e·n, where i_e is a clean epoch, and 1 ≤ s ≤ n, every loss at t + s differs from that
    at t by at most 2v²R_x²ηknε_0.

    The range runs into the next epoch.
    """
    change = past.per("change")
    limit = change.reach * change.clean_level
    return {"losses": at_most(change.moved, limit, text="losses move by at most $2v²R_x²ηknε_0$")}


@claim("sarussi2021.equation_25_as_printed", Kind.STEP, "the time T* = i_e·n + 1 of Eq. 25, Section 9", draws=draw_past,
       given=[clean_epoch], title="One update after a clean epoch every loss is small")  # fmt: skip
def equation_25_as_printed(past: PastTheEpoch) -> Promised:
    """After i_e·n + 1 updates, where i_e is a clean epoch, every loss is at most (1 + 2v²R_x²ηkn)ε_0.

    One update too late.
    """
    point = past.per("point")
    limit = (1 + point.reach) * point.clean_level
    return {"losses": at_most(point.late_losses, limit, text="every loss is at most $(1 + 2v²R_x²ηkn)ε_0$")}
