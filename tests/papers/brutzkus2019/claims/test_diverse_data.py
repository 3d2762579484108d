"""A reader's own points: what each statement of Section 6 says about them, and where it is silent."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.networks import judged, points, user_data
from tests.papers.brutzkus2019.claims.trained_edges import point_edges
from tests.papers.brutzkus2019.test_limits import POINTS as OF_POINTS
from widenet.claims import NotApplicable, Verdict
from widenet.claims.applicability import Applied
from widenet.papers.brutzkus2019.claims.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.papers.brutzkus2019.claims.narrow import (
    can_converge,
    observation_small_convergence,
    observation_small_failure,
    theorem_6_4,
)
from widenet.papers.brutzkus2019.claims.sample_gap import (
    section_6_3_examples,
    theorem_6_5_large_network,
    theorem_6_5_small_network,
)
from widenet.papers.brutzkus2019.claims.sign_flip import lemma_f_2
from widenet.papers.brutzkus2019.claims.start import lemma_6_1, lemma_e_3, lemma_e_15, lemma_e_19
from widenet.papers.brutzkus2019.claims.wide import lemma_e_17, proposition_e_14, theorem_6_3, theorem_6_3_angle
from widenet.papers.brutzkus2019.claims.xord_structure import Trap
from widenet.papers.brutzkus2019.hypotheses import DIVERSE_POINTS
from widenet.papers.brutzkus2019.runs.decoy import decoy_on
from widenet.papers.brutzkus2019.runs.trained import TrainedSetting
from widenet.papers.brutzkus2019.sources import TrainingSet
from widenet.papers.brutzkus2019.user_data import points_of
from widenet.types import Dataset

WIDE = (theorem_6_3, theorem_6_3_angle, proposition_e_14, lemma_e_17, equation_18, proposition_e_18, proposition_e_22)
NARROW = (theorem_6_4, observation_small_convergence, observation_small_failure)
SPEAKING = (*WIDE, *NARROW, lemma_f_2)
SILENT = (
    *(lemma_6_1, lemma_e_3, lemma_e_15, lemma_e_19),
    *(theorem_6_5_large_network, theorem_6_5_small_network, section_6_3_examples),
)


def diverse() -> Dataset:
    return points("1234", "4321", "2424", "2244")


def why(evidence, key: str) -> str:
    (hypothesis,) = [each for each in evidence.hypotheses if each.key == key]
    return hypothesis.why


def data_hypotheses(points: TrainingSet):
    """The hypotheses on a training set, measured."""
    table = Trap.join([decoy_on(points)])
    return [each.measured(each(table)) for each in DIVERSE_POINTS]


def test_what_is_required_of_points():
    assert {each.key: each.required for each in data_hypotheses(point_edges()["signs"][0])} == OF_POINTS


@pytest.mark.parametrize("key", OF_POINTS)
def test_each_hypothesis_on_points_at_its_edge(key):
    inside, outside = point_edges()[key]
    assert [each.met for each in data_hypotheses(inside)] == [True] * 5
    assert [each.key for each in data_hypotheses(outside) if not each.met] == [key]


def test_diverse_points_meet_every_hypothesis():
    found = {claim.name: judged(claim, user_data(diverse(), n_runs=20)) for claim in SPEAKING}
    assert {evidence.verdict for evidence in found.values()} == {Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE}
    deterministic = ("theorem_6_3_angle", "lemma_e_17", "equation_18", "lemma_f_2", "observation_small_failure")
    for name in (*deterministic, "theorem_6_4"):
        assert found[name].verdict is Verdict.HOLDS, name
    assert found["theorem_6_3"].verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "557 without a failure are needed" in found["theorem_6_3"].note
    assert found["theorem_6_3"].details["cases"][0]["recover"] == 20


def test_all_statements_about_wide_networks_share_their_runs():
    settings = [claim.on(user_data(diverse(), n_runs=20)).settings for claim in WIDE]
    assert all(each == settings[0] for each in settings)
    assert len({claim.on(user_data(diverse())).settings[0][0] for claim in NARROW}) == 1


def test_control_points_that_are_not_diverse():
    data = points("1234", "2424", "4321", "2222")
    for claim in SPEAKING:
        evidence = judged(claim, user_data(data, n_runs=20, required_margin=1.0))
        assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET, claim.id
        assert why(evidence, "diverse") == (
            "1 of 4 points lack a pattern that their class can have; there are 1 diverse points of each class to ask "
            "about alone."
        )


def test_diverse_only_says_what_it_left_out_and_why():
    data = points("1234", "2424", "4321", "2222", "1114", "2442")
    data = Dataset(data.inputs.at[4, 0].set(0.5), data.labels.at[5].set(1.0))
    for claim in (lemma_f_2, *NARROW):
        evidence = judged(claim, user_data(data, n_runs=2, required_margin=1.0, diverse_only=True))
        assert all(hypothesis.met for hypothesis in evidence.hypotheses)
        assert why(evidence, "diverse") == (
            "4 of 6 points were left out: 1 not diverse, 1 with a label that is not f*(x), which is +1 where (1, 1) or "
            "(-1, -1) occurs, 1 with an entry that is not ±1, 1 diverse but without a partner in the other class."
        )
    whole = points_of(user_data(diverse(), diverse_only=True))
    assert isinstance(whole, TrainingSet)
    assert data_hypotheses(whole)[2].why == "All points are diverse; none was left out."


def test_points_that_are_not_xords_are_named_in_their_hypothesis():
    data = points("1234", "2424", "4321", "2442")
    mixed = points_of(user_data(Dataset(data.inputs.at[2, 0].set(0.5), data.labels.at[3].set(1.0))))
    assert isinstance(mixed, TrainingSet)
    signs, labels, diverse, both_classes, balanced = data_hypotheses(mixed)
    assert (signs.met, signs.why) == (False, "1 of 4 points with an entry that is not ±1: not trained on.")
    assert not labels.met
    assert labels.why.startswith("1 of 4 points with a label that is not f*(x)")
    assert diverse.met
    assert both_classes.met
    assert balanced.met


def test_a_single_run_in_which_a_condition_does_not_occur_is_no_error():
    """One start of k = 2 may be unable to reach zero loss; then there is no rate to compare with."""
    alone = [user_data(points("1234", "2424"), n_runs=1, required_margin=1.0, seed=seed) for seed in range(4)]
    starts = [NARROW[0].reads[1].run(NARROW[0].on(each).settings[1][0], lambda *_: None).start for each in alone]
    assert any(not can_converge(start).any() for start in starts)
    assert {judged(observation_small_convergence, each).verdict for each in alone} == {Verdict.HOLDS}


def _mixed(n_rows: int) -> Dataset:
    draw = np.random.default_rng(0)
    inputs = draw.choice([-1.0, 1.0], (n_rows, 8))
    positive = (inputs.reshape(n_rows, 4, 2).prod(axis=2) > 0).any(axis=1)
    return Dataset(jnp.asarray(inputs), jnp.asarray(np.where(positive, 1.0, -1.0)))


SPECIMENS = {
    "ten thousand rows": lambda: _mixed(10_000),
    "one class": lambda: points("1234", "1111"),
    "the other class": lambda: points("2424", "2222"),
    "three classes": lambda: Dataset(jnp.ones((3, 4)), jnp.array([-1.0, 0.0, 2.0])),
    "labels 0 and 1": lambda: Dataset(diverse().inputs, (diverse().labels + 1) / 2),
    "a zero row": lambda: Dataset(diverse().inputs.at[0].set(0.0), diverse().labels),
    "four points": diverse,
    "no pairs": lambda: Dataset(jnp.ones((2, 3)), jnp.array([1.0, -1.0])),
    "measurements": lambda: Dataset(jnp.linspace(0, 1, 40).reshape(10, 4), jnp.asarray([1.0, -1.0] * 5)),
}


@pytest.mark.parametrize("diverse_only", [False, True])
@pytest.mark.parametrize("name", SPECIMENS)
def test_every_statement_has_settings_or_one_sentence(name, diverse_only):
    about = user_data(SPECIMENS[name](), diverse_only=diverse_only)
    for claim in (*SPEAKING, *SILENT):
        answer = claim.on(about)
        if isinstance(answer, NotApplicable):
            assert "\n" not in answer
            assert answer.endswith(".")
        else:
            assert claim in SPEAKING
            assert isinstance(answer, Applied)
            assert answer.settings


@pytest.mark.parametrize("name", ["ten thousand rows", "a zero row", "four points"])
def test_settings_of_unusual_data_run(name):
    (setting,) = theorem_6_3.on(user_data(SPECIMENS[name](), n_runs=2)).settings
    quick = setting.model_copy(update={"max_steps": 3})
    assert isinstance(quick, TrainedSetting)
    assert theorem_6_3.reads[0].run(quick, lambda *_: None).n_runs == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("one class", "of each class, got 2 of +1 and 0 of -1"),
        ("the other class", "of each class, got 0 of +1 and 2 of -1"),
        ("labels 0 and 1", "2 with a label that is not f*(x)"),
        ("no pairs", "made of pairs; inputs have the shape (2, 3)"),
    ],
)
def test_the_sentence_says_why_not(name, words):
    not_applicable = theorem_6_3.on(user_data(SPECIMENS[name]()))
    assert isinstance(not_applicable, NotApplicable)
    assert words in not_applicable


def test_diverse_points_alone_must_be_of_each_class():
    not_applicable = theorem_6_4.on(user_data(points("1234", "2222"), diverse_only=True))
    assert isinstance(not_applicable, NotApplicable)
    assert "got 1 of +1 and 0 of -1; left out: 1 not diverse, 1 diverse but without a partner" in not_applicable


@pytest.mark.parametrize("claim", [theorem_6_3, theorem_6_4])
def test_a_margin_that_takes_too_long_is_refused(claim):
    assert "too long" in claim.on(user_data(diverse(), required_margin=1e9))


@pytest.mark.parametrize("claim", SILENT, ids=lambda claim: claim.name)
def test_statements_about_laws_and_starts_are_silent(claim):
    assert isinstance(claim.on(user_data(diverse())), NotApplicable)
