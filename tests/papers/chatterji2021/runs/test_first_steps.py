"""A first step in pieces against the gradient of the whole network, and every count against its definition."""

import math

import numpy as np
import pytest

from tests.papers.chatterji2021.cluster_toys import centres, clusters
from widenet.diagnostics.huberized import HuberNetwork, gradient, huberized
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.cluster_sources import Centres, DrawnClusters, OnePointCluster
from widenet.papers.chatterji2021.runs import first_steps
from widenet.papers.chatterji2021.runs.first_steps import (
    FirstStepSetting,
    Start,
    lemma_15_settings,
    run_first_steps,
    take_first_step,
    theorem_2_settings,
)
from widenet.papers.chatterji2021.runs.start_draws import StartSetting, run_start_draws
from widenet.progress import silent
from widenet.records import Scale

P, BETA = 50, 0.3
SCALES = (P, BETA, "sec4")


def start(seed=0):
    drawn = DrawnClusters(n_samples=6, dim=3, radius=0.3, overlap=0.2, shares=(0.3, 0.2, 0.25, 0.25)).draw(seed)
    weights = f.initial_deviation(*SCALES) * np.random.default_rng(seed).standard_normal((2 * P, 4))
    return Start(weights, f.first_step_size(*SCALES), 1 / P), drawn


def stepped():
    """(kept, pre-activations before, after, weights after, labels)."""
    made, drawn = start()
    network = HuberNetwork(made.weights, made.bandwidth)
    after = made.weights - made.step * gradient(network, drawn.reduced, drawn.labels)
    kept = take_first_step(made, drawn, f.capture_level(*SCALES))
    return kept, made.weights @ drawn.reduced.T, after @ drawn.reduced.T, after, drawn


