"""Propositions E.18 and E.22, with controls in their outputs, limits and training sets."""

import dataclasses
import functools
import math

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, every_part_of
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
from tests.papers.brutzkus2019.claims.requirements import is_seen_beside_another, required
from tests.papers.brutzkus2019.claims.trained_edges import ALONE, ENOUGH, RATE, declared, edges, narrowed
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims import generalization
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
from widenet.types import RunStatus

OUTPUT, FIRST, SECOND = (
    "N(z) is at least the limit",
    "N(z) ≥ X(i) − P⁺ − Y(2) − Y(4)",
    "X(i) − P⁺ − Y(2) − Y(4) is at least the limit",
)
BOUND = "N ≤ 35c_η − (1 − 1¼c_η)/(1 + α(k)) inside the events"


def many(n_runs: int = 1115) -> Trained:
    """As many runs as 8e⁻⁸ needs."""
    return many_in_the_corner(n_runs)


@pytest.fixture(scope="module")
def corner() -> Trained:
    return many()


RUNS = "every setting has runs enough, or an event as likely as promised"
ZERO_LOSS, BELOW = "zero loss inside the events of the proof", "this bound is below 0"


def rate_controls(claim, right, place, label):
    """What breaks each part of a proposition that allows c + 8e⁻⁸ failures."""

    @breaks_part(claim, RATE)
    def failures():
        """Seven of 1115 refute it, six do not decide."""
        assert claim([lost(many(), 6)]).conclusion is None
        return claim([many()]), claim([lost(many(), 7)])

    @breaks_part(claim, ALONE)
    def alone():
        """Two of a hundred are too many, and two of 2500 are not."""
        few = some(many(), slice(100))
        assert broken_in(claim([many(2400), lost(few, 1)])) == []
        return claim([many(2400), few]), claim([many(2400), lost(few, 2)])

    @breaks_part(claim, ZERO_LOSS)
    def zero_loss():
        return claim([many()]), claim([altered(many(), loss=(5, 1e-12))])

    def signs():
        inside, outside = (altered(many(), outputs=((5, place), value)) for value in (label * 1.0, 0.0))
        return claim([inside]), claim([outside])

    also = () if claim is proposition_e_18 else (BOUND,)
    wrong = breaks_part(claim, f"{right} inside the events", also=also)(
        signs if not also else lambda: signs()[1]  # an output of 0 is above the bound too, which is below 0
    )
    return {"failures": failures, "alone": alone, "zero loss": zero_loss, "signs": wrong}


@pytest.mark.parametrize("which", ["failures", "alone", "zero loss", "signs"])
@pytest.mark.parametrize("name", ["E.18", "E.22"])
def test_control_rates_part_by_part(name, which):
    RATES[name][which]()


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


def negative_output(value):
    return proposition_e_22([altered(many(), outputs=((0, set_index(2)), value))])


@breaks_part(proposition_e_22, BOUND)
def test_control_an_output_just_above_its_bound():
    """−0.04907 at k = 120, c_η = 1/410."""
    limit = negative_output_limit(120, many().step_constant)
    return negative_output(limit + 0.5 * room()), negative_output(limit + 2 * room())


@breaks_part(proposition_e_22, BELOW)
def test_control_a_bound_that_is_zero():
    """The outputs are far below it."""
    return (
        proposition_e_22([many()], limit=lambda k, c: -1e-9),
        proposition_e_22([many()], limit=lambda k, c: 0.0),
    )


def room() -> float:
    """What rounding may take: 1e-9 of a step."""
    return 1e-9 * in_the_corner().step_size


@pytest.mark.parametrize("claim", [equation_18, proposition_e_22])
def test_bounds_are_asked_inside_the_events_at_zero_loss(claim):
    place, value = (set_index(1), -9.0) if claim is equation_18 else (set_index(2), 9.0)
    name = OUTPUT if claim is equation_18 else BOUND
    runs = altered(many(), outputs=((0, place), value))
    assert name in broken_in(claim([runs]))
    assert name not in broken_in(claim([altered(runs, loss=(0, 1e-12))]))
    one_side = np.where(np.arange(240)[:, None] < 120, np.abs(runs.start[0]).max() * PATTERNS[0], runs.start[0])
    for start in (200 * runs.start[0], one_side):
        assert name not in broken_in(claim([altered(runs, start=(0, start))]))


