"""What a claim is: an implication over a table of cases. No paper in here.

Names that need NumPy are loaded on first use, so that listing claims needs neither NumPy nor time.
"""

import importlib
from typing import TYPE_CHECKING, Any

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, NotApplicable, Part, Runs, Verdict, claim
from widenet.claims.experiments import Experiment
from widenet.claims.tolerances import ROUNDING
from widenet.records import ClosedModel as Setting
from widenet.records import Scale

if TYPE_CHECKING:
    from widenet.claims.cases import Cases, Count, Number, column, derived, run_column
    from widenet.claims.implication import (
        Promise,
        Promised,
        at_least,
        at_most,
        equal,
        hypothesis,
        less_than,
        more_than,
    )
    from widenet.claims.rates import Rate
    from widenet.claims.sides import Fact, Sides

_LATE = {
    "cases": ("Cases", "Count", "Number", "column", "derived", "run_column"),
    "implication": (
        "Promise",
        "Promised",
        "at_least",
        "at_most",
        "equal",
        "hypothesis",
        "less_than",
        "more_than",
    ),
    "rates": ("Rate",),
    "sides": ("Fact", "Sides"),
}
_MODULE_OF = {name: f"widenet.claims.{module}" for module, names in _LATE.items() for name in names}

__all__ = [
    "ROUNDING",
    "Cases",
    "Claim",
    "Count",
    "Evidence",
    "Experiment",
    "Fact",
    "Hypothesis",
    "Kind",
    "NotApplicable",
    "Number",
    "Part",
    "Promise",
    "Promised",
    "Rate",
    "Runs",
    "Scale",
    "Setting",
    "Sides",
    "Verdict",
    "at_least",
    "at_most",
    "claim",
    "column",
    "derived",
    "equal",
    "hypothesis",
    "less_than",
    "more_than",
    "run_column",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'widenet.claims' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
