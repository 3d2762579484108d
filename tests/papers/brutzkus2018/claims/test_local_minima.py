"""Section 7.1: bad local minima of the ReLU loss, and the sets on which they are no worse than one half."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, spared
from tests.controls import lacking_in
from tests.papers.brutzkus2018.minima import altered, placed
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import local_minima
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
from widenet.papers.brutzkus2018.runs.bad_minima import pair_cells
from widenet.papers.brutzkus2018.runs.descent import Descent


def sets_of_all_kinds():
    draw = np.random.default_rng(1)
    general = [separable_set(draw, n, dim) for n, dim in ((2, 2), (20, 5), (51, 2))]
    return [*general, nearly_antipodal_pair(1e-4), antipodal_pair(), antipodal_set(draw, 3, 2)]


PLACED = placed(sets_of_all_kinds(), [1, 2, 3, 4, 1, 2], perturbations=5)
SETS = PLACED[0]
COUNTED = np.array([2, 20, 51, 2, 2, 6])


def one(name, place, value):
    """One entry of a column."""
    column = getattr(SETS, name).astype(type(value)) if name != "behind" else SETS.behind.copy()
    column[place] = value
    return {name: column}


def behind(place, number):
    """So many points behind ŵ, the loss to match, and no vector with more of them."""
    most = np.where(np.arange(6) == place, number, SETS.most_behind)
    return one("behind", place, number) | one("level", place, number / COUNTED[place]) | {"most_behind": most}


def antipodal_twenty(most):
    """The set of twenty points as if it were direction-antipodal, with so many behind some ŵ."""
    return behind(1, 10) | one("imbalance", 1, 0) | {"most_behind": np.where(np.arange(6) == 1, most, SETS.most_behind)}


@pytest.mark.parametrize("claim", [lemma_11, theorem_8])
def test_where_counting_allows_more_than_half_nothing_is_decided(claim):
    """Eleven of twenty points may lie behind some ŵ, and this one has ten."""
    most = {"most_behind": np.where(np.arange(6) == 1, 11, SETS.most_behind)}
    kept = {part.key: part.kept for part in claim(altered(PLACED, **behind(1, 10) | most)).parts}
    assert kept["more"] is None


def test_the_sets_are_of_all_kinds():
    assert SETS.n_samples.tolist() == COUNTED.tolist()
    assert (SETS.imbalance == 0).tolist() == [False, False, False, False, True, True]


PAIR_AND_ONE = PointSet(
    np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.5]]), np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0])
)


def by_hand(*margins, ended=True, any_on=False, gradient=0.0, smallest_margin=1.0, largest_input=1.0, imbalance=1):
    """Ends of runs, written down: rows of margins, all of equally many points."""
    rows = np.array(margins, float)
    runs, points = rows.shape

    def each(value, kind):
        return np.broadcast_to(np.asarray(value, kind), runs).copy()

    return Descent(
        rows,
        np.broadcast_to(np.asarray(any_on, bool), rows.shape).copy(),
        each(points, int),
        each(2, int),
        each(ended, bool),
        each(gradient, float),
        each(smallest_margin, float),
        each(largest_input, float),
        each(imbalance, int),
        1,
    )


STUCK, SOLVED = (0.0, 0.0, 2.0), (1.0, 1.5, 2.0)


def levels(*extra, **fields):
    """Two stuck points of three, a solved run, and perhaps another."""
    return relu_local_minimum_level([by_hand(STUCK, SOLVED, *extra, **fields)])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_level_is_known_to_a_billionth(sign):
    assert broken_in(levels((sign * 1e-10, 0.0, 2.0))) == ["silent"]
    assert broken_in(levels((sign * 5e-9, 0.0, 2.0))) == ["level", "silent"]


def test_runs_that_have_not_ended_are_not_looked_at():
    climbing = (0.3, -0.4, 0.9)
    on = np.array([[False], [False], [True]])
    cut_off = levels(climbing, ended=[True, True, False], gradient=[0.0, 0.0, 5.0], any_on=on)
    assert cut_off.verdict is Verdict.HOLDS
    assert levels(climbing, ended=True).verdict is Verdict.VIOLATED
    assert relu_local_minimum_level([by_hand(SOLVED)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_a_point_at_margin_1_is_not_active():
    on = np.arange(9).reshape(3, 3) == 8
    assert levels((0.0, 0.0, 1.0), any_on=on).verdict is Verdict.HOLDS


def test_a_point_that_is_nearly_solved_is_active():
    assert broken_in(levels((1 - 1e-6, 1.0, 2.0))) == ["level", "silent"]


BUILT = placed([antipodal_pair(), antipodal_set(np.random.default_rng(0), 2, 2)], perturbations=5)


def tight(*ends, built=BUILT, **fields):
    """Ends on one pair: one at ½, one at 0, and perhaps others."""
    run = by_hand((0.0, 2.0), (1.0, 1.0), *ends, **{"imbalance": 0} | fields)  # pyright: ignore[reportArgumentType]
    return theorem_8_tight([run], built)


def test_pairs_are_looked_at_beside_larger_sets():
    run = by_hand((0.0, 2.0), (1.0, 1.0), (0.5, 1.0), imbalance=0)
    mixed = dataclasses.replace(run, n_samples=np.array([2, 2, 4]))
    (pair,) = (part for part in theorem_8_tight([mixed], BUILT).parts if part.key == "pair")
    assert (pair.kept, pair.n_cases) == (True, 2)


def test_sets_that_are_built_on_must_be_antipodal_too():
    assert lacking_in(tight(built=altered(BUILT, imbalance=np.array([0, 1])))) == ["antipodal"]


@pytest.mark.parametrize(
    "change", [{"resolved": np.zeros(2, bool)}, {"gradient": np.full(2, 1e-12)}, {"changed": np.ones(2, int)}]
)
def test_a_place_that_is_no_local_minimum_is_not_looked_at(change):
    """Neither for what is above ½ nor for what attains it."""
    high = altered(BUILT, level=np.array([0.9, 0.9]), **change)
    assert tight(built=high).verdict is Verdict.HOLDS
    nowhere = theorem_8_tight([by_hand((0.5, 1.0), imbalance=0, ended=False)], high)
    assert nowhere.conclusion is None


def test_an_end_that_has_not_ended_is_not_looked_at():
    cut_off = tight((0.5, 0.1), ended=[True, True, False], gradient=[0.0, 0.0, 3.0])
    assert cut_off.verdict is Verdict.HOLDS
    assert cut_off.details["levels"] == {"0": 1, "0.5": 3}


def test_what_holds_anyway_is_vacuous():
    """A loss is at most 1 at these points and at least 0."""
    parts = {part.name: part.vacuous for part in tight().parts}
    assert not any(parts.values())


ON = np.zeros((2, 3), bool)
ON[0, 0] = True
ON_ELSEWHERE = np.zeros((2, 3), bool)
ON_ELSEWHERE[0, 2] = ON_ELSEWHERE[1, 0] = True
ENDS = by_hand(STUCK, SOLVED)


def another(*margins):
    """One more end."""
    return at(by_hand(STUCK, SOLVED, margins))


def on_one_pair(*ends, built=BUILT, **changes):
    """Ends on one pair: one at ½, one at 0, and perhaps others."""
    return at((by_hand((0.0, 2.0), (1.0, 1.0), *ends, imbalance=0), built), **changes)


def on_two_pairs(*ends):
    return at((by_hand((0.0, 0.0, 2.0, 2.0), *ends, imbalance=0), BUILT))


def attaining(level):
    """Descent ends at 0, and a network was placed at this level."""
    return at((by_hand((1.0, 1.0), imbalance=0), altered(BUILT, level=np.array([0.0, level]))))


def cells_of(loss):
    return on_one_pair(cells_of_a_pair=lambda: dataclasses.replace(pair_cells(), largest_loss=loss))


def with_level(away):
    return one("level", 2, SETS.level[2] + away)


LEVELS, TIGHT, PRINTED_11, PRINTED_8 = (
    relu_local_minimum_level,
    theorem_8_tight,
    lemma_11_as_printed,
    theorem_8_as_printed,
)
PAIR = at(placed([antipodal_pair()]))
test_control = controls(
    local_minima,
    {
        TIGHT: (by_hand((0.0, 2.0), (1.0, 1.0), imbalance=0), BUILT),
        PRINTED_11: placed([PAIR_AND_ONE]),
        PRINTED_8: placed([PAIR_AND_ONE]),
        local_minima.Placed: PLACED,
        local_minima.Ends: ENDS,
    },
    (theorem_8, "gradient"),
    (theorem_8, "ball"),
    (PRINTED_8, "level"),
    (PRINTED_8, "gradient"),
    (PRINTED_8, "ball"),
    (TIGHT, "gradient"),
    (lemma_11, "nearest"),
    (PRINTED_11, "nearest"),
    (LEVELS, "gradient"),
    (lemma_11, "half", {}, one("behind", 5, 2)),
    *((claim, "more", behind(1, 11), behind(1, 10)) for claim in (lemma_11, theorem_8)),
    *((claim, "no_more", antipodal_twenty(10), antipodal_twenty(11)) for claim in (lemma_11, theorem_8)),
    (PRINTED_11, "more", {}, PAIR),
    (PRINTED_8, "more", {}, PAIR),
    (theorem_8, "half", {}, one("behind", 5, 2) | one("level", 5, 2 / 6)),
    (theorem_8, "level", with_level(1e-13), with_level(5e-12)),
    (theorem_8, "level", {}, with_level(-5e-12)),
    (theorem_8, "constant", {}, one("changed", 2, 1)),
    (PRINTED_8, "constant", {}, {"changed": np.array([1])}),
    (LEVELS, "all_off", {"any_on": ON_ELSEWHERE}, {"any_on": ON}),
    (LEVELS, "silent", {}, another(1e-9, -1e-9, 2.0)),
    # A level is off only where some N is not 0.
    (LEVELS, "level", {}, another(0.01, 0.0, 2.0), "silent"),
    (LEVELS, "level", {}, another(-5e-9, 0.0, 2.0), "silent"),
    (LEVELS, "level", {}, another(5e-9, 0.0, 2.0), "silent"),
    (TIGHT, "at_most_half", on_two_pairs((0.0, 0.0, 1.0, 1.0)), on_two_pairs((0.0, 0.0, 1 - 2e-8, 1.0))),
    (TIGHT, "attained", attaining(0.5 - 1e-10), attaining(0.5 - 5e-9)),
    (TIGHT, "pair", on_one_pair((1 - 1e-10, 1.0)), on_one_pair((0.5, 1.0))),
    (TIGHT, "cells", cells_of(Fraction(1, 2)), cells_of(Fraction(1, 2) + Fraction(1, 10**15))),
    (TIGHT, "antipodal", {}, {"imbalance": np.array([0, 1])}),
)


def test_one_more_point_spares_both_as_printed():
    spared(lemma_11_as_printed, at(placed([PAIR_AND_ONE])))
    spared(theorem_8_as_printed, at(placed([PAIR_AND_ONE])))