def test_the_step_is_that_of_gradient_descent():
    kept, before, after, weights, drawn = stepped()
    signs = np.repeat([1.0, -1.0], P)
    assert kept["norm"] == pytest.approx(np.linalg.norm(weights), rel=1e-12)
    np.testing.assert_allclose(
        kept["before"], drawn.labels * (signs @ huberized(before, 1 / P)), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(kept["after"], drawn.labels * (signs @ huberized(after, 1 / P)), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kept["pulls"], 1 / (1 + np.exp(kept["before"])), rtol=1e-12)


def test_counts_and_sums_by_their_definitions():
    kept, before, after, _, drawn = stepped()
    a, h, step = f.capture_level(*SCALES), 1 / P, f.first_step_size(*SCALES)
    signs, shape, pull = np.repeat([1, -1], P), drawn.shape, kept["pulls"]
    products = drawn.reduced @ drawn.reduced.T
    bottom = -step * (0.5 + 2 * (shape.overlap + shape.radius))
    for s, label in enumerate(drawn.labels):
        for name, own in (("helpful", signs == label), ("harmful", signs == -label)):
            captured = own & (before[:, s] >= a)
            assert kept[name][s] == captured.sum()
            assert kept[f"{name}_sum"][s] == pytest.approx(before[captured, s].sum(), rel=1e-12)
            assert kept[f"{name}_after"][s] == pytest.approx(huberized(after[captured, s], h).sum(), rel=1e-12)
            rest = huberized(after[own & ~captured, s], h).sum()
            assert kept[f"rest_{name}"][s] == pytest.approx(rest, abs=1e-12)
            own_pull, other_pull = 0.0, 0.0
            for q in range(len(drawn.labels)):
                both = captured & (before[:, q] >= a)
                assert kept[f"{name}_pairs"][s, q] == both.sum()
                assert kept[f"{name}_touched"][s, q] == (captured & (before[:, q] >= 0)).sum()
                if q == s:
                    own_pull += pull[s] * captured.sum()
                elif drawn.clusters[q] == drawn.clusters[s]:
                    own_pull += (1 - 2 * shape.radius) * pull[q] * (captured & (before[:, q] >= h)).sum()
                if drawn.labels[q] != label:
                    other_pull += pull[q] * products[q, s] * (captured & (before[:, q] >= 0)).sum()
            prefix = "" if name == "helpful" else "harmful_"
            assert kept[f"{prefix}own_pull"][s] == pytest.approx(own_pull, rel=1e-12)
            assert kept[f"{prefix}other_pull"][s] == pytest.approx(other_pull, rel=1e-12)
        captured = before[:, s] >= a
        assert kept["window"][s] == ((signs != label) & (before[:, s] >= bottom) & (before[:, s] <= a)).sum()
        assert kept["shift"][s] == pytest.approx(np.abs(after - before)[captured, s].max(initial=0), rel=1e-12)
        assert kept["lowest"][s] == pytest.approx(after[captured, s].min(initial=np.inf), rel=1e-12)
        assert kept["bent"][s] < 1e-15
        assert kept["active"][s] == (before[:, s] >= 0).sum()
    assert kept["activity"].tolist() == np.bincount((before >= 0).sum(axis=1), minlength=7).tolist()


def test_pieces_do_not_matter(monkeypatch):
    whole = stepped()[0]
    monkeypatch.setattr(first_steps, "PIECE", 7)
    for name, values in stepped()[0].items():
        np.testing.assert_allclose(values, whole[name], rtol=1e-12, atol=1e-14, err_msg=name)


def test_units_at_the_ends_of_the_window_and_of_capture_count():
    drawn = OnePointCluster().draw(0)
    x, step, h = drawn.reduced[0], 0.01, 0.1
    a, bottom = h + 4 * step, -step * (0.5 + 2 * drawn.shape.overlap)
    nudge = 1e-12
    heights = [0, 0, 0, 0, a + nudge, bottom + nudge, a - nudge, bottom - nudge]
    kept = take_first_step(Start(np.outer(heights, x), step, h), drawn, a)
    assert (kept["harmful"], kept["window"]) == (1, 2)


def test_scalings():
    for scaling, root in (("sec4", 1.0), ("exact", math.sqrt(2))):
        cell = clusters(scaling)
        assert (cell.deviation, cell.step) == pytest.approx((root * 2000**-0.725, root**2 * 2000**-0.95), rel=1e-12)
        assert cell.level == pytest.approx(f.capture_level(2000, 0.45, scaling), rel=1e-12)
        assert cell.norm.mean() / (cell.deviation * math.sqrt(12_000)) == pytest.approx(1, rel=0.01)
    assert [each.scaling for each in theorem_2_settings(Scale.QUICK, 0)] == ["exact"] * 3
    assert [each.n_runs for each in lemma_15_settings(Scale.PAPER, 0)] == [500, 300, 300]


def test_seeds_and_controls_of_the_step():
    one, same, other = (centres(100, 2, seed=seed).norm for seed in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()
    assert one[0] != one[1]
    still = centres(100, 2, step=0.0)
    np.testing.assert_allclose(still.before, still.after, atol=1e-14)


def test_drawn_points_and_their_clusters():
    drawn = DrawnClusters(n_samples=12, radius=0.2, overlap=0.3).draw(4)
    assert drawn.shape.overlap == pytest.approx(0.3, rel=1e-12)
    assert drawn.shape.radius <= 0.2 + 1e-12
    np.testing.assert_allclose(np.linalg.norm(drawn.reduced, axis=1), 1, rtol=1e-12)
    assert not np.array_equal(drawn.points, DrawnClusters(n_samples=12, radius=0.2, overlap=0.3).draw(5).points)
    centre = Centres().draw(0)
    wanted = [(1, -1, 0, 0), (-1, 1, 0, 0), (0, 0, 1, -1), (0, 0, -1, 1)]
    np.testing.assert_allclose(centre.points @ centre.points.T, wanted, atol=1e-15)


def test_draws_of_starts():
    drawn = run_start_draws(StartSetting(half_width=30, n_draws=3000, dim=3), silent)
    assert drawn.outputs.std() == pytest.approx(f.first_output_deviation(30, 0.25, "sec4"), rel=0.06)
    assert drawn.outputs.mean() == pytest.approx(0, abs=0.05)
    assert (drawn.norms**2).mean() == pytest.approx(1, rel=0.01)
    assert (drawn.norms**2).var() == pytest.approx(2 / (2 * 30 * 4), rel=0.1)
    assert len(drawn.outputs) == 3000


def test_one_run_of_a_setting_is_the_same_alone():
    many = run_first_steps(FirstStepSetting(points=Centres(), half_width=40, n_runs=3), silent)
    one = run_first_steps(FirstStepSetting(points=Centres(), half_width=40, n_runs=1), silent)
    np.testing.assert_array_equal(many.after[0], one.after[0])
