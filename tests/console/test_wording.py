"""Results in a few words."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from widenet.claims.rates import Rate
from widenet.claims.sides import Fact, Sense, Sides
from widenet.console.wording import clause, in_short, sides, verdict
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


@pytest.mark.parametrize(
    ("role", "sense", "more", "words"),
    [
        ("promised", "≤", {"limit": "per case"}, "≤ case by case"),
        ("promised", ">", {"limit": "per case", "tolerance": "to 1e-09 of it"}, "> case by case (to 1e-09 of it)"),
        ("promised", "rate ≤", {"limit": "per case"}, "as often as promised"),
        ("given", "≥", {"limit": 1.0, "tolerance": "to 1e-12"}, "≥ 1 (to 1e-12)"),
        ("given", "≥", {"limit": "per case"}, "≥ per case"),
        ("given", "<", {"limit": "Infinity"}, "< ∞"),
        ("promised", "fact", {"event": "all $k$"}, "is so, in all k"),
    ],
)
def test_a_clause_says_which_way_it_points(role, sense, more, words):
    assert clause({"role": role, "sense": sense, **more}) == words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Sides(3.0, 10.0), "3 ≤ 10"),
        (Sides(30.0, 10.0), "30 > 10"),
        (Sides(0.2267, 0.02, undecided=True), "0.2267 > 0.02"),
        (Sides(0.5, 1.0, Sense.AT_LEAST), "0.5 < 1"),
        (Sides(1.0, 1.0, strict=True), "1 ≥ 1"),
        (Sides(1.0, 2.0, Sense.EQUAL), "1 ≠ 2"),
        (Sides(1.0 + 1e-12, 1.0, room=1e-9), "1 ≤ 1, to within rounding"),
        (Sides(84.0, 83.99999999999999, room=1e-9), "84 ≤ 84, to within rounding"),
        (Sides(0.68579, 0.6875, Sense.AT_LEAST, exact=True), "0.6858 < 0.6875, within the tolerance of the check"),
        (Sides(10.004, 10.0, room=0.1), "10.004 > 10, within the tolerance of the check"),
        (Sides(4e-16, 0.0, room=1e-9), "4e-16 ≤ 0, to within rounding"),
        (Sides(10.0, 10.0), "10 ≤ 10"),
        (Sides(2e-11, 0.0, Sense.EQUAL, room=1e-9), "2e-11 ≈ 0, within the tolerance of the check"),
        (Sides(5.0, 5.0, exact=False), "5 against 5"),
        (Sides(1.0, math.nan), "1 ≤ –"),
        (Rate([True] * 40, 0.1), "1 > 0.1"),
        (Rate([True] * 1, 0.1), "1 > 0.1"),
        (Fact(True), "–"),
    ],
)
def test_no_false_inequality_is_printed(given, words):
    assert sides(given.part("")) == words


@pytest.mark.parametrize(
    ("measured", "words"), [(1 - 1e-6, "0.999999 < 1"), (1 - 2**-53, "0.9999999999999999 < 1"), (0.9, "0.9 < 1")]
)
def test_numbers_of_a_strict_inequality_are_told_apart(measured, words):
    assert sides(Sides(measured, 1.0, strict=True).part("")) == words


@pytest.mark.parametrize(
    ("value", "is_finding", "words"),
    [
        ("VIOLATED", True, "false as printed"),
        ("VIOLATED", False, "violated"),
        ("CONSTANT_UNSPECIFIED", False, "open constant"),
        ("HYPOTHESES_NOT_MET", False, "hypotheses not met"),
        ("AGREES", False, "agrees"),
        (None, False, "–"),
    ],
)
def test_a_verdict_of_results_is_told_in_the_words_of_the_pages(value: str | None, is_finding: bool, words: str):
    assert verdict(value, is_finding) == words
