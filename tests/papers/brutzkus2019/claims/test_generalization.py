"""Propositions E.18 and E.22, with controls in their outputs, limits and training sets."""

import dataclasses
import math

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, leaves_open
from tests.papers.brutzkus2019.claims.networks import (
    altered,
    in_the_corner,
    lost,
    many_in_the_corner,
    number,
    part,
    small_margin,
    some,
    twenty,
)
from tests.papers.brutzkus2019.claims.trained_edges import DEVIATION, narrowed, one_sided
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims import generalization
from widenet.papers.brutzkus2019.claims.generalization import (
    equation_18,
    proposition_e_18,
    proposition_e_22,
)
from widenet.papers.brutzkus2019.formulas import negative_output_limit
from widenet.papers.brutzkus2019.runs.trained import TrainedXord, corner_settings, run_trained
from widenet.papers.brutzkus2019.runs.trained_settings import faster, negative_settings, positive_settings
from widenet.papers.brutzkus2019.sources import from_sets
from widenet.records import Scale
from widenet.types import RunStatus


def many(n_runs: int = 1115) -> TrainedXord:
    """As many runs as 8e⁻⁸ needs."""
    return many_in_the_corner(n_runs)


@pytest.fixture(scope="module")
def corner() -> TrainedXord:
    return many()


def planted(**arrays):
    return at(lambda: altered(many(), **arrays))


def beside_many(n_lost):
    """A hundred runs, so many of them lost, beside 2400."""
    few = some(many(), slice(100))
    return [many(2400), lost(few, n_lost) if n_lost else few]


def outside_beside_many():
    """The few again, from starts outside the events of the proof."""
    all_of_them, few = beside_many(0)
    return [all_of_them, one_sided(few)]


def negative_output(rooms):
    """One output this far above −0.04907, the bound at k = 120, c_η = 1/410, in units of what rounding may take."""
    limit = negative_output_limit(120, in_the_corner().step_constant)
    return planted(outputs=((0, set_index(2)), limit + rooms * 1e-9 * in_the_corner().step_size))


def bound_of(value):
    """The outputs are far below it."""
    return {"limit": lambda k, c: value}


WIDE_ENOUGH = {"spare_width": 1.0}

test_control = controls(
    generalization,
    many,
    # c + 8e⁻⁸: seven of 1115 refute it; two of a hundred are too many, and two of 2500 are not.
    *((claim, "rate", {}, at(lambda: lost(many(), 7))) for claim in (proposition_e_18, proposition_e_22)),
    *(
        (claim, "alone", at(lambda: beside_many(0)), at(lambda: beside_many(2)))
        for claim in (proposition_e_18, proposition_e_22)
    ),
    *(
        (claim, "enough", at(lambda: beside_many(0)), leaves_open(outside_beside_many))
        for claim in (proposition_e_18, proposition_e_22)
    ),
    *((claim, "zero_loss", {}, planted(loss=(5, 1e-12))) for claim in (proposition_e_18, proposition_e_22)),
    *((claim, *DEVIATION) for claim in (proposition_e_18, proposition_e_22)),
    (
        proposition_e_18,
        "right",
        planted(outputs=((5, set_index(1)), 1.0)),
        planted(outputs=((5, set_index(1)), 0.0)),
    ),
    # An output of 0 is above the bound too, which is below 0.
    (
        proposition_e_22,
        "right",
        planted(outputs=((5, set_index(4)), -1.0)),
        planted(outputs=((5, set_index(4)), 0.0)),
        "bound",
    ),
    (proposition_e_22, "bound", negative_output(0.5), negative_output(2)),
    (proposition_e_22, "bound_sign", bound_of(-1e-9), bound_of(0.0)),
    # Without a β above 1 no width is enough.
    *(
        (claim, "beta", {"beta": 1 + 1e-9, **WIDE_ENOUGH}, {"beta": 1.0, **WIDE_ENOUGH})
        for claim in (proposition_e_18, proposition_e_22)
    ),
    (
        proposition_e_18,
        "margin",
        {"required_margin": 2.0, **WIDE_ENOUGH},
        {"required_margin": 2 - 1e-9, **WIDE_ENOUGH},
    ),
    (
        proposition_e_18,
        "step_constant",
        {"step_constant": 1 / 8, "beta": 2.0, **WIDE_ENOUGH},
        {"step_constant": 1 / 8 + 1e-9, "beta": 2.0, **WIDE_ENOUGH},
    ),
    but=(equation_18,),
)


@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22])
def test_too_few_lost_runs_decide_nothing(claim):
    assert claim([lost(many(), 6)]).conclusion is None
    assert broken_in(claim(beside_many(1))) == []


@pytest.mark.parametrize(("n_runs", "verdict"), [(1115, Verdict.HOLDS), (1114, Verdict.INSUFFICIENT_EVIDENCE)])
@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22])
def test_how_many_runs_confirm_it(claim, n_runs, verdict):
    assert claim([some(many(), slice(n_runs))]).verdict is verdict


POSITIVE, NEGATIVE = np.flatnonzero(SET_LABELS > 0), np.flatnonzero(SET_LABELS < 0)


@pytest.mark.parametrize("place", range(15))
def test_control_each_set_belongs_to_one_of_the_two(place):
    wrong = altered(many(), outputs=((5, place), 0.0))
    assert bool(broken_in(proposition_e_18([wrong]))) == (place in POSITIVE)
    assert bool(broken_in(proposition_e_22([wrong]))) == (place in NEGATIVE)


