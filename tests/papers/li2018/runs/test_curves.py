"""The runs of the figures against SGD written out in NumPy."""

import functools

import numpy as np
import pytest

from widenet.diagnostics.patterns import flip_share
from widenet.diagnostics.spectra import singular_values
from widenet.papers.li2018.runs.curves import (
    CurveSetting,
    batches,
    curves,
    mnist_widths,
    points_of,
    raw_pixels,
    run_curves,
    synthetic_components,
    synthetic_spreads,
    synthetic_widths,
)
from widenet.papers.li2018.sources import Gaussians, Images
from widenet.progress import silent
from widenet.records import Scale
from widenet.training.small.softmax import decided_rightly, gradient, start_softmax

SMALL = Gaussians(n_classes=3, per_class=2, dim=12, n_points=30)
SETTING = CurveSetting(
    data=SMALL,
    width=24,
    n_runs=2,
    n_steps=9,
    batch_size=8,
    n_test=20,
    n_patterns=15,
    each_step_until=3,
    cadence=4,
    seed=1,
)


@functools.cache
def trained():
    return run_curves(SETTING, silent)


@functools.cache
def written_out(run):
    """The networks after every step, by the rule of the paper."""
    seed = 1000 * SETTING.seed + run
    sample = SMALL.draw(seed)
    network = start_softmax(np.random.default_rng([seed, 87]), SETTING.width, SMALL.dim, 3)
    order = batches(np.random.default_rng([seed, 88]), 30, SETTING).reshape(SETTING.n_steps, SETTING.batch_size)
    found = [network]
    for rows in order:
        shares = np.full(len(rows), 1 / len(rows))
        slope = gradient(found[-1], sample.points[rows], sample.classes[rows], shares)
        found.append(found[-1].moved(-10 / SETTING.width * slope))
    return found


def test_looks():
    assert SETTING.looks == (0, 1, 2, 3, 4, 8, 9)
    assert trained().steps.tolist() == list(SETTING.looks)
    assert CurveSetting(data=SMALL, width=2, n_steps=2, each_step_until=60).looks == (0, 1, 2)


@pytest.mark.parametrize("run", [0, 1])
def test_every_look_is_that_of_sgd_written_out(run):
    found, networks = trained(), written_out(run)
    test = SMALL.draw(1000 * SETTING.seed + run, fresh=1, n_points=20)
    start = networks[0]
    for place, step in enumerate(found.steps):
        now = networks[step]
        change = now.hidden - start.hidden
        first, z = start.preactivations(test.points[:15]), now.preactivations(test.points[:15])
        right = decided_rightly(now.logits(test.points), test.classes)
        assert found.accuracy[run, place] == pytest.approx(right.mean(), abs=1e-12)
        assert found.flips[run, place] == pytest.approx(flip_share(first, z), abs=1e-12)
        assert found.changed[run, place] == pytest.approx(((first > 0) != (z > 0)).any(axis=0).mean(), abs=1e-12)
        size = np.linalg.norm(change) / np.linalg.norm(start.hidden)
        assert found.distance[run, place] == pytest.approx(size, rel=1e-4)
        assert found.longest[run, place] == pytest.approx(np.linalg.norm(change, axis=1).max(), rel=1e-4)


@pytest.mark.parametrize("run", [0, 1])
def test_spectra(run):
    networks = written_out(run)
    update = singular_values(networks[-1].hidden - networks[0].hidden)
    np.testing.assert_allclose(trained().update_values[run], update, rtol=1e-3, atol=1e-5 * update[0])
    np.testing.assert_allclose(trained().weight_values[run], singular_values(networks[-1].hidden), rtol=1e-4)


def test_batches_are_permutations_cut_across_their_borders():
    order = batches(np.random.default_rng(0), 30, SETTING)
    assert len(order) == 9 * 8
    assert sorted(order[:30]) == sorted(order[30:60]) == list(range(30))
    assert order[:30].tolist() != order[30:60].tolist()


def test_gaussians_are_drawn_anew_for_every_run_and_images_are_shared():
    data, n_train = points_of(SETTING, [5, 6])
    assert data.inputs.shape == (2, 50, 12)
    assert n_train == 30
    np.testing.assert_allclose(data.inputs[1, :30], SMALL.draw(6).points, atol=1e-6)
    pictures, n_images = points_of(SETTING.model_copy(update={"data": Images(n_points=40)}), [5, 6])
    assert pictures.inputs.shape == (60, 784)
    assert n_images == 40
    np.testing.assert_allclose(np.linalg.norm(pictures.inputs, axis=1), 1, atol=1e-6)


def test_pixels_from_0_to_1():
    raw, unit = (Images(n_points=5, unit_norm=norm).draw(0).points for norm in (False, True))
    assert raw.max() == 1
    assert raw.min() == 0
    np.testing.assert_allclose(raw / np.linalg.norm(raw, axis=1, keepdims=True), unit, rtol=1e-12)


def test_paper_scale_is_what_is_printed():
    for setting in (
        *synthetic_widths(Scale.PAPER, 0),
        *synthetic_spreads(Scale.PAPER, 0),
        *synthetic_components(Scale.PAPER, 0),
    ):
        assert (setting.n_steps, setting.batch_size, setting.scaled_step, setting.n_runs) == (400, 16, 10.0, 5)
        data = setting.data
        assert isinstance(data, Gaussians)
        assert (data.dim, data.n_classes, data.mean_scale, data.n_points, setting.n_test) == (1000, 10, 5.0, 1000, 1000)
    for setting in (*mnist_widths(Scale.PAPER, 0), *raw_pixels(Scale.PAPER, 0)):
        assert (setting.n_steps, setting.batch_size, setting.scaled_step, setting.n_runs) == (20_000, 64, 400.0, 5)
        assert (setting.data.n_points, setting.n_test) == (60_000, 10_000)
    assert [setting.width for setting in synthetic_widths(Scale.PAPER, 0)][-1] == 16_000
    assert [setting.width for setting in mnist_widths(Scale.PAPER, 0)][-1] == 4000


def test_both_readings_of_the_synthetic_data():
    for settings in (synthetic_widths, synthetic_spreads, synthetic_components):
        norms = [setting.data.unit_norm for setting in settings(Scale.QUICK, 0)]
        assert norms.count(True) == norms.count(False)
    assert curves.id == "li2018.curves"
