"""What descents on points do: every step, the rank of the update, the scale of the start, and the dimension."""

import functools

import numpy as np

from tests.control_table import at, controls
from tests.papers.li2018.toys import own_toy, stretched
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import descent
from widenet.papers.li2018.claims.descent import (
    lemma_a_4,
    lemma_a_4_as_printed,
    lemma_a_4_step,
    lemma_b_4_as_printed,
    section_4_dimension_free,
    section_4_width_free,
    section_5_observation,
    section_6_rank,
    section_6_start_scale,
)
from widenet.papers.li2018.runs.descents import DescentSetting, PointDescent, run_descent
from widenet.papers.li2018.sources import TOY, SpreadPoints
from widenet.progress import silent

SMALL = {"scaled_step": 8.0, "n_steps": 220}


@functools.cache
def fine():
    return run_descent(DescentSetting(data=TOY, width=100, scaled_step=0.05, n_steps=20), silent)


def test_real_descents_hold():
    assert lemma_a_4_step([fine()]).verdict is Verdict.HOLDS
    assert section_6_rank([fine()]).verdict is Verdict.HOLDS
    assert fine().rank == 6


def test_control_an_ascent():
    assert lemma_a_4_step([altered(fine(), losses=fine().losses[::-1])]).conclusion is False
    assert lemma_a_4_step([fine()], share=1.05).conclusion is False


