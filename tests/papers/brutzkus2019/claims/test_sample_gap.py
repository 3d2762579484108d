"""Theorem 6.5: both halves, its examples, and controls with narrow networks, larger errors and other constants."""

import dataclasses
import math

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, SET_LABELS
from widenet.papers.brutzkus2019.claims.sample_gap import (
    TwoSamples,
    check_section_6_3_examples,
    check_theorem_6_5_large_network,
    check_theorem_6_5_small_network,
    section_6_3_examples,
    theorem_6_5_large_network,
    theorem_6_5_small_network,
)
from widenet.papers.brutzkus2019.claims.wide import theorem_6_3_runs
from widenet.papers.brutzkus2019.formulas import samples_of_small_network, smallest_delta
from widenet.papers.brutzkus2019.runs.samples import (
    diverse_shares,
    draw_counts,
    example_law,
    smallest_hard_share,
    train_on_samples,
)
from widenet.papers.brutzkus2019.runs.trained import Trained, train_networks
from widenet.papers.brutzkus2019.runs.training_set import from_sets
from widenet.types import Scale

EASY, HARD = (example_law(0.92, 0.92), 0.16), (example_law(0.98, 0.98), 0.05)


def number(value: float | None) -> float:
    assert value is not None
    return value


@pytest.fixture(scope="module")
def wide() -> Trained:
    return theorem_6_3_runs(3, 20)


@pytest.fixture(scope="module")
def sixteen():
    return train_on_samples(0, 500, *EASY, 8)


def repeated(trained: Trained, times: int) -> Trained:
    """The same runs again, to see how the verdict depends on their number."""
    names = ("start", "final", "outputs", "steps", "status", "loss")
    return dataclasses.replace(trained, **{name: np.concatenate([getattr(trained, name)] * times) for name in names})


def test_a_law_of_the_examples():
    assert diverse_shares(EASY[0]) == pytest.approx((0.92, 0.92))
    assert math.isclose(smallest_hard_share(EASY[0]), 0.02)
    assert math.isclose(smallest_hard_share(HARD[0]), 0.005)


def test_points_are_drawn_by_their_law():
    counts = draw_counts(0, 4000, EASY[0], 8)
    assert (counts[:, SET_LABELS > 0].sum(axis=1) == 8).all()
    assert (counts[:, SET_LABELS < 0].sum(axis=1) == 8).all()
    share = counts.mean(axis=0) / 16
    assert np.allclose(share, EASY[0].probabilities, atol=5 * math.sqrt(0.25 / (4000 * 16)))
    assert (share[np.asarray(EASY[0].probabilities) == 0] == 0).all()


