"""Training sets drawn from a law, one per run."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, SET_LABELS, make_xord
from widenet.papers.brutzkus2019.runs import samples
from widenet.papers.brutzkus2019.runs.samples import Samples, SampleSetting, draw_counts, run
from widenet.papers.brutzkus2019.sources import HARD_SETS, Law
from widenet.run.records import decode, encode

EASY = Law(diverse_positive=0.92, diverse_negative=0.92, delta=0.16)


def test_a_law_of_the_examples():
    share = EASY.probabilities
    assert share[[DIVERSE_POSITIVE, DIVERSE_NEGATIVE]] * 2 == pytest.approx((0.92, 0.92))
    assert math.isclose(share.sum(), 1)
    assert math.isclose(EASY.smallest_hard_share, 0.02)
    assert math.isclose(Law(diverse_positive=0.98, diverse_negative=0.5, delta=0.1).smallest_hard_share, 0.005)
    assert math.isclose(EASY.diverse_pair, 0.8464)


def test_points_are_drawn_by_their_law():
    counts = draw_counts(0, 4000, EASY, 8)
    assert (counts[:, SET_LABELS > 0].sum(axis=1) == 8).all()
    assert (counts[:, SET_LABELS < 0].sum(axis=1) == 8).all()
    share = counts.mean(axis=0) / 16
    assert np.allclose(share, EASY.probabilities, atol=5 * math.sqrt(0.25 / (4000 * 16)))
    assert (share[EASY.probabilities == 0] == 0).all()


def test_an_output_of_zero_is_wrong_and_the_largest_step_is_told(monkeypatch):
    def uneven(networks, counts, steps):
        return networks, steps * np.linspace(0.5, 1, len(steps))

    monkeypatch.setattr(samples, "on_grid", uneven)
    found = run(SampleSetting(law=EASY, per_class=2, n_runs=16, seed=0, max_steps=600))
    assert found.step_size * 2 == pytest.approx(1 / 41, rel=1e-5)
    outputs = np.tile(SET_LABELS * 1.0, (16, 1))
    outputs[3, DIVERSE_POSITIVE] = outputs[5, DIVERSE_NEGATIVE] = 0
    errors = dataclasses.replace(found, outputs=outputs).test_error
    assert np.flatnonzero(errors).tolist() == [3, 5]
    assert errors[[3, 5]] == pytest.approx(0.46)


def test_a_cell_and_its_exact_test_errors():
    found = run(SampleSetting(law=EASY, per_class=2, n_runs=16, seed=0, max_steps=600))
    law = make_xord(4, 0.92, 0.92, HARD_SETS)
    assert np.allclose(found.test_error, np.asarray(law.error(jnp.asarray(found.outputs))), atol=1e-15)
    assert (found.per_set.sum(axis=1) == 4).all()
    assert found.step_size * 2 <= 1 / 41
    read = decode(Samples, *encode(found))
    assert read.law == EASY
    assert (read.outputs == found.outputs).all()
