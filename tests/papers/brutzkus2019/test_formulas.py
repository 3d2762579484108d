"""The bounds of Section 6 and Appendix E against values that were computed apart from the code."""

import math

import pytest

from widenet.papers.brutzkus2019 import formulas
from widenet.papers.brutzkus2019.formulas import (
    beta_negative,
    beta_positive,
    c_value,
    cosine_limit,
    fewest_updates,
    large_start_over_c,
    large_start_probability,
    largest_deviation,
    negative_output_limit,
    one_large_over_printed,
    positive_output_limit,
    ratio_limit,
    recovery_failure,
    samples_of_small_network,
    sharp_updates,
    smallest_delta,
    start_limit,
    steps_of_theorem_6_3,
    steps_to_zero_loss,
    width_limit,
)


@pytest.mark.parametrize(
    ("value", "pin"),
    [
        (lambda: largest_deviation(1 / 41, 2), 0.000538953339319),
        (lambda: largest_deviation(1 / 10, 17), 8.91675092045e-5),
        (lambda: start_limit(1 / 16), 0.0220970869121),
        (lambda: start_limit(3 / 100), 0.0106066017178),
        (lambda: c_value(1), 0.00026766045153),
        (lambda: c_value(2), 1.26982346719e-7),
        (lambda: c_value(3), 5.21714759406e-11),
        (lambda: large_start_probability(1), 0.00025334586206),
        (lambda: large_start_probability(2), 1.23338056547e-7),
        (lambda: large_start_probability(2, 1.5), 0.00129878816469),
        (lambda: large_start_probability(17, 6.0), 0.335043832728),
        (lambda: large_start_over_c(1), 0.946609531654),
        (lambda: large_start_over_c(2), 0.971300864958),
        (lambda: large_start_over_c(17), 0.996363351901),
        (lambda: large_start_over_c(120), 0.999479978357),
        (lambda: large_start_over_c(2, 0.75) * c_value(2), 8 * math.erfc(4 / 0.75)),
        (lambda: one_large_over_printed(1), 6.33424836662e-5 / 3.34575564412e-5),
        (lambda: one_large_over_printed(2), math.erfc(4) / 7.93639666992e-9),
        (lambda: recovery_failure(1), 0.00563506249797),
        (lambda: recovery_failure(2), 0.00536752902879),
        (lambda: recovery_failure(17), 0.00536740204644),
        (lambda: 4 * formulas.UNEXPLORED, 0.00134185051161),
        (lambda: 8 * formulas.UNEXPLORED, 0.00268370102322),
        (lambda: ratio_limit(65), 257.996123973),
        (lambda: ratio_limit(120), 6.41555747146),
        (lambda: ratio_limit(201), 3.59006678876),
        (lambda: beta_positive(8.0, 1 / 410), 7.21547884187),
        (lambda: beta_positive(8.0, 1 / 41), 3.596875),
        (lambda: beta_positive(20.0, 1 / 100), 14.0989208633),
        (lambda: beta_negative(1 / 410), 10.6785714286),
        (lambda: beta_negative(1 / 162), 3.59285714286),
        (lambda: beta_negative(1 / 200), 4.67857142857),
        (lambda: width_limit(beta_positive(8.0, 1 / 410)), 111.814094772),
        (lambda: width_limit(beta_positive(8.0, 1 / 41)), 200.541044166),
        (lambda: width_limit(beta_positive(20.0, 1 / 100)), 85.0355950347),
        (lambda: width_limit(beta_negative(1 / 410)), 93.1830448932),
        (lambda: width_limit(beta_negative(1 / 162)), 200.81154141),
        (lambda: width_limit(beta_negative(1 / 200)), 152.510509944),
        (lambda: positive_output_limit(120, 1 / 410, 8.0), 0.118131570736),
        (lambda: positive_output_limit(201, 1 / 41, 8.0), 0.00289414407805),
        (lambda: negative_output_limit(120, 1 / 410), -0.0490746416582),
        (lambda: negative_output_limit(201, 1 / 162), -0.000131338890692),
        (lambda: steps_to_zero_loss(17, 1 / 8, 1.0), 11253.4539608),
        (lambda: steps_to_zero_loss(20, 1 / 8, 8.0), 10608.7922696),
        (lambda: steps_to_zero_loss(120, 1 / 41, 8.0), 8313.75358347),
        (lambda: steps_of_theorem_6_3(1 / 410, 8.0), 103544.0),
        (lambda: steps_of_theorem_6_3(1 / 500, 20.0), 294224.0),
        (lambda: math.degrees(math.acos(cosine_limit(8.0, 1 / 410))), 2.61950653327),
        (lambda: math.degrees(math.acos(cosine_limit(2.0, 1 / 8))), 48.1896851042),
        (lambda: fewest_updates(8.0, 1 / 410), 1434.0),
        (lambda: fewest_updates(2.0, 1 / 8), 3.0),
        (lambda: sharp_updates(1.0, 1 / 41), 40.8232233047),
        (lambda: sharp_updates(2.0, 1 / 8), 11.8232233047),
        (lambda: smallest_delta(0.97, 0.95, 1), 0.0836927100919),
        (lambda: smallest_delta(0.5, 0.9, 1), 0.552535778124),
        (lambda: smallest_delta(0.97, 0.95), 0.0834460609858),
        (lambda: smallest_delta(0.92, 0.92), 0.158142969092),
        (lambda: smallest_delta(0.7, 0.7), 0.512630027003),
        (lambda: samples_of_small_network(0.97, 0.95, 0.2), 30.2068880519317),
        (lambda: samples_of_small_network(0.9, 0.99, 0.3), 14.3709056304948),
        (lambda: samples_of_small_network(0.92, 0.92, 0.16), 17.484525735048),
        (lambda: formulas.ERROR_SHARE * (1 - c_value(2)), 0.687499912699637),
    ],
)
def test_pins(value, pin):
    assert value() == pytest.approx(pin, rel=2e-11, abs=0)


def test_c_counts_in_the_samples_of_theorem_6_5():
    """With c = 0 the bound is larger from the eighth digit on."""
    for arguments, without in (
        ((0.97, 0.95, 0.2), 30.2068911584386),
        ((0.9, 0.99, 0.3), 14.3709078310219),
        ((0.92, 0.92, 0.16), 17.484527257954),
    ):
        assert without - samples_of_small_network(*arguments) == pytest.approx(
            2 * -1.26982346719e-7 / math.log(arguments[0] * arguments[1]), rel=1e-6
        )


def test_the_regimes_of_theorems_6_3_and_6_4():
    assert (formulas.LARGEST_STEP, formulas.SMALLEST_WIDTH, formulas.SMALLEST_MARGIN) == (1 / 410, 120, 8)
    assert (formulas.SMALL_NET_STEP, formulas.ERROR_SHARE) == (1 / 41, 33 / 48)


def test_where_a_formula_says_nothing():
    assert ratio_limit(64) == math.inf
    assert width_limit(1.0) == math.inf
    assert width_limit(1.0 + 1e-9) < math.inf
    assert width_limit(0.5) == math.inf


def test_the_gap_of_theorem_6_5_ends_where_it_should():
    """p₊ = p₋ = 0.771028: there the bound at the smallest δ is 2 (with c = 0 exactly)."""
    share = 0.771027532474
    assert samples_of_small_network(share, share, smallest_delta(share, share)) == pytest.approx(2, abs=2e-6)