def test_two_samples_are_enough_for_wide_networks(wide):
    strict = (EASY[0], smallest_delta(0.92, 0.92))
    assert (
        check_theorem_6_5_large_network(TwoSamples([EASY, HARD, strict], repeated(wide, 28))).verdict is Verdict.HOLDS
    )
    assert check_theorem_6_5_large_network(TwoSamples([EASY], wide)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert check_theorem_6_5_large_network(TwoSamples([], wide)).conclusion is None


def test_control_a_smaller_delta(wide):
    evidence = check_theorem_6_5_large_network(TwoSamples([(EASY[0], 0.1)], wide))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_two_filters_recover_in_one_run_of_sixteen():
    narrow = train_networks(0, 500, 2, 1 / 41, 8.0, max_steps=3000)
    evidence = check_theorem_6_5_large_network(TwoSamples([EASY], narrow))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert abs(1 - number(evidence.measured) - 1 / 16) < 0.04


def test_control_three_samples_are_not_two(wide):
    more = dataclasses.replace(wide, points=from_sets({14: 2, 9: 1}))
    assert check_theorem_6_5_large_network(TwoSamples([EASY], more)).verdict is Verdict.HYPOTHESES_NOT_MET


def test_more_samples_are_shown_and_do_not_decide(wide, sixteen):
    evidence = check_theorem_6_5_large_network(TwoSamples([EASY], repeated(wide, 28), sixteen))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.config["more_samples"]["samples"] == 16
    assert "with 16 samples" in evidence.note


def test_sixteen_samples_are_not_enough_for_two_filters(sixteen):
    evidence = check_theorem_6_5_small_network([sixteen])
    assert evidence.verdict is Verdict.HOLDS
    assert 0.38 < number(evidence.measured) < 0.58
    row = evidence.config["cases"][0]
    assert math.isclose(row["proved"], 0.181, abs_tol=1e-3)
    assert row["frequency"] > row["proved"]


def test_control_an_error_above_one_half(sixteen):
    evidence = check_theorem_6_5_small_network([sixteen], error=lambda law: 0.5)
    assert evidence.verdict is Verdict.VIOLATED
    assert number(evidence.measured) == 0


def test_control_more_samples_than_the_bound(sixteen):
    """The points of the runs are counted, whatever `per_class` says."""
    counts = sixteen.counts.copy()
    counts[3] += np.eye(15, dtype=int)[DIVERSE_POSITIVE] + np.eye(15, dtype=int)[DIVERSE_NEGATIVE]
    evidence = check_theorem_6_5_small_network([dataclasses.replace(sixteen, counts=counts)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.actual for h in evidence.hypotheses if not h.met] == [18]


def test_few_runs_decide_nothing(sixteen):
    few = {name: getattr(sixteen, name)[:2] for name in ("start", "counts", "outputs", "loss", "status")}
    assert check_theorem_6_5_small_network([dataclasses.replace(sixteen, **few)]).conclusion is None
    assert check_theorem_6_5_small_network([]).conclusion is None


def test_the_examples():
    evidence = section_6_3_examples.check(section_6_3_examples.setting(Scale.QUICK, 0), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    first, second = evidence.config["examples"]
    assert math.isclose(first["bound"], 129.74, abs_tol=0.01)
    assert math.isclose(second["bound"], 17.48, abs_tol=0.01)
    assert math.isclose(evidence.config["largest_bound_without_gap"], 0.82, abs_tol=0.01)
    assert math.isclose(samples_of_small_network(0.98, 0.98, smallest_delta(0.98, 0.98)), 135.22, abs_tol=0.01)


def test_no_gap_below_an_exact_share():
    """The bound at the smallest δ is 2 where p₊p₋ is 0.5945."""
    gap = lambda both: samples_of_small_network(both, 1.0, smallest_delta(both, 1.0))  # noqa: E731
    assert gap(0.594) < 2 < gap(0.595)


def test_control_a_factor_of_two():
    half = lambda *arguments: samples_of_small_network(*arguments) / 2  # noqa: E731
    evidence = check_section_6_3_examples(section_6_3_examples.setting(Scale.QUICK, 0), bound=half)
    assert evidence.verdict is Verdict.VIOLATED
    assert math.isclose(number(evidence.measured), 64.87, abs_tol=0.01)


def test_control_a_share_with_a_gap():
    setting = section_6_3_examples.setting(Scale.QUICK, 0)
    wider = dataclasses.replace(setting, without_gap=(0.7, 0.8))
    assert check_section_6_3_examples(wider).verdict is Verdict.VIOLATED


def test_each_half_of_theorem_6_5_can_be_read_alone() -> None:
    """Every symbol is explained where it stands, and neither half points at the other."""
    for claim in (theorem_6_5_large_network, theorem_6_5_small_network):
        assert "the same" not in claim.statement
        assert "δ ≥ 1 − p₊p₋(1 − c" in claim.statement
        for words in ("positive point be diverse with probability p₊", "a negative one with p₋", "√(2k/π)e^{−8k}"):
            assert words in claim.statement
    assert "let p* be" in theorem_6_5_small_network.statement
