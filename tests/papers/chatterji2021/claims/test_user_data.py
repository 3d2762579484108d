"""What the claims of Theorem 1 say about a reader's data, and when they are silent."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.diagnostics.huberized import HuberNetwork, log_mean_loss
from widenet.papers.chatterji2021.claims import alignment, induction, network, scalars, smoothness
from widenet.papers.chatterji2021.claims.induction import theorem_1
from widenet.papers.chatterji2021.claims.network import theorem_1_start
from widenet.papers.chatterji2021.claims.smoothness import lemma_6
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.progress import silent
from widenet.types import Dataset

RUNS = tuple(getattr(induction, name) for name in (
    "theorem_1", "equation_8", "lemma_11", "lemma_12", "lemma_13", "equation_9", "weights_grow",
))  # fmt: skip
LOOKS = (smoothness.lemma_5, smoothness.equations_23_24, smoothness.lemma_6, smoothness.lemma_8_segment,
         alignment.equation_4, alignment.equation_5)  # fmt: skip
BOTH = (
    smoothness.lemma_7, smoothness.lemma_8, smoothness.lemma_8_sharp, alignment.lemma_10,
    alignment.equation_6_third_term,
)  # fmt: skip
DRAWN = (network.section_2_gradient, network.theorem_1_start, network.equations_19_20, scalars.lemma_20)


def user_data(points, labels, **choices):
    points = np.asarray(points, float)
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    data = Dataset(jnp.asarray(points), jnp.asarray(labels, jnp.float64))
    return UserData(data, Choices(**{"n_neurons": 4, **choices}))


def cloud(n=7, dim=3, seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, dim)), draw.choice([-1.0, 1.0], n)


def asked(claim, about) -> Any:
    answer = claim.on(about)
    if isinstance(answer, NotApplicable):
        return answer
    answer = getattr(answer, "settings", answer)
    if claim.draws is not None:
        return claim(answer)
    groups = [answer] if len(claim.reads) == 1 else answer
    return claim(
        *([each.run(setting, silent) for setting in group] for each, group in zip(claim.reads, groups, strict=True))
    )


@pytest.mark.parametrize("claim", [*RUNS, *LOOKS, *BOTH, *DRAWN, network.appendix_a], ids=lambda claim: claim.name)
def test_they_speak_about_unit_vectors(claim):
    found = asked(claim, user_data(*cloud()))
    assert not isinstance(found, NotApplicable), found
    assert found.verdict is Verdict.HOLDS


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_theorem_1_from_a_start_that_is_built(dim):
    """More points than dimensions, and equal points of one label."""
    points, labels = cloud(9, dim) if dim > 1 else (np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 1.0, -1.0]))
    about = user_data(np.concatenate([points, points[:1]]), np.append(labels, labels[0]))
    found = asked(theorem_1, about)
    assert found.verdict is Verdict.HOLDS
    (setting,) = theorem_1.on(about).settings
    assert setting.start_loss == 0.9 * equation_5_threshold(len(labels) + 1)
    assert asked(theorem_1_start, about).verdict is Verdict.HOLDS


def test_a_data_set_on_which_no_start_exists():
    about = user_data([[1, 0], [1, 0], [0, 1]], [1, -1, 1])
    said = asked(theorem_1, about)
    assert isinstance(said, NotApplicable)
    assert "points 1 and 2 are equal and have different labels, so L ≥ 2 log 2/n = 0.462" in said
    found = asked(theorem_1_start, about)
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert "0.462" in found.hypotheses[0].why


def test_equal_points_with_different_labels_keep_the_loss_up():
    """L ≥ 2 log 2/n for every network, which is more than Theorem 1 allows for any n."""
    points, labels = np.array([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8]]), np.array([1.0, -1.0, 1.0])
    draw = np.random.default_rng(0)
    for size in np.geomspace(0.01, 100, 30):
        margins = HuberNetwork(size * draw.normal(size=(6, 2)), 1 / 3).margins(points, labels)
        assert np.exp(log_mean_loss(margins)) >= 2 * np.log(2) / 3 * (1 - 1e-12)
    for n in (2, 3, 10, 100, 1000):
        assert 2 * np.log(2) / n > equation_5_threshold(n)


def test_a_data_set_that_float64_cannot_tell_apart():
    about = user_data([[1, 0], [1, 1e-6], [0, 1]], [1, -1, 1])
    said = asked(theorem_1, about)
    assert isinstance(said, NotApplicable)
    assert "too close" in said
    assert asked(theorem_1_start, about).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize("claim", [*RUNS, *LOOKS, *BOTH, *DRAWN, network.appendix_a], ids=lambda claim: claim.name)
def test_they_say_what_is_missing(claim):
    points, labels = cloud()
    said = claim.on(UserData(from_arrays(2 * points, labels)))
    assert isinstance(said, NotApplicable)
    assert "inputs of norm 1" in said
    assert "Divide every row by its norm" in said
    said = claim.on(UserData(Dataset(jnp.asarray(points), jnp.arange(7.0))))
    assert isinstance(said, NotApplicable)
    assert "labels 0, 1, 2" in said


def test_norms_are_measured_not_assumed():
    """Norms that are off by 1e-8, as in float32, are still looked at; the hypothesis says so."""
    points, labels = cloud()
    points = (1 + 1e-8) * points / np.linalg.norm(points, axis=1, keepdims=True)
    found = asked(theorem_1, UserData(from_arrays(points, labels), Choices(n_neurons=4)))
    assert [each.key for each in found.hypotheses if not each.met] == ["unit_inputs"]
    assert [each.why for each in found.hypotheses if not each.met] == ["divide every row by its norm, in float64"]
    assert not any(each.why for each in found.hypotheses if each.met)


def test_large_data_and_wide_networks_are_declined():
    wide = lemma_6.on(user_data(*cloud(7, 100), n_neurons=200))
    assert isinstance(wide, NotApplicable)
    assert "choose fewer neurons" in wide
    many = theorem_1.on(user_data(*cloud(201, 3)))
    assert isinstance(many, NotApplicable)
    assert "at most 200" in many
    assert "at most 2000" in lemma_6.on(user_data(*cloud(2001, 2)))
    assert "at most 50 inputs" in network.equations_19_20.on(user_data(*cloud(4, 51)))
    assert "1500 numbers" in network.section_2_gradient.on(user_data(*cloud(500, 3)))


def test_where_no_start_exists_single_networks_are_still_looked_at():
    found = asked(smoothness.lemma_8, user_data([[1, 0], [1, 0], [0, 1]], [1, -1, 1]))
    assert found.verdict is Verdict.HOLDS


def test_one_point_is_outside_theorem_1():
    found = asked(theorem_1, user_data([[0.6, 0.8]], [1.0]))
    assert [each.key for each in found.hypotheses if not each.met] == ["two_points"]
