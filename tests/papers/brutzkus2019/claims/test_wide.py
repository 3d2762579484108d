"""Wide networks: Theorem 6.3 and what leads to it, with controls outside its regime and with wrong constants."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data.xord import set_index, set_points
from widenet.errors import DataError
from widenet.papers.brutzkus2019.claims.generalization import (
    check_equation_18,
    check_proposition_e_18,
    check_proposition_e_22,
    equation_18,
    proposition_e_18,
    proposition_e_22,
)
from widenet.papers.brutzkus2019.claims.wide import (
    Judged,
    check_lemma_e_17,
    check_proposition_e_14,
    check_theorem_6_3,
    check_theorem_6_3_angle,
    judge_rate,
    theorem_6_3,
    theorem_6_3_on,
)
from widenet.papers.brutzkus2019.runs.trained import Trained, train_from, train_networks
from widenet.papers.brutzkus2019.runs.training_set import PAIR, from_data, from_sets
from widenet.types import Dataset, RunStatus, Scale


def some(trained: Trained, rows) -> Trained:
    """A part of the runs, or the same runs several times; copies, since trained runs are kept and shared."""
    names = ("start", "final", "outputs", "steps", "status", "loss")
    return dataclasses.replace(trained, **{name: np.array(getattr(trained, name)[rows]) for name in names})


def number(value: float | None) -> float:
    assert value is not None
    return value


@pytest.fixture(scope="module")
def corner() -> Trained:
    """k = 120, c_η = 1/410, γ = 8, as many runs as the theorem needs."""
    return theorem_6_3.setting(Scale.QUICK, 1)


@pytest.fixture(scope="module")
def fast() -> Trained:
    return train_networks(1, 60, 120, 1 / 41, 8.0, max_steps=12_000)


@pytest.fixture(scope="module")
def small_margin() -> Trained:
    return train_networks(1, 60, 120, 1 / 41, 1.0, max_steps=12_000)


@pytest.fixture(scope="module")
def twenty() -> Trained:
    return train_networks(1, 2240, 20, 1 / 8, 1.0, max_steps=12_000)


def test_theorem_6_3_holds_in_its_corner(corner):
    evidence = check_theorem_6_3(corner)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 557
    assert evidence.config["cases"][0]["exact_probability_outside_the_event"] < 2.1e-4


def test_control_a_case_without_a_run_in_its_event_is_not_carried_by_another(twenty):
    """2240 runs confirm Proposition E.14 where they are; ten more, none in the event, confirm nothing elsewhere."""
    full = Judged(twenty, twenty.converged, twenty.axes_explored, 4 * math.exp(-8), 1e-4, 1e6)
    few = some(twenty, slice(10))
    nowhere = Judged(few, few.converged, np.zeros(10, bool), 4 * math.exp(-8), 1e-4, 1e6)
    unlikely = Judged(few, few.converged, few.axes_explored, 4 * math.exp(-8), 0.5, 1e6)
    likely = Judged(few, few.converged, few.axes_explored, 4 * math.exp(-8), 1e-4, 1e6)
    assert judge_rate([full], [], "").verdict is Verdict.HOLDS
    assert judge_rate([full, likely], [], "").verdict is Verdict.HOLDS
    for other in (nowhere, unlikely):
        assert judge_rate([full, other], [], "").verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_too_few_runs_decide_nothing(corner):
    assert check_theorem_6_3(some(corner, slice(400))).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_margin_of_one(small_margin):
    """γ = 1 reaches zero loss and recovers f* in a few runs of a hundred."""
    evidence = check_theorem_6_3(small_margin)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert number(evidence.measured) > 0.8
    assert [h.met for h in evidence.hypotheses[:3]] == [True, False, False]


def test_control_eight_filters():
    """k = 8: about a fifth of the runs does not recover f*."""
    evidence = check_theorem_6_3(train_networks(1, 600, 8, 1 / 41, 8.0, max_steps=12_000))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert 0.1 < number(evidence.measured) < 0.35


def test_control_one_failure_inside_the_events_refutes(corner):
    broken = some(corner, slice(None))
    broken.outputs[3, 0] = -1e-9
    evidence = check_theorem_6_3(broken)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_outputs_that_are_not_numbers_are_wrong(corner):
    broken = some(corner, slice(None))
    broken.outputs[:, 4] = np.nan
    assert check_theorem_6_3(broken).verdict is Verdict.VIOLATED


def test_runs_cut_short_are_not_failures(corner):
    start = corner.start[:20]
    cut = train_from(start, corner.step_size, 8.0, max_steps=50)
    evidence = check_theorem_6_3(cut)
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 20


def test_the_angle(corner):
    evidence = check_theorem_6_3_angle(corner)
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(number(evidence.promised), 2.6195, rel_tol=1e-4)
    assert 0.01 < number(evidence.measured) < 0.03
    assert evidence.config["fewest_updates_a_plus"] >= evidence.config["sharp_updates"]


def test_control_the_angle_after_one_step(corner):
    start = corner.start[:20]
    once = train_from(start, corner.step_size, 8.0, max_steps=1)
    assert check_theorem_6_3_angle(once).verdict is Verdict.INSUFFICIENT_EVIDENCE
    ended = dataclasses.replace(once, status=np.full(20, RunStatus.CONVERGED), loss=np.zeros(20))
    evidence = check_theorem_6_3_angle(ended)
    assert evidence.verdict is Verdict.VIOLATED
    assert 40 < number(evidence.measured) < 50


def test_proposition_e_14(twenty, fast):
    evidence = check_proposition_e_14([twenty, fast])
    assert evidence.verdict is Verdict.HOLDS
    assert check_proposition_e_14([some(twenty, slice(2000))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_shorter_time(twenty, fast):
    shorter = lambda k, c, gamma: (gamma + 1) / (2 * c)  # noqa: E731
    evidence = check_proposition_e_14([twenty, fast], steps=shorter)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][1]["failures"] == 60


def test_control_two_filters_often_do_not_converge():
    evidence = check_proposition_e_14([train_networks(1, 500, 2, 1 / 41, 8.0, max_steps=3000)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_lemma_e_17(fast, corner, twenty):
    evidence = check_lemma_e_17([fast, some(corner, slice(100))])
    assert evidence.verdict is Verdict.HOLDS
    assert number(evidence.tightness) < 0.2
    assert check_lemma_e_17([twenty]).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize("wrong", [{"plus_limit": 1.0}, {"minus_limit": 2.0}])
def test_control_smaller_sums(fast, wrong):
    evidence = check_lemma_e_17([fast], **wrong)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_over"] > 3


def test_runs_outside_the_event_are_counted_and_not_scored(fast):
    outside = dataclasses.replace(fast, start=1000 * fast.start)
    evidence = check_lemma_e_17([outside])
    assert evidence.runs.outside == 60
    assert evidence.conclusion is None


@pytest.mark.parametrize("claim", [equation_18, proposition_e_18, proposition_e_22], ids=lambda claim: claim.id)
def test_the_parts_of_the_proof_hold(claim, corner, fast):
    """The corner twice over has enough runs for 8e⁻⁸; the default setting draws new ones."""
    networks = [some(corner, np.r_[0:557, 0:557, 0:5])]
    evidence = claim.check(networks, lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.conclusion is True


def test_control_a_margin_of_one_is_wrong_on_positive_points(small_margin):
    evidence = check_proposition_e_18([small_margin])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert number(evidence.measured) > 0.8


def test_control_a_larger_output_is_not_reached(corner):
    larger = lambda k, c, gamma: 3.0  # noqa: E731
    assert check_equation_18([corner], limit=larger).verdict is Verdict.VIOLATED


def test_control_the_first_line_of_equation_18(corner):
    lower = some(corner, slice(None))
    lower.outputs[:, set_index(3)] -= 3
    evidence = check_equation_18([lower])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][0]["broken_first_line"] > 0


def test_control_a_negative_point_that_is_not_diverse():
    """Six and six points, one of them {2}: at γ = 8 every wide network is wrong on {4}."""
    decoy = from_sets({set_index(1, 2, 3, 4): 6, set_index(2, 4): 5, set_index(2): 1})
    networks = train_networks(1, 30, 120, 1 / 41, 8.0, max_steps=12_000, points=decoy)
    evidence = check_proposition_e_22([networks])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert networks.wrong[:, set_index(4)].mean() > 0.9
    assert any(h.name == "points that are not diverse" and h.actual == 1 for h in evidence.hypotheses)


def test_control_the_bound_of_proposition_e_22(corner):
    higher = some(corner, slice(None))
    higher.outputs[0, set_index(2)] = -1e-3
    evidence = check_proposition_e_22([higher])
    assert evidence.config["runs_over_the_bound_of_the_proof"] == 1
    assert evidence.verdict is Verdict.VIOLATED


def points(*words: str) -> Dataset:
    signs = {"1": (1, 1), "2": (1, -1), "3": (-1, -1), "4": (-1, 1)}
    inputs = jnp.asarray([[entry for letter in word for entry in signs[letter]] for word in words], float)
    labels = jnp.asarray([1.0 if set(word) & {"1", "3"} else -1.0 for word in words])
    return Dataset(inputs, labels)


def test_a_readers_own_diverse_points(corner):
    networks = theorem_6_3_on(points("12342", "43211", "24242", "44442"), 8)
    evidence = check_theorem_6_3(networks)
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert all(h.met for h in evidence.hypotheses)
    assert networks.recovers.all()
    assert check_theorem_6_3_angle(networks).verdict is Verdict.HOLDS


def test_what_is_wrong_with_a_readers_points_is_measured():
    data = points("12342", "43211", "24242", "44444", "11111")
    mixed = Dataset(data.inputs.at[0, 0].set(0.5), data.labels.at[1].set(-1.0))
    found = from_data(mixed)
    assert (found.not_signs, found.mislabelled, found.non_diverse) == (1, 1, 2)
    assert found.per_class == (1, 2)
    assert [h.met for h in found.hypotheses()] == [False, False, False, True, False]
    assert from_data(data).diverse_part() == from_sets({14: 1, 9: 1}) == PAIR
    with pytest.raises(DataError, match="of each class"):
        theorem_6_3_on(points("11", "12"), 1)


def test_points_are_counted_by_their_sets():
    assert from_data(set_points()).counts == (1,) * 15
