"""Theorem 9: two widths and one law."""

import dataclasses
import math

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.relu_width import (
    Exponents,
    some_exponents,
    theorem_9_remark,
    theorem_9a,
    theorem_9b,
)
from widenet.papers.brutzkus2018.formulas import narrow_width, success_probability, wide_width
from widenet.papers.brutzkus2018.runs.initializations import (
    Initializations,
    InitializationSetting,
    run_initializations,
)
from widenet.progress import silent
from widenet.records import Scale


def cases(width, offset=0, count=6000, **others):
    rounded = math.floor if width is narrow_width else math.ceil
    settings = [
        InitializationSetting(
            dim=dim,
            delta=delta,
            half_width=rounded(width(dim, delta)) + offset,
            n_starts=count,
            n_trained=10,
            seed=2,
        )
        for dim, delta in ((64, 0.1), (20, 0.05))
    ]
    return [run_initializations(setting, silent, **others) for setting in settings]


def planted(dim, delta, half_width, solved, total):
    """So many starts with an empty K_0, out of so many."""
    solvable = np.arange(total) < solved
    return [Initializations(dim, delta, half_width, solvable, 0.0, 0.0, solvable[:0], solvable[:0])]


def two_starts(case):
    """Trained runs that end as their start says."""
    return dataclasses.replace(case, reached=case.solvable[:2], ended=np.ones(2, bool))


def broken(evidence):
    return [part.name for part in evidence.parts if part.kept is False]


def unmet(evidence):
    return [hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met]


@pytest.fixture(scope="module")
def narrow():
    return cases(narrow_width)


@pytest.fixture(scope="module")
def wide():
    return cases(wide_width)


@pytest.mark.parametrize(("claim", "runs"), [(theorem_9a, "narrow"), (theorem_9b, "wide")])
def test_it_holds(claim, runs, request):
    evidence = claim(request.getfixturevalue(runs))
    assert evidence.verdict is Verdict.HOLDS
    assert 0.1 < evidence.tightness <= 1
    assert not evidence.vacuous


def test_control_two_units_more_than_theorem_9a_allows():
    evidence = theorem_9a(cases(narrow_width, +2))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert unmet(evidence) == ["width"]
    assert evidence.conclusion is False


def test_control_a_wrong_width_in_theorem_9a():
    def generous(dim, delta):
        return narrow_width(dim, delta) + 2

    assert theorem_9a(cases(narrow_width, +2), width=generous).verdict is Verdict.VIOLATED


def test_control_tied_coordinates_in_theorem_9a():
    """Symmetric rows ξ·(1, …, 1) are stuck with probability 2^{−k} only; independence is what the proof uses."""
    tied = cases(narrow_width, entries=lambda draw, shape: draw.uniform(-1, 1, (*shape[:2], 1)) * np.ones(shape))
    evidence = theorem_9a(tied)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["independent"]
    assert [row["failure_rate"] > 0.7 for row in evidence.details["cases"]] == [True, True]


def test_control_tied_rows_in_theorem_9b():
    """One row for all neurons, plus noise: solved with probability 2^{−d} only."""

    def tied(draw, shape):
        far = draw.uniform(0.5, 1, (shape[0], 1, shape[2])) * draw.choice([-1, 1], (shape[0], 1, shape[2]))
        return far + draw.uniform(-0.25, 0.25, shape)

    setting = InitializationSetting(dim=3, delta=0.2, half_width=5, n_starts=2000, n_trained=10)
    evidence = theorem_9b([run_initializations(setting, silent, tied)])
    assert unmet(evidence) == ["independent"]
    assert evidence.conclusion is False
    assert evidence.measured == pytest.approx(7 / 8, abs=0.05)


def test_control_starts_that_lean_to_one_side():
    evidence = theorem_9b(cases(wide_width, entries=lambda draw, shape: draw.uniform(-0.8, 1, shape)))
    assert "symmetric" in unmet(evidence)


