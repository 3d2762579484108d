"""Networks by width: what they are trained on, against a few independent lines."""

import dataclasses

import numpy as np
import pytest

import widenet as wn
from tests.certificates.studies import NAMES, SETTING, clouds, of, said_by
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates import certainty, rivals, width_study, widths
from widenet.certificates.certainty import repeat
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.widths import Ending, held_out_parts, run_width, scaling_of, train_network
from widenet.progress import silent
from widenet.run.outcomes import cells_of


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


@pytest.mark.parametrize("classes", [2, 3])
def test_what_networks_name_is_what_their_weights_say(classes):
    inputs, labels = clouds(classes=classes)
    found = run_width(of(inputs, labels), silent)
    own, kept = found.parts == 0, found.parts != 0
    np.testing.assert_array_equal(said_by(found, inputs[own]), found.predicted[own])
    assert np.mean(said_by(found, inputs[kept]) != labels[kept]) == found.train_error[0]
    assert found.trained_on.tolist() == [20, 20, 20]


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_held_out_points_have_no_influence_on_weights(moved, monkeypatch):
    """Other inputs in a network's held-out rows leave its weights as they are, bit for bit, and change the others."""
    inputs, labels = clouds()
    setting = of(inputs, labels)
    parts = held_out_parts(inputs, labels, 3, 0)
    other = inputs.copy()
    other[parts == moved] = 1e3 * np.random.default_rng(1).normal(size=((parts == moved).sum(), 3))
    monkeypatch.setattr(widths, "held_out_parts", lambda *_: parts)  # which would be others, of other inputs
    for number in range(3):
        kept = parts != number
        one, two = (train_network(points[kept], labels[kept], setting, number) for points in (inputs, other))
        same = [np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one.weights, two.weights, strict=True)]
        assert all(same) == (number == moved)
    first, second = run_width(setting, silent), run_width(of(other, labels), silent)
    same = [np.array_equal(getattr(first, name), getattr(second, name)) for name in ("hidden", "output", "centre")]
    assert all(same) == (moved == 0)
    assert np.array_equal(first.parts, second.parts)
    assert (first.losses[moved] == second.losses[moved]).all()
    assert not (first.losses[(moved + 1) % 3] == second.losses[(moved + 1) % 3]).all()


def test_labels_of_held_out_points_have_no_influence_either():
    inputs, labels = clouds()
    first = run_width(of(inputs, labels), silent)
    swapped = labels.copy()
    own = np.flatnonzero(first.parts == 0)
    pair = [own[labels[own] == 0][0], own[labels[own] == 1][0]]
    swapped[pair] = swapped[pair[::-1]]
    kept = np.setdiff1d(np.arange(30), own)
    one, two = (train_network(inputs[kept], each[kept], SETTING, 0) for each in (labels, swapped))
    assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one.weights, two.weights, strict=True))
    np.testing.assert_array_equal(np.asarray(one.weights.hidden[0], np.float64), first.hidden)


