"""Sums of pulls that grow with the width: equations 17 and 18, and Lemma 18."""

import pytest

from tests.control_table import at, controls, spared
from tests.papers.chatterji2021.cluster_toys import centres, clusters, rows_of_beta, with_entry
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import lifted_units
from widenet.papers.chatterji2021.claims.lifted_units import (
    Lifted,
    equation_11,
    equation_16,
    equations_17_18,
    lemma_18,
    lemma_18_as_printed,
    lemma_19,
)
from widenet.papers.chatterji2021.runs.start_laws import draw_expected, expected_sums
from widenet.records import Scale


def growing(**last):
    """Three widths, the last one altered."""
    return [centres(1000, 10), centres(10_000, 10), altered(centres(100_000, 10), **last)]


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


def test_other_data_are_no_centres():
    evidence = equations_17_18([clusters()])
    assert [h.key for h in evidence.hypotheses if not h.met] == ["centres"]


def test_growth_is_from_below_and_at_every_width():
    cells = growing()
    assert equations_17_18(cells[::-1]).parts[2].kept is False
    assert equations_17_18([cells[0], cells[2], cells[1]]).parts[2].kept is False
    assert equations_17_18(growing(own_pull=lambda a: 2 * a)).parts[2].kept is False
    assert equations_17_18(cells[:2]).parts[2].kept is False


def beyond(sign, amount):
    """Σ φ of one point at the bound of Lemma 18 with the bracket read as 1, and so much beyond it."""

    def change(values):
        cell = centres(100_000, 10)
        bound = f.lifted_bound(cell.half_width, f.captured_mean(cell.level, cell.deviation), cell.step, sign)
        return with_entry((2, 1), bound - sign * amount)(values)

    return change


def uphill():
    """A step that lowers what it should lift."""
    cells = growing()
    level = [cell.helpful_sum - cell.bandwidth * cell.helpful / 2 for cell in cells]
    return [
        altered(cell, helpful_after=lambda after, at=at: 2 * at - after) for cell, at in zip(cells, level, strict=True)
    ]


@pytest.mark.parametrize(("last", "kept"), [(0.0124, False), (0.0126, True), (0.0208, True), (0.0209, False)])
def test_the_goal_of_the_gain(last, kept):
    """1/48 = 0.02083: beyond three fifths of it, 0.0125, and below it."""
    cells = [
        altered(cell, helpful_after=cell.helpful_sum - cell.bandwidth * cell.helpful / 2
                + gain * cell.step * cell.half_width)
        for cell, gain in zip(growing(), (0.005, 0.01, last), strict=True)
    ]  # fmt: skip
    assert lemma_18(cells).parts[2].kept is kept


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


def test_control_a_width_at_which_the_two_decides():
    spared(lemma_18_as_printed, at(expected_sums(1000.0)))


def test_the_expected_sum_is_that_of_the_runs():
    """Derived apart: the starts of the toy, with their noise taken out."""
    cell = centres(100_000, 10)
    gain = (cell.helpful_after - cell.helpful_sum).mean() / (cell.step * cell.half_width)
    assert gain == pytest.approx(expected_sums(1e5, beta=0.45).sums[0], rel=0.05)


GAIN = "grows"
test_control = controls(
    lifted_units,
    {lemma_18_as_printed: expected_sums(1000.0), Lifted: growing},
    (lemma_18_as_printed, "sum"),
    (equations_17_18, "own", {}, {"own_pull": lambda pull: 0.95 * pull}),
    (equations_17_18, "other", {}, {"other_pull": lambda pull: 1.06 * pull}),
    (equations_17_18, "own_grows", {}, {"own": 1 / 8}),
    (equations_17_18, "other_grows", {}, {"other": 1 / 12}),
    (lemma_18, "helpful", {}, {"helpful_after": beyond(1, 1e-9)}, GAIN),
    (lemma_18, "harmful", {"harmful_after": beyond(-1, -1e-9)}, {"harmful_after": beyond(-1, 1e-9)}),
    (lemma_18, GAIN, {}, at(uphill)),
    *rows_of_beta(equations_17_18, lemma_18),
    but=(equation_11, equation_16, lemma_19),
)


def test_the_first_bound_of_lemma_18_at_its_edge():
    assert lemma_18(growing(helpful_after=beyond(1, -1e-9))).parts[0].kept is True
