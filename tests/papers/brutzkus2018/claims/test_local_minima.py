"""Section 7.1: bad local minima of the ReLU loss, and the sets on which they are no worse than one half."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.controls import breaks_part, broken_in, every_part_of, hypothesis_edges, lacking_in, part_edges, spares
from tests.papers.brutzkus2018.minima import altered, placed
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import local_minima
from widenet.papers.brutzkus2018.claims.local_minima import (
    lemma_11,
    lemma_11_as_printed,
    pair_cells,
    relu_local_minimum_level,
    theorem_8,
    theorem_8_as_printed,
    theorem_8_tight,
)
from widenet.papers.brutzkus2018.runs.descent import Descent
from widenet.papers.brutzkus2018.runs.point_sets import (
    PointSet,
    antipodal_pair,
    antipodal_set,
    nearly_antipodal_pair,
    separable_set,
)


def sets_of_all_kinds():
    draw = np.random.default_rng(1)
    general = [separable_set(draw, n, dim) for n, dim in ((2, 2), (20, 5), (51, 2))]
    return [*general, nearly_antipodal_pair(1e-4), antipodal_pair(), antipodal_set(draw, 3, 2)]


PLACED = placed(sets_of_all_kinds(), [1, 2, 3, 4, 1, 2], perturbations=5)
SETS = PLACED[0]
COUNTED = np.array([2, 20, 51, 2, 2, 6])
HALF, MORE, NO_MORE = (
    "at least half",
    "more than half unless direction-antipodal",
    "no more than half if direction-antipodal",
)


def one(name, place, value):
    """One entry of a column."""
    column = getattr(SETS, name).astype(type(value)) if name != "behind" else SETS.behind.copy()
    column[place] = value
    return {name: column}


def eleven(**columns):
    """These columns in one record of three."""
    return lemma_11([SETS, *altered(PLACED, **columns), SETS])


def eight(slope=0.0, **columns):
    return theorem_8([SETS, *altered(PLACED, slope=slope, **columns), SETS])


def behind(place, number):
    """So many points behind ŵ, the loss to match, and no vector with more of them."""
    most = np.where(np.arange(6) == place, number, SETS.most_behind)
    return one("behind", place, number) | one("level", place, number / COUNTED[place]) | {"most_behind": most}


def antipodal_twenty(most):
    """The set of twenty points as if it were direction-antipodal, with so many behind some ŵ."""
    return behind(1, 10) | one("imbalance", 1, 0) | {"most_behind": np.where(np.arange(6) == 1, most, SETS.most_behind)}


@pytest.mark.parametrize("judged", [lambda **columns: eleven(**columns), lambda **columns: eight(**columns)])
def test_where_counting_allows_more_than_half_nothing_is_decided(judged):
    """Eleven of twenty points may lie behind some ŵ, and this one has ten."""
    most = {"most_behind": np.where(np.arange(6) == 1, 11, SETS.most_behind)}
    kept = {part.name: part.kept for part in judged(**behind(1, 10) | most).parts}
    assert kept[MORE] is None


def test_the_sets_are_of_all_kinds():
    assert SETS.n_samples.tolist() == COUNTED.tolist()
    assert (SETS.imbalance == 0).tolist() == [False, False, False, False, True, True]


test_control_each_part_of_lemma_11 = part_edges(
    lemma_11,
    eleven,
    {
        HALF: ({}, one("behind", 5, 2)),
        MORE: (behind(1, 11), behind(1, 10)),
        NO_MORE: (antipodal_twenty(10), antipodal_twenty(11)),
        "|⟨ŵ, x⟩| > a > 0": (one("nearest", 2, 1e-300), one("nearest", 2, 0.0)),
    },
)
test_control_each_part_of_theorem_8 = part_edges(
    theorem_8,
    eight,
    {
        HALF: ({}, one("behind", 5, 2) | one("level", 5, 2 / 6)),
        MORE: (behind(1, 11), behind(1, 10)),
        NO_MORE: (antipodal_twenty(10), antipodal_twenty(11)),
        "the loss is the share of points behind ŵ": (
            one("level", 2, SETS.level[2] + 1e-13),
            one("level", 2, SETS.level[2] + 5e-12),
        ),
        "gradient 0": ({}, one("gradient", 2, 1e-300)),
        "a ball around W": (one("radius", 2, 1e-300), one("radius", 2, 0.0)),
        "the loss is constant in the ball": ({}, one("changed", 2, 1)),
    },
)


def test_the_share_behind_is_met_from_both_sides():
    low = one("level", 2, SETS.level[2] - 5e-12)
    assert broken_in(eight(**low)) == ["the loss is the share of points behind ŵ"]  # pyright: ignore[reportArgumentType]


OF_A_SET = {
    "separable": (one("smallest_margin", 1, 1.0), one("smallest_margin", 1, 1 - 5e-12)),
    "input_norm": (one("largest_norm", 1, 1.0), one("largest_norm", 1, 1 + 5e-12)),
}
test_control_hypotheses_of_lemma_11 = hypothesis_edges(lemma_11, eleven, **OF_A_SET)
test_control_hypotheses_of_theorem_8 = hypothesis_edges(
    theorem_8, eight, **OF_A_SET, relu=({"slope": 0.0}, {"slope": 1e-9})
)


@spares(lemma_11_as_printed)
def test_one_more_point_spares_lemma_11():
    return lemma_11_as_printed(placed([PAIR_AND_ONE]))


@spares(theorem_8_as_printed)
def test_one_more_point_spares_theorem_8():
    return theorem_8_as_printed(placed([PAIR_AND_ONE]))


PAIR_AND_ONE = PointSet(
    np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.5]]), np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0])
)


def by_hand(*margins, ended=True, any_on=False, gradient=0.0, smallest_margin=1.0, largest_norm=1.0, imbalance=1):
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
        each(largest_norm, float),
        each(imbalance, int),
        1,
    )


LEVEL, ALL_OFF, SILENT, FLAT = (
    "n·L_S is the number of points with yN < 1",
    "every neuron is off at these points",
    "N = 0 at these points",
    "gradient exactly 0 at the end",
)
STUCK, SOLVED = (0.0, 0.0, 2.0), (1.0, 1.5, 2.0)


def levels(*extra, **fields):
    """Two stuck points of three, a solved run, and perhaps another."""
    return relu_local_minimum_level([by_hand(STUCK, SOLVED, *extra, **fields)])


ON = np.zeros((2, 3), bool)
ON[0, 0] = True
ON_ELSEWHERE = np.zeros((2, 3), bool)
ON_ELSEWHERE[0, 2] = ON_ELSEWHERE[1, 0] = True
test_control_each_part_of_the_levels = part_edges(
    relu_local_minimum_level,
    levels,
    {
        ALL_OFF: ({"any_on": ON_ELSEWHERE}, {"any_on": ON}),
        FLAT: ({}, {"gradient": [0.0, 1e-300]}),
    },
)


@breaks_part(relu_local_minimum_level, SILENT)
def test_control_outputs_that_cancel():
    return levels(), levels((1e-9, -1e-9, 2.0))


@breaks_part(relu_local_minimum_level, LEVEL, also=(SILENT,))
def test_control_a_level_between_the_integers():
    """A level is off only where some N is not 0."""
    return levels(), levels((0.01, 0.0, 2.0))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_level_is_known_to_a_billionth(sign):
    assert broken_in(levels((sign * 1e-10, 0.0, 2.0))) == [SILENT]
    assert broken_in(levels((sign * 5e-9, 0.0, 2.0))) == [LEVEL, SILENT]


test_control_hypotheses_of_the_levels = hypothesis_edges(
    relu_local_minimum_level,
    levels,
    separable=({"smallest_margin": [1.0, 1.0]}, {"smallest_margin": [1.0, 1 - 5e-12]}),
    input_norm=({"largest_norm": [1.0, 1.0]}, {"largest_norm": [1.0, 1 + 5e-12]}),
)


def test_runs_that_have_not_ended_are_not_looked_at():
    climbing = (0.3, -0.4, 0.9)
    on = np.array([[False], [False], [True]])
    cut_off = levels(climbing, ended=[True, True, False], gradient=[0.0, 0.0, 5.0], any_on=on)
    assert cut_off.verdict is Verdict.HOLDS
    assert levels(climbing, ended=True).verdict is Verdict.VIOLATED
    assert relu_local_minimum_level([by_hand(SOLVED)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_a_point_that_is_nearly_solved_is_active():
    assert broken_in(levels((1 - 1e-6, 1.0, 2.0))) == [LEVEL, SILENT]


BUILT = placed([antipodal_pair(), antipodal_set(np.random.default_rng(0), 2, 2)], perturbations=5)
AT_MOST_HALF, ATTAINED, CELLS, PAIR = (
    "L_S ≤ ½ at every local minimum",
    "½ is attained",
    "L_S ≤ ½ in every cell of one pair",
    "0 or ½ on one pair",
)


def tight(*ends, built=BUILT, cells=None, **fields):
    """Ends on one pair: one at ½, one at 0, and perhaps others."""
    run = by_hand((0.0, 2.0), (1.0, 1.0), *ends, **{"imbalance": 0} | fields)  # pyright: ignore[reportArgumentType]
    return theorem_8_tight([run], built, cells_of_a_pair=cells)


def tight_on_two_pairs(*ends, **fields):
    """The same on four points."""
    run = by_hand((0.0, 0.0, 2.0, 2.0), *ends, imbalance=0, **fields)
    return theorem_8_tight([run], BUILT)


@breaks_part(theorem_8_tight, AT_MOST_HALF)
def test_control_a_local_minimum_above_one_half():
    return tight_on_two_pairs((0.0, 0.0, 1.0, 1.0)), tight_on_two_pairs((0.0, 0.0, 1 - 2e-8, 1.0))


@breaks_part(theorem_8_tight, ATTAINED)
def test_control_one_half_is_not_attained():
    inside, outside = (altered(BUILT, level=np.array([0.0, level])) for level in (0.5 - 1e-10, 0.5 - 5e-9))
    solved = by_hand((1.0, 1.0), imbalance=0)
    return theorem_8_tight([solved], inside), theorem_8_tight([solved], outside)


@breaks_part(theorem_8_tight, PAIR)
def test_control_a_level_between_0_and_one_half():
    return tight((1 - 1e-10, 1.0)), tight((0.5, 1.0))


def test_pairs_are_looked_at_beside_larger_sets():
    run = by_hand((0.0, 2.0), (1.0, 1.0), (0.5, 1.0), imbalance=0)
    mixed = dataclasses.replace(run, n_samples=np.array([2, 2, 4]))
    (pair,) = (part for part in theorem_8_tight([mixed], BUILT).parts if part.name == PAIR)
    assert (pair.kept, pair.cases) == (True, 2)


@breaks_part(theorem_8_tight, FLAT)
def test_control_an_end_that_would_still_move():
    return tight(), tight(gradient=[1e-300, 0.0])


@breaks_part(theorem_8_tight, CELLS)
def test_control_a_cell_above_one_half():
    cells = pair_cells()
    higher = dataclasses.replace(cells, largest_loss=Fraction(51, 100))
    return tight(), tight(cells=lambda: higher)


test_control_hypotheses_of_tightness = hypothesis_edges(
    theorem_8_tight,
    tight,
    separable=({"smallest_margin": [1.0, 1.0]}, {"smallest_margin": [1.0, 1 - 5e-12]}),
    input_norm=({"largest_norm": [1.0, 1.0]}, {"largest_norm": [1.0, 1 + 5e-12]}),
    antipodal=({}, {"imbalance": [0, 1]}),
)


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


test_every_part_has_a_control = every_part_of(local_minima)