def test_control_three_units_fewer_than_theorem_9b_asks():
    evidence = theorem_9b(cases(wide_width, -3))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False

    def fewer(dim, delta):
        return wide_width(dim, delta) - 3

    assert theorem_9b(cases(wide_width, -3), width=fewer).verdict is Verdict.VIOLATED


def test_too_few_starts_decide_nothing():
    setting = InitializationSetting(dim=20, delta=0.05, half_width=10, n_starts=30, n_trained=10, seed=2)
    assert theorem_9b([run_initializations(setting, silent)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("failures", "kept"), [(83, True), (84, None), (116, None), (117, False)])
def test_control_the_rate_of_theorem_9a(failures, kept):
    """2,000 starts at δ = 0.05."""
    evidence = theorem_9a(planted(20, 0.05, 2, failures, 2000))
    assert evidence.parts[0].kept is kept


@pytest.mark.parametrize(("failures", "kept"), [(177, True), (178, None), (222, None), (223, False)])
def test_control_the_rate_of_theorem_9b(failures, kept):
    """2,000 starts at δ = 0.1."""
    evidence = theorem_9b(planted(64, 0.1, 11, 2000 - failures, 2000))
    assert evidence.parts[0].kept is kept


def test_control_a_rate_below_delta_that_is_off_the_law():
    """d = 20, k = 2: the law gives 0.32 %. One percent is below δ = 5 % and no outcome of the law."""
    (off,) = planted(20, 0.05, 2, 20, 2000)
    assert broken(theorem_9a([two_starts(off)])) == ["the share that the exact law gives"]
    (on,) = planted(20, 0.05, 2, 6, 2000)
    assert theorem_9a([two_starts(on)]).verdict is Verdict.HOLDS


def test_control_a_trained_run_that_ends_otherwise(wide):
    first, *others = wide
    relabelled = dataclasses.replace(first, reached=~first.reached)
    assert broken(theorem_9b([relabelled, *others])) == ["trained runs end as K_0 says"]
    cut_off = dataclasses.replace(relabelled, ended=np.zeros_like(first.ended))
    assert theorem_9b([cut_off, *others]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(
    ("claim", "dim", "delta", "inside", "outside"),
    [(theorem_9a, 20, 0.05, 2, 3), (theorem_9a, 32, math.exp(-1), 5, 6), (theorem_9b, 7, 0.3, 6, 5)],
)
def test_control_the_edge_of_the_width(claim, dim, delta, inside, outside):
    assert unmet(claim(planted(dim, delta, inside, 1, 10))) == []
    assert unmet(claim(planted(dim, delta, outside, 1, 10))) == ["width"]


def test_the_remark_holds():
    evidence = theorem_9_remark(some_exponents(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness is not None
    assert 0.9 < evidence.tightness <= 1


def test_control_an_exponent_above_one_half():
    evidence = theorem_9_remark(Exponents((0.75,), 200))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.details["broken"] == 200
    assert theorem_9_remark(Exponents((0.75,), 200), largest_exponent=0.75).verdict is Verdict.VIOLATED


def test_control_each_part_of_the_remark():
    """a = 0.6 ≤ ln 2 keeps the bound and does not allow k = 1; an exponent of 0.51 is outside."""
    assert broken(theorem_9_remark(Exponents((0.6,), 50))) == ["k is allowed"]
    assert broken(theorem_9_remark(Exponents((0.75,), 50))) == ["(1 − 2^{−k})^d ≤ e^{−ad}", "k is allowed"]
    assert unmet(theorem_9_remark(Exponents((0.51,), 50))) == ["exponent_at_most_half"]


def test_the_law_at_its_edges():
    """δ = e^{−d/2^k}: the bound of the first half is nearly attained."""
    for dim, half, share in ((32, 5, 0.984168), (256, 8, 0.998044), (64, 3, 0.579257)):
        assert success_probability(dim, half) / math.exp(-dim / 2**half) == pytest.approx(share, rel=1e-5)
