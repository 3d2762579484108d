"""What descents on points do, and trends that a changed series breaks."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges, spares
from tests.papers.li2018.toys import altered
from widenet.claims.base import Silence, Verdict
from widenet.claims.sides import Sense
from widenet.claims.specimen import Specimen
from widenet.data import from_arrays
from widenet.papers.li2018.claims import descent
from widenet.papers.li2018.claims.descent import (
    by_width,
    lemma_a_4,
    lemma_a_4_as_printed,
    lemma_a_4_step,
    rate,
    section_4_dimension_free,
    section_4_width_free,
    section_5_observation,
    section_6_rank,
    section_6_start_scale,
    steps_to,
)
from widenet.papers.li2018.runs.descents import (
    PER_STEP,
    DescentSetting,
    averaged_steps,
    dimension_settings,
    hexagon_widths,
    run_descent,
    scale_settings,
    width_settings,
)
from widenet.papers.li2018.settings import TOY, SpreadPoints
from widenet.progress import silent
from widenet.records import Scale

SMALL = {"scaled_step": 8.0, "n_steps": 220}


@functools.cache
def fine():
    return run_descent(DescentSetting(data=TOY, width=100, scaled_step=0.05, n_steps=20), silent)


def stretched(cell, length):
    """The same cell with as many steps as this."""
    return altered(cell, **{name: np.resize(getattr(cell, name), length) for name in PER_STEP})


@functools.cache
def wide():
    """Three widths, five runs each, whose numbers follow the laws exactly."""
    made = stretched(run_descent(DescentSetting(data=TOY, width=100, n_steps=3), silent), 401)
    cells = []
    for width in (500, 2000, 8000):
        for number in range(5):
            steps = averaged_steps(width)
            residuals = np.full(401, 0.001)
            residuals[1 : steps + 1] = 0.1 * (width / 500) ** -0.25
            residuals[: 100 + number] = np.maximum(residuals[: 100 + number], 0.02)
            law = np.full(401, 0.05 * (width / 500) ** -0.5)
            cells.append(altered(made, width=width, residuals=residuals, flips=law, distances=law))
    return cells


def changed(claim, change=None, **constants):
    """`change(cell)` gives other fields of a cell."""
    cells = wide() if change is None else [altered(cell, **change(cell)) for cell in wide()]
    return claim(cells, **constants)


def test_real_descents_hold():
    assert lemma_a_4_step([fine()]).verdict is Verdict.HOLDS
    assert section_6_rank([fine()]).verdict is Verdict.HOLDS
    assert fine().rank == 6


@breaks_part(lemma_a_4_step, "drop at least (1 − η‖A‖²/4)·ηΣ‖∂L/∂w_r‖²")
def test_control_a_step_that_drops_two_percent_less():
    place = int(np.flatnonzero(fine().still[:-1] > 0)[0])
    losses = fine().losses.copy()
    losses[place + 1 :] += 0.02 * fine().step_size * fine().squares[place]
    return lemma_a_4_step([fine()]), lemma_a_4_step([altered(fine(), losses=losses)])


def test_control_an_ascent():
    assert lemma_a_4_step([altered(fine(), losses=fine().losses[::-1])]).conclusion is False
    assert lemma_a_4_step([fine()], share=1.05).conclusion is False


def test_steps_with_a_changed_pattern_are_not_judged():
    moved = altered(fine(), still=np.zeros_like(fine().still))
    assert lemma_a_4_step([moved]).verdict is Verdict.INSUFFICIENT_EVIDENCE


test_control_conditions_of_a_step = [
    breaks_hypothesis(claim, key)(
        lambda claim=claim, fields=fields: (claim([fine()]), claim([altered(fine(), **fields)]))
    )
    for claim, key, fields in (
        (lemma_a_4_step, "unit_norm", {"norm_error": 0.01}),
        (lemma_a_4_step, "total", {"total": 0.01}),
        (section_6_rank, "unit_norm", {"norm_error": 0.01}),
        (section_6_rank, "total", {"total": 0.01}),
    )
]


@breaks_hypothesis(lemma_a_4_step, "step_size")
def test_control_a_step_beyond_the_curvature():
    large = run_descent(DescentSetting(data=TOY, width=100, scaled_step=2.5, n_steps=3), silent)
    return lemma_a_4_step([large])


@pytest.mark.parametrize("number", range(4))
def test_control_each_condition_of_a_step(number):
    test_control_conditions_of_a_step[number]()


@breaks_part(lemma_a_4, "slope of log mean v²")
def test_control_the_residuals_of_one_width():
    """The same at every width: slope 0."""
    return changed(lemma_a_4), changed(lemma_a_4, lambda cell: {"residuals": np.full(401, 0.1)})


DATA_CHANGES = (
    ("distance", {"separation": 0.0}),
    ("opposite_distance", {"opposite_separation": 0.0}),
    ("relative_diameter", {"relative_diameter": 0.0631}),
)


@pytest.mark.parametrize(
    "test",
    [
        breaks_hypothesis(lemma_a_4, key)(
            lambda fields=fields: (changed(lemma_a_4), lemma_a_4([*wide()[1:], altered(wide()[0], **fields)]))
        )
        for key, fields in DATA_CHANGES
    ],
    ids=[key for key, _ in DATA_CHANGES],
)
def test_control_structure_of_the_data(test):
    test()


@functools.cache
def hexagons():
    return [run_descent(setting, silent) for setting in hexagon_widths(Scale.QUICK, 0)]


def test_on_the_hexagon_the_residuals_stay():
    """A loss of ln 2 at least on six points leaves one of them with o ≤ 1/2: v ≥ (1/6)·(1/2)."""
    found = lemma_a_4_as_printed(hexagons())
    assert found.verdict is Verdict.VIOLATED
    assert found.measured is not None
    assert found.measured > -0.2
    assert min(cell.residuals.min() for cell in hexagons()) >= 1 / 12 - 1e-12
    assert min(cell.losses.min() for cell in hexagons()) >= np.log(2) - 1e-12
    outside = lemma_a_4(hexagons())
    assert outside.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in outside.hypotheses if not h.met] == ["opposite_distance"]
    assert hexagons()[0].separation == pytest.approx(1)


@spares(lemma_a_4_as_printed)
def test_the_known_law_spares_it():
    return changed(lemma_a_4_as_printed)


def test_the_printed_lemma_at_its_edges():
    for power, kept in ((-0.36, True), (-0.34, False)):
        assert law(lemma_a_4_as_printed, "residuals", power).conclusion is kept
    for fields in ({"norm_error": 0.01}, {"total": 0.01}, {"separation": 0.0}, {"relative_diameter": 0.0631}):
        for cells in ([*wide()[1:], altered(wide()[0], **fields)], [altered(wide()[0], **fields), *wide()[1:]]):
            assert lemma_a_4_as_printed(cells).verdict is Verdict.HYPOTHESES_NOT_MET


def test_the_slope_of_a_known_law():
    assert changed(lemma_a_4).measured == pytest.approx(-0.5)
    assert averaged_steps(2000) == 200


def reaching(**steps):
    """Runs that reach the level after 140 steps, or after as many as said for a width."""

    def change(cell):
        reached = steps.get(f"at_{cell.width}", 140)
        return {"residuals": np.where(np.arange(401) < reached, 0.02, 0.001)}

    return changed(section_4_width_free, change)


@breaks_part(section_4_width_free, "largest over smallest mean")
def test_control_one_width_that_needs_more_steps():
    return reaching(at_500=209), reaching(at_500=211)


def test_a_run_that_never_gets_there_decides_nothing():
    assert reaching(at_500=401).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert steps_to(altered(wide()[0], residuals=np.linspace(0.02, 0.0, 401))) == 234


test_control_each_slope = part_edges(
    section_5_observation,
    lambda **fields: changed(section_5_observation, lambda cell: {k: v(cell) for k, v in fields.items()}),
    {
        "patterns: slope at most": ({}, {"flips": lambda cell: np.full(401, 0.05)}),
        "patterns: slope at least": ({}, {"flips": lambda cell: np.full(401, 50 / cell.width)}),
        "distance: slope at most": ({}, {"distances": lambda cell: np.full(401, 0.05)}),
        "distance: slope at least": ({}, {"distances": lambda cell: np.full(401, 50 / cell.width)}),
    },
)


TREND_CONDITIONS = [
    breaks_hypothesis(claim, key)(
        lambda claim=claim, change=change: (changed(claim), changed(claim, lambda cell: change))
    )
    for claim in (lemma_a_4, section_4_width_free, section_5_observation)
    for key, change in (("unit_norm", {"norm_error": 0.01}), ("total", {"total": 0.01}))
] + [
    breaks_hypothesis(claim, "widths")(lambda claim=claim: (claim(wide()), claim(wide()[:10])))
    for claim in (lemma_a_4, section_4_width_free, section_5_observation)
]


@pytest.mark.parametrize("number", range(len(TREND_CONDITIONS)))
def test_control_each_condition_of_a_trend(number):
    TREND_CONDITIONS[number]()


@breaks_hypothesis(section_4_width_free, "seeds")
def test_control_four_seeds():
    return section_4_width_free([cell for number, cell in enumerate(wide()) if number % 5])


test_control_each_part_of_the_rank = part_edges(
    section_6_rank,
    lambda **fields: section_6_rank([altered(fine(), **fields)]),
    {
        "rank of the update": ({}, {"rank": 7}),
        "|σ_j(W^t) − σ_j(W⁰)| ≤ ‖W^t − W⁰‖₂": (
            {"spectrum_shift": lambda _: fine().update_norm},
            {"spectrum_shift": lambda _: 1.01 * fine().update_norm},
        ),
    },
)


@functools.cache
def scaled():
    made = stretched(fine(), 201)
    return [
        altered(made, start_scale=size, flips=np.full(201, value), distances=np.full(201, value))
        for size, value in ((0.1, 0.2), (1.0, 0.03), (10.0, 0.006))
    ]


def swapped(name):
    one, two, three = scaled()
    first, last = (getattr(cell, name) if name else None for cell in (two, three))
    return [one, altered(two, **{name: last}), altered(three, **{name: first})]


@breaks_part(section_6_start_scale, "changed patterns fall")
def test_control_patterns_the_other_way_round():
    return section_6_start_scale(scaled()), section_6_start_scale(swapped("flips"))


@breaks_part(section_6_start_scale, "relative distance falls")
def test_control_distances_the_other_way_round():
    return section_6_start_scale(scaled()), section_6_start_scale(swapped("distances"))


@pytest.mark.parametrize(
    "test",
    [
        breaks_hypothesis(section_6_start_scale, key)(
            lambda fields=fields: section_6_start_scale([altered(cell, **fields) for cell in scaled()])
        )
        for key, fields in (("unit_norm", {"norm_error": 0.01}), ("total", {"total": 0.01}))
    ]
    + [breaks_hypothesis(section_6_start_scale, "scales")(lambda: section_6_start_scale(scaled()[:2]))],
    ids=["norm", "total", "scales"],
)
def test_control_conditions_of_the_scale(test):
    test()


@functools.cache
def dimensions(size=(0, 5, 5)):
    settings = [
        DescentSetting(data=SpreadPoints(padding=padding), width=60, seed=later + number, **SMALL)
        for padding, later in zip(size, (0, 0, 100), strict=True)
        for number in range(4)
    ]
    return [run_descent(setting, silent) for setting in settings]


@breaks_part(section_4_dimension_free, "the same residuals")
def test_control_one_residual_that_differs():
    cells = list(dimensions())
    cells[5] = altered(cells[5], residuals=lambda v: v + 1e-9)
    return section_4_dimension_free(dimensions()), section_4_dimension_free(cells)


@breaks_part(section_4_dimension_free, "the same law of steps")
def test_control_another_law():
    cells = list(dimensions())
    for place in range(8, 12):
        cells[place] = altered(cells[place], residuals=lambda v: 0 * v)
    return section_4_dimension_free(dimensions(), level=0.01), section_4_dimension_free(cells, level=0.03)


def test_a_run_of_another_dimension_that_never_gets_there_decides_nothing():
    cells = list(dimensions())
    cells[9] = altered(cells[9], residuals=lambda v: v + 1)
    assert section_4_dimension_free(cells).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(
    "test",
    [
        breaks_hypothesis(section_4_dimension_free, key)(
            lambda fields=fields: section_4_dimension_free([altered(cell, **fields) for cell in dimensions()])
        )
        for key, fields in (("unit_norm", {"norm_error": 0.01}), ("total", {"total": 0.01}))
    ],
    ids=["norm", "total"],
)
def test_control_conditions_of_the_dimension(test):
    test()


def test_settings_have_what_the_trends_need():
    groups = by_width([altered(fine(), width=setting.width) for setting in width_settings(Scale.QUICK, 0)])
    assert [len(group) for group in groups.values()] == [5, 5, 5]
    assert {setting.start_scale for setting in scale_settings(Scale.QUICK, 0)} == {0.1, 1.0, 10.0}
    assert len(dimension_settings(Scale.QUICK, 0)) % 3 == 0


def test_they_speak_about_three_classes():
    own = Specimen(from_arrays(3 * TOY.draw(5).points, TOY.draw(5).classes))
    cells = [run_descent(setting, silent) for setting in lemma_a_4_step.on(own)]
    assert lemma_a_4_step(cells).verdict is Verdict.HOLDS
    assert section_6_rank(cells).verdict is Verdict.HOLDS
    assert isinstance(section_6_rank.on(Specimen(from_arrays(np.eye(301)[:4], [0, 1, 2, 2]))), Silence)


def law(claim, name, power):
    """A quantity that is exactly proportional to a power of the width, at the end of the averages or at step 200."""

    def change(cell):
        value = 0.05 * (cell.width / 500) ** power
        return {name: np.full(401, value**0.5 if name == "residuals" else value)}

    return changed(claim, change)


@pytest.mark.parametrize(("power", "kept"), [(-0.36, True), (-0.34, False)])
def test_the_slope_of_residuals_at_its_edge(power, kept):
    assert law(lemma_a_4, "residuals", power).conclusion is kept


@pytest.mark.parametrize(("power", "kept"), [(-0.36, True), (-0.34, False), (-0.64, True), (-0.66, False)])
def test_slopes_of_patterns_and_distance_at_their_edges(power, kept):
    assert law(section_5_observation, "flips", power).conclusion is kept
    assert law(section_5_observation, "distances", power).conclusion is kept


def test_one_run_that_never_gets_there_is_enough():
    cells = [altered(cell, residuals=np.where(np.arange(401) < 140, 0.02, 0.001)) for cell in wide()]
    cells[7] = altered(cells[7], residuals=np.full(401, 0.02))
    assert section_4_width_free(cells).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_the_curvature_of_the_drop():
    """With η‖A‖² = 1 three quarters are promised."""
    cell = altered(fine(), step_size=0.25, vote_norm=2.0, still=np.ones(21), squares=np.full(21, 4.0))
    for drop, kept in ((0.7501, True), (0.7499, False)):
        assert lemma_a_4_step([altered(cell, losses=20 - drop * np.arange(21))]).conclusion is kept


def test_one_cell_of_several_is_enough_to_fail_a_step():
    bad = altered(fine(), norm_error=0.01, total=0.01, vote_norm=200.0)
    for cells in ([fine(), bad], [bad, fine()]):
        assert [h.met for h in lemma_a_4_step(cells).hypotheses] == [False, False, False]


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


def owned(*, power, name="flips", own=True):
    value = {500: 1.0, 2000: 4.0**power, 8000: 16.0**power}
    cells = [altered(cell, **{name: np.full(401, 0.05 * value[cell.width]), "own": own}) for cell in wide()]
    return cells


@pytest.mark.parametrize(("power", "kept"), [(-0.36, True), (-0.34, None), (-0.64, True), (-0.66, None)])
def test_a_rate_that_a_reader_s_data_misses_decides_nothing(power, kept):
    for name in ("flips", "distances"):
        assert section_5_observation(owned(power=power, name=name)).conclusion is kept
        mixed = [*owned(power=power, name=name, own=False)[:-1], owned(power=power, name=name)[-1]]
        assert section_5_observation(mixed).conclusion is kept


def test_rates_of_a_reader_s_residuals_and_steps():
    law = lambda power: owned(power=power / 2, name="residuals")  # noqa: E731
    assert lemma_a_4(law(-0.36)).conclusion is True
    assert lemma_a_4(law(-0.34)).conclusion is None
    slow = [altered(cell, residuals=np.where(np.arange(401) < 140, 0.02, 0.001), own=True) for cell in wide()]
    assert section_4_width_free(slow).conclusion is True
    late = altered(slow[0], residuals=np.where(np.arange(401) < 390, 0.02, 0.001))
    assert section_4_width_free([late] * 5 + slow[5:]).conclusion is None


def test_a_rate_that_is_just_met_is_met():
    own = [altered(wide()[0], own=True)]
    for sense in (Sense.AT_MOST, Sense.AT_LEAST):
        assert rate(-0.35, -0.35, sense, own).kept is True
        assert rate(-0.35, -0.35, sense, wide()).kept is True
    assert rate(-0.36, -0.35, Sense.AT_LEAST, own).kept is None
    assert rate(-0.36, -0.35, Sense.AT_LEAST, wide()).kept is False


def test_patterns_that_never_change_have_no_rate():
    still = [altered(cell, flips=np.zeros(401)) for cell in wide()]
    assert section_5_observation(still).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_the_level_itself_is_reached():
    level = 0.05 / 6
    assert steps_to(altered(stretched(wide()[0], 3), residuals=np.array([1.0, level, 0.0]))) == 1
    assert steps_to(altered(stretched(wide()[0], 3), residuals=np.array([1.0, 1.04 * level, 0.96 * level]))) == 2


@pytest.mark.parametrize(("steps", "kept"), [((1, 1, 1, 2, 2), True), ((1, 1, 2, 2, 2), False)])
def test_no_step_counts_as_one(steps, kept):
    cells = []
    for number, cell in enumerate(wide()):
        reached = steps[number % 5] if cell.width == 500 else 0
        cells.append(altered(cell, residuals=np.where(np.arange(401) < reached, 0.02, 0.001)))
    assert section_4_width_free(cells).conclusion is kept


def test_one_width_with_fewer_runs():
    few = reaching_cells()[1:]
    assert [h.key for h in section_4_width_free(few).hypotheses if not h.met] == ["seeds"]


def reaching_cells():
    return [altered(cell, residuals=np.where(np.arange(401) < 140, 0.02, 0.001)) for cell in wide()]


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


def test_they_speak_about_widths():
    own = Specimen(from_arrays(3 * TOY.draw(5).points, TOY.draw(5).classes))
    settings = section_5_observation.on(own)
    assert settings == lemma_a_4.on(own)
    assert "not known" in section_4_width_free.on(own)
    groups = {setting.width for setting in settings}
    assert len(groups) >= 3
    assert len(settings) == 3 * len(groups)
    assert all(setting.n_steps >= 200 and setting.data.single for setting in settings)
    many = Specimen(from_arrays(np.random.default_rng(0).normal(size=(151, 2)), np.arange(151) % 3))
    assert isinstance(section_5_observation.on(many), Silence)


test_every_part_has_a_control = every_part_of(descent)
