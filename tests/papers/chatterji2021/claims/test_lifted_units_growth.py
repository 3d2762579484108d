"""Sums of pulls that grow with the width: equations 17 and 18, and Lemma 18."""

import pytest

from tests.controls import breaks_part, every_part_of, part_edges, spares
from tests.papers.chatterji2021.cluster_toys import centres, clusters, edges_of_conditions, narrowed, with_entry
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import lifted_units
from widenet.papers.chatterji2021.claims.lifted_units import (
    draw_expected,
    equation_11,
    equation_16,
    equations_17_18,
    expected_sums,
    lemma_18,
    lemma_18_as_printed,
    lemma_19,
)
from widenet.records import Scale


def growing(keep=4, **last):
    """Three widths, the last one altered."""
    return [centres(1000, 10), centres(10_000, 10), altered(narrowed(centres(100_000, 10), keep), **last)]


def judge_17(**last):
    return equations_17_18(growing(**last))


test_control_each_sum_of_pulls = part_edges(
    equations_17_18,
    judge_17,
    {
        "Ξ_1/(np) is ζ/8": ({}, {"own_pull": lambda a: 0.95 * a}),
        "Ξ_2/(np) is P/8": ({}, {"other_pull": lambda a: 1.06 * a}),
    },
)


@breaks_part(equations_17_18, "Ξ_1/(np) grows towards 1/16")
def test_control_the_first_target_twice_as_large():
    return judge_17(), equations_17_18(growing(), own=1 / 8)


@breaks_part(equations_17_18, "Ξ_2/(np) grows towards 1/24")
def test_control_the_second_target_twice_as_large():
    return judge_17(), equations_17_18(growing(), other=1 / 12)


@pytest.mark.parametrize(("last", "kept"), [(0.599, False), (0.601, True), (0.999, True), (1.001, False)])
def test_the_goals_of_both_sums(last, kept):
    """np/16 and np/24: beyond three fifths of them, and below them."""
    cells = []
    for cell, share in zip(growing(), (0.2, 0.4, last), strict=True):
        size = share * cell.n_points * cell.half_width
        cells.append(
            altered(cell, own_pull=lambda a, s=size: 0 * a + s / 16, other_pull=lambda a, s=size: 0 * a + s / 24)
        )
    assert [part.kept for part in equations_17_18(cells).parts[2:]] == [kept, kept]


test_control_hypotheses_of_the_pulls = edges_of_conditions(equations_17_18, judge_17)


def test_other_data_are_no_centres():
    evidence = equations_17_18([clusters()])
    assert [h.key for h in evidence.hypotheses if not h.met] == ["centres"]


def test_growth_is_from_below_and_at_every_width():
    cells = growing()
    assert equations_17_18(cells[::-1]).parts[2].kept is False
    assert equations_17_18([cells[0], cells[2], cells[1]]).parts[2].kept is False
    assert equations_17_18(growing(own_pull=lambda a: 2 * a)).parts[2].kept is False
    assert equations_17_18(cells[:2]).parts[2].kept is False


def judge_18(**last):
    return lemma_18(growing(**last))


def beyond(sign, amount):
    """Σ φ of one point at the bound of Lemma 18 with the bracket read as 1, and so much beyond it."""

    def change(values):
        cell = centres(100_000, 10)
        bound = f.lifted_bound(cell.half_width, f.captured_mean(cell.level, cell.deviation), cell.step, sign)
        return with_entry((2, 1), bound - sign * amount)(values)

    return change


test_control_sums_at_the_bounds_of_lemma_18 = part_edges(
    lemma_18,
    judge_18,
    {
        "Σ φ over I_+s, the bracket read as 1": (
            {}, {"helpful_after": beyond(1, 1e-9)}, "the gain of I_+s over α_0p grows towards 1/48",
        ),
        "Σ φ over I_−s, the bracket read as 1": (
            {"harmful_after": beyond(-1, -1e-9)}, {"harmful_after": beyond(-1, 1e-9)},
        ),
    },
)  # fmt: skip


@breaks_part(lemma_18, "the gain of I_+s over α_0p grows towards 1/48")
def test_control_a_step_uphill():
    cells = growing()
    level = [cell.helpful_sum - cell.bandwidth * cell.helpful / 2 for cell in cells]
    uphill = [
        altered(cell, helpful_after=lambda after, at=at: 2 * at - after) for cell, at in zip(cells, level, strict=True)
    ]
    return lemma_18(cells), lemma_18(uphill)


@pytest.mark.parametrize(("last", "kept"), [(0.0124, False), (0.0126, True), (0.0208, True), (0.0209, False)])
def test_the_goal_of_the_gain(last, kept):
    """1/48 = 0.02083: beyond three fifths of it, 0.0125, and below it."""
    cells = [
        altered(cell, helpful_after=cell.helpful_sum - cell.bandwidth * cell.helpful / 2
                + gain * cell.step * cell.half_width)
        for cell, gain in zip(growing(), (0.005, 0.01, last), strict=True)
    ]  # fmt: skip
    assert lemma_18(cells).parts[2].kept is kept


test_control_hypotheses_of_lemma_18 = edges_of_conditions(lemma_18, judge_18)


def test_the_first_bound_of_lemma_18_at_its_edge():
    assert judge_18(helpful_after=beyond(1, -1e-9)).parts[0].kept is True


def test_the_second_display_is_about_the_other_units():
    assert lemma_18_as_printed(draw_expected(Scale.QUICK, 0)).verdict is Verdict.VIOLATED
    assert draw_expected(Scale.QUICK, 0).sums[0] == pytest.approx(0.02051639, rel=1e-6)
    assert draw_expected(Scale.QUICK, 0).sums[-1] == pytest.approx(1 / 48, rel=1e-3)
    assert draw_expected(Scale.QUICK, 0).bounds[-1] == pytest.approx(-1 / 48, rel=1e-3)


def test_the_second_display_at_its_edge():
    """p^(1/4) = 10 at p = 10⁴: −1/48 + 2/10, and a sum there and just above it."""
    found = expected_sums(1e4)
    assert found.bounds[0] == pytest.approx(-1 / 48 + 0.2, rel=1e-12)
    for sums, kept in ((found.bounds, True), (found.bounds + 1e-9, False)):
        assert lemma_18_as_printed(altered(found, sums=sums)).parts[0].kept is kept


def test_what_is_missing_is_far_beyond_the_noise_of_the_start():
    """At p = 10²⁰: α_0p/24 = 4000 and a little, against a standard deviation of the sum below 0.01, and the two."""
    p, found = 1e20, expected_sums(1e20)
    level, deviation = f.capture_level(p, 0.25, "sec4"), f.initial_deviation(p, 0.25, "sec4")
    excess = (found.sums - found.bounds)[0] * f.first_step_size(p, 0.25, "sec4") * p
    assert excess == pytest.approx(p**0.25 / 24 - 2, rel=0.02)
    assert f.captured_deviation(level, deviation, p) < 0.01


@spares(lemma_18_as_printed)
def test_control_a_width_at_which_the_two_decides():
    return lemma_18_as_printed(expected_sums(1000.0))


def test_the_expected_sum_is_that_of_the_runs():
    """Derived apart: the starts of the toy, with their noise taken out."""
    cell = centres(100_000, 10)
    gain = (cell.helpful_after - cell.helpful_sum).mean() / (cell.step * cell.half_width)
    assert gain == pytest.approx(expected_sums(1e5, beta=0.45).sums[0], rel=0.05)


test_every_part_has_a_control = every_part_of(lifted_units, elsewhere=(equation_11, equation_16, lemma_19))
