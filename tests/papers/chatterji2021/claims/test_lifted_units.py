"""What one step does to captured units and to the others."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021.cluster_toys import centres, clusters, with_entry
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import lifted_units
from widenet.papers.chatterji2021.claims.lifted_units import (
    equation_11,
    equation_16,
    equations_17_18,
    lemma_18,
    lemma_18_as_printed,
    lemma_19,
)
from widenet.papers.chatterji2021.cluster_sources import Centres, OnePointCluster
from widenet.papers.chatterji2021.runs.first_steps import (
    FirstStepSetting,
    rest_settings,
    run_first_steps,
    step_settings,
)
from widenet.progress import silent
from widenet.records import Scale


def attained():
    return run_first_steps(
        FirstStepSetting(points=OnePointCluster(), half_width=20, beta=0.45, start="attained"), silent
    )


def captured_units():
    return [clusters(), attained()]


def test_the_shift_is_attained():
    evidence = equation_11(captured_units())
    assert evidence.parts[0].tightness == pytest.approx(1, abs=1e-9)
    assert evidence.parts[1].tightness == pytest.approx(1, abs=1e-9)
    cell = attained()
    assert (cell.helpful, cell.harmful) == (1, 20)
    assert cell.pulls == 1


def test_points_that_nobody_captures_are_not_asked():
    none = np.array([[0.0]])
    lost = altered(attained(), lowest=np.array([[np.inf]]), helpful=none, harmful=none)
    assert equation_11([lost]).parts[1].n_cases == 0
    assert equation_11([lost, clusters()]).verdict is Verdict.HOLDS


@pytest.mark.parametrize("lowest", [np.nan, np.inf])
def test_a_captured_unit_whose_place_is_no_number_is_not_dropped(lowest):
    part = equation_11([altered(attained(), lowest=np.array([[lowest]])), clusters()]).parts[1]
    assert (part.kept, part.undecided) == (None, 1)


def test_the_rise_is_nearly_an_equality_on_the_centres():
    """(Ξ_1 − Ξ_2)/(np) is (ζ − P[Z_1 ≥ a, Z_2 ≥ 0])/8 on average; the gap are the units with 0 < v_i·x_q < h."""
    cell = centres(20_000, 20)
    lifted = (cell.helpful_after - cell.helpful_sum + cell.bandwidth * cell.helpful / 2).mean()
    promised = cell.step / 4 * (cell.own_pull - cell.other_pull).mean()
    share = f.captured_share(cell.level, cell.deviation)
    both = f.captured_and_active(cell.level, cell.deviation, np.array([0.5]))[0]
    assert promised / (cell.step * cell.half_width) == pytest.approx((share - both) / 8, rel=0.08)
    assert 0.9 < promised / lifted < 1


def test_the_sums_with_chi_are_asked_only_where_part_1_holds():
    cell = centres(n_runs=10)
    shifted = altered(cell, helpful_sum=lambda a: a - 5, helpful_after=lambda a: a - 5)
    assert equation_16([shifted]).parts[2].n_cases == 0
    worse = altered(cell, harmful_sum=lambda a: a + 5, harmful_after=lambda a: a + 5)
    assert equation_16([worse]).parts[3].n_cases == 0
    assert equation_16([cell]).parts[2].n_cases == equation_16([cell]).parts[3].n_cases == 40


def test_the_room_of_equation_11():
    """A billionth of α_0, on both sides."""
    cell = attained()
    for name, value, part, sign in (("shift", cell.step, 0, 1), ("lowest", cell.bandwidth + 3 * cell.step, 1, -1)):
        for share, kept in ((5e-10, True), (2e-9, False)):
            moved = altered(cell, **{name: np.array([[value + sign * share * cell.step]])})
            assert equation_11([moved]).parts[part].kept is kept


def at_edge(harmful=False, sum_off=0.0, after_off=0.0):
    """A point at the edge of part 1 of Lemma 15 whose captured units move exactly as Eq. 16 promises.

    `sum_off` is how far inside the edge it is; `after_off` how far the sum of φ lies on the wrong side.
    """
    cell = centres(n_runs=10)
    chi, share = expected_mean(cell), cell.step / 4
    if harmful:
        total = chi + 1 - sum_off
        fall = share * (cell.harmful_own_pull[0, 0] - cell.harmful_other_pull[0, 0])
        after = total - cell.bandwidth * cell.harmful[0, 0] / 2 - fall + after_off
        return altered(cell, harmful_sum=with_entry((0, 0), total), harmful_after=with_entry((0, 0), after))
    total = chi - 1 + sum_off
    rise = share * (cell.own_pull[0, 0] - cell.other_pull[0, 0])
    after = total - cell.bandwidth * cell.helpful[0, 0] / 2 + rise - after_off
    return altered(cell, helpful_sum=with_entry((0, 0), total), helpful_after=with_entry((0, 0), after))


def expected_mean(cell):
    return cell.half_width * f.captured_mean(cell.level, cell.deviation)


@pytest.mark.parametrize("harmful", [False, True])
def test_the_room_of_equation_16(harmful):
    """A part in 10¹⁰ of 1 and the sum."""
    cell = at_edge(harmful, sum_off=1e-3)
    size = 1e-10 * (1 + (cell.harmful_sum if harmful else cell.helpful_sum)[0, 0])
    for off, kept in ((0.999, True), (1.001, False)):
        assert equation_16([at_edge(harmful, 1e-3, off * size)]).parts[int(harmful)].kept is kept


@pytest.mark.parametrize("harmful", [False, True])
def test_the_constants_of_the_sums_with_chi(harmful):
    """−1 − h|I_+|/2 and + 1, and the condition that part 1 holds at the point."""
    cell = at_edge(harmful, sum_off=1e-6)
    slack = 1e-6 + (cell.bandwidth * cell.harmful[0, 0] / 2 if harmful else 0)
    sign, part = (-1, 3) if harmful else (1, 2)
    assert equation_16([cell]).parts[part].kept is True
    size = 1e-10 * (1 + (cell.harmful_sum if harmful else cell.helpful_sum)[0, 0])
    for share, kept in ((0.5, True), (2.0, False)):
        assert equation_16([cell], more=sign * (slack + share * size)).parts[part].kept is kept
        beyond_it = at_edge(harmful, sum_off=1e-6, after_off=slack + share * size)
        assert equation_16([beyond_it]).parts[part].kept is kept
    cases = [equation_16([at_edge(harmful, sum_off=off)]).parts[part].n_cases for off in (0.0, 1e-9, -1e-9)]
    assert cases == [cases[2] + 1, cases[2] + 1, cases[2]]


def test_five_standard_errors():
    assert lifted_units._of_sampling(np.array([1.0, 2.0, 3.0, 6.0])) == pytest.approx(5 * np.sqrt(14 / 3) / 2)


def test_growth_ends_beyond_three_fifths_of_the_goal():
    def grows(*means):
        return lifted_units._grows(np.array(means), 1.0, "").part("").kept

    assert grows(0.1, 0.5, 0.601)
    assert not grows(0.1, 0.5, 0.6)
    assert not grows(0.1, 0.7, 1.0)
    assert not grows(0.1, 0.7, 0.7)
    assert not grows(0.2, 0.1, 0.7)


@functools.cache
def below_capture():
    return run_first_steps(FirstStepSetting(points=Centres(), half_width=2000, start="below_capture"), silent)


def at_equation_14(share):
    """Σ φ of a point at so much of Eq. 14, with as many units in its window."""
    cell = below_capture()
    shape = (cell.half_width, cell.step, cell.deviation, cell.overlap, cell.radius)
    units = cell.half_width * f.window_share(*shape)
    return {"rest_harmful": with_entry((0, 1), share * f.rest_bound(*shape)), "window": with_entry((0, 1), units)}


@pytest.mark.parametrize(("excess", "kept"), [(5e-11, True), (5e-10, False)])
def test_the_room_of_the_rest(excess, kept):
    """At (h + 4.5α_0)·(units of the window) and at Eq. 14, on the centres, where Δ = r = 0."""
    cell = below_capture()
    height = cell.window[0, 1] * (cell.bandwidth + 4.5 * cell.step)
    width = cell.bandwidth + 10 * cell.step
    limit = 2 / (cell.deviation * np.sqrt(2 * np.pi)) * width**2 * cell.half_width
    for part, value in ((0, height), (1, limit)):
        moved = altered(cell, rest_harmful=with_entry((0, 1), value + excess))
        assert lemma_19([moved]).parts[part].kept is kept


def test_the_rest_is_nearly_attained():
    assert lemma_19([below_capture()]).parts[0].tightness == pytest.approx(0.876, abs=1e-3)


def test_equation_14_is_asked_where_part_6_holds():
    """One unit more in the window, and it is not."""
    cell = below_capture()
    units = np.floor(
        cell.half_width * f.window_share(cell.half_width, cell.step, cell.deviation, cell.overlap, cell.radius)
    )
    windows = [altered(cell, window=with_entry((0, 1), units + more)) for more in (0, 1)]
    cases = [lemma_19([each]).parts[1].n_cases for each in windows]
    assert cases[0] == cases[1] + 1


def test_quick_settings_have_the_constructions():
    assert step_settings(Scale.QUICK, 0)[-1].start == "attained"
    assert rest_settings(Scale.QUICK, 0)[-1].start == "below_capture"


def test_a_readers_data():
    corners = np.array([(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]) / np.sqrt(2)
    settings = equation_11.on(UserData(from_arrays(corners, np.array([1.0, 1, -1, -1])))).settings
    cells = [run_first_steps(setting, silent) for setting in settings]
    assert [claim(cells).verdict for claim in (equation_11, equation_16, lemma_19)] == [Verdict.HOLDS] * 3


def ten(**changes):
    return at(functools.partial(centres, n_runs=10), **changes)


def at_edges(harmful, share):
    """So many of its tolerances beyond the promise, at a point inside part 1 of Lemma 15."""
    cell = at_edge(harmful, sum_off=1e-3)
    size = 1e-10 * (1 + (cell.harmful_sum if harmful else cell.helpful_sum)[0, 0])
    return at(at_edge(harmful, 1e-3, share * size))


def with_chi(harmful, share):
    """The same of the sums with pχ."""
    cell = at_edge(harmful, sum_off=1e-6)
    slack = 1e-6 + (cell.bandwidth * cell.harmful[0, 0] / 2 if harmful else 0)
    size = 1e-10 * (1 + (cell.harmful_sum if harmful else cell.helpful_sum)[0, 0])
    return at(cell, more=(-1 if harmful else 1) * (slack + share * size))


def rest(factor):
    return {"rest_harmful": lambda values: factor * values}


ONE_CLUSTER = {"radius": 0.02, "products": with_entry((0, 1), 0.96)}
APART = {"radius": 0.02, "products": with_entry((0, 1), 0.96 - 1e-11)}
test_control = controls(
    lifted_units,
    {equation_11: captured_units, equation_16: clusters, lemma_19: below_capture},
    (equation_11, "shift", {}, {"most": 0.999}),
    (equation_11, "captured", {}, {"least": 3.001}),
    (equation_11, "straight", {"bent": np.array([[5e-11]])}, {"bent": np.array([[5e-10]])}),
    (equation_16, "rises", ten(), ten(own=1.5)),
    (equation_16, "rises", at_edges(False, 0.999), at_edges(False, 1.001)),
    (equation_16, "falls", ten(), ten(harmful_own=1.5)),
    (equation_16, "falls", at_edges(True, 0.999), at_edges(True, 1.001)),
    (equation_16, "helpful", ten(), ten(more=2.0)),
    (equation_16, "helpful", with_chi(False, 0.5), with_chi(False, 2.0)),
    (equation_16, "harmful", ten(), ten(more=-2.0)),
    (equation_16, "harmful", with_chi(True, 0.5), with_chi(True, 2.0)),
    (equation_16, "one_cluster", ONE_CLUSTER, APART),
    (lemma_19, "per_unit", rest(1.14), rest(1.142)),
    (lemma_19, "equation_14", {}, at_equation_14(1 + 1e-9), "per_unit"),
    (
        lemma_19,
        "opposite",
        {"products": with_entry((0, 2), 0.5)},
        {"products": with_entry((0, 2), 0.5 + 1e-11)},
    ),
    but=(lemma_18, lemma_18_as_printed, equations_17_18),
)
