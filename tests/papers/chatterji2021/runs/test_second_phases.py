"""The second phase against single steps of the whole network."""

import math

import numpy as np
import pytest

from widenet.diagnostics.huberized import HuberNetwork, gradient
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.cluster_sources import Centres
from widenet.papers.chatterji2021.runs.second_phases import (
    LaterStepsSetting,
    isolating_phases,
    random_phases,
    run_second_phases,
)
from widenet.progress import silent
from widenet.records import Scale

DRAWN = Centres().draw(0)


def loss_of(weights, h):
    margins = HuberNetwork(weights, h).margins(DRAWN.reduced, DRAWN.labels)
    return float(np.log1p(np.exp(-margins)).mean())


def follow(weights, p, steps, first=None):
    """Losses at t = 1, 2, … of plain gradient descent with the schedule of Theorem 2."""
    h, losses = 1 / p, []
    if first is not None:
        weights = weights - first * gradient(HuberNetwork(weights, h), DRAWN.reduced, DRAWN.labels)
    norm = np.linalg.norm(weights)
    while len(losses) < steps:
        losses.append(loss_of(weights, h))
        step = math.e**2 / (120 * p) * math.log(1 / losses[-1]) ** 2
        weights = weights - step * gradient(HuberNetwork(weights, h), DRAWN.reduced, DRAWN.labels)
    return losses, norm


def test_from_a_random_start():
    p = 30
    found = run_second_phases(LaterStepsSetting(points=Centres(), half_width=p, n_steps=8, seed=1), silent)
    weights = f.initial_deviation(p, 0.25, "exact") * np.random.default_rng([1, p, 2]).standard_normal((2 * p, 3))
    losses, norm = follow(weights, p, 8, f.first_step_size(p, 0.25, "exact"))
    np.testing.assert_allclose(found.losses, losses, rtol=1e-12)
    assert found.norm == pytest.approx(norm, rel=1e-12)
    assert found.step_scale == pytest.approx(math.e**2 / 120 / p, rel=1e-12)


def test_isolating_units_stand_for_many():
    p = 12
    setting = LaterStepsSetting(points=Centres(), half_width=p, n_steps=8, start="isolating", first_loss=1e-4)
    found = run_second_phases(setting, silent)
    q = p // 2
    scale = 2 * (-math.log(math.expm1(1e-4)) + q / p / 2)
    rows = np.concatenate([DRAWN.points, np.full((4, 1), -0.5)], axis=1) * math.sqrt(2) * scale / q
    losses, norm = follow(np.repeat(rows, q, axis=0), p, 8)
    assert losses[0] == pytest.approx(1e-4, rel=1e-12)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-12)
    assert found.norm == pytest.approx(norm, rel=1e-12)
    assert found.norm**2 == pytest.approx(10 * scale**2 / q, rel=1e-12)


def test_a_schedule_of_zero_moves_nothing():
    setting = LaterStepsSetting(points=Centres(), half_width=4, n_steps=3, schedule=0.0)
    assert len(set(run_second_phases(setting, silent).losses.tolist())) == 1


def test_settings():
    assert [each.half_width for each in random_phases(Scale.QUICK, 0)] == [200, 1000]
    (isolating,) = isolating_phases(Scale.QUICK, 0)
    assert (isolating.start, isolating.first_loss, isolating.half_width) == ("isolating", 9e-9, 30_000)