def test_what_is_required():
    runs = [in_the_corner()]
    assert required(equation_18(runs)) == {"width": "> 64", "step_constant": "≤ 0.125"}
    asked = {"margin": "≥ 2", "beta": "> 1", "width": "> 0", "step_constant": "≤ 0.125"}
    assert required(proposition_e_18(runs)) == asked
    assert required(proposition_e_22(runs)) == {"beta": "> 1", "width": "> 0", "margin": "≥ 1"}


@pytest.mark.parametrize(
    ("claim", "key"),
    [
        *((claim, "width") for claim in (equation_18, proposition_e_18, proposition_e_22)),
        *((claim, "margin") for claim in (proposition_e_18, proposition_e_22)),
        *((claim, "beta") for claim in (proposition_e_18, proposition_e_22)),
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_one_setting_outside_beside_another(claim, key):
    few = some(in_the_corner(), slice(2))
    outside = {
        "width": lambda: narrowed(few, 64),
        "margin": lambda: dataclasses.replace(few, required_margin=0.9),
        "beta": lambda: dataclasses.replace(few, step_size=1 / 8 / 120),
    }
    assert is_seen_beside_another(claim, few, outside[key], key)


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


def with_width(claim, half_width):
    return claim([narrowed(in_the_corner(), half_width)])


def at(claim, **fields):
    return claim([dataclasses.replace(in_the_corner(), **fields)])


EIGHTH = {"step_size": 1 / 960}, {"step_size": 1 / 960 + 1e-9}


@functools.cache
def wider() -> Trained:
    """A record of 720 filters of each sign: the same ones six times, from smaller starts, with c_η = 1/2000."""
    runs = some(in_the_corner(), slice(2))
    filters = {
        name: np.concatenate([np.tile(half, (1, 6, 1)) for half in np.split(getattr(runs, name), 2, axis=1)], axis=1)
        for name in ("start", "final")
    }
    return dataclasses.replace(runs, start=filters["start"] / 100, final=filters["final"], step_size=1 / 2000 / 720)


test_control_proposition_e_18_at_its_edges = declared(
    proposition_e_18,
    {
        **edges(lambda runs: proposition_e_18([runs]), in_the_corner),
        "width": lambda: (with_width(proposition_e_18, 112), with_width(proposition_e_18, 111)),
        # β(2) = 1.94 at c_η = 1/2000, which asks for k above 624.
        "margin": lambda: tuple(
            proposition_e_18([dataclasses.replace(wider(), required_margin=margin)]) for margin in (2.0, 2 - 1e-9)
        ),
        # γ = 100 makes up for the largest step.
        "step_constant": lambda: tuple(at(proposition_e_18, required_margin=100.0, **each) for each in EIGHTH),
    },
)


@breaks_hypothesis(proposition_e_18, "beta", also=("width",))
def test_control_beta_of_proposition_e_18():
    """β = 1 where γ = 79¼c_η + 1, above 2 for c_η > 1/79.25; then no width is enough."""
    return at(proposition_e_18, required_margin=79.25 / 41 + 1, step_size=1 / 41 / 120)


def test_beta_of_proposition_e_18_at_its_edge():
    for error, met in ((1e-9, True), (-1e-9, False)):
        gamma = 79.25 / 41 + 1 + error
        evidence = at(proposition_e_18, required_margin=gamma, step_size=1 / 41 / 120)
        (beta,) = [each for each in evidence.hypotheses if each.key == "beta"]
        assert beta.met is met
        assert beta.actual == pytest.approx(1, abs=1e-8)


test_control_proposition_e_22_at_its_edges = declared(
    proposition_e_22,
    {
        **edges(
            lambda runs: proposition_e_22([runs]),
            in_the_corner,
            margin=({"required_margin": 1.0}, {"required_margin": 1 - 1e-9}),
        ),
        "width": lambda: (with_width(proposition_e_22, 94), with_width(proposition_e_22, 93)),
    },
)


@breaks_hypothesis(proposition_e_22, "beta", also=("width",))
def test_control_beta_of_proposition_e_22():
    """β = 1 where c_η = 1/71¼; then no width is enough."""
    return at(proposition_e_22, step_size=(1 + 1e-9) / 71.25 / 120)


def test_beta_of_proposition_e_22_at_its_edge():
    evidence = at(proposition_e_22, step_size=(1 - 1e-9) / 71.25 / 120)
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
    assert math.isclose(number(part(proposition_e_22([corner]), "35c_η").promised), -0.0490746416582, rel_tol=1e-8)


def test_control_a_margin_of_one_is_wrong_on_positive_points():
    evidence = proposition_e_18([small_margin()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert number(evidence.measured) > 0.8


def test_a_limit_that_says_nothing_about_the_sign_is_vacuous(corner):
    for limit, vacuous in ((-1e-9, True), (0.0, True), (1e-9, False)):
        evidence = equation_18([corner], limit=lambda k, c, gamma, limit=limit: limit)
        assert evidence.verdict is Verdict.HOLDS
        assert [each.vacuous for each in evidence.parts if each.name in (OUTPUT, SECOND)] == [vacuous, vacuous]
    for limit, vacuous in ((1e-9, True), (-1e-9, False)):
        found = part(proposition_e_22([corner], limit=lambda k, c, limit=limit: limit), "35c_η")
        assert found.vacuous is vacuous


@pytest.mark.parametrize(
    ("claim", "patterns", "words"),
    [
        (proposition_e_18, (1,), "right on all positive points inside the events"),
        (proposition_e_22, (4,), "right on all negative points inside the events"),
    ],
)
def test_control_one_output_of_zero(claim, patterns, words, corner):
    evidence = claim([altered(corner, outputs=((5, set_index(*patterns)), 0.0))])
    assert words in broken_in(evidence)
    other = set_index(*((2,) if claim is proposition_e_18 else (1,)))
    assert claim([altered(corner, outputs=((5, other), 0.0))]).parts[0].broken == 0


@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22])
def test_control_a_loss_that_is_not_quite_zero(claim, corner):
    evidence = claim([altered(corner, loss=(5, 1e-12))])
    assert broken_in(evidence) == ["zero loss inside the events of the proof"]


@pytest.mark.parametrize("claim", [proposition_e_18, proposition_e_22])
def test_control_nine_failures_of_1115(claim, corner):
    """Outside the events: the lower limit is 4.2e-3, above 2.7e-3."""
    runs = altered(corner, start=(slice(9), 1.0), loss=(slice(9), 1.0))
    assert broken_in(claim([runs])) == ["runs fail at most as often as promised"]


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
        assert broken_in(evidence) == expected
    assert part(evidence, BOUND).broken == 1
    assert evidence.verdict is Verdict.VIOLATED


def test_control_a_bound_that_is_not_below_zero(corner):
    assert broken_in(proposition_e_22([corner], limit=lambda k, c: 0.0)) == ["this bound is below 0"]


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


RATES = {
    "E.18": rate_controls(proposition_e_18, "right on all positive points", set_index(1), 1),
    "E.22": rate_controls(proposition_e_22, "right on all negative points", set_index(4), -1),
}


def test_settings_are_on_the_edge_and_in_the_corner():
    for settings in (positive_settings, negative_settings):
        assert settings(Scale.QUICK, 0)[-1:] == corner_settings(Scale.QUICK, 0)
        assert settings(Scale.QUICK, 0)[0].half_width == 201


test_every_part_has_a_control = every_part_of(
    generalization,
    except_for={f"{claim.name}: {RUNS}": ENOUGH for claim in (proposition_e_18, proposition_e_22)},
    elsewhere=(equation_18,),
)
