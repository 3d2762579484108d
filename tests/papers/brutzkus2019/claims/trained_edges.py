"""Rows of controls that all claims about trained networks share, and networks with fewer filters."""

import dataclasses

import numpy as np

from widenet.papers.brutzkus2019.runs.trained import TrainedXord
from widenet.papers.brutzkus2019.sources import TrainingSet, from_sets

DEVIATION = (
    "deviation",
    {"deviation_share": 1.0099, "deviation_error": 0.01},
    {"deviation_share": 1.0101, "deviation_error": 0.01},
)
"""σ_g as drawn, up to six standard errors, is known too coarsely for an edge of its own."""


def point_edges() -> dict[str, tuple[TrainingSet, TrainingSet]]:
    """For each hypothesis on the training set: one inside, one outside."""
    two = from_sets({14: 2, 9: 2})
    return {
        "signs": (two, two.model_copy(update={"not_signs": 1})),
        "labels": (two, two.model_copy(update={"mislabelled": 1})),
        "diverse": (two, from_sets({14: 2, 9: 1, 1: 1})),
        "both_classes": (two, from_sets({})),
        "balanced": (two, from_sets({14: 2, 9: 1})),
    }


def one_sided(runs: TrainedXord) -> TrainedXord:
    """The same runs as if no filter started in the cones of some patterns: outside the events of the proofs."""
    return dataclasses.replace(runs, start=np.abs(runs.start))


def narrowed(runs: TrainedXord, half_width: int) -> TrainedXord:
    """The same runs without some filters, at the same c_η."""
    middle, step = runs.half_width, runs.step_constant / half_width
    cut = slice(middle - half_width, middle + half_width)
    return dataclasses.replace(runs, start=runs.start[:, cut], final=runs.final[:, cut], step_size=step)
