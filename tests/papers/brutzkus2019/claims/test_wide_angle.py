"""The second part of Theorem 6.3: at the global minimum the filters stand at small angles to their patterns."""

import dataclasses
import math

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.papers.brutzkus2019.claims.networks import altered, in_the_corner, many_in_the_corner, number, part, some
from tests.papers.brutzkus2019.claims.trained_edges import DEVIATION
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones
from widenet.papers.brutzkus2019.claims import wide
from widenet.papers.brutzkus2019.claims.wide import lemma_e_17, proposition_e_14, theorem_6_3, theorem_6_3_angle
from widenet.papers.brutzkus2019.formulas import cosine_limit, fewest_updates, sharp_updates
from widenet.papers.brutzkus2019.runs.trained import TrainedXord, train_from
from widenet.types import RunStatus

ANGLE, UPDATES, SHARP = "angle", "updates", "sharp_updates"


@pytest.fixture(scope="module")
def corner() -> TrainedXord:
    return many_in_the_corner()


def test_limits_that_say_nothing():
    """An angle of 180°, no updates at all."""
    runs = in_the_corner()
    for name, limits in (("cosine", (-0.999, -1.0)), ("updates", (1e-9, 0.0)), ("sharp", (1e-9, 0.0))):
        place = ("cosine", "updates", "sharp").index(name)
        found = [theorem_6_3_angle([runs], **{name: lambda gamma, c, limit=limit: limit}) for limit in limits]
        assert [each.parts[place].vacuous for each in found] == [False, True]


def test_the_angle(corner):
    evidence = theorem_6_3_angle([corner])
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(number(evidence.promised), 2.61950653327, rel_tol=1e-8)
    assert 0.01 < number(evidence.measured) < 0.03
    assert math.isclose(number(part(evidence, UPDATES).promised), 1434, rel_tol=1e-9)
    assert math.isclose(number(part(evidence, SHARP).promised), 1844.8232233, rel_tol=1e-9)


