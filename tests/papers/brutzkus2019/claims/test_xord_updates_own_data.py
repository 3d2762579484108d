"""What the statements about updates say of a reader's points, and of which they are silent."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.controls import unmet_in
from tests.papers.brutzkus2019.claims.xord_records import ON_DIVERSE, with_one_non_diverse
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.claims.xord_updates import (
    equation_7_8,
    observation_decomposition,
    observation_one_pair,
)
from widenet.papers.brutzkus2019.runs.xord_descent import (
    descents,
    diverse_part,
    diverse_points,
    follow,
    runs_on,
)
from widenet.progress import silent
from widenet.types import Dataset

ONE_PATCH = PATTERNS[[1] * 7].reshape(1, -1)
"""A negative point with the pattern p_2 alone."""


def test_the_diverse_part_of_own_data():
    data = with_one_non_diverse(diverse_points(1))
    assert diverse_part(data).n_samples == 10
    choices = Choices(n_neurons=16, n_runs=2, required_margin=2.0, diverse_only=True)
    (setting,) = observation_one_pair.on(UserData(data, choices)).settings
    assert (setting.half_width, setting.n_runs, setting.required_margin) == (8, 2, 2.0)
    run = descents.run(setting, silent)
    assert run.n_points == 10
    for claim in ON_DIVERSE:
        assert claim.on(UserData(data, choices)).settings == [setting]
        assert claim([run]).verdict is Verdict.HOLDS


def test_own_data_as_it_is_and_few_networks_on_it():
    data = with_one_non_diverse(diverse_points(1))
    (setting,) = equation_7_8.on(UserData(data, Choices(n_runs=600))).settings
    assert setting.n_runs == 20
    run = descents.run(setting.model_copy(update={"n_runs": 1, "half_width": 2}), silent)
    assert observation_decomposition([run]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_own_points_that_are_not_of_xord_are_left_out_and_counted():
    points = diverse_points(1)
    data = Dataset(points.inputs.at[0, 0].set(0.5), points.labels.at[11].set(1.0))
    (setting,) = equation_7_8.on(UserData(data, Choices(n_neurons=4, n_runs=1))).settings
    run = descents.run(setting, silent)
    assert (run.n_points, run.points.not_signs, run.points.mislabelled) == (10, 1, 1)
    evidence = equation_7_8([run])
    assert unmet_in(evidence) == ["signs", "labels"]
    assert evidence.conclusion is True


@pytest.mark.parametrize("claim", ON_DIVERSE, ids=lambda claim: claim.id)
def test_data_it_cannot_speak_about_is_met_with_silence(claim):
    points = diverse_points(1)
    reasons = {
        "made of pairs": Dataset(points.inputs[:, :7], points.labels),
        "of each class, got 0 of +1 and 0 of -1; left out: 12 with an entry": Dataset(points.inputs / 2, points.labels),
        "got 0 of +1 and 0 of -1; left out: 12 with a label": Dataset(points.inputs, -points.labels),
        "got 6 of +1 and 0 of -1": points[np.arange(6)],
    }
    for words, data in reasons.items():
        answer = claim.on(UserData(data))
        assert isinstance(answer, NotApplicable)
        assert words in answer
    one_class = UserData(points[np.arange(6)], Choices(diverse_only=True))
    assert "Among diverse points alone" in claim.on(one_class)


def test_control_data_with_one_class_are_not_judged():
    only = follow(runs_on(diverse_points(1)[np.arange(6)]))
    for claim in ON_DIVERSE:
        evidence = claim([only])
        assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
        assert evidence.conclusion is None
        assert "both_classes" in unmet_in(evidence)


@pytest.mark.parametrize("labels", [(0.0, 1.0), (-2.0, 2.0)])
def test_control_labels_that_are_not_signs_are_not_judged(labels):
    data = diverse_points(1)
    other = follow(runs_on(Dataset(data.inputs, jnp.where(data.labels > 0, labels[1], labels[0]))))
    for claim in ON_DIVERSE:
        evidence = claim([other])
        assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
        assert "labels" in unmet_in(evidence)
