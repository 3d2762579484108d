"""Wide networks: convergence and the sums at zero loss, with controls outside their regime and with wrong constants."""

import dataclasses
import functools
import math

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, leaves_open
from tests.papers.brutzkus2019.claims.networks import (
    altered,
    fast,
    lost,
    many_in_the_corner,
    networks,
    number,
    part,
    repeated,
    some,
    twenty,
)
from tests.papers.brutzkus2019.claims.trained_edges import DEVIATION, narrowed, one_sided
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import on_negative_axis
from widenet.papers.brutzkus2019.claims import wide
from widenet.papers.brutzkus2019.claims.wide import (
    LastSums,
    lemma_e_17,
    proposition_e_14,
    theorem_6_3,
    theorem_6_3_angle,
)
from widenet.papers.brutzkus2019.hypotheses import XordNetworks
from widenet.papers.brutzkus2019.runs.trained import TrainedXord
from widenet.papers.brutzkus2019.runs.trained_settings import (
    convergence_settings,
    regime_settings,
    zero_loss_settings,
)
from widenet.records import Scale


def test_the_edges_of_the_regime_are_among_the_defaults():
    rows = {
        (each.half_width, round(1 / each.step_constant), each.required_margin)
        for each in regime_settings(Scale.QUICK, 0)
    }
    assert rows == {(120, 410, 8.0), (240, 410, 8.0), (120, 800, 8.0), (120, 410, 20.0)}


@functools.cache
def many_of_twenty(n_runs: int = 2240) -> TrainedXord:
    return repeated(twenty(), n_runs)


def both(*changed: TrainedXord) -> list[TrainedXord]:
    """As many runs as Proposition E.14 needs, and a few at another width, or these instead."""
    return [many_of_twenty(), *(changed or (fast(),))]


def beside_many(n_lost: int) -> list[TrainedXord]:
    """Two hundred runs, so many of them lost, beside 4800."""
    few = some(many_of_twenty(), slice(200))
    return [many_of_twenty(4800), lost(few, n_lost) if n_lost else few]


def outside_beside_many():
    """The few again, from starts outside the events of the proof."""
    all_of_them, few = beside_many(0)
    return [all_of_them, one_sided(few)]


def in_the_event(**arrays):
    """The first run of many that is inside the events, altered."""
    runs = many_of_twenty()
    place = int(np.argmax(runs.axes_explored))
    return altered(runs, **{name: (place, value) for name, value in arrays.items()})


MOST = math.floor(7 * 3 / ((10 - 2 * math.sqrt(20)) / 160))
"""T is 2693.98 at k = 20, c_η = 1/8, γ = 1."""


def after_steps(steps: int):
    """One run inside the events after so many steps, where 4000 are allowed."""
    return at(lambda: in_the_event(steps=steps), steps=lambda k, c, gamma: 4000.0)


def summed(half: int, offset: float, amount: float) -> TrainedXord:
    """The filters w or u on the negative axis of one run scaled until their sum is offset + amount·c_η."""
    runs, side = fast(), slice(120 * half, 120 * (half + 1))
    filters = runs.final[0, side]
    along = np.where(on_negative_axis(filters), np.abs(filters @ PATTERNS[1]), 0).sum()
    scale = (offset + amount * runs.step_constant) / along
    return altered(runs, final=((0, side), np.where(on_negative_axis(filters)[:, None], scale * filters, filters)))


test_control = controls(
    wide,
    {LastSums: fast, XordNetworks: both},
    # c + 4e⁻⁸ = 0.00134: seven of 2240 refute it; two of two hundred are too many, two of 5000 are not.
    (proposition_e_14, "rate", at(lambda: some(many_of_twenty(), slice(2232))), at(lambda: lost(many_of_twenty(), 7))),
    (proposition_e_14, "alone", at(lambda: beside_many(0)), at(lambda: beside_many(2))),
    (proposition_e_14, "enough", at(lambda: beside_many(0)), leaves_open(outside_beside_many)),
    (proposition_e_14, "zero_loss", {}, at(lambda: in_the_event(loss=1e-12))),
    (proposition_e_14, "time", at(lambda: in_the_event(steps=MOST)), at(lambda: in_the_event(steps=MOST + 1))),
    (proposition_e_14, "time", after_steps(4000), after_steps(4001)),
    (proposition_e_14, *DEVIATION),
    (lemma_e_17, "plus", at(lambda: summed(0, 0.0, 34 + 0.5e-9)), at(lambda: summed(0, 0.0, 34 + 2e-9))),
    (lemma_e_17, "minus", at(lambda: summed(1, 1.0, 38 + 0.5e-9)), at(lambda: summed(1, 1.0, 38 + 2e-9))),
    (lemma_e_17, *DEVIATION),
    but=(theorem_6_3, theorem_6_3_angle),
)


