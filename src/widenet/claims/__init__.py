"""The statements of the papers as programs: hypotheses, promise, measurement, verdict."""

from widenet.claims import brutzkus2018, brutzkus2019
from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, Verdict

CLAIMS: tuple[Claim, ...] = (*brutzkus2018.CLAIMS, *brutzkus2019.CLAIMS)

__all__ = ["CLAIMS", "Claim", "Evidence", "Hypothesis", "Kind", "Runs", "Verdict"]
