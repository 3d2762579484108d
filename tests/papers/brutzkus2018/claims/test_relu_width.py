"""Theorem 9: two widths and one law."""

import dataclasses
import math

import numpy as np
import pytest

from tests.controls import (
    breaks_hypothesis,
    breaks_part,
    broken_in,
    every_part_of,
    hypothesis_edges,
    lacking_in,
    spares,
)
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import relu_width
from widenet.papers.brutzkus2018.claims.relu_width import (
    Exponents,
    some_exponents,
    theorem_9_remark,
    theorem_9a,
    theorem_9a_as_printed,
    theorem_9b,
    theorem_9b_as_printed,
)
from widenet.papers.brutzkus2018.formulas import narrow_width, success_probability, wide_width
from widenet.papers.brutzkus2018.runs.initializations import (
    Initializations,
    InitializationSetting,
    StartLaw,
    narrow_settings,
    run_initializations,
    wide_settings,
)
from widenet.progress import silent
from widenet.records import Scale


def cases(width, offset=0, count=6000, law=StartLaw.INDEPENDENT):
    rounded = math.floor if width is narrow_width else math.ceil
    settings = [
        InitializationSetting(
            dim=dim,
            delta=delta,
            half_width=rounded(width(dim, delta)) + offset,
            n_starts=count,
            n_trained=10,
            law=law,
            seed=2,
        )
        for dim, delta in ((64, 0.1), (20, 0.05))
    ]
    return [run_initializations(setting, silent) for setting in settings]


def planted(dim, delta, half_width, solved, total, **fields):
    """So many starts with an empty K_0, out of so many; two of them trained."""
    solvable = np.arange(total) < solved
    given = {
        "imbalance": 0.0,
        "correlation": 0.0,
        "largest_entry": 1.0,
        "reached": solvable[:2],
        "ended": np.ones(2, bool),
    }
    return [Initializations(dim, delta, half_width, solvable, **given | fields)]


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
    assert lacking_in(evidence) == ["width"]
    assert evidence.conclusion is False


def test_control_a_wrong_width_in_theorem_9a():
    def generous(dim, delta):
        return narrow_width(dim, delta) + 2

    assert theorem_9a(cases(narrow_width, +2), width=generous).verdict is Verdict.VIOLATED


def test_control_tied_coordinates_in_theorem_9a():
    """Symmetric rows ξ·(1, …, 1) are stuck with probability 2^{−k} only; independence is what the proof uses."""
    evidence = theorem_9a(cases(narrow_width, law=StartLaw.EQUAL_ENTRIES))
    assert evidence.conclusion is False
    assert lacking_in(evidence) == ["independent"]
    assert [row["failure_rate"] > 0.7 for row in evidence.details["cases"]] == [True, True]


def test_control_tied_rows_in_theorem_9b():
    """One row for all neurons, plus noise: solved with probability 2^{−d} only."""
    setting = InitializationSetting(
        dim=3, delta=0.2, half_width=5, n_starts=2000, n_trained=10, law=StartLaw.EQUAL_ROWS
    )
    evidence = theorem_9b([run_initializations(setting, silent)])
    assert lacking_in(evidence) == ["independent"]
    assert evidence.conclusion is False
    assert evidence.measured == pytest.approx(7 / 8, abs=0.05)


