"""Your data of every kind: each claim that can speak gets runs to judge, or says why not. None raises."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from tests.controls import lacking_in
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.papers.brutzkus2018.claims.expressiveness import theorem_7
from widenet.papers.brutzkus2018.claims.landscape import proposition_1_2
from widenet.papers.brutzkus2018.claims.local_minima import lemma_11, theorem_8
from widenet.papers.brutzkus2018.relu_sources import antipodal_set, separable_set
from widenet.papers.brutzkus2018.runs.memories import MOST_POINTS
from widenet.progress import silent
from widenet.types import Dataset

CLAIMS = (theorem_7, proposition_1_2, lemma_11, theorem_8)


def user_data(inputs, labels, **choices):
    data = Dataset(jnp.asarray(np.array(inputs, float)), jnp.asarray(np.array(labels, float)))
    return UserData(data, Choices(**choices))


def clear(n_samples=60, dim=6, factor=1.0):
    points = separable_set(np.random.default_rng(0), n_samples, dim)
    return user_data(factor * points.inputs, points.labels)


def barely(margin=1e-6, n_samples=40, dim=5):
    """Unit vectors whose first coordinate, of size `margin`, decides the label; nothing else is of use."""
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(n_samples, dim))
    labels = np.where(inputs[:, 0] > 0, 1.0, -1.0)
    inputs[:, 0] = 0
    inputs /= 1.01 * np.linalg.norm(inputs, axis=1, keepdims=True)
    inputs[:, 0] = labels * margin * (1 + draw.random(n_samples))
    return user_data(inputs, labels)


def judged(claim, data) -> Any:
    """The evidence about this data, or why there is none."""
    said = claim.on(data)
    if isinstance(said, NotApplicable):
        return said
    if not claim.reads:
        return claim(said)
    (experiment,) = claim.reads
    return claim([experiment.run(setting, silent) for setting in said])


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_separable_data_is_decided(claim):
    assert judged(claim, clear()).verdict is Verdict.HOLDS


KINDS = {
    "one class": lambda: user_data(np.abs(np.random.default_rng(1).normal(size=(8, 3))) / 9, np.ones(8)),
    "three classes": lambda: user_data(np.random.default_rng(1).normal(size=(9, 3)), np.repeat([0, 1, 2], 3)),
    "a zero row": lambda: user_data([[1, 0], [0, 0], [0, 1]], [1, -1, 1]),
    "four points": lambda: user_data([[0.5, 0.1], [0.1, 0.5], [-0.4, 0], [0, -0.4]], [1, 1, -1, -1]),
    "two points": lambda: user_data([[0.5, 0.1], [-0.4, 0]], [1, -1]),
    "one point": lambda: user_data([[0.5, 0.1]], [1]),
    "one dimension": lambda: user_data([[0.5], [0.4], [-0.7]], [1, 1, -1]),
    "duplicates": lambda: user_data(np.repeat([[0.5, 0.1], [-0.4, 0.3]], 5, axis=0), np.repeat([1, -1], 5)),
    "contradictory duplicates": lambda: user_data([[0.5, 0.1], [0.5, 0.1], [0.3, 0.3]], [1, -1, 1]),
    "not separable": lambda: user_data([[0.5, 0.5], [0.5, -0.5], [-0.5, 0.5], [-0.5, -0.5]], [1, -1, -1, 1]),
    "almost parallel": lambda: user_data([[0.5, 0.1], [0.5, 0.1 + 1e-8], [-0.4, 0.3]], [1, 1, -1]),
    "integers": lambda: user_data([[3, 1], [1, 3], [-2, -2], [-4, 1]], [1, 1, -1, -1]),
    "balanced": lambda: user_data([[0.5, 0.1], [-0.5, -0.1], [0.2, 0.4], [-0.2, -0.4]], [1, -1, 1, -1]),
    "antipodal": lambda: user_data(*_arrays(antipodal_set(np.random.default_rng(2), 4, 3))),
    "barely separable": barely,
    "very small": lambda: clear(12, 3, 1e-200),
    "small": lambda: clear(12, 3, 1e-6),
    "very large": lambda: clear(12, 3, 1e150),
    "many coordinates": lambda: clear(30, 300),
}


def _arrays(points):
    return points.inputs, points.labels


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_no_data_raises_or_refutes(claim, kind):
    said = judged(claim, KINDS[kind]())
    assert isinstance(said, NotApplicable) or said.verdict is not Verdict.VIOLATED
    if kind == "three classes":
        assert isinstance(said, NotApplicable)


@pytest.mark.parametrize("claim", [theorem_7, proposition_1_2, theorem_8], ids=lambda claim: claim.name)
def test_twenty_thousand_points_take_seconds(claim):
    large = clear(20_000, 20)
    assert large.separation.separable
    said = judged(claim, large)
    assert isinstance(said, NotApplicable) == (claim is theorem_7)
    if claim is not theorem_7:
        assert said.verdict is Verdict.HOLDS


def test_theorem_7_speaks_up_to_a_number_of_points():
    assert not isinstance(theorem_7.on(clear(MOST_POINTS)), NotApplicable)
    assert "401" in theorem_7.on(clear(MOST_POINTS + 1))


def test_data_that_is_not_separable_gets_the_proof():
    data = KINDS["not separable"]()
    evidence = judged(proposition_1_2, data)
    assert lacking_in(evidence) == ["separable"]
    assert "not separable through the origin" in evidence.hypotheses[0].why
    for claim in (lemma_11, theorem_8):
        assert "not separable through the origin" in judged(claim, data)
    # Theorem 7 needs no separator: four points are fitted exactly.
    assert judged(theorem_7, data).verdict is Verdict.HOLDS


UNDECIDED = [[0.5, 0.0], [-0.5, 1e-11]]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_data_on_which_no_separator_can_be_found_or_excluded_decides_nothing(claim):
    data = user_data(UNDECIDED, [1, 1])
    assert data.separation.separable is None
    said = judged(claim, data)
    if not isinstance(said, NotApplicable) and "separable" in {hypothesis.key for hypothesis in said.hypotheses}:
        (met,) = (hypothesis.met for hypothesis in said.hypotheses if hypothesis.key == "separable")
        assert met is None
        assert said.verdict is Verdict.INSUFFICIENT_EVIDENCE or False in [h.met for h in said.hypotheses]


def test_points_on_one_ray_are_no_data_for_theorem_7():
    assert lacking_in(judged(theorem_7, KINDS["duplicates"]())) == ["distinct_rays"]
    evidence = judged(theorem_7, KINDS["contradictory duplicates"]())
    assert lacking_in(evidence) == ["distinct_rays"]
    assert evidence.conclusion is False


def test_the_readers_choices_are_used():
    data = user_data([[0.5, 0.1], [-0.4, 0]], [1, -1], n_neurons=6, slope=0.7)
    (setting,) = theorem_8.on(data)
    assert setting.half_widths == (3,)
    assert setting.own_data == data.digest
    (fitting,) = theorem_7.on(data)
    assert fitting.slope == 0.7
    (certified,) = proposition_1_2.on(data)
    assert (certified.landscape.half_width, certified.landscape.slope) == (3, 0.7)


def test_both_statements_about_minima_read_the_same_cell():
    data = clear(10, 3)
    assert lemma_11.on(data) == theorem_8.on(data)