@pytest.mark.parametrize("claim", [equation_18, proposition_e_22])
def test_bounds_are_asked_inside_the_events_at_zero_loss(claim):
    place, value = (set_index(1), -9.0) if claim is equation_18 else (set_index(2), 9.0)
    key = "output" if claim is equation_18 else "bound"
    runs = altered(many(), outputs=((0, place), value))
    assert key in broken_in(claim([runs]))
    assert key not in broken_in(claim([altered(runs, loss=(0, 1e-12))]))
    one_side = np.where(np.arange(240)[:, None] < 120, np.abs(runs.start[0]).max() * PATTERNS[0], runs.start[0])
    for start in (200 * runs.start[0], one_side):
        assert key not in broken_in(claim([altered(runs, start=(0, start))]))


@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22], ids=lambda claim: claim.name)
def test_sixteen_filters_have_no_time(claim):
    """The T of Proposition E.14 is infinite at k = 16, and negative below."""
    assert claim([narrowed(some(in_the_corner(), slice(2)), 16)]).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(("max_steps", "failures"), [(1_733_968, 0), (1_733_969, 2)])
@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22], ids=lambda claim: claim.name)
def test_seventeen_filters_have_a_time(claim, max_steps, failures):
    """T = 7(9 + 8/410)/((17/2 − 2√17)/(410·17)) = 1733969.7: a run stopped before it has not failed."""
    runs = narrowed(some(in_the_corner(), slice(2)), 17)
    stopped = altered(runs, status=(slice(None), RunStatus.BUDGET_SPENT), loss=(slice(None), 1.0))
    evidence = claim([dataclasses.replace(stopped, max_steps=max_steps)])
    assert [case["failures"] for case in evidence.details["cases"]] == [failures]


def judged(claim, **fields):
    return claim([dataclasses.replace(in_the_corner(), **fields)])


def test_beta_of_proposition_e_18_at_its_edge():
    for error, met in ((1e-9, True), (-1e-9, False)):
        gamma = 79.25 / 41 + 1 + error
        evidence = judged(proposition_e_18, required_margin=gamma, step_size=1 / 41 / 120)
        (beta,) = [each for each in evidence.hypotheses if each.key == "beta"]
        assert beta.met is met
        assert beta.actual == pytest.approx(1, abs=1e-8)


def test_beta_of_proposition_e_22_at_its_edge():
    evidence = judged(proposition_e_22, step_size=(1 - 1e-9) / 71.25 / 120)
    (beta,) = [each for each in evidence.hypotheses if each.key == "beta"]
    assert beta.met
    assert beta.actual == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("claim", [equation_18, proposition_e_18, proposition_e_22], ids=lambda claim: claim.name)
def test_it_holds(claim, corner):
    evidence = claim([corner])
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous
    assert claim([twenty()]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_what_is_promised(corner):
    assert math.isclose(number(equation_18([corner]).promised), 0.118131570736, rel_tol=1e-8)
    for claim in (proposition_e_18, proposition_e_22):
        assert math.isclose(number(claim([corner]).promised), 0.00268370102322, rel_tol=1e-11)
    assert math.isclose(number(part(proposition_e_22([corner]), "bound").promised), -0.0490746416582, rel_tol=1e-8)


def test_control_a_margin_of_one_is_wrong_on_positive_points():
    evidence = proposition_e_18([small_margin()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert number(evidence.measured) > 0.8


def test_a_limit_that_says_nothing_about_the_sign_is_vacuous(corner):
    for limit, vacuous in ((-1e-9, True), (0.0, True), (1e-9, False)):
        evidence = equation_18([corner], limit=lambda k, c, gamma, limit=limit: limit)
        assert evidence.verdict is Verdict.HOLDS
        assert [each.vacuous for each in evidence.parts if each.key in ("output", "sums")] == [vacuous, vacuous]
    for limit, vacuous in ((1e-9, True), (-1e-9, False)):
        found = part(proposition_e_22([corner], limit=lambda k, c, limit=limit: limit), "bound")
        assert found.vacuous is vacuous


@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22])
def test_control_nine_failures_of_1115(claim, corner):
    """Outside the events: the lower limit is 4.2e-3, above 2.7e-3."""
    runs = altered(corner, start=(slice(9), 1.0), loss=(slice(9), 1.0))
    assert broken_in(claim([runs])) == ["rate"]


def test_control_a_negative_point_that_is_not_diverse():
    """Six and six points, one of them {2}: at γ = 8 every wide network is wrong on {4}."""
    decoy = from_sets({set_index(1, 2, 3, 4): 6, set_index(2, 4): 5, set_index(2): 1})
    setting = faster(Scale.QUICK, 1).model_copy(update={"n_runs": 30, "points": decoy})
    runs = run_trained(setting)
    evidence = proposition_e_22([runs])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert runs.wrong[:, set_index(4)].mean() > 0.9
    (diverse,) = [each for each in evidence.hypotheses if each.key == "diverse"]
    assert diverse.actual == 1
    assert diverse.why.startswith("1 of 12 points lack a pattern")


@pytest.mark.parametrize(("claim", "edge", "step"), [(proposition_e_18, 112, 1 / 410), (proposition_e_22, 94, 1 / 410)])
def test_control_a_width_just_outside(claim, edge, step, corner):
    """At c_η = 1/410, 111.8 is asked for by Proposition E.18, and 93.2 by E.22."""
    for half_width, met in ((edge, True), (edge - 1, False)):
        cut = slice(120 - half_width, 120 + half_width)
        runs = dataclasses.replace(
            corner, start=corner.start[:, cut], final=corner.final[:, cut], step_size=step / half_width
        )
        (width,) = [each for each in claim([runs]).hypotheses if each.key == "width"]
        assert width.met is met


def test_settings_are_on_the_edge_and_in_the_corner():
    for settings in (positive_settings, negative_settings):
        assert settings(Scale.QUICK, 0)[-1:] == corner_settings(Scale.QUICK, 0)
        assert settings(Scale.QUICK, 0)[0].half_width == 201
