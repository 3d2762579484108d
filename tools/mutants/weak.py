"""What weakened judges call: a part that is always kept, a hypothesis that is always met."""

import copy
import dataclasses
from typing import Any

import numpy as np

from widenet.claims.base import Part
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact, Sides


def kept(conjunct: Any) -> Any:
    """The same part, with the same numbers, of which nothing is looked at any more."""
    match conjunct:
        case Sides():
            same = copy.copy(conjunct)
            same.exact = np.ones_like(conjunct.scored)
            return same
        case Fact():
            return dataclasses.replace(conjunct, holds=True)
        case Rate():
            return dataclasses.replace(conjunct, allowed=1.0)
        case Part():
            return conjunct.model_copy(update={"kept": True})
        case dict():
            return {name: kept(each) for name, each in conjunct.items()}
    return conjunct


def met(sides: Sides) -> Sides:
    """The same comparison, met whatever was measured."""
    same = copy.copy(sides)
    same.measured, same.strict = same.promised, False
    same.undecided = np.zeros_like(same.undecided)
    return same


def to_a_tenth(sides: Sides) -> Sides:
    """The same comparison, with a tenth of its limit as tolerance, as `within=0.1` would declare it."""
    same = copy.copy(sides)
    same.tolerance = "to 0.1" if sides.limit is not None else "to 0.1 of it"
    same.room = np.where(same.promised == 0, 0.1, 0.1 * np.abs(same.promised))
    return same
