"""The facts of Section 2 hold, and their judges reject what they must."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, spared
from tests.controls import unmet_in
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import setup
from widenet.papers.brutzkus2018.claims.setup import equation_10, equation_10_as_printed, footnote_1, footnote_5
from widenet.papers.brutzkus2018.runs.any_networks import ACTIVATIONS, AnyNetwork, any_networks, rewrite
from widenet.papers.brutzkus2018.runs.gradients import differentiate, gradient_settings, run_gradients, scalar_steps
from widenet.papers.brutzkus2018.runs.separated import SeparatedSets, separated_sets
from widenet.papers.brutzkus2018.runs.sgd import update_of
from widenet.progress import silent
from widenet.records import Scale


@pytest.fixture(scope="module")
def states():
    (setting,) = gradient_settings(Scale.QUICK, 0)
    return run_gradients(setting, silent)


def one_set(margin, norm, separator_norm):
    return SeparatedSets(np.array([margin]), np.array([norm]), np.array([separator_norm]))


def test_they_hold(states):
    for evidence in (
        footnote_1(separated_sets(Scale.QUICK, 0)),
        footnote_5(any_networks(Scale.QUICK, 0)),
        equation_10([states]),
    ):
        assert evidence.verdict is Verdict.HOLDS
        assert all(h.met for h in evidence.hypotheses)


def test_footnote_1_is_attained_by_a_single_unit_vector():
    evidence = footnote_1(separated_sets(Scale.QUICK, 0))
    assert evidence.measured == 1
    assert evidence.tightness == 1


def test_footnote_1_outside_its_hypotheses():
    """x = 3e₁ is separated by w* = e₁/3, and a margin of ½ by a norm of ½."""
    assert footnote_1(one_set(1.0, 3.0, 1 / 3)).conclusion is False
    assert footnote_1(one_set(0.5, 1.0, 0.5)).conclusion is False


@pytest.mark.parametrize(("least", "is_vacuous"), [(0.05, False), (0.0, True), (-0.05, True)])
def test_a_norm_is_never_negative(least, is_vacuous):
    assert footnote_1(one_set(1.0, 1.0, 1.0), least=least).parts[0].vacuous is is_vacuous


def test_control_footnote_5_with_an_activation_that_is_not_homogeneous():
    tanh = {"Leaky ReLU": np.tanh, "ReLU": np.tanh}
    evidence = footnote_5([dataclasses.replace(each, activations=tanh) for each in any_networks(Scale.QUICK, 0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_footnote_5_with_output_weights_that_are_all_zero():
    network = any_networks(Scale.QUICK, 0)[0]
    mute = dataclasses.replace(network, outputs=np.zeros_like(network.outputs))
    assert footnote_5([mute]).verdict is Verdict.HOLDS


def test_control_footnote_5_with_a_construction_that_is_not_a_number():
    """A NaN is not a small difference."""
    networks = any_networks(Scale.QUICK, 0)
    assert footnote_5(networks, rewritten=lambda n: rewrite(n) * np.nan).verdict is not Verdict.HOLDS


def test_control_footnote_5_without_the_division_by_v():
    def undivided(network):
        return rewrite(dataclasses.replace(network, output_weight=1.0))

    networks = [dataclasses.replace(n, output_weight=2.0) for n in any_networks(Scale.QUICK, 0)]
    assert footnote_5(networks).verdict is Verdict.HOLDS
    assert footnote_5(networks, rewritten=undivided).verdict is Verdict.VIOLATED


THREE = AnyNetwork(
    np.array([[1.0, -2.0], [-1.0, 1.0], [2.0, 2.0]]),
    np.array([1.5, -0.5, 0.0]),
    np.array([[1.0, 0.25], [0.5, 2.0]]),
    0.75,
)
"""Output weights of both signs and a zero, and points with positive coordinates only."""


def test_footnote_5_by_hand():
    """v = 3/4: (2, −4) among the plus rows, (−2/3, 2/3) among the minus rows, and N = 33/40, for ReLU 3/4."""
    rows = np.zeros((6, 2))
    rows[0], rows[4] = (2, -4), (-2 / 3, 2 / 3)
    np.testing.assert_allclose(rewrite(THREE), rows, rtol=1e-15)
    said = {name: sigma(rows @ THREE.points[0]) @ np.repeat([0.75, -0.75], 3) for name, sigma in ACTIVATIONS.items()}
    assert said == pytest.approx({"Leaky ReLU": 33 / 40, "ReLU": 3 / 4})


def rewritten(changes=None, mirrored=0):
    """Footnote 5 with other rows: some are added to, or zero rows appended to each half."""

    def build(network):
        rows = rewrite(network)
        for place, row in (changes or {}).items():
            rows[place] = rows[place] * (1 + row) if np.isscalar(row) else rows[place] + row  # pyright: ignore[reportOperatorIssue]
        halves = rows.reshape(2, -1, 2)
        return np.concatenate([halves, np.zeros((2, mirrored, 2))], axis=1).reshape(-1, 2)

    return {"rewritten": build}


OFF = np.array([-1e-6, -1e-6])
"""Off at both points: a ReLU says nothing about it."""


@pytest.mark.parametrize("place", [0, 4])
def test_control_a_row_of_footnote_5_that_is_a_little_off(place):
    """In a slot of either sign; 1e-12 is rounding, 1e-8 is not."""
    assert footnote_5([THREE], **rewritten({place: 1e-12})).verdict is Verdict.HOLDS
    assert broken_in(footnote_5([THREE], **rewritten({place: 1e-8}))) == ["leaky_relu", "relu"]


@pytest.mark.parametrize(("share", "fails"), [(0.9e-10, []), (1.5e-10, ["relu"]), (2e-10, ["leaky_relu", "relu"])])
def test_control_the_room_of_footnote_5(share, fails):
    """Row 1 by so much longer: N is off by 0.75 of it in 0.75 (ReLU), and by 1.05 of it in 1.8 (Leaky ReLU)."""
    assert broken_in(footnote_5([THREE], **rewritten({0: share}))) == fails


def test_control_fewer_neurons_than_2k_and_a_tenth_more():
    """Without the slot of the zero both networks still say the same; ten neurons become 20, and not 22."""
    fewer = footnote_5([THREE], rewritten=lambda network: rewrite(network)[[0, 1, 3, 4]])
    assert broken_in(fewer) == ["neurons"]
    ten = dataclasses.replace(THREE, weights=np.ones((10, 2)), outputs=np.ones(10))

    def mirrored(network):
        return np.concatenate(
            [half for half in rewrite(network).reshape(2, -1, 2) for half in (half, np.zeros((1, 2)))]
        )

    assert footnote_5([ten]).verdict is Verdict.HOLDS
    assert broken_in(footnote_5([ten], rewritten=mirrored)) == ["neurons"]


def test_control_a_row_in_the_slot_of_a_zero():
    evidence = footnote_5([THREE], **rewritten({2: np.array([1e-6, 0.0])}))
    assert broken_in(evidence) == ["leaky_relu", "relu"]


def with_leaky(activation):
    return dataclasses.replace(THREE, activations=ACTIVATIONS | {"Leaky ReLU": activation})


def nearly_homogeneous(bend):
    return footnote_5([with_leaky(lambda z: np.maximum(0.2 * z, z) + bend * np.abs(z) ** 2)])


@pytest.mark.parametrize(("bend", "unmet"), [(2.6e-14, []), (5e-14, ["homogeneous"])])
def test_control_the_room_for_homogeneity(bend, unmet):
    """|σ(3z) − 3σ(z)|/|z| is 6·bend·z²/5 at the largest z, which is 5: 30 times the bend."""
    assert unmet_in(nearly_homogeneous(bend)) == unmet


def test_control_an_activation_that_jumps_at_large_arguments_only():
    """At z = ½ it is as homogeneous as any other."""
    evidence = footnote_5([with_leaky(lambda z: np.maximum(0.2 * z, z) + 1e-6 * (z > 4))])
    assert unmet_in(evidence) == ["homogeneous"]


def _printed_sign(*arguments):
    """Eq. 10 to the letter: −η·v̂·q·y·x with v̂ = −v, the sign it was introduced with."""
    hidden, output = update_of(*arguments)
    return hidden * np.sign(arguments[1])[:, None], output


def _new_output_weights(hidden, output, *others):
    """v_t instead of v_{t−1}: the output weights after their own update."""
    _, to_output = update_of(hidden, output, *others)
    return update_of(hidden, output + to_output, *others)[0], to_output


@pytest.mark.parametrize("rule", [_printed_sign, _new_output_weights])
def test_control_equation_10_with_another_sign_or_time(states, rule):
    evidence = equation_10([states], rule=rule)
    assert evidence.verdict is Verdict.VIOLATED
    assert "rows_u" in broken_in(evidence)
    assert "at_rest" not in broken_in(evidence)
    assert evidence.measured is not None
    assert evidence.measured > 0.1


SOLVED, ACTIVE = (2.5, 1.0), (1.5, 1.0)
"""Rows (w, u) with N = 1.5 and N = 0.5 at x = y = 1."""


def scalar_states(*rows, weight=1.0, step_size=0.7):
    """k = 1 and v = `weight` in one dimension at x = y = 1, from these (w, u)."""
    hidden = np.array(rows)[:, :, None]
    count = len(rows)
    outputs = weight * np.tile([1.0, -1.0], (count, 1))
    return differentiate(hidden, outputs, np.ones((count, 1)), np.ones(count), 0.2, step_size)


def stepped(row_w=0.0, row_u=0.0, own=0.0):
    """Eq. 10 with steps that are a little too long."""

    def rule(*arguments):
        hidden, output = update_of(*arguments)
        return hidden * np.array([[1 + row_w], [1 + row_u]]), output * (1 + own)

    return {"rule": rule}


def test_control_a_short_step_is_compared_with_itself():
    """η = 1e-3: a step of that length is off by 5e-10 of itself."""
    short = scalar_states(ACTIVE, SOLVED, step_size=1e-3)
    assert broken_in(equation_10([short], **stepped())) == []
    assert broken_in(equation_10([short], **stepped(row_w=5e-10))) == ["rows_w"]


@pytest.mark.parametrize(("step", "fails"), [(0.95e-10, []), (1.05e-10, ["rows_w"])])
def test_control_a_step_where_the_gradient_is_zero(step, fails):
    """v = 0: the rows do not move, so that a step has nothing to be compared with but 1."""
    states = scalar_states(ACTIVE, weight=0.0)

    def rule(*arguments):
        hidden, output = update_of(*arguments)
        return hidden + np.array([[step], [0.0]]), output

    assert broken_in(equation_10([states], rule=rule)) == fails


@pytest.mark.parametrize(("field", "place"), [("by_hidden", (1, 1, 0)), ("by_outputs", (1, 0))])
def test_one_entry_that_moves_at_zero_loss_is_enough(field, place):
    states = scalar_states(ACTIVE, SOLVED)
    moving = np.array(getattr(states, field))
    moving[place] = 1e-15
    assert broken_in(equation_10([dataclasses.replace(states, **{field: moving})])) == ["at_rest"]


def test_a_point_that_is_hardly_solved_makes_no_step():
    states = scalar_states(ACTIVE, (2 + 1e-9, 1.0))
    assert equation_10([states]).parts[3].kept
    moving = dataclasses.replace(states, by_outputs=np.add(states.by_outputs, [[0.0], [1e-15]]))
    assert broken_in(equation_10([moving])) == ["at_rest"]


def test_equation_10_refuses_states_without_an_update(states):
    hidden = np.sign(states.labels * states.outputs.T).T[:, :, None] * 1e3 * states.inputs[:, None, :]
    quiet = differentiate(hidden, states.outputs, states.inputs, states.labels, states.slope, states.step_size)
    assert equation_10([quiet]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_equation_10_to_the_letter():
    """u = 3/2 for −½, so N stays 0; and with both layers w = 2 for 3/2."""
    resting, moving = scalar_steps(Scale.QUICK, 0)
    assert (resting.output, resting.by_gradient(), resting.as_printed()) == (0, (1.5, -0.5), (1.5, 1.5))
    after = dataclasses.replace(resting, w=Fraction(3, 2), u=Fraction(3, 2))
    assert after.output == 0
    assert dataclasses.replace(resting, w=Fraction(3, 2), u=Fraction(-1, 2)).output == Fraction(7, 4)
    assert (moving.by_gradient(), moving.as_printed()) == ((1.5, -0.5), (2, 1))
    assert broken_in(equation_10_as_printed([resting])) == ["rows_u"]
    assert broken_in(equation_10_as_printed([moving])) == ["rows_w", "rows_u"]


def test_the_gradient_step_is_that_of_automatic_differentiation():
    """The same state by the gradient that the repaired equation is compared with."""
    (step,) = scalar_steps(Scale.QUICK, 0)[:1]
    states = scalar_states((0.5, 0.5))
    by_hand = [float(after) - 0.5 for after in step.by_gradient()]
    assert (-states.by_hidden[0, :, 0]).tolist() == by_hand


def at_the_origin():
    return [dataclasses.replace(step, point=Fraction(0)) for step in scalar_steps(Scale.QUICK, 0)]


def test_a_point_at_the_origin_spares_equation_10():
    spared(equation_10_as_printed, at(at_the_origin))


def without_minus():
    """Only the plus neuron matters, and its output weight is updated first."""
    moving = scalar_steps(Scale.QUICK, 0)[1]
    return dataclasses.replace(moving, u=Fraction(0), minus_output=Fraction(0))


def with_state(*row):
    """One more state."""
    return at(scalar_states(ACTIVE, SOLVED, row))


PRINTED = equation_10_as_printed
test_control = controls(
    setup,
    {
        SeparatedSets: one_set(1.0, 1.0, 1.0),
        AnyNetwork: THREE,
        setup.States: scalar_states(ACTIVE, SOLVED),
        PRINTED: at_the_origin,
    },
    (footnote_1, "norm"),
    (equation_10, "at_rest"),
    (footnote_5, "leaky_relu", rewritten({1: 1e-4 * OFF}), rewritten({1: OFF})),
    (footnote_5, "leaky_relu", {}, rewritten({1: 2e-3 * OFF})),
    (footnote_5, "relu", {}, rewritten({1: OFF, 2: -0.2 * OFF})),
    (footnote_5, "relu", {}, rewritten({1: 1e-3 * OFF, 2: -2e-4 * OFF})),
    (footnote_5, "neurons", {}, rewritten(mirrored=1)),
    (footnote_5, "neurons", {}, {"rewritten": lambda network: rewrite(network)[[0, 1, 3, 4]]}),
    (equation_10, "rows_w", stepped(row_w=1e-11), stepped(row_w=5e-10)),
    (equation_10, "rows_u", stepped(row_u=1e-11), stepped(row_u=5e-10)),
    (equation_10, "output_weights", stepped(own=1e-11), stepped(own=5e-10)),
    (equation_10, "off_kink", with_state(0.5, 1e-12), with_state(0.5, 0.0)),
    (equation_10, "off_loss_kink", with_state(2 - 1e-12, 1.0), with_state(2.0, 1.0)),
    (PRINTED, "rows_w", {}, at(without_minus)),
    (PRINTED, "rows_u", {}, at(lambda: scalar_steps(Scale.QUICK, 0)[0])),
)


def test_the_derivative_of_a_scalar_step():
    """A neuron at 0 is on, one at −1/20 is not."""
    step = dataclasses.replace(scalar_steps(Scale.QUICK, 0)[0], w=Fraction(0), u=Fraction(-1, 20))
    assert step.by_gradient() == (1, Fraction(-11, 20))
    assert dataclasses.replace(step, w=Fraction(1, 20)).by_gradient()[0] == Fraction(21, 20)


def test_the_printed_step_is_compared_in_fractions():
    """v̂ = −1e-20: no float tells the two steps apart."""
    step = dataclasses.replace(scalar_steps(Scale.QUICK, 0)[0], minus_output=-Fraction(1, 10**20))
    assert broken_in(equation_10_as_printed([step])) == ["rows_u"]
