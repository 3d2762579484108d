"""Reported numbers, apart from words."""

import math

import pytest

from widenet.console import wording
from widenet.figures.base import Comparison, number_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.95", 0.95),
        ("95 %", 0.95),
        ("95%", 0.95),
        ("1.17", 1.17),
        ("0", 0.0),
        (" 12 ", 12.0),
        ("10,000", 10000.0),
        ("1,234,567.5", 1234567.5),
        ("−3", -3.0),
        ("-3.5e-2", -0.035),
        ("+1E3", 1000.0),
        ("1.5 %", 0.015),
    ],
)
def test_one_plain_number(text, value):
    assert number_in(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        "", "–", "at most 1", "1 (Theorem 2)", "1: each point is updated once", "7 counts", "20 of 100",
        "0.1 to 0.2", "1/2", "1,00", "10,00,000", "1.", ".5", "2.5.1", "nan", "inf", "1e", "% 5",
        "1 000", "≈ 1", "10²", "1_000", "٣",
    ],
)  # fmt: skip
def test_no_number_is_guessed_from_words(text):
    assert number_in(text) is None


def compared(reported, **more) -> Comparison:
    return Comparison(name="x", reported=reported, measured=1.0, interval=None, band=(0.0, 2.0), **more)


def test_a_comparison_reads_a_plain_number_and_takes_any_other():
    assert compared("95 %").reported_value == 0.95
    assert compared("they behave similarly").reported_value is None
    assert compared("20 of 100", reported_value=0.2).reported_value == 0.2
    assert compared("20 to 30 of 100", reported_value=(0.2, 0.3)).reported_value == (0.2, 0.3)
    assert compared("0.95", reported_value=None).reported_value is None
    row = compared("0.95").model_dump()
    assert row["reported_value"] == 0.95
    assert compared("x").model_copy(update={"band": (2.0, 3.0)}).reported_value is None


@pytest.mark.parametrize(
    ("interval", "band", "little"),
    [
        ((0.0, 2.0), (0.5, 1.5), True),
        ((0.0, 2.0), (0.0, 2.0), True),
        ((0.9, 1.1), (0.5, 1.5), False),
        (None, (0.5, 1.5), False),
        ((0.0, 2.0), (0.5, math.inf), False),  # such a band has no width
        ((-math.inf, 2.0), (0.5, 1.5), False),
        ((0.0, 9.0), (3.0, 4.0), False),  # it differs
        ((0.0, 2.0), (1.0, 1.0), False),  # a number that is exact
    ],
)
def test_agreement_with_an_interval_wider_than_the_band_tests_little(interval, band, little):
    row = compared("1").model_copy(update={"interval": interval, "band": band})
    assert row.tests_little is little
    assert (wording.caution(row) == "the interval is wider than the band: little is tested") is little


@pytest.mark.parametrize(
    ("interval", "band", "nearly"),
    [
        ((0.0, 9.0), (3.0, 4.0), True),
        ((0.9, 3.0), (3.0, math.inf), True),
        ((0.9, 1.1), (3.0, 4.0), False),
        (None, (3.0, 4.0), False),
        ((0.0, 9.0), (0.5, 4.0), False),  # it agrees
    ],
)
def test_a_miss_that_chance_may_explain_says_so(interval, band, nearly):
    row = compared("1").model_copy(update={"interval": interval, "band": band, "measured": 1.0})
    assert row.nearly_agrees is nearly
    assert (wording.caution(row) == "the interval reaches into the band: more runs may agree") is nearly


@pytest.mark.parametrize("wrong", [(0.3, 0.2), (math.nan, 1.0)])
def test_a_range_has_its_ends_in_order(wrong):
    with pytest.raises(ValueError, match=r"reported_value must be \(low, high\) with low ≤ high"):
        compared("x", reported_value=wrong)
