"""Descents at several widths, and trends that a changed series breaks."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.li2018.toys import own_toy, printed_rows, separated_rows, stretched
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.sides import Sense
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import descent
from widenet.papers.li2018.claims.descent import (
    lemma_a_4,
    lemma_a_4_as_printed,
    lemma_a_4_step,
    lemma_b_4_as_printed,
    rate,
    section_4_dimension_free,
    section_4_width_free,
    section_5_observation,
    section_6_rank,
    section_6_start_scale,
    steps_to,
)
from widenet.papers.li2018.runs.descents import (
    DescentSetting,
    PointDescent,
    averaged_steps,
    dimension_settings,
    hexagon_widths,
    run_descent,
    scale_settings,
    width_settings,
)
from widenet.papers.li2018.sources import TOY
from widenet.progress import silent
from widenet.records import Scale


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


def test_on_the_hexagon_the_drops_vanish():
    """The loss ends at ln 2, where v is 1/12."""
    found = lemma_b_4_as_printed(hexagons())
    assert found.verdict is Verdict.VIOLATED
    assert found.measured is not None
    assert found.measured < -2


def dropping(power):
    """A drop of ηm·v²·(m/500)^power at every step, at v = 0.01."""
    return [
        altered(
            cell,
            step_size=2 / cell.width,
            residuals=np.full(401, 0.01),
            losses=1 - 2e-4 * (cell.width / 500) ** power * np.arange(401.0),
        )
        for cell in wide()
    ]


def test_the_printed_drop_at_its_edges():
    for power, kept in ((-0.34, True), (-0.36, False)):
        found = lemma_b_4_as_printed(dropping(power))
        assert found.measured == pytest.approx(power, abs=1e-6)
        assert found.conclusion is kept


def test_the_printed_lemma_at_its_edges():
    for power, kept in ((-0.36, True), (-0.34, False)):
        assert law(lemma_a_4_as_printed, "residuals", power).conclusion is kept


def test_the_slope_of_a_known_law():
    assert changed(lemma_a_4).measured == pytest.approx(-0.5)
    assert averaged_steps(2000) == 200


def reaching(**steps):
    """Runs that reach the level after 140 steps, or after as many as said for a width."""

    def change(cell):
        reached = steps.get(f"at_{cell.width}", 140)
        return {"residuals": np.where(np.arange(401) < reached, 0.02, 0.001)}

    return changed(section_4_width_free, change)


def test_a_run_that_never_gets_there_decides_nothing():
    assert reaching(at_500=401).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert steps_to(altered(wide()[0], residuals=np.linspace(0.02, 0.0, 401))) == 234


def test_settings_have_what_the_trends_need():
    counts = np.unique([setting.width for setting in width_settings(Scale.QUICK, 0)], return_counts=True)[1]
    assert counts.tolist() == [5, 5, 5]
    assert {setting.start_scale for setting in scale_settings(Scale.QUICK, 0)} == {0.1, 1.0, 10.0}
    assert len(dimension_settings(Scale.QUICK, 0)) % 3 == 0


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
    own, others = PointDescent.join([altered(wide()[0], own=True)]), PointDescent.join(wide())
    for sense in (Sense.AT_MOST, Sense.AT_LEAST):
        assert rate(-0.35, -0.35, sense, own, "").kept is True
        assert rate(-0.35, -0.35, sense, others, "").kept is True
    assert rate(-0.36, -0.35, Sense.AT_LEAST, own, "").kept is None
    assert rate(-0.36, -0.35, Sense.AT_LEAST, others, "").kept is False


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


def test_they_speak_about_widths():
    own = own_toy()
    settings = section_5_observation.on(own).settings
    assert settings == lemma_a_4.on(own).settings
    assert "not known" in section_4_width_free.on(own)
    groups = {setting.width for setting in settings}
    assert len(groups) >= 3
    assert len(settings) == 3 * len(groups)
    assert all(setting.n_steps >= 200 and setting.data.single for setting in settings)
    many = UserData(from_arrays(np.random.default_rng(0).normal(size=(151, 2)), np.arange(151) % 3))
    assert isinstance(section_5_observation.on(many), NotApplicable)


def law_of(name, power):
    """A quantity that is exactly proportional to a power of the width."""
    root = 0.5 if name == "residuals" else 1
    return [altered(cell, **{name: np.full(401, (0.05 * (cell.width / 500) ** power) ** root)}) for cell in wide()]


def falls_by(name, inside, outside):
    return at(law_of(name, inside)), at(law_of(name, outside))


def reached_after(*steps):
    """Runs of the three widths that reach the level after so many steps."""
    after = dict(zip((500, 2000, 8000), steps, strict=True))
    return [altered(cell, residuals=np.where(np.arange(401) < after[cell.width], 0.02, 0.001)) for cell in wide()]


PRINTED = (lemma_a_4_as_printed, lemma_b_4_as_printed)
TRENDS = (lemma_a_4, section_4_width_free, section_5_observation)
SLOPE = {claim: claim(wide()).measured for claim in (lemma_a_4, lemma_a_4_as_printed)}
FALL = section_5_observation(wide()).measured
EQUAL = reached_after(140, 140, 140)
test_control = controls(
    descent,
    {lemma_b_4_as_printed: dropping(0.0), section_4_width_free: EQUAL, PointDescent: wide},
    (lemma_a_4, "slope", *falls_by("residuals", -0.351, -0.349)),
    (lemma_a_4_as_printed, "slope", *falls_by("residuals", -0.351, -0.349)),
    (lemma_a_4_as_printed, "slope", {}, at(hexagons)),
    (lemma_b_4_as_printed, "slope", at(dropping(-0.349)), at(dropping(-0.351))),
    (lemma_b_4_as_printed, "slope", {}, at(hexagons)),
    (section_4_width_free, "ratio", at(reached_after(210, 140, 140)), at(reached_after(211, 140, 140))),
    (section_5_observation, "patterns_fall", *falls_by("flips", -0.351, -0.349)),
    (section_5_observation, "patterns_stay", *falls_by("flips", -0.649, -0.651)),
    (section_5_observation, "distance_falls", *falls_by("distances", -0.351, -0.349)),
    (section_5_observation, "distance_stays", *falls_by("distances", -0.649, -0.651)),
    *((claim, "slope", {"slope": SLOPE[claim]}, {"slope": SLOPE[claim] - 1e-9}) for claim in (lemma_a_4, PRINTED[0])),  # pyright: ignore[reportOptionalOperand]
    *(
        (section_5_observation, key, {"band": (FALL, FALL)}, {"band": band}, *others)
        for band, names in (
            ((FALL, FALL - 1e-9), ("patterns_fall", "distance_falls")),  # pyright: ignore[reportOptionalOperand]
            ((FALL + 1e-9, FALL), ("patterns_stay", "distance_stays")),  # pyright: ignore[reportOptionalOperand]
        )
        for key, *others in (names, names[::-1])
    ),
    *((claim, "widths", {}, at(EQUAL[:10])) for claim in TRENDS),
    (section_4_width_free, "seeds", {}, at(EQUAL[1:])),
    *printed_rows(*PRINTED),
    *separated_rows(lemma_a_4, *PRINTED),
    but=(section_4_dimension_free, section_6_rank, section_6_start_scale, lemma_a_4_step),
)
