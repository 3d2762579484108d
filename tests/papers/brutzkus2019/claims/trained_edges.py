"""Controls of the hypotheses that all claims about trained networks share, each just inside and just outside."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.controls import breaks_hypothesis, each_of
from widenet.claims.base import Claim, Evidence
from widenet.papers.brutzkus2019.runs.trained import Trained
from widenet.papers.brutzkus2019.runs.training_set import TrainingSet, from_sets

Given = Evidence | tuple[Evidence, Evidence]
Judged = Callable[[Trained], Evidence]
Base = Callable[[], Trained]
"""Runs that are made when a test asks for them."""
RATE, ALONE = "runs fail at most as often as promised", "no setting alone fails more often"
ENOUGH = "too few runs leave it undecided, and never break it"


def point_edges() -> dict[str, tuple[TrainingSet, TrainingSet, tuple[str, ...]]]:
    """For each hypothesis on the training set: one inside, one outside, and what falls with it."""
    two = from_sets({14: 2, 9: 2})
    return {
        "signs": (two, two.model_copy(update={"not_signs": 1}), ()),
        "labels": (two, two.model_copy(update={"mislabelled": 1}), ()),
        "diverse": (two, from_sets({14: 2, 9: 1, 1: 1}), ()),
        "both_classes": (two, from_sets({}), ()),
        "balanced": (two, from_sets({14: 2, 9: 1}), ()),
    }


def with_deviation(runs: Trained, relative: float) -> Trained:
    """Scaled so that σ_g as drawn is this share of c_η/(16k^{3/2})."""
    limit = runs.step_constant / (16 * runs.half_width**1.5)
    return dataclasses.replace(runs, start=runs.start * (relative * limit / math.sqrt(np.square(runs.start).mean())))


def data_and_start(judged: Judged, base: Base) -> dict[str, Callable[[], Given]]:
    """The edges of a diverse training set and of σ_g."""

    def scaled(error: float) -> Evidence:
        return judged(with_deviation(base(), 1 + 6 / math.sqrt(2 * base().start.size) + error))

    found: dict[str, Callable[[], Given]] = {
        key: lambda inside=inside, outside=outside: (
            judged(dataclasses.replace(base(), points=inside)),
            judged(dataclasses.replace(base(), points=outside)),
        )
        for key, (inside, outside, _) in point_edges().items()
    }
    found["deviation"] = lambda: (scaled(-1e-9), scaled(1e-9))
    return found


def narrowed(runs: Trained, half_width: int) -> Trained:
    """The same runs without some filters, at the same c_η."""
    middle, step = runs.half_width, runs.step_constant / half_width
    cut = slice(middle - half_width, middle + half_width)
    return dataclasses.replace(runs, start=runs.start[:, cut], final=runs.final[:, cut], step_size=step)


def edges(judged: Judged, base: Base, **pairs: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Callable]:
    """Those, and key=(fields just inside, fields just outside)."""
    found = data_and_start(judged, base)
    for key, (inside, outside) in pairs.items():
        found[key] = lambda inside=inside, outside=outside: (
            judged(dataclasses.replace(base(), **inside)),
            judged(dataclasses.replace(base(), **outside)),
        )
    return found


def declared(claim: Claim, found: Mapping[str, Callable]) -> Callable:
    """One test case for each edge."""
    return each_of({key: breaks_hypothesis(claim, key)(make) for key, make in found.items()})
