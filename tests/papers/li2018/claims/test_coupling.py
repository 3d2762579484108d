"""Coupling: neurons that just keep their patterns, and those that lose them."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.li2018.toys import own_toy, too_many
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import coupling
from widenet.papers.li2018.claims.coupling import (
    lemma_5_1,
    lemma_5_1_as_printed,
    lemma_a_1_all_thresholds,
    lemma_a_1_move,
    lemma_a_1_size,
    lemma_b_1,
    lemma_b_1_as_printed,
)
from widenet.papers.li2018.claims.descent import section_6_rank
from widenet.papers.li2018.formulas import HALF_NORMAL, E
from widenet.papers.li2018.runs.descents import DescentSetting, coupled_settings, follow, run_descent, start_settings
from widenet.papers.li2018.sources import HEXAGON, TOY, Caps, Sample
from widenet.progress import silent
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, descend


@functools.cache
def coupled():
    setting = DescentSetting(data=TOY, width=1500, scaled_step=0.02, n_steps=12, thresholds=(0.02, 0.05), n_fresh=10)
    return run_descent(setting, silent)


def steep(step=None, threshold=0.1):
    """Two neurons with pre-activations τ and 3 − τ at a point of the second class, f = (3, −3); one step."""
    low = threshold * (1 + 1e-9)
    start = SoftmaxNetwork(np.array([[low, 0.0], [3 - low, 0.0]]), np.array([[1.0, 1.0], [-1.0, -1.0]]))
    point = Sample(np.array([[1.0, 0.0]]), np.array([1]), np.array([0]), np.ones(1))
    setting = DescentSetting(
        data=HEXAGON, width=2, start_scale=2**0.5, thresholds=(threshold,), scaled_step=threshold, n_steps=1
    )
    eta = threshold / 2 if step is None else step
    return follow(descend(start, point.points, point.classes, point.shares, eta, 1), start, point, setting)


def test_the_factor_two_is_sharp():
    found = steep()
    assert found.limits[0] == 1
    assert (found.clear[0], found.lost[0]) == (1, 0)
    assert found.moves[1] == pytest.approx(0.09975, abs=1e-5)
    assert lemma_a_1_move([found]).tightness == pytest.approx(0.9975, abs=1e-4)


def test_a_gate_that_differs_is_a_gradient_that_differs():
    """Followed against the gates of another start, coupled neurons do have other gradients."""
    setting = DescentSetting(data=TOY, width=50, scaled_step=0.02, n_steps=1, thresholds=(0.02,))
    sample = TOY.draw(0)
    draw = np.random.default_rng(0)
    start = SoftmaxNetwork(draw.normal(size=(50, 20)) / 50**0.5, draw.normal(size=(3, 50)))
    steps = list(descend(start, sample.points, sample.classes, sample.shares, 1e-6, 1))
    wrong = [altered(step, gradient=step.gradient + 1e-9) for step in steps]
    assert follow(iter(wrong), start, sample, setting).unequal[0] > 0
    assert follow(iter(steps), start, sample, setting).unequal[0] == 0


@pytest.mark.parametrize("claim", [lemma_5_1, lemma_a_1_move, lemma_b_1], ids=["5.1", "move", "B.1"])
def test_control_conditions(claim):
    assert claim([coupled()]).verdict is Verdict.HOLDS


def test_a_move_as_long_as_the_bound_is_too_long():
    assert lemma_a_1_move([altered(steep(), moves=np.array([0.0, 0.1]))]).parts[0].kept is False


def test_the_path_of_one_step_is_its_length():
    found = steep()
    assert found.paths[1] == pytest.approx(found.moves[1])
    assert found.paths[0] == 0


def test_control_a_smaller_constant():
    """Half of the needed constant is 0.8; the tenth of 10 fails too."""
    assert lemma_b_1([coupled()], constant=0.5).conclusion is False


def test_fresh_points_lose_what_the_law_says():
    """At t = 0 a neuron has |⟨w, x⟩| < τ with probability 2Φ(τ/σ) − 1 = 0.04 at τ = 0.05σ."""
    setting = DescentSetting(data=TOY, width=4000, scaled_step=1e-9, n_steps=1, thresholds=(0.05,), n_fresh=20)
    assert 1 - run_descent(setting, silent).fresh.mean() == pytest.approx(0.0399, abs=0.006)


def test_quick_settings_promise_steps():
    for setting in coupled_settings(Scale.QUICK, 0):
        assert setting.thresholds == (0.02, 0.05)
        assert setting.n_steps >= 24


def test_enough_starts_exclude_that_one_in_twenty_fails():
    """All of them differ, in their points too; "with high probability" of two starts says hardly anything."""
    settings = start_settings(Scale.QUICK, 0)
    assert settings[:2] == coupled_settings(Scale.QUICK, 0)
    assert len({setting.seed for setting in settings}) == len(settings) == 61
    assert lemma_5_1.reads == lemma_b_1.reads
    for claim in (lemma_5_1, lemma_b_1):
        assert claim([coupled()] * 59).note.endswith("59 starts: where none fails, they exclude that more than 5 % do.")
        assert claim([coupled()] * 2).note.endswith("2 starts: where none fails, they exclude that more than 78 % do.")


def test_they_speak_about_three_classes():
    settings = lemma_5_1.on(own_toy()).settings
    assert settings == lemma_b_1.on(own_toy()).settings == lemma_a_1_move.on(own_toy()).settings
    cells = [run_descent(setting, silent) for setting in settings]
    for claim in (lemma_5_1, lemma_b_1, lemma_a_1_move):
        assert claim(cells).verdict is Verdict.HOLDS, claim.id
    assert isinstance(lemma_5_1.on(too_many()), NotApplicable)


def test_the_mean_of_fresh_points_at_its_edge():
    """With a room that is next to nothing: 1 − 2·0.79788·0.02 = 0.96808."""
    for share, kept in ((0.9683, True), (0.9678, False)):
        fresh = np.stack([np.full(10, share), np.ones(10)])
        assert lemma_b_1([altered(coupled(), fresh=fresh, width=10**9)]).parts[1].kept is kept


def test_the_room_of_that_mean_is_five_standard_errors():
    fresh = np.stack([np.full(10, 0.95), np.ones(10)])
    width = 1000  # √(0.05/1000) = 0.0071
    assert lemma_b_1([altered(coupled(), fresh=fresh, width=width)]).parts[1].kept is True
    assert lemma_b_1([altered(coupled(), fresh=fresh - 0.03 * (fresh < 1), width=width)]).parts[1].kept is False


def test_bounds_below_zero_promise_nothing():
    """eτkl/σ = 1 ± 0.05 of six points."""
    for theta, vacuous in ((1.05, True), (1.0, True), (0.95, False)):
        cell = altered(coupled(), thresholds=np.full(2, theta / (np.e * 6)))
        assert [part.vacuous for part in lemma_5_1([cell]).parts if part.key in ("coupled", "clear")] == [vacuous] * 2
    for tenfold, vacuous in ((1.05, True), (1.0, True), (0.95, False)):
        cell = altered(coupled(), thresholds=np.full(2, tenfold / 10))
        assert lemma_b_1([cell]).parts[0].vacuous is vacuous


def test_steps_that_are_promised_at_least_one():
    for limit, met in ((1.0, True), (0.0, False)):
        cell = altered(coupled(), limits=np.array([limit, 30.0]))
        assert lemma_5_1([cell]).hypotheses[-2].met is met
        assert lemma_b_1([cell]).hypotheses[-2].met is met


def test_thresholds_at_their_lower_limits():
    """e·τ/σ·6·1500 = 20 and 10·τ/σ·1500 = 20, in one cell of two."""
    for factor, met in ((1.001, True), (0.999, False)):
        for claim, limit in ((lemma_5_1, 20 / (np.e * 6 * 1500)), (lemma_b_1, 20 / (10 * 1500))):
            low = altered(coupled(), thresholds=np.array([factor * limit, 0.05]))
            for cells in ([coupled(), low], [low, coupled()]):
                assert claim(cells).hypotheses[-1].met is met


def tiny(seed):
    """Steps so small that some are promised at 10τm/σ = 0.9, where no neuron may be lost."""
    setting = DescentSetting(
        data=HEXAGON, width=100, scaled_step=1e-6, n_steps=1, thresholds=(0.9 / 1000,), n_fresh=9, seed=seed
    )
    return run_descent(setting, silent)


def test_tiny_thresholds_refute_nothing():
    """Each fresh point loses a neuron with probability 1 − exp(−0.0798·0.9) = 0.07."""
    found = [lemma_b_1([tiny(seed)]) for seed in range(12)]
    assert any(each.parts[0].kept is False for each in found)
    assert all(each.hypotheses[-2].met for each in found)
    assert {each.verdict for each in found} == {Verdict.HYPOTHESES_NOT_MET}


def test_moves_at_their_edges():
    long = coupled().paths
    for factor, kept in ((1 + 5e-10, True), (1 + 5e-9, False), (1.05, False)):
        assert lemma_a_1_move([altered(coupled(), moves=factor * long)]).parts[1].kept is kept
    for start, kept in ((0.0, True), (0.05, False)):
        moves = coupled().moves.copy()
        moves[0] = start
        assert lemma_a_1_move([altered(coupled(), moves=moves)]).parts[2].kept is kept


def test_shares_that_do_not_add_up():
    for total, met in ((5e-13, True), (5e-12, False)):
        assert lemma_5_1([altered(coupled(), total=total)]).hypotheses[1].met is met


def test_the_room_of_the_mean_is_that_of_one_point():
    """0.849 + 5·√(0.849·0.151/1000) = 0.9056, 0.846 + … = 0.9031, and 1 − 2·0.79788·0.06 = 0.9043."""
    for share, kept in ((0.849, True), (0.846, False)):
        cell = altered(coupled(), fresh=np.full((2, 10), share), width=1000, thresholds=np.full(2, 0.06))
        assert lemma_b_1([cell]).parts[1].kept is kept


def test_points_of_a_reader_are_components_of_their_own():
    """Twenty points in two tight caps: kl counts the points, so neither bound is that of two components."""
    drawn = Caps(n_classes=2, per_class=1, dim=20, n_points=40, relative_diameter=0.02).draw(0)
    own = UserData(from_arrays(drawn.points, np.where(drawn.classes == 0, -1, 1)))
    (setting, *_) = lemma_5_1.on(own).settings
    assert setting.data.single
    cell = run_descent(setting.model_copy(update={"width": 60, "n_steps": 2}), silent)
    assert cell.own
    assert cell.n_components == 40
    assert cell.rank > 2
    assert section_6_rank([cell]).verdict is Verdict.HOLDS


def too_long():
    """η = τ/(1.99·max|a|)."""
    found = steep(step=0.1 / 1.99)
    assert found.lost[0] == 1
    return altered(found, n_components=1, width=100)


def fresh_mean(factor):
    """Shares at 1 − 2·0.79788·τ/σ, at both τ; the other promise is less."""
    shares = factor * (1 - 2 * HALF_NORMAL * coupled().thresholds)
    return {"fresh": np.tile(shares[:, None], (1, 10)), "width": 10**14}


def one_fresh(share):
    """At the first fresh point and τ/σ = 0.02."""
    return {"fresh": lambda old: np.where(np.arange(20).reshape(2, 10) == 0, share, old)}


def moved(place, value):
    return {"moves": np.where(np.arange(13) == place, value, coupled().moves)}


def at_low(factor, constant):
    """τ/σ at which constant·τm/σ = 20, in the last cell."""
    return {"thresholds": np.array([0.05, factor * 20 / (constant * 1500)])}


SPEED = {"paths": lambda p: 10 + p}
test_control = controls(
    coupling,
    coupled,
    (lemma_5_1, "clear"),
    (lemma_a_1_move, "speed", at(steep), at(steep, factor=0.995)),
    (lemma_a_1_move, "speed", at(steep), at(steep, moves=np.array([0.0, 0.1]), paths=np.array([0.0, 0.1]))),
    (lemma_a_1_move, "path", {"paths": lambda p: p * (1 - 5e-10)}, {"paths": lambda p: p * (1 - 5e-9)}),
    (lemma_a_1_move, "path", {}, {"paths": lambda p: 0.9 * p}),
    (lemma_a_1_move, "start", SPEED, {**SPEED, **moved(0, 1e-9)}),
    (lemma_a_1_move, "start", SPEED, {**SPEED, **moved(0, -1e-9)}),
    (lemma_5_1, "kept", {}, at(too_long), "coupled"),
    (lemma_5_1, "kept", {}, {"lost": 1.0}),
    (lemma_5_1, "equal_gradients", {}, {"unequal": 1.0}),
    (lemma_5_1, "scaled_threshold", at_low(1 + 1e-9, 6 * E), at_low(0.999, 6 * E)),
    (lemma_b_1, "scaled_threshold", at_low(1 + 1e-9, 10), at_low(0.999, 10)),
    (lemma_b_1, "each", one_fresh(0.8), one_fresh(0.799)),
    (lemma_b_1, "each", {}, {"constant": 0.5}),
    (lemma_b_1, "mean", fresh_mean(1 + 1e-9), fresh_mean(0.999)),
    but=(lemma_5_1_as_printed, lemma_a_1_size, lemma_a_1_all_thresholds, lemma_b_1_as_printed),
)
