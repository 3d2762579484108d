"""The claims on a reader's own data: separable, barely separable, and not separable."""

import jax
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data import from_arrays, make_separable, with_bias
from widenet.errors import DataError
from widenet.papers.brutzkus2018.claims import own_data
from widenet.papers.brutzkus2018.claims.own_data import check_on, settings_on

KEY = jax.random.key(0)
CLEAR = make_separable(KEY, 6, 3.0).sample(KEY, 60)


def barely_separable(margin=1e-6, n_samples=40, dim=5):
    """Unit vectors whose first coordinate, of size `margin`, decides the label; nothing else is of use."""
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(n_samples, dim))
    labels = np.where(inputs[:, 0] > 0, 1.0, -1.0)
    inputs[:, 0] = 0
    inputs /= 1.01 * np.linalg.norm(inputs, axis=1, keepdims=True)
    inputs[:, 0] = labels * margin * (1 + draw.random(n_samples))
    return from_arrays(inputs, labels)


def verdicts(data, **choices):
    found = check_on(data, **choices)
    return {id.split(".")[1]: evidence for id, evidence in found.items()}


def test_separable_data_is_decided():
    found = verdicts(CLEAR)
    assert {id for id, evidence in found.items() if evidence.verdict is not Verdict.HOLDS} == {"theorem_6"}
    # Sixty points are too few for the generalization bound, and it says so.
    assert found["theorem_6"].verdict is Verdict.HYPOTHESES_NOT_MET
    assert found["theorem_6"].vacuous
    assert len(found) == 13


def test_barely_separable_data_is_never_refuted_and_its_bound_is_astronomic():
    found = verdicts(barely_separable(), n_runs=2)
    assert not [id for id, evidence in found.items() if evidence.verdict is Verdict.VIOLATED]
    promised = found["theorem_2"].promised
    assert promised is not None
    assert 1e12 < promised < np.inf
    assert all(each.met for each in found["theorem_2"].hypotheses)
    assert found["theorem_2"].verdict in (Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE)
    assert "failed in 0 of" in found["theorem_6"].note


def test_data_that_is_not_separable_gets_the_proof():
    corners = with_bias(from_arrays(np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) / 2, [1, -1, -1, 1]))
    found = verdicts(corners, n_runs=2)
    for id in ("theorem_2", "equation_12", "section_2_zero_minimum", "theorem_2_chain"):
        assert found[id].verdict is Verdict.HYPOTHESES_NOT_MET, id
        assert "not separable through the origin" in found[id].note
    # Theorem 7 needs no separator: four points are fitted exactly.
    assert found["theorem_7"].verdict is Verdict.HOLDS
    assert "equation_9" not in found
    assert "theorem_8" not in found


def test_every_setting_belongs_to_a_listed_claim_and_large_data_leaves_theorem_7_out(monkeypatch):
    listed = {claim.id for claim, _ in settings_on(CLEAR)}
    assert "brutzkus2018.theorem_7" in listed
    monkeypatch.setattr(own_data, "MOST_POINTS", 50)
    assert listed - {claim.id for claim, _ in settings_on(CLEAR)} == {"brutzkus2018.theorem_7"}


def test_too_few_points_are_refused():
    with pytest.raises(DataError, match="at least 4 points, got 2"):
        settings_on(from_arrays([[1.0], [-1.0]], [1, -1]))