@pytest.mark.parametrize("sizes", [(10, 10), (13, 7), (23, 5, 11), (4, 30), (1, 20)])
def test_every_point_is_held_out_once_and_classes_in_proportion(sizes):
    """Apart from a class of a single point, which every network has to be trained on."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    inputs = np.random.default_rng(0).normal(size=(len(labels), 2))
    found = held_out_parts(inputs, labels, 5, seed=3)
    for kind, size in enumerate(sizes):
        counts = np.bincount(found[labels == kind] + 1, minlength=6)
        assert counts[0] == (size if size == 1 else 0)
        assert np.ptp(counts[1:]) <= 1
    totals = np.bincount(found[found >= 0], minlength=5)
    assert np.ptp(totals) <= 1
    assert np.array_equal(found, held_out_parts(inputs, labels, 5, seed=3))
    assert not np.array_equal(found, held_out_parts(inputs, labels, 5, seed=4))


def test_equal_points_are_held_out_together():
    """Twins and triplets, some of another class, some with another sign of 0; of each class as many in each part."""
    draw = np.random.default_rng(0)
    different = draw.integers(-1, 2, size=(40, 3)) * 0.5
    rows = draw.integers(0, 40, size=120)
    inputs, labels = different[rows], (different[rows, 0] > 0).astype(int)
    labels[:10] = 1 - labels[:10]
    inputs[inputs == 0] *= draw.choice([1.0, -1.0], size=(inputs == 0).sum())
    assert (np.signbit(inputs) & (inputs == 0)).any()
    found = held_out_parts(inputs, labels, 4, seed=0)
    assert set(found.tolist()) == set(range(4))
    for row, part in zip(inputs, found, strict=True):
        assert (found[(inputs == row).all(axis=1)] == part).all()
    for kind in range(2):
        assert np.bincount(found[labels == kind], minlength=4).min() >= 5
    alone = held_out_parts(np.repeat([[0.0], [-0.0], [1.0], [2.0]], 3, axis=0), np.repeat([0, 0, 1, 1], 3), 3, seed=0)
    assert (alone[:6] == -1).all()  # a class of one different point
    assert len(set(alone[6:9].tolist())) == len(set(alone[9:].tolist())) == 1
    assert alone[6] != alone[9]


def test_no_network_is_trained_on_the_twin_of_a_point_that_it_is_tried_on(monkeypatch):
    """Not in a study either, nor are the models that networks are compared with."""
    inputs, labels = clouds(20)
    inputs, labels = np.repeat(inputs, 2, axis=0), np.repeat(labels, 2)
    seen, real = [], rivals.predictions
    monkeypatch.setattr(
        width_study, "predictions", lambda *given, **how: (seen.append(given[2]), real(*given, **how))[1]
    )
    found = wn.certify(inputs, np.array(NAMES)[labels], effort=1e-3)
    parts = found.runs[4].parts
    assert (parts[::2] == parts[1::2]).all()
    assert np.array_equal(seen[0], parts)
    assert "no network had seen what it was tried on" in found.to_html()


def test_networks_start_and_go_through_points_differently(monkeypatch):
    """Each has its own start and its own order of the points, and another seed has others."""
    starts, orders = [], []
    real = widths.WeightedPasses.train

    def noted(self, start, inputs, labels, weights, given):
        given = list(given)
        starts.append(np.asarray(start.hidden))
        orders.append(np.stack(given))
        return real(self, start, inputs, labels, weights, given)

    monkeypatch.setattr(widths.WeightedPasses, "train", noted)
    inputs, labels = clouds()
    run_width(of(inputs, labels), silent)
    run_width(of(inputs, labels, seed=1), silent)
    assert len({start.tobytes() for start in starts if start.shape == (1, 6, 3)}) == len(starts) == 12
    assert len({order.tobytes() for order in orders}) == 12
    assert all(len({row.tobytes() for row in order}) == len(order) for order in orders)
    assert all(sorted(row.tolist()) == list(range(row.size)) for order in orders for row in order[:, 0])
    wide = widths.start_of(SETTING.model_copy(update={"n_neurons": 8}), 3, 0)
    assert not np.array_equal(wide.hidden[0, :6], widths.start_of(SETTING, 3, 0).hidden[0])


def test_a_repeat_in_float64_is_in_float64(monkeypatch):
    inputs, labels = clouds()
    rough = run_width(of(inputs, labels), silent)
    fine = run_width(of(inputs, labels, dtype="float64"), silent)
    for found, is_fine in ((rough, False), (fine, True)):
        for weights in (found.hidden, found.output, found.bias):
            assert (weights != weights.astype(np.float32)).any() == is_fine
    np.testing.assert_allclose(fine.hidden, rough.hidden, atol=1e-3)
    asked = []
    real = certainty.read_all
    monkeypatch.setattr(
        certainty, "read_all", lambda tasks, *rest: (asked.append(tasks[0][0].setting), real(tasks, *rest))[1]
    )
    found = repeat(rough, cells_of(None), TimeLimit(np.inf))
    assert found is not None
    assert asked == [rough.setting.model_copy(update={"dtype": "float64"})]
    assert (found.repeated, found.n_neurons, found.points) == (3, 6, 30)
    assert found.changed == (rough.predicted != fine.predicted).sum()
    other = dataclasses.replace(rough, predicted=1 - fine.predicted, train_error=np.zeros(3))
    found = repeat(other, cells_of(None), TimeLimit(np.inf))
    assert found is not None
    assert (found.changed, found.flipped) == (fine.predicted.size, int((fine.train_error != 0).sum()))
    unknown = dataclasses.replace(rough, setting=rough.setting.model_copy(update={"seed": 99}))
    assert repeat(unknown, cells_of(None), TimeLimit(-1.0)) is None


def test_scaling_is_that_of_the_points_given():
    inputs, _ = clouds()
    inputs = np.column_stack([inputs, np.full(30, 7.0)])
    scale = scaling_of(inputs, scales=True)
    points = scale(inputs)
    assert (scale.is_by_column, scale.n_constant) == (True, 1)
    assert (points[:, 3] == 0).all()
    assert (points**2).sum(axis=1).mean() == pytest.approx(1)
    np.testing.assert_allclose(points[:, :3].std(axis=0), 3**-0.5)
    scale = scaling_of(inputs, scales=False)
    assert not scale.is_by_column
    assert np.ptp(scale.unit[:3]) == 0
    assert (scale(inputs) ** 2).sum(axis=1).mean() == pytest.approx(1)


def test_a_spiral_is_fitted_and_a_narrow_network_cannot():
    """Two turns: four neurons make a few kinks, 64 are enough for all of it."""
    draw = np.random.default_rng(0)
    radius, arm = np.sqrt(draw.uniform(0.05, 1, 200)), np.arange(200) % 2
    angle = 3 * np.pi * radius + np.pi * arm
    inputs = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    narrow, wide = (run_width(of(inputs, arm, n_neurons=width, passes=800), silent) for width in (4, 64))
    assert narrow.train_error.min() > 0.05
    assert wide.train_error.max() == 0
    assert np.mean(wide.predicted != arm) < 0.06
    assert wide.passes.max() < 800  # whoever fits is done
    assert set(wide.endings.tolist()) == {Ending.FITTED}
    assert set(narrow.endings.tolist()) == {Ending.SPENT}
    assert set(narrow.passes.tolist()) == {800}


@pytest.mark.parametrize("passes", [1, 3, 4, 12, 13, 14, 15, 40])
def test_who_spends_the_work_makes_every_pass_and_the_last_quarter_with_small_steps(passes, monkeypatch):
    taken, real = [], widths.WeightedPasses.train

    def noted(self, start, inputs, labels, weights, orders):
        for each in real(self, start, inputs, labels, weights, orders):
            taken.append(self.step_size)
            yield each

    monkeypatch.setattr(widths.WeightedPasses, "train", noted)
    inputs, labels = clouds()
    network = train_network(inputs, labels, SETTING.model_copy(update={"passes": passes}), 0)
    assert (len(network.losses), network.ending) == (passes, Ending.SPENT)
    assert taken == [0.1] * (passes - passes // 4) + [0.01] * (passes // 4)


def test_who_fits_early_settles_for_a_quarter_of_its_passes_too(monkeypatch):
    monkeypatch.setattr(widths, "FITTED_LOSS", 0.6)
    inputs, labels = clouds()
    network = train_network(inputs, labels, SETTING.model_copy(update={"passes": 400}), 0)
    large = int(np.argmax(network.losses <= 0.6)) + 1
    assert network.ending is Ending.FITTED
    assert len(network.losses) == large + -(-large // 3) < 400


def test_a_network_that_diverges_is_right_nowhere(monkeypatch):
    monkeypatch.setattr(widths, "STEP_SIZE", 1e30)
    inputs, labels = clouds()
    found = run_width(of(inputs, labels), silent)
    assert set(found.endings.tolist()) == {Ending.DIVERGED}
    assert found.diverged.all()
    assert (found.predicted == -1).all()
    assert (found.scores == 0).all()  # which ranks nothing
    assert (found.train_error == 1).all()
