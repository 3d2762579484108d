"""Eq. 18 and Propositions E.18 and E.22, with controls in their outputs, limits and training sets."""

import dataclasses
import math

import pytest

from tests.papers.brutzkus2019.claims.networks import (
    altered,
    broken,
    in_the_corner,
    number,
    part,
    repeated,
    small_margin,
    twenty,
)
from widenet.claims import Verdict
from widenet.data.xord import set_index
from widenet.papers.brutzkus2019.claims.generalization import (
    equation_18,
    negative_settings,
    positive_settings,
    proposition_e_18,
    proposition_e_22,
)
from widenet.papers.brutzkus2019.claims.wide import faster
from widenet.papers.brutzkus2019.formulas import negative_output_limit
from widenet.papers.brutzkus2019.runs.trained import Trained, corner_settings, run_trained
from widenet.papers.brutzkus2019.runs.training_set import from_sets
from widenet.records import Scale

OUTPUT, FIRST, SECOND = (
    "N(z) is at least the limit",
    "N(z) ≥ X(i) − P⁺ − Y(2) − Y(4)",
    "X(i) − P⁺ − Y(2) − Y(4) is at least the limit",
)
BOUND = "N ≤ 35c_η − (1 − 1¼c_η)/(1 + α(k)) inside the events"


@pytest.fixture(scope="module")
def corner() -> Trained:
    """As many runs as 8e⁻⁸ needs: the same sixty several times."""
    return repeated(in_the_corner(), 1115)


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
    assert math.isclose(number(part(proposition_e_22([corner]), "35c_η").promised), -0.0490746416582, rel_tol=1e-8)


def test_control_a_margin_of_one_is_wrong_on_positive_points():
    evidence = proposition_e_18([small_margin()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert number(evidence.measured) > 0.8


def test_control_a_larger_output_is_not_reached(corner):
    assert broken(equation_18([corner], limit=lambda k, c, gamma: 3.0)) == [OUTPUT, SECOND]


def test_control_a_limit_just_above_the_smallest_output():
    smallest = number(equation_18([in_the_corner()]).measured)
    assert OUTPUT in broken(equation_18([in_the_corner()], limit=lambda k, c, gamma: smallest + 1e-6))
    assert OUTPUT not in broken(equation_18([in_the_corner()], limit=lambda k, c, gamma: smallest - 1e-6))


def test_control_the_first_line_of_equation_18(corner):
    """The filters of its cone less all of u: an output on {3} below that by 1e-6."""
    evidence = equation_18([altered(corner, outputs=((slice(None), set_index(3)), 0.2))])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == [FIRST]
    assert part(evidence, FIRST).broken == 1115


def test_control_the_second_line_of_equation_18(corner):
    """All u filters four times as large: the chain is too low, whatever the outputs."""
    heavier = altered(corner, final=((slice(None), slice(120, None)), 4 * corner.final[:, 120:]))
    assert broken(equation_18([heavier])) == [SECOND]


def test_a_limit_that_says_nothing_about_the_sign_is_vacuous(corner):
    evidence = equation_18([corner], limit=lambda k, c, gamma: -0.5)
    assert evidence.verdict is Verdict.HOLDS
    assert part(evidence, OUTPUT).vacuous
    assert not part(equation_18([corner]), OUTPUT).vacuous


@pytest.mark.parametrize(
    ("claim", "patterns", "words"),
    [
        (proposition_e_18, (1,), "right on all positive points inside the events"),
        (proposition_e_22, (4,), "right on all negative points inside the events"),
    ],
)
def test_control_one_output_of_zero(claim, patterns, words, corner):
    evidence = claim([altered(corner, outputs=((5, set_index(*patterns)), 0.0))])
    assert words in broken(evidence)
    other = set_index(*((2,) if claim is proposition_e_18 else (1,)))
    assert claim([altered(corner, outputs=((5, other), 0.0))]).parts[0].broken == 0


@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22])
def test_control_a_loss_that_is_not_quite_zero(claim, corner):
    evidence = claim([altered(corner, loss=(5, 1e-12))])
    assert broken(evidence) == ["zero loss inside the events of the proof"]


@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22])
def test_control_nine_failures_of_1115(claim, corner):
    """Outside the events: the lower limit is 4.2e-3, above 2.7e-3."""
    runs = altered(corner, start=(slice(9), 1.0), loss=(slice(9), 1.0))
    assert broken(claim([runs])) == ["runs fail at most as often as promised"]


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


def test_control_the_bound_of_proposition_e_22(corner):
    limit = negative_output_limit(120, corner.step_constant)
    for output, expected in ((limit - 1e-6, []), (limit + 1e-6, [BOUND])):
        evidence = proposition_e_22([altered(corner, outputs=((0, set_index(2)), output))])
        assert broken(evidence) == expected
    assert part(evidence, BOUND).broken == 1
    assert evidence.verdict is Verdict.VIOLATED


def test_control_a_bound_that_is_not_below_zero(corner):
    assert broken(proposition_e_22([corner], limit=lambda k, c: 0.0)) == ["this bound is below 0"]


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
