"""What a claim, an experiment, its sides and a reader's specimen are. No paper in here."""

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Part, Runs, Silence, Verdict, claim
from widenet.claims.experiments import Experiment

__all__ = ["Claim", "Evidence", "Experiment", "Hypothesis", "Kind", "Part", "Runs", "Silence", "Verdict", "claim"]
