"""How the filters u move: each statement at every iteration, and the ways in which its check must fail."""

import dataclasses
import functools

import numpy as np
import pytest

from tests.control_table import at, controls, spared
from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.settings import (
    FAST,
    SCATTERED,
    SMALL,
    TINY,
    WIDE,
    altered,
    now,
    on_toy,
    only_what_was_seen_counts,
    part_of,
    plus,
    toy,
    traced,
)
from tests.papers.brutzkus2019.claims.trace_edges import add, deviation_rows, many, on, printed_in, put
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import minus_filters
from widenet.papers.brutzkus2019.claims.minus_filters import (
    equation_11,
    equation_11_as_printed,
    lemma_e_6,
    lemma_e_6_as_printed,
    lemma_e_7,
    lemma_e_8,
    lemma_e_8_as_printed,
    lemma_e_20,
    lemma_e_21,
    minus_filters_settle,
)


@pytest.mark.parametrize(
    "claim", [lemma_e_6, lemma_e_7, minus_filters_settle, lemma_e_8, equation_11, lemma_e_20, lemma_e_21]
)
def test_it_holds_at_every_iteration(claim):
    evidence = claim([traced(FAST), traced(SMALL)])
    assert evidence.verdict is Verdict.HOLDS
    assert all(part.n_cases >= 100 for part in evidence.parts)


def test_a_filter_across_p2_is_counted_where_its_sum_is():
    """As in a trace, p₂ has the filters with r > 0, and p₄ all others: one filter u of each run has r = 0."""
    trace = traced(SMALL)
    start = trace.start.copy()
    n_filters = start.shape[1] // 2
    start[:, n_filters:], start[:, -1, 1] = (3.0, 1.0), 0.0
    (runs,) = minus_filters.MinusFilters.join([dataclasses.replace(trace, start=start)]).cells
    counts = [set(each.tolist()) for each in (runs.n_z_2, runs.n_z_4, runs.n_y_2, runs.n_y_4)]
    assert counts == [{n_filters - 1}, {1}, {0}, {0}]


@pytest.mark.parametrize(
    ("control", "fails"),
    [
        (functools.partial(lemma_e_6, groups=("u13",)), "steps along p₂ alone"),
        (functools.partial(lemma_e_7, lowest=0), "a in {0, −1}"),
        (functools.partial(lemma_e_7, along_l=-1), "b ≥ 0"),
        (functools.partial(minus_filters_settle, first=0), "U13(t) is empty"),
        (functools.partial(lemma_e_21, from_start=False), "both parts gain alike"),
    ],
    ids=["units of U13", "a = 0", "l the other way", "from t = 0 on", "without Z_0"],
)
def test_control_a_wrong_form_fails_in_every_run(control, fails):
    evidence = control([traced(FAST)])
    assert evidence.verdict is Verdict.VIOLATED
    assert part_of(evidence, fails).broken == 100