@pytest.mark.parametrize(
    ("claim", "chance", "promised"), [(theorem_9a_as_printed, 3 / 4, 0.05), (theorem_9b_as_printed, 7 / 8, 0.2)]
)
def test_without_independence_the_printed_theorem_is_false(claim, chance, promised):
    """P(stuck) = 2^{−k} = 1/4 for 0.95, and P(global) = 2^{−d} = 1/8 for 0.8; every other hypothesis is met."""
    evidence = claim([run_initializations(setting, silent) for setting in claim.reads[0].settings(Scale.QUICK, 0)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.promised == promised
    assert evidence.measured == pytest.approx(chance, abs=0.05)
    assert broken_in(evidence) == [evidence.parts[0].name]
    (bounded,) = [h.actual for h in evidence.hypotheses if h.key == "bounded"]
    assert bounded <= 5 / 4


@spares(theorem_9a_as_printed)
def test_independent_entries_spare_the_first_half():
    return theorem_9a_as_printed(planted(20, 0.05, 2, 6, 2000))


@spares(theorem_9b_as_printed)
def test_independent_entries_spare_the_second_half():
    return theorem_9b_as_printed(planted(64, 0.1, 11, 1940, 2000))


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


def test_control_a_trained_run_that_ends_otherwise(wide):
    first, *others = wide
    relabelled = dataclasses.replace(first, reached=~first.reached)
    assert broken_in(theorem_9b([relabelled, *others])) == ["trained runs end as K_0 says"]
    cut_off = dataclasses.replace(relabelled, ended=np.zeros_like(first.ended))
    assert theorem_9b([cut_off, *others]).verdict is Verdict.INSUFFICIENT_EVIDENCE


LAW, ENDS = "the share that the exact law gives", "trained runs end as K_0 says"


def narrow_starts(solved=6, dim=20, delta=0.05, half_width=2, total=2000, **fields):
    return theorem_9a(planted(dim, delta, half_width, solved, total, **fields))


def wide_starts(stuck=120, dim=64, delta=0.1, half_width=10, total=2000, **fields):
    return theorem_9b(planted(dim, delta, half_width, total - stuck, total, **fields))


@breaks_part(theorem_9a, "at most a share δ of the runs reach loss 0 (d = 20, k = 2)", also=(LAW,))
def test_control_the_rate_of_theorem_9a():
    """2,000 starts at δ = 0.05: 83 successes show it, 117 refute it. All of these are far off the exact law."""
    assert [narrow_starts(number).parts[0].kept for number in (83, 84, 116, 117)] == [True, None, None, False]
    return narrow_starts(117)


@breaks_part(theorem_9b, "at most a share δ of the runs get stuck (d = 64, k = 10)", also=(LAW,))
def test_control_the_rate_of_theorem_9b():
    """2,000 starts at δ = 0.1."""
    assert [wide_starts(number).parts[0].kept for number in (177, 178, 222, 223)] == [True, None, None, False]
    return wide_starts(223)


def test_cases_that_differ_in_delta_alone_are_two_parts():
    two = [*planted(64, 0.1, 10, 1880, 2000), *planted(64, 0.2, 10, 1880, 2000)]
    assert sum("get stuck" in part.name for part in theorem_9b(two).parts) == 2


@breaks_part(theorem_9a, LAW)
def test_control_a_rate_below_delta_that_is_off_the_law():
    """d = 20, k = 2: the law gives 0.32 %. One percent is below δ = 5 % and no outcome of the law."""
    assert narrow_starts(19).parts[1].kept is True
    return narrow_starts(6), narrow_starts(20)


@breaks_part(theorem_9b, LAW)
def test_control_a_rate_of_stuck_runs_that_is_off_the_law():
    """d = 64, k = 10: the law gives 121 of 2,000."""
    return wide_starts(121), wide_starts(60)


@breaks_part(theorem_9a, ENDS)
def test_control_a_narrow_run_that_ends_otherwise():
    return narrow_starts(), narrow_starts(reached=np.array([True, False]))


@breaks_part(theorem_9b, ENDS)
def test_control_a_wide_run_that_ends_otherwise():
    return wide_starts(), wide_starts(reached=np.array([True, False]))


@pytest.mark.parametrize(("place", "kept"), [(None, True), (5, False), (6, False)])
def test_a_run_ends_otherwise_if_it_is_stuck_or_if_it_is_not(place, kept):
    """K_0 is empty in the first 6 starts of 7: number 5 must reach loss 0, and number 6 must not."""
    reached = np.arange(7) < 6
    if place is not None:
        reached[place] ^= True
    ends = {part.name: part.kept for part in narrow_starts(reached=reached, ended=np.ones(7, bool)).parts}
    assert ends[ENDS] is kept


SIX = 6 / 2000**0.5
"""Six standard errors of a mean of signs over 2,000 starts."""
SIGNS = {
    "symmetric": ({"imbalance": SIX}, {"imbalance": SIX * (1 + 5e-12)}),
    "independent": ({"correlation": SIX}, {"correlation": SIX * (1 + 5e-12)}),
    "bounded": ({"largest_entry": 1e300}, {"largest_entry": np.inf}),
}
test_control_hypotheses_of_theorem_9a = hypothesis_edges(
    theorem_9a, narrow_starts, width=({"delta": math.exp(-5) + 1e-9}, {"delta": math.exp(-5) - 1e-9}), **SIGNS
)
test_control_hypotheses_of_theorem_9b = hypothesis_edges(
    theorem_9b,
    wide_starts,
    width=({"delta": 0.0625}, {"delta": 0.0625 - 1e-9}),
    **SIGNS,
)


NARROW = (planted(64, 0.1, 4, 32, 2000), planted(7, 0.3, 2, 267, 2000))
WIDE = (planted(64, 0.1, 11, 1938, 2000), planted(20, 0.05, 10, 1961, 2000))


@pytest.mark.parametrize("key", ["width", *SIGNS])
def test_a_hypothesis_that_fails_in_one_case_of_three(key):
    outside = SIGNS[key][1] if key in SIGNS else {}
    half_widths = (3, 4) if key == "width" else (2, 5)
    narrow, wide = (
        planted(dim, delta, half, solved, 2000, **outside)
        for (dim, delta, solved), half in zip(((20, 0.05, 6), (7, 0.3, 1900)), half_widths, strict=True)
    )
    assert lacking_in(theorem_9a([*NARROW[0], *narrow, *NARROW[1]])) == [key]
    assert lacking_in(theorem_9b([*WIDE[0], *wide, *WIDE[1]])) == [key]


@pytest.mark.parametrize(("chance", "kept"), [(2.05e-5, True), (1.95e-5, False)])
def test_how_unlikely_is_off_the_law(monkeypatch, chance, kept):
    monkeypatch.setattr(relu_width, "matches_rate", lambda *_: chance)
    assert narrow_starts().parts[1].kept is kept


def test_the_width_of_theorem_9a_at_its_edge():
    """d = 32, δ = e⁻¹: exactly 5. d = 20, δ = 0.05: 2.7. The second half at d = 7, δ = 0.3: 4.5 by the proof."""
    assert lacking_in(theorem_9a(planted(20, 0.05, 3, 1, 10))) == ["width"]
    assert lacking_in(theorem_9b(planted(7, 0.3, 5, 1, 10))) == []
    assert lacking_in(theorem_9b(planted(7, 0.3, 4, 1, 10))) == ["width"]
    assert lacking_in(theorem_9a(planted(32, math.exp(-1), 5, 1, 10))) == []
    assert lacking_in(theorem_9a(planted(32, math.exp(-1), 6, 1, 10))) == ["width"]


def test_the_default_settings_reach_the_edges():
    """Nearly attained: 0.984 of δ at d = 32, k = 5, and 0.969 of it by the proof at d = 3, k = 5."""
    narrow, wide = narrow_settings(Scale.QUICK, 0)[-1], wide_settings(Scale.QUICK, 0)[-1]
    assert success_probability(narrow.dim, narrow.half_width) / narrow.delta == pytest.approx(0.984168, rel=1e-5)
    assert (1 - success_probability(wide.dim, wide.half_width)) / wide.delta == pytest.approx(0.969076, rel=1e-5)
    widths = {(s.dim, s.half_width) for s in wide_settings(Scale.QUICK, 0)}
    assert widths >= {(64, 11), (64, 10), (20, 10), (20, 9)}


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


LARGE, ALLOWED = "(1 − 2^{−k})^d ≤ e^{−ad}", "k is allowed"


def remarked(exponent, largest_exponent=0.5):
    return theorem_9_remark(Exponents((exponent,), 50), largest_exponent=largest_exponent)


@breaks_part(theorem_9_remark, ALLOWED)
def test_control_an_exponent_that_allows_no_width():
    """a = 0.6 ≤ ln 2 keeps the bound for k = 1, and log2(1/a) < 1."""
    return remarked(0.5), remarked(0.6, largest_exponent=1.0)


@breaks_part(theorem_9_remark, LARGE, also=(ALLOWED,))
def test_control_an_exponent_above_the_logarithm_of_two():
    """a = 0.75 > ln 2: (1/2)^d is above e^{−ad}. Whatever breaks the bound is not allowed either."""
    assert broken_in(remarked(math.log(2) - 1e-6, largest_exponent=1.0)) == [ALLOWED]
    assert broken_in(remarked(math.log(2) + 1e-6, largest_exponent=1.0)) == [LARGE, ALLOWED]
    return remarked(0.5), remarked(0.75, largest_exponent=1.0)


def test_the_remark_holds_up_to_rounding():
    """At d = 1 both sides are ½ for a = ln 2; k = 1 is log2(1/a) for a = ½."""
    for away, parts in ((1e-10, [ALLOWED]), (5e-9, [LARGE, ALLOWED])):
        exponents = Exponents((math.log(2) + away,), 1)
        assert broken_in(theorem_9_remark(exponents, largest_exponent=1.0)) == parts
    for away, parts in ((1e-10, []), (5e-9, [ALLOWED])):
        assert broken_in(remarked(0.5 * (1 + away), largest_exponent=1.0)) == parts


def test_one_exponent_of_three_is_too_large():
    assert lacking_in(theorem_9_remark(Exponents((0.5, 0.5 + 1e-9, 0.25), 5))) == ["exponent_at_most_half"]


test_control_hypotheses_of_the_remark = hypothesis_edges(
    theorem_9_remark,
    remarked,
    exponent_at_most_half=({"exponent": 0.5}, {"exponent": 0.5 + 1e-9}),
)


@breaks_hypothesis(theorem_9_remark, "exponent_positive")
def test_control_an_exponent_of_zero():
    return theorem_9_remark(Exponents((0.5, 1e-9), 5)), theorem_9_remark(Exponents((0.5, 0.0), 5))


def test_the_remark_tries_every_width_that_it_allows():
    """a = ¼ allows k = 1 and k = 2, a = 0.3 only k = 1."""
    assert theorem_9_remark(Exponents((0.25,), 7)).parts[0].cases == 14
    assert theorem_9_remark(Exponents((0.3,), 7)).parts[0].cases == 7
    assert theorem_9_remark(Exponents((0.05,), 7)).parts[0].cases == 28


def test_the_law_at_its_edges():
    """δ = e^{−d/2^k}: the bound of the first half is nearly attained."""
    for dim, half, share in ((32, 5, 0.984168), (256, 8, 0.998044), (64, 3, 0.579257)):
        assert success_probability(dim, half) / math.exp(-dim / 2**half) == pytest.approx(share, rel=1e-5)


def test_the_width_that_is_asked_for_is_named():
    named = {claim: claim(planted(64, 0.1, 11, 1940, 2000)).hypotheses for claim in (theorem_9b, theorem_9b_as_printed)}
    names = [next(each.name for each in found if each.key == "width") for found in named.values()]
    assert names == ["smallest k − log2(d/δ)", "smallest k − log2(2d/δ)"]


test_every_part_has_a_control = every_part_of(relu_width)
