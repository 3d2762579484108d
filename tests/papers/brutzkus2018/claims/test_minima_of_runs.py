"""Section 7.1 on sets and descents that were run: what holds, and what a wrong reading of them breaks."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import broken_in
from tests.controls import lacking_in
from tests.papers.brutzkus2018.minima import altered, placed
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.local_minima import (
    lemma_11,
    lemma_11_as_printed,
    relu_local_minimum_level,
    theorem_8,
    theorem_8_as_printed,
    theorem_8_tight,
)
from widenet.papers.brutzkus2018.relu_sources import (
    PointSet,
    antipodal_pair,
    antipodal_set,
    nearly_antipodal_pair,
    separable_set,
)
from widenet.papers.brutzkus2018.runs.bad_minima import antipodal_sets, pair_cells, pair_loss
from widenet.papers.brutzkus2018.runs.descent import SmallSetDescentSetting, descend, problems_of
from widenet.progress import silent
from widenet.records import Scale

THREE = PointSet(np.array([[0.8, 0.0], [0.0, 0.6], [-0.5, -0.5]]), np.array([1.0, 1.0, -1.0]), np.array([5 / 4, 5 / 3]))


def without_first(points):
    return PointSet(points.inputs[1:], points.labels[1:], points.separator)


@pytest.fixture(scope="module")
def mixed():
    """General sets, nearly antipodal ones, and antipodal ones."""
    draw = np.random.default_rng(1)
    sets = [separable_set(draw, n, dim) for n in (1, 2, 20, 51) for dim in (2, 5)]
    sets += [nearly_antipodal_pair(1e-4), antipodal_pair(), antipodal_set(draw, 3, 2)]
    return placed(sets, [1 + index % 4 for index in range(len(sets))], perturbations=50)


@pytest.fixture(scope="module")
def general():
    problems = problems_of(
        SmallSetDescentSetting(antipodal=False, n_problems=80, largest_half_width=2, max_steps=0, seed=2)
    )
    return problems, [descend(problems, silent, max_steps=20_000)]


@pytest.fixture(scope="module")
def antipodal():
    problems = problems_of(
        SmallSetDescentSetting(antipodal=True, n_problems=60, largest_half_width=3, max_steps=0, seed=2)
    )
    built = placed([points for points, _ in problems], perturbations=5)
    return problems, [descend(problems, silent)], built


@pytest.mark.parametrize("claim", [lemma_11, theorem_8])
def test_it_holds(claim, mixed):
    evidence = claim(mixed)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == 1
    assert len(evidence.parts) > 3


def test_the_levels_hold(general):
    evidence = relu_local_minimum_level(general[1])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == 1
    assert evidence.details["ends_at_positive_loss"] > 10


def test_theorem_8_is_tight_on_antipodal_sets(antipodal):
    evidence = theorem_8_tight(*antipodal[1:])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == 1
    assert set(evidence.details["levels"]) <= {"0", "0.166667", "0.25", "0.333333", "0.5"}


@pytest.mark.parametrize("claim", [lemma_11_as_printed, theorem_8_as_printed])
def test_the_printed_statement_is_violated_on_the_pair(claim):
    (experiment,) = claim.reads
    evidence = claim([experiment.run(setting, silent) for setting in experiment.settings(Scale.QUICK, 0)])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["more"]
    assert "S = {((1, 0), +1), ((-1, 0), -1)}" in evidence.note
    larger = PointSet(np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.5]]), np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0]))
    assert claim(placed([larger])).verdict is Verdict.HOLDS


def test_the_pair_in_every_cell_of_the_weight_space():
    """Where the loss of the pair does not fall along the separator it is at most ½, in exact arithmetic."""
    cells = pair_cells()
    assert cells.visited == 169
    assert cells.flat == 45
    assert cells.largest_loss == Fraction(1, 2)


@pytest.mark.parametrize(
    ("w", "u", "loss"),
    [("0", "0", "1"), ("1/2", "0", "3/4"), ("-1", "-1/2", "5/4"), ("1", "0", "1/2"), ("1", "-1", "0"),
     ("2", "1", "1/2"), ("1/2", "2", "7/4"), ("-2", "1/2", "9/4"), ("0", "-1/2", "3/4"), ("3", "-3", "0")],
)  # fmt: skip
def test_the_loss_of_the_pair(w, u, loss):
    """½(max{0, 1 − N(1)} + max{0, 1 + N(−1)}), by hand."""
    assert pair_loss(Fraction(w), Fraction(u)) == Fraction(loss)


def test_control_lemma_11_strict_on_antipodal_sets():
    sets = [antipodal_set(np.random.default_rng(0), pairs, 3) for pairs in (1, 2, 4)]
    assert lemma_11(placed(sets)).verdict is Verdict.HOLDS
    evidence = lemma_11(placed(sets), always_strict=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert "3 of 3 sets" in evidence.note
    assert lemma_11(placed([without_first(s) for s in sets]), always_strict=True).verdict is Verdict.HOLDS


def test_a_vector_that_was_not_found_decides_nothing(mixed):
    """Half of the points behind ŵ on a set where more than half is possible."""
    half = np.where(mixed[0].n_samples == 20, 10, mixed[0].behind)
    evidence = lemma_11(altered(mixed, behind=half))
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    impossible = altered(mixed, behind=half, most_behind=half)
    assert "more" in broken_in(lemma_11(impossible))


def test_control_theorem_8_just_outside_its_ball():
    """Past the radius the nearest neuron switches on, and the loss changes."""
    draw = np.random.default_rng(1)
    sets = [separable_set(draw, 20, 5) for _ in range(4)]
    assert theorem_8(placed(sets, [4] * 4)).verdict is Verdict.HOLDS
    evidence = theorem_8(placed(sets, [4] * 4, radius_factor=1.01))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["constant"]


def test_control_theorem_8_leaky_relu_has_no_such_minimum():
    evidence = theorem_8(placed([separable_set(np.random.default_rng(2), 20, 5)], slope=0.1))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert lacking_in(evidence) == ["relu"]
    assert evidence.conclusion is False


def test_control_theorem_8_without_a_separator():
    pair = antipodal_pair()
    wrong = PointSet(pair.inputs, pair.labels, -pair.separator)
    evidence = theorem_8(placed([wrong]))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert lacking_in(evidence) == ["separable"]
    assert evidence.conclusion is False


def test_control_theorem_8_placed_by_the_opposite_vector():
    """−ŵ on three points: only one of them is behind it."""
    wrong = altered(placed([THREE]), behind=np.array([1]), level=np.array([1 / 3]), most_behind=np.array([1]))
    assert "half" in broken_in(theorem_8(wrong))


@pytest.mark.parametrize("claim", [lemma_11, theorem_8])
def test_what_rounding_decides_is_left_open(claim, mixed):
    lost = altered(mixed, resolved=np.zeros(len(mixed[0].resolved), bool))
    assert claim(lost).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_level_of_runs_stopped_early(general):
    problems, _ = general
    early = descend(problems, silent, max_steps=10)
    forced = dataclasses.replace(early, ended=np.ones_like(early.ended))
    evidence = relu_local_minimum_level([forced])
    assert evidence.verdict is Verdict.VIOLATED
    assert "gradient" in broken_in(evidence)
    assert "level" in broken_in(evidence)
    assert evidence.measured is not None
    assert evidence.measured % 1 != 0


def test_control_level_of_runs_that_climb(general):
    problems, _ = general
    climbing = descend(problems, silent, step_size=-0.05, max_steps=50)
    forced = dataclasses.replace(climbing, ended=np.ones_like(climbing.ended))
    assert relu_local_minimum_level([forced]).verdict is Verdict.VIOLATED


def test_control_levels_need_separable_data():
    """(1, +) and (1, −) at w = 0.3, u = −1: the gradient is 0 and a neuron is on."""
    points = PointSet(np.ones((2, 1)), np.array([1.0, -1.0]), np.ones(1))
    evidence = relu_local_minimum_level([descend([(points, np.array([[0.3], [-1.0]]))], silent, max_steps=0)])
    assert lacking_in(evidence) == ["separable"]


def test_no_run_at_a_positive_loss_decides_nothing():
    solved = (antipodal_pair(), np.array([[5.0, 0.0], [-5.0, 0.0]]))
    assert relu_local_minimum_level([descend([solved], silent)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_tight_with_one_point_dropped(antipodal):
    dropped = [(without_first(points), weights) for points, weights in antipodal[0]]
    evidence = theorem_8_tight([descend(dropped, silent)], placed([points for points, _ in dropped], perturbations=5))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert lacking_in(evidence) == ["antipodal"]
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 0.5


def test_control_tight_needs_an_end(antipodal):
    problems, _, built = antipodal
    cut_off = descend(problems, silent, max_steps=0)
    assert theorem_8_tight([cut_off], altered(built, gradient=np.ones(len(built[0].level)))).conclusion is not True


def test_placed_sets_of_tightness_are_antipodal():
    sets = antipodal_sets(np.random.default_rng(0), 6)
    assert [len(points.labels) for points in sets] == [2, 4, 6, 2, 4, 6]