def test_control_outside_the_event_units_stay_in_u13():
    evidence = minus_filters_settle([traced(SCATTERED)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


ENDS = [pytest.param(np.array([[1], [0]]), id="smallest"), pytest.param(np.array([[0], [1]]), id="largest")]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("t", [0, 1, 25])
def test_control_lemma_e_6_looks_at_every_filter(end, t):
    for by in (1, -1):
        evidence = on_toy(lemma_e_6, "D2")(**{"a_range.u24": (t, plus(by * end))})
        assert broken_in(evidence) == ["steps along p₂ alone"]


def test_lemma_e_6_says_nothing_without_a_filter_in_u24():
    for part in lemma_e_6([toy("two units of U13")]).parts:
        assert (part.kept, part.n_cases) == (None, 0)


def test_lemma_e_6_as_printed_on_a_run_by_hand():
    """D2, u^(2) = (−15, −8): at t = 1 it is u_0 + ηp₁ − ηp₂."""
    trace = toy("D2")
    assert (trace.a_range["u13"][:, 0, 1].tolist(), trace.b_range["u13"][:, 0, 1].tolist()) == ([-1, -1], [1, 1])
    assert broken_in(lemma_e_6_as_printed([trace])) == ["steps along p₂ alone"]
    evidence = lemma_e_6_as_printed([traced(WIDE)])
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised) == (-1, 0)


@pytest.mark.parametrize(
    ("record", "change", "fails"),
    [
        ("a_range.u13", now(-2), "a in {0, −1}"),
        ("a_range.u13", plus(np.array([[-1], [0]])), "a in {0, −1}"),
        ("a_range.u13", plus(np.array([[0], [2]])), "a in {0, −1}"),
        ("b_range.u13", plus(np.array([[-9], [0]])), "b ≥ 0"),
        ("b_range.u13", plus(np.array([[0], [-9]])), "b ≥ 0"),
    ],
)
def test_control_lemma_e_7_looks_at_every_filter(record, change, fails):
    assert broken_in(on_toy(lemma_e_7, "D4")(**{record: (5, change)})) == [fails]


ALIKE = "m is the same for all units, m ≥ 0, and nothing along p₁"


@pytest.mark.parametrize(
    ("record", "change", "fails"),
    [
        ("a_range.u24", now(1), [ALIKE]),
        ("a_range.u24", plus(np.array([[-1], [0]])), [ALIKE]),
        ("a_range.u13", plus(np.array([[-1], [0]])), ["a = −1"]),
        ("a_range.u13", plus(np.array([[0], [1]])), ["a = −1"]),
        ("b_range.u24", now(-1), [ALIKE, "m = b − 1"]),
    ],
)
def test_control_minus_filters_settle_for_every_filter(record, change, fails):
    assert broken_in(on_toy(minus_filters_settle, "D4")(**{record: (5, change)})) == fails


@pytest.mark.parametrize(
    ("record", "value"),
    [("u13", 1), ("a_range.u13", 0), ("b_range.u24", 9), ("p_plus", TINY), ("p_minus", TINY), ("u_flipped", 1)],
)
def test_minus_filters_settle_speaks_from_the_first_step_to_the_last(record, value):
    judged, last = on_toy(minus_filters_settle, "D4"), int(toy("D4").steps[0])
    assert broken_in(judged(**{record: (0, now(value))})) == []
    assert broken_in(judged(**{record: (1, now(value))})) != []
    assert broken_in(judged(**{record: (last, now(value))})) != []


@pytest.mark.parametrize(("record", "value", "fails"), [("s_minus", 1e3, 0), ("p_plus", 1e3, 1), ("p_minus", 1e3, 2)])
def test_lemma_e_8_speaks_from_the_first_step_on(record, value, fails):
    judged = on_toy(lemma_e_8, "J6")
    assert broken_in(judged(**{record: (0, now(value))})) == []
    assert [part.kept for part in judged(**{record: (1, now(value))}).parts][fails] is False


def test_control_lemma_e_8_as_printed():
    """S⁻ lies between 2 − √2/4 and 2 times η|W13| at t = 1."""
    evidence = lemma_e_8([traced(FAST)], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert part_of(evidence, "S⁻ < η|W13|").broken == 100
    assert evidence.measured is not None
    assert 1.64 < evidence.measured < 2
    assert lemma_e_8([traced(FAST)], factor=1.64).verdict is Verdict.VIOLATED


def test_control_lemma_e_8_just_below_what_is_attained():
    """J6 comes to 127/128."""
    assert lemma_e_8([toy("J6")]).verdict is Verdict.HOLDS
    assert lemma_e_8([toy("J6")]).promised == 2
    assert lemma_e_8([toy("J6")], factor=2 * 0.993).verdict is Verdict.HOLDS
    assert lemma_e_8([toy("J6")], factor=2 * 0.992).verdict is Verdict.VIOLATED
    assert lemma_e_8([toy("J6")], factor=127 / 64).verdict is Verdict.VIOLATED, "the inequality is strict"
    assert lemma_e_8([toy("J6")], factor=127 / 64, strict=False).verdict is Verdict.HOLDS


def test_the_printed_forms_name_the_printed_bounds():
    """The report of an `_as_printed` claim says which bound fails: the paper's, not the repaired one."""
    assert broken_in(lemma_e_8_as_printed([traced(WIDE)])) == ["S⁻ ≤ η|W13|"]
    assert broken_in(equation_11_as_printed([traced(WIDE)])) == ["the responses grow by η|U24(t)|"]


def test_control_lemma_e_8_divides_by_the_number_of_filters():
    """Two filters in W13, D4: up to 4η."""
    judged = on_toy(lemma_e_8, "D4")
    assert broken_in(judged(s_minus=(5, now(4 - TINY)))) == []
    assert broken_in(judged(s_minus=(5, now(4.0)))) == ["S⁻ < 2η|W13|"]


def test_control_equation_11_as_printed():
    evidence = equation_11([traced(FAST)], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised, evidence.tightness) == (2, 1, 2)
    assert equation_11([traced(FAST)]).promised == 2


def test_control_equation_11_counts_the_filters_of_u24():
    """With one of the two in U13 the other gains 2η alone."""
    judged = on_toy(equation_11, "D4")
    assert broken_in(judged(u13=(9, now(1)))) == ["the responses grow by 2η|U24(t)|"]
    assert broken_in(judged(u13=(9, now(1)), y_kept=(9, plus(-2.0)))) == []


def test_control_lemma_e_20_on_units_that_took_one_step_more():
    evidence = lemma_e_20([traced(FAST)], pair=("y_2", "z_4"))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(2, abs=0.1)


def test_control_lemma_e_20_just_below_what_is_attained():
    """|R| of the two u of J10 differ by 20/64 at every t, one in U⁺(2) and one in U⁺(4)."""
    evidence = lemma_e_20([toy("J10")])
    assert (evidence.measured, evidence.promised) == (20 / 64, 1.0)
    assert lemma_e_20([toy("J10")], limit=0.313).verdict is Verdict.HOLDS
    assert lemma_e_20([toy("J10")], limit=0.312).verdict is Verdict.VIOLATED


def test_lemma_e_20_takes_means():
    """Two units in U⁺(2), one in U⁺(4)."""
    trace = toy("three units of U24")
    assert lemma_e_20([trace]).measured == abs((21 + 19) / 2 - 20) / 64 == 0
    difference = trace.y_2[0] / 2 - trace.y_4[0]
    assert np.array_equal(difference, np.zeros_like(difference))


def test_without_a_filter_nothing_is_promised():
    """S⁻ < 0 where W13 is empty would be false; a step of no unit has no mean."""
    assert part_of(lemma_e_8([toy("no w in W13")]), "S⁻ < 2η|W13|").n_cases == 0
    trace = toy("D4")
    assert trace.only_minus[0, 9]
    emptied = altered(altered(altered(trace, "u13", 9, now(2)), "y_kept", 9, plus(5.0)), "u_lost", 9, now(1))
    assert broken_in(equation_11([emptied])) == []
    assert len(broken_in(equation_11([altered(emptied, "u13", 9, now(0))]))) == 2


test_only_what_was_seen_counts = only_what_was_seen_counts(minus_filters)


def test_printed_forms_with_the_repaired_constants_hold():
    spared(lemma_e_6_as_printed, at(traced(WIDE.model_copy(update={"n_minus_positive": 0}))))
    spared(lemma_e_8_as_printed, at(traced(WIDE), factor=2.0))
    spared(equation_11_as_printed, at(traced(WIDE), factor=2.0))


def one_unit(**responses):
    """J6 with one unit in U13 at t = 5."""
    return on("J6", u13=put(5, 1), **{name: put(5, value) for name, value in responses.items()})


test_control = controls(
    minus_filters,
    many,
    *deviation_rows(minus_filters),
    (lemma_e_6, "along_p2", on("D2"), on("D2", a_u24=put(5, 1))),
    (lemma_e_6, "along_p2", on("D2"), on("D2", a_u24=put(5, -1))),
    (lemma_e_6, "stays", on("D2"), on("D2", u_left=put(5, 1))),
    (lemma_e_7, "backwards", on("D4", a_u13=put(5, 0)), on("D4", a_u13=put(5, 1))),
    (lemma_e_7, "forwards", on("D4", b_u13=put(5, 0)), on("D4", b_u13=put(5, -1))),
    (minus_filters_settle, "empty", on("D4"), on("D4", u13=put(5, 1))),
    (minus_filters_settle, "leaves", on("D4"), on("D4", a_u13=put(5, 0))),
    (minus_filters_settle, "leaves", on("D4"), on("D4", a_u13=put(5, -2))),
    # m = b − 1 is then −1.
    (minus_filters_settle, "forwards", on("D4"), on("D4", b_u13=put(5, 0), b_u24=put(5, -1)), "same_m"),
    (minus_filters_settle, "same_b", on("D4"), on("D4", b_u13=add(5, (0, 1)))),
    (minus_filters_settle, "same_b", on("D4"), on("D4", b_u13=add(5, (1, 0)), b_u24=add(5, 1))),
    (minus_filters_settle, "same_m", on("D4"), on("D4", b_u24=add(5, (0, 1)))),
    (minus_filters_settle, "m_and_b", on("D4", b_u24=add(10, 1), b_u13=add(10, 1)), on("D4", b_u24=add(5, 1))),
    (minus_filters_settle, "m_and_b", on("D4"), on("D4", b_u13=add(5, 1))),
    *(
        (minus_filters_settle, key, on("D4"), on("D4", **{key: put(5, value)}), "difference")
        for key in ("p_plus", "p_minus")
        for value in (TINY, -TINY)
    ),
    # N(x⁺) − N(x⁻) is S⁺ − S⁻ − P⁺ + P⁻, so it falls with P⁺ = 0 or P⁻ = 0.
    *(
        (minus_filters_settle, "difference", on("D4"), on("D4", **{key: put(5, TINY)}), key)
        for key in ("p_plus", "p_minus")
    ),
    (minus_filters_settle, "keeps_sign", on("D4"), on("D4", u_flipped=put(5, 1))),
    # J6 has one filter in W13. At t = 0 nothing is said.
    (lemma_e_8, "s_minus", on("J6", s_minus=put(5, 2 - TINY)), on("J6", s_minus=put(5, 2.0))),
    (lemma_e_8, "p_plus", one_unit(p_plus=1.0), one_unit(p_plus=1 + TINY)),
    (lemma_e_8, "p_minus", one_unit(p_minus=1.0), one_unit(p_minus=1 + TINY)),
    # Only x⁻ is active in D4 at t = 9; at t = 8 both are, and nothing is said.
    (equation_11, "grows", on("D4", y_kept=add(8, TINY)), on("D4", y_kept=add(9, TINY))),
    (equation_11, "grows", on("D4"), on("D4", y_kept=add(9, -TINY))),
    (equation_11, "stays", on("D4", u_lost=put(8, 1)), on("D4", u_lost=put(9, 1))),
    (lemma_e_20, "means", on("J10", y_2=add(7, 44 / 64)), on("J10", y_2=add(7, 44 / 64 + TINY))),
    *(
        (
            lemma_e_21,
            "alike",
            on("two units of U13", z_2=add(5, 0.9e-9 * sign)),
            on("two units of U13", z_2=add(5, 4e-9 * sign)),
        )
        for sign in (1, -1)
    ),
    but=printed_in(minus_filters),
)