def test_control_the_angle_after_one_step(corner):
    once = train_from(corner.start[:20], corner.step_size, 8.0, max_steps=1)
    assert theorem_6_3_angle([once]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    ended = dataclasses.replace(once, status=np.full(20, RunStatus.CONVERGED), loss=np.zeros(20))
    evidence = theorem_6_3_angle([ended])
    assert evidence.verdict is Verdict.VIOLATED
    assert 40 < number(evidence.measured) < 50


def turned(runs: TrainedXord, degrees: float) -> TrainedXord:
    """One w filter of W⁺(1) turned to this angle from p_1, with the same fit to it."""
    run, place = np.argwhere(cones(runs.start[:, :120])[..., 0])[0]
    fit = float(runs.final[run, place] @ PATTERNS[0])
    across = fit * math.tan(math.radians(degrees))
    return altered(runs, final=((run, place), (fit * PATTERNS[0] + across * PATTERNS[1]) / 2))


def test_control_one_filter_turned_beyond_its_angle(corner):
    assert theorem_6_3_angle([turned(corner, 2.61)]).verdict is Verdict.HOLDS
    assert broken_in(theorem_6_3_angle([turned(corner, 2.63)])) == [ANGLE]


def test_control_one_filter_with_too_few_updates(corner):
    run, place = np.argwhere(cones(corner.start[:, :120])[..., 0])[0]
    for updates, expected in ((1434.01, [SHARP]), (1433, [UPDATES, SHARP])):
        moved = corner.start[run, place] + updates * corner.step_size * PATTERNS[0]
        evidence = theorem_6_3_angle([altered(corner, final=((run, place), moved))])
        assert broken_in(evidence) == expected


def after(updates: float, degrees: float | None = None) -> TrainedXord:
    """One w filter of W⁺(1) after so many updates, or turned to this angle from p_1."""
    runs = many_in_the_corner()
    run, place = np.argwhere(cones(runs.start[:, :120])[..., 0])[0]
    moved = runs.start[run, place] + updates * runs.step_size * PATTERNS[0]
    if degrees is not None:
        fit = float(moved @ PATTERNS[0])
        moved = (fit * PATTERNS[0] + fit * math.tan(math.radians(degrees)) * PATTERNS[1]) / 2
    return altered(runs, final=((run, place), moved))


LIMIT = math.degrees(math.acos((7 - 2 / 410) / (7 + 1 / 410)))


def without_room(**limits):
    """Constants that make a promise of the angle or of updates just above or below what was seen."""
    return {name: lambda gamma, c, limit=limit: limit for name, limit in limits.items()}


def turned_to(degrees: float):
    return at(lambda: after(2000, degrees))


def turned_by_45(off: float):
    """An angle of 45°, and a limit below it by so much of it."""
    return at(lambda: after(2000, 45.0), **without_room(cosine=math.cos(math.radians(45 * (1 - off)))))


test_control = controls(
    wide,
    many_in_the_corner,
    # η was moved to a grid, so c_η is a millionth below 1/410, and the limit with it.
    (theorem_6_3_angle, ANGLE, turned_to(LIMIT * (1 - 1e-5)), turned_to(LIMIT * (1 + 1e-5))),
    (theorem_6_3_angle, ANGLE, turned_by_45(0.5e-12), turned_by_45(3e-12)),
    # 9·205 − √2/8 = 1844.82; 7·205 − 1 = 1434.
    (theorem_6_3_angle, SHARP, at(lambda: after(1845)), at(lambda: after(1844))),
    (theorem_6_3_angle, UPDATES, at(lambda: after(1845)), at(lambda: after(1433)), SHARP),
    (theorem_6_3_angle, *DEVIATION),
    but=(proposition_e_14, lemma_e_17, theorem_6_3),
)


def test_the_sharp_number_of_updates():
    assert sharp_updates(8.0, 1 / 410) == pytest.approx(1844.82, abs=0.01)
    assert broken_in(theorem_6_3_angle([after(1434.01)])) == [SHARP]


@pytest.mark.parametrize(("name", "part"), [("updates", UPDATES), ("sharp", SHARP)])
def test_the_room_of_the_updates(name, part):
    fewest = theorem_6_3_angle([many_in_the_corner()]).details["fewest_updates_a_plus"]
    for off, parts in ((0.5e-9, []), (3e-9, [part])):
        limit = fewest * (1 + off)
        found = theorem_6_3_angle([many_in_the_corner()], **{name: lambda gamma, c, limit=limit: limit})
        assert broken_in(found) == parts


def with_margin(gamma, **changes):
    runs = some(in_the_corner(), slice(2))
    return theorem_6_3_angle([dataclasses.replace(runs, required_margin=gamma, **changes)])


@pytest.mark.parametrize(("gamma", "degrees"), [(0.95, 180.0), (1.0, 180.0), (1.05, 30.63115), (8.0, 2.6195065)])
def test_the_angle_at_other_margins(gamma, degrees):
    """Up to γ = 1 nothing is promised."""
    assert with_margin(gamma).promised == pytest.approx(degrees, rel=1e-5)


@pytest.mark.parametrize(("cosine", "degrees"), [(1.05, 0.0), (-1.05, 180.0), (-0.95, 161.80512766)])
def test_the_angle_of_a_cosine(cosine, degrees):
    found = theorem_6_3_angle([in_the_corner()], cosine=lambda gamma, c: cosine)
    assert found.parts[0].promised == pytest.approx(degrees, rel=1e-9)


@pytest.mark.parametrize(("more", "met"), [(-1e-6, False), (0.0, False), (1e-6, True)])
def test_the_angle_is_below_a_right_one(more, met):
    """γ − 1 − 2c_η, at c_η = 120/512."""
    evidence = with_margin(1 + 240 / 512 + more, step_size=1 / 512)
    assert [h.met for h in evidence.hypotheses if h.key == "angle_below_a_right_one"] == [met]


@pytest.mark.parametrize("pattern", [0, 2])
def test_control_the_angle_of_every_filter_of_both_cones(pattern):
    runs = many_in_the_corner()
    run, place = np.argwhere(cones(runs.start[:, :120])[..., pattern])[-1]
    turned_away = altered(runs, final=((run, place), -runs.final[run, place]))
    assert ANGLE in broken_in(theorem_6_3_angle([turned_away]))
    # A filter of W⁺(2) may end anywhere.
    run, place = np.argwhere(cones(runs.start[:, :120])[..., 1])[0]
    assert broken_in(theorem_6_3_angle([altered(runs, final=((run, place), -runs.final[run, place]))])) == []


def test_the_angle_is_asked_of_runs_in_the_event_at_zero_loss():
    runs = many_in_the_corner()
    away = altered(runs, final=(3, -runs.final[3]))
    assert ANGLE in broken_in(theorem_6_3_angle([away]))
    assert broken_in(theorem_6_3_angle([altered(away, loss=(3, 1e-12))])) == []
    assert broken_in(theorem_6_3_angle([altered(away, start=(3, 200 * runs.start[3]))])) == []


def test_control_other_constants_of_the_angle(corner):
    sharper = theorem_6_3_angle([corner], cosine=lambda gamma, c: 1 - (1 - cosine_limit(gamma, c)) / 1e5)
    assert broken_in(sharper) == [ANGLE]
    more = theorem_6_3_angle([corner], updates=lambda gamma, c: 3 * fewest_updates(gamma, c))
    assert broken_in(more) == [UPDATES]
    assert broken_in(theorem_6_3_angle([corner], sharp=lambda gamma, c: 2 * sharp_updates(gamma, c))) == [SHARP]


def test_a_start_outside_the_event_is_not_scored_for_the_angle(corner):
    evidence = theorem_6_3_angle([altered(corner, start=(slice(2), 1.0))])
    assert evidence.runs.outside == 2