def test_steps_with_a_changed_pattern_are_not_judged():
    moved = altered(fine(), still=np.zeros_like(fine().still))
    assert lemma_a_4_step([moved]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@functools.cache
def scaled():
    made = stretched(fine(), 201)
    return [
        altered(made, start_scale=size, flips=np.full(201, value), distances=np.full(201, value))
        for size, value in ((0.1, 0.2), (1.0, 0.03), (10.0, 0.006))
    ]


@functools.cache
def dimensions(size=(0, 5, 5)):
    settings = [
        DescentSetting(data=SpreadPoints(padding=padding), width=60, seed=later + number, **SMALL)
        for padding, later in zip(size, (0, 0, 100), strict=True)
        for number in range(4)
    ]
    return [run_descent(setting, silent) for setting in settings]


def test_a_run_of_another_dimension_that_never_gets_there_decides_nothing():
    cells = list(dimensions())
    cells[9] = altered(cells[9], residuals=lambda v: v + 1)
    assert section_4_dimension_free(cells).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_they_speak_about_three_classes():
    own = own_toy()
    cells = [run_descent(setting, silent) for setting in lemma_a_4_step.on(own).settings]
    assert lemma_a_4_step(cells).verdict is Verdict.HOLDS
    assert section_6_rank(cells).verdict is Verdict.HOLDS


def test_the_curvature_of_the_drop():
    """With η‖A‖² = 1 three quarters are promised."""
    cell = altered(fine(), step_size=0.25, vote_norm=2.0, still=np.ones(21), squares=np.full(21, 4.0))
    for drop, kept in ((0.7501, True), (0.7499, False)):
        assert lemma_a_4_step([altered(cell, losses=20 - drop * np.arange(21))]).conclusion is kept


def test_the_level_of_the_law_is_a_thousandth():
    assert section_4_dimension_free(dimensions()).parts[1].promised == 0.001
    cells = list(dimensions())
    for place in range(8, 12):
        cells[place] = altered(cells[place], residuals=lambda v: 0 * v)
    p_value = section_4_dimension_free(cells).details["p-value"]
    assert section_4_dimension_free(cells, level=0.99 * p_value).conclusion is True
    assert section_4_dimension_free(cells, level=1.01 * p_value).conclusion is False


def test_the_step_size_may_be_two_over_the_curvature():
    for norm, met in ((2.0, True), (2.01, False)):
        cell = altered(fine(), step_size=0.5, vote_norm=norm)
        assert lemma_a_4_step([cell]).hypotheses[-1].met is met
    assert lemma_a_4_step([altered(fine(), step_size=0.05, vote_norm=6.2)]).hypotheses[-1].met is True


def test_rounding_of_the_loss_is_no_drop():
    """Where the gradient vanishes the loss may rise by 1e-14 of itself: 45 units in the last place of 1."""
    unit = 2.0**-52
    for units, kept in ((43, True), (47, False)):
        losses = np.array([1.0, 1.0 + units * unit])
        cell = altered(stretched(fine(), 2), losses=losses, squares=np.zeros(2), still=np.array([1.0, np.nan]))
        assert lemma_a_4_step([cell]).conclusion is kept
    for miss, kept in ((5e-10, True), (5e-9, False)):
        cell = altered(fine(), step_size=0.25, vote_norm=2.0, still=np.ones(21), squares=np.full(21, 4.0))
        losses = 20 - 0.75 * (1 - miss / 0.75) * np.arange(21)
        assert lemma_a_4_step([altered(cell, losses=losses)]).conclusion is kept


def test_the_rank_at_its_edges():
    for n_components, data_rank, rank, kept in (
        (6, 5, 6, False),
        (5, 6, 6, False),
        (5, 6, 5, True),
        (20, 30, 21, False),
    ):
        cell = altered(fine(), n_components=n_components, data_rank=data_rank, rank=rank)
        assert section_6_rank([cell]).parts[0].kept is kept
    for excess, kept in ((3.95e-10, True), (4.05e-10, False)):
        cell = altered(fine(), update_norm=3.0, spectrum_shift=3.0 + excess)
        assert section_6_rank([cell]).parts[1].kept is kept


def test_equal_or_slightly_larger_is_no_fall():
    for name in ("flips", "distances"):
        for factor, kept in ((0.999, True), (1.0, False), (1.05, False)):
            one, two, three = scaled()
            values = np.full(201, factor * getattr(one, name)[0])
            low = np.minimum(getattr(three, name), 0.9 * values)
            found = section_6_start_scale([one, altered(two, **{name: values}), altered(three, **{name: low})])
            assert found.conclusion is kept


def test_residuals_of_the_same_weights_differ_by_rounding_only():
    for place in (0, 7, -1):
        for gap, kept in ((5e-11, True), (5e-10, False)):
            cells = list(dimensions())
            changed_ = cells[5].residuals.copy()
            changed_[place] = cells[1].residuals[place] + gap
            cells[5] = altered(cells[5], residuals=changed_)
            assert section_4_dimension_free(cells).parts[0].kept is kept


def slower():
    """One step drops two percent less."""
    place = int(np.flatnonzero(fine().still[:-1] > 0)[0])
    return fine().losses + 0.02 * fine().step_size * fine().squares[place] * (np.arange(21) > place)


def half_scaled(norm):
    """η‖A‖² = norm²/2."""
    return at(fine, step_size=0.5, vote_norm=norm)


def values(name, *levels):
    """This quantity at the three scales."""
    return at([altered(cell, **{name: np.full(201, value)}) for cell, value in zip(scaled(), levels, strict=True)])


def other_residual(change):
    cells = list(dimensions())
    cells[7] = altered(cells[7], residuals=change(cells[3].residuals))
    return at(cells)


def another_law():
    return [*dimensions()[:8], *(altered(cell, residuals=lambda v: 0 * v) for cell in dimensions()[8:])]


P_VALUE = section_4_dimension_free(another_law()).details["p-value"]
FALLS = {"patterns": "flips", "distance": "distances"}
test_control = controls(
    descent,
    {section_6_start_scale: scaled, section_4_dimension_free: dimensions, PointDescent: fine},
    (section_6_rank, "rank"),
    (section_6_rank, "spectrum"),
    (lemma_a_4_step, "drop", {}, {"losses": slower()}),
    (lemma_a_4_step, "drop", {}, {"share": 1.02}),
    (lemma_a_4_step, "step_size", half_scaled(2.0), half_scaled(2.01)),
    *((section_6_start_scale, key, {}, values(name, 0.2, 0.006, 0.03)) for key, name in FALLS.items()),
    *(
        (section_6_start_scale, key, values(name, 0.2, 0.1999, 0.1), values(name, 0.2, 0.2, 0.1))
        for key, name in FALLS.items()
    ),
    (section_6_start_scale, "scales", {}, at(scaled()[:2])),
    (section_4_dimension_free, "residuals", other_residual(lambda v: v + 5e-11), other_residual(lambda v: v + 2e-10)),
    (section_4_dimension_free, "law", at(another_law, level=P_VALUE), at(another_law, level=1.001 * P_VALUE)),
    but=(section_4_width_free, section_5_observation, lemma_a_4, lemma_a_4_as_printed, lemma_b_4_as_printed),
)
