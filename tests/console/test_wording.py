"""Results in a few words."""

from types import SimpleNamespace
from typing import Any

from widenet.console.wording import in_short
from widenet.figures.base import Comparison


def row(measured: float, added: bool) -> Comparison:
    return Comparison(
        name="x", reported="1", measured=measured, interval=None, band=(0.0, 2.0), basis="the paper", added=added
    )


def outcome(*rows: Comparison) -> Any:
    return SimpleNamespace(comparisons=rows, circumstances=SimpleNamespace(seconds=0.2, reused=False))


def test_only_statements_of_the_paper_are_counted():
    assert in_short(outcome(row(1.0, False), row(3.0, False), row(3.0, True))) == "1 of 2 comparisons agree, 0.2 s"
    assert in_short(outcome(row(1.0, True))) == "no statement of the paper to compare, 0.2 s"