def test_proposition_e_14():
    evidence = proposition_e_14(both())
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(number(evidence.promised), 0.00134185051161, rel_tol=1e-11)
    assert proposition_e_14([lost(many_of_twenty(), 6)]).conclusion is None


@pytest.mark.parametrize(("n_runs", "verdict"), [(2232, Verdict.HOLDS), (2231, Verdict.INSUFFICIENT_EVIDENCE)])
def test_how_many_runs_confirm_proposition_e_14(n_runs, verdict):
    assert proposition_e_14([some(many_of_twenty(), slice(n_runs))]).verdict is verdict


def test_the_setting_without_runs_enough_is_named():
    few = lost(some(many_of_twenty(), slice(20)), 20)
    evidence = proposition_e_14([many_of_twenty(), altered(few, loss=(slice(None), 0.0))])
    assert [each.key for each in evidence.parts if each.kept is None] == ["enough"]


def test_a_time_is_asked_for_above_sixteen_filters():
    few, asked = some(twenty(), slice(2)), []

    def steps(half_width, step_constant, margin):
        asked.append(half_width)
        return math.inf

    proposition_e_14([narrowed(few, 16), narrowed(few, 17)], steps=steps)
    assert asked == [17]


@pytest.mark.parametrize(("half", "key"), [(0, "plus"), (1, "minus")])
def test_lemma_e_17_is_asked_inside_its_events_at_zero_loss(half, key):
    runs = summed(half, float(half), 40)
    assert broken_in(lemma_e_17([runs])) == [key]
    assert broken_in(lemma_e_17([altered(runs, loss=(0, 1e-12))])) == []
    assert broken_in(lemma_e_17([altered(runs, start=(0, 200 * runs.start[0]))])) == []
    one_side = np.where(np.arange(240)[:, None] < 120, np.abs(runs.start[0]).max() * PATTERNS[0], runs.start[0])
    assert broken_in(lemma_e_17([altered(runs, start=(0, one_side))])) == []


def test_control_a_shorter_time():
    evidence = proposition_e_14(both(), steps=lambda k, c, gamma: (gamma + 1) / (2 * c))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["cases"][1]["failures"] == 60


def test_control_one_step_beyond_proposition_e_14():
    """T is 8313.75 at k = 120, c_η = 1/41, γ = 8."""
    assert proposition_e_14(both(altered(fast(), steps=(5, 8313)))).verdict is Verdict.HOLDS
    assert broken_in(proposition_e_14(both(altered(fast(), steps=(5, 8314))))) == ["time"]
    assert broken_in(proposition_e_14(both(altered(fast(), loss=(5, 1e-12))))) == ["zero_loss"]


def test_control_two_filters_often_do_not_converge():
    evidence = proposition_e_14([networks(2, 1 / 41, 8.0, 500, 3000)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_lemma_e_17():
    evidence = lemma_e_17([fast(), many_in_the_corner()])
    assert evidence.verdict is Verdict.HOLDS
    assert number(evidence.tightness) < 0.2
    assert [each.promised for each in evidence.parts] == [38, 34]
    assert lemma_e_17([twenty()]).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(("wrong", "key"), [({"plus_limit": 1.0}, "plus"), ({"minus_limit": 2.0}, "minus")])
def test_control_smaller_sums(wrong, key):
    evidence = lemma_e_17([fast()], **wrong)
    assert broken_in(evidence) == [key]
    assert part(evidence, key).broken > 3


def test_runs_outside_the_event_are_counted_and_not_scored():
    outside = dataclasses.replace(fast(), start=1000 * fast().start)
    evidence = lemma_e_17([outside])
    assert evidence.runs.outside == 60
    assert evidence.conclusion is None


def test_equal_settings_are_shared():
    """The corner serves all of them, and the faster runs two."""
    for scale in Scale:
        corner_setting = regime_settings(scale, 0)[0]
        assert corner_setting in convergence_settings(scale, 0)
        assert corner_setting in zero_loss_settings(scale, 0)
        assert len(set(convergence_settings(scale, 0)) & set(zero_loss_settings(scale, 0))) == 2
