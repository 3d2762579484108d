"""Footnote 4 holds with the factor 1/√2, and its judge rejects what it must."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data import with_bias
from widenet.diagnostics import find_separator
from widenet.papers.brutzkus2018.claims.biases import footnote_4
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.biased import BiasedCase, biased_case, lift, train_biased
from widenet.papers.brutzkus2018.runs.ledger import keep_ledger
from widenet.papers.brutzkus2018.runs.trials import Trial, plus_minus_weights
from widenet.types import Dataset, RunStatus


def drawn(seed, count):
    draw = np.random.default_rng(seed)
    return [biased_case(draw) for _ in range(count)]


@pytest.fixture(scope="module")
def runs():
    return train_biased(drawn(0, 6))


def test_it_holds(runs):
    evidence = footnote_4([runs])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 6


def test_the_lift_is_that_of_the_data_layer():
    (case,) = drawn(3, 1)
    theirs = with_bias(Dataset(jnp.asarray(case.inputs), jnp.asarray(case.trial.labels))).inputs
    np.testing.assert_allclose(lift(case.inputs), theirs, rtol=1e-15)


def test_the_data_needs_its_bias():
    """The clouds lie on one side of the origin, so the plain inputs have no separator: the footnote has work to do."""
    for case in drawn(0, 6):
        plain = Dataset(jnp.asarray(case.inputs), jnp.asarray(case.trial.labels))
        assert find_separator(plain).separable is False


def _antipodal(scale: float, step_size: float) -> Trial:
    """x = ±1, both labelled +1: w = 0, b = 1. Lifted, the two points are orthogonal."""
    outputs = plus_minus_weights(1, 0.5**0.5)
    inputs = lift(np.array([[1.0], [-1.0]]), scale)
    separator = np.array([0.0, 1 / scale])
    start = -0.01 * np.outer(np.sign(outputs), separator / np.linalg.norm(separator))
    return Trial(inputs, np.ones(2), separator, start, outputs, 0.99, step_size, 0.5**0.5)


def test_control_a_plain_one_in_the_extra_coordinate():
    """x' = (x, 1) leaves the unit ball, and then M_k is too small: 2 updates where it allows 1."""
    plain, scaled = _antipodal(1.0, 1000.0), _antipodal(2**-0.5, 1000.0)
    assert keep_ledger(plain, 10).updates == 2
    assert np.floor(max_nonzero_updates(*plain.parameters)) == 1
    inputs = np.array([[1.0], [-1.0]])
    evidence = footnote_4([train_biased([BiasedCase(inputs, np.array([0.0, 1.0]), plain)])])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["input_norm"]
    assert evidence.parts[0].kept is False
    assert footnote_4([train_biased([BiasedCase(inputs, np.array([0.0, 1.0]), scaled)])]).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"updates": np.array([10**6] * 6)}, 0),
        ({"status": np.full(6, RunStatus.BUDGET_SPENT)}, 1),
        ({"same_samples": np.arange(6) != 2}, 2),
        ({"difference": np.full(6, 1e-6)}, 3),
    ],
)
def test_control_each_part(runs, change, broken):
    evidence = footnote_4([dataclasses.replace(runs, **change)])
    assert evidence.verdict is Verdict.VIOLATED
    assert [place for place, part in enumerate(evidence.parts) if part.kept is False] == [broken]


def test_control_a_margin_below_one(runs):
    low = dataclasses.replace(runs, smallest_margin=0.99 * runs.smallest_margin)
    assert [h.key for h in footnote_4([low]).hypotheses if not h.met] == ["separable_with_bias"]
