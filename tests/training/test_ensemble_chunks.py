"""Into which pieces a request is cut, what each piece is given and how they are joined; nothing is trained here."""

import contextlib
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, run_keys, toy
from widenet.losses import hinge, logistic
from widenet.networks import TwoLayer
from widenet.training import Adam, Listed, Recipe, Record, ensemble, train
from widenet.training.methods.sgd import SGD
from widenet.types import Dataset, Trajectory

RECIPE = Recipe(hinge, SGD(0.5), 10)


@pytest.fixture
def module():
    return sys.modules["widenet.training.ensemble"]  # the package exports a function of the same name


@pytest.fixture
def pieces(monkeypatch, module):
    """What each piece was given. Nothing is trained: the first weight of a run is its loss, its budget its steps."""
    seen = []

    class Piece:
        def __init__(self, recipe, method, one_by_one, nets, data, keys, step_sizes, budgets, watch, order):
            self.given = SimpleNamespace(
                one_by_one=one_by_one, nets=nets, data=data, keys=keys, step_sizes=step_sizes, budgets=budgets,
                watch=watch, order=order,
            )  # fmt: skip
            seen.append(self.given)

        def train(self, record, progress):
            self.given.record = record
            progress(1.0, "training")
            n_runs = len(self.given.budgets)
            counts = {name: np.zeros(n_runs, np.int32) for name in ("status", "updates", "mistakes", "last_update")}
            loss = np.asarray(self.given.nets.hidden_weights[:, 0, 0])
            steps = np.asarray(self.given.budgets)
            return Trajectory(
                network=self.given.nets, steps=steps, **counts, zero_loss_step=steps, loss=loss, times=(), records={}
            )

    monkeypatch.setattr(module, "Batch", Piece)
    monkeypatch.setattr(module, "cores", lambda: 2)
    return seen


def numbered(n_runs):
    """The first weight of a run is its number."""
    nets = networks(n_runs)
    rows = np.array(nets.hidden_weights)
    rows[:, 0, 0] = np.arange(n_runs)
    return TwoLayer(jnp.asarray(rows), nets.output_weights, None, nets.activation)


def test_pieces_have_at_least_one_run_and_no_more_than_asked_for(pieces):
    with pytest.raises(ValueError, match="chunk must be a whole number from 1 on, got 0"):
        ensemble(numbered(5), toy(), RECIPE, run_keys(5), chunk=0)
    for chunk, sizes in ((1, [1] * 5), (2, [2] * 3), (3, [3] * 2), (9, [5])):
        pieces.clear()
        ensemble(numbered(5), toy(), RECIPE, run_keys(5), chunk=chunk)
        assert [len(piece.budgets) for piece in pieces] == sizes


def test_a_last_piece_that_is_too_short_is_filled_up_with_runs_without_steps(pieces):
    """Five runs by two: the sixth is the last one once more, has nothing to do, and is left out of the results."""
    told = []
    steps, budgets = jnp.asarray([1.0, 2, 3, 4, 5]), (11, 12, 13, 14, 15)
    recipe = Recipe(hinge, SGD(steps), budgets)
    runs = ensemble(numbered(5), toy(), recipe, run_keys(5), chunk=2, progress=lambda share, _: told.append(share))
    assert [piece.budgets.tolist() for piece in pieces] == [[11, 12], [13, 14], [15, 0]]
    assert [piece.step_sizes.tolist() for piece in pieces] == [[1, 2], [3, 4], [5, 5]]
    assert [piece.nets.hidden_weights[:, 0, 0].tolist() for piece in pieces] == [[0, 1], [2, 3], [4, 4]]
    assert [piece.data is toy() for piece in pieces] == [True] * 3
    keys = np.concatenate([jax.random.key_data(piece.keys) for piece in pieces])[:5]
    np.testing.assert_array_equal(keys, jax.random.key_data(run_keys(5)))
    assert (runs.loss.tolist(), runs.steps.tolist()) == ([0, 1, 2, 3, 4], [11, 12, 13, 14, 15])
    assert runs.network.hidden_weights.shape == (5, 6, 5)
    assert isinstance(runs.network.hidden_weights, jax.Array)
    assert isinstance(runs.steps, np.ndarray)
    assert told == pytest.approx([0.4, 0.8, 1.0])


def test_all_runs_in_one_piece_are_given_as_they_are(pieces):
    keys = run_keys(5)
    runs = ensemble(numbered(5), toy(), RECIPE, keys)
    assert len(pieces) == 1
    assert pieces[0].keys is keys
    assert runs.loss.tolist() == [0, 1, 2, 3, 4]


def test_data_and_lists_of_each_run_go_with_their_piece(pieces):
    data = Dataset(jnp.asarray(np.ones((5, 4, 5)) * np.arange(5)[:, None, None]), jnp.asarray(np.ones((5, 4))))
    lists = [[run, 0] for run in (3, 2, 1, 0, 3)]
    ensemble(numbered(5), data, Recipe(hinge, SGD(0.5, Listed(lists)), 10), run_keys(5), chunk=2)
    assert [np.asarray(piece.data.inputs)[:, 0, 0].tolist() for piece in pieces] == [[0, 1], [2, 3], [4, 4]]
    assert [piece.order.indices.tolist() for piece in pieces] == [lists[:2], lists[2:4], [lists[4]] * 2]


def test_a_list_of_all_runs_goes_with_every_piece(pieces):
    ensemble(numbered(5), toy(), Recipe(hinge, SGD(0.5, Listed([3, 1, 2])), 10), run_keys(5), chunk=2)
    assert [piece.order.indices.tolist() for piece in pieces] == [[3, 1, 2]] * 3


@pytest.mark.parametrize(
    ("loss", "batch", "small", "in_turn"),
    [
        (logistic, 1, 304, True),  # 38 weights of 8 bytes
        (logistic, 1, 305, False),
        (logistic, 24, 1152, True),  # six neurons of 24 samples
        (logistic, 24, 1153, False),
        (hinge, 1, 4 * 304 + 3, True),  # a saturating loss: a quarter
        (hinge, 1, 4 * 305, False),
    ],
)
def test_runs_of_so_many_bytes_go_one_after_the_other(monkeypatch, module, pieces, loss, batch, small, in_turn):
    """Then every core of a CPU has a piece."""
    monkeypatch.setattr(module, "SMALL_BYTES", small)
    ensemble(numbered(5), toy(), Recipe(loss, SGD(0.5, batch_size=batch), 10), run_keys(5))
    assert [(piece.one_by_one, len(piece.budgets)) for piece in pieces] == (
        [(True, 3)] * 2 if in_turn else [(False, 5)]
    )


def test_a_method_may_ask_for_its_runs_in_turn(monkeypatch, pieces):
    monkeypatch.setattr(SGD, "in_turn", property(lambda self: True))
    ensemble(numbered(5), toy(), RECIPE, run_keys(5))
    assert [(piece.one_by_one, len(piece.budgets)) for piece in pieces] == [(True, 3)] * 2


def test_on_another_device_than_a_cpu_runs_go_side_by_side(monkeypatch, module, pieces):
    monkeypatch.setattr(module, "SMALL_BYTES", 0)
    monkeypatch.setattr(module, "limit", lambda memory: 10**9)
    monkeypatch.setattr(module.jax, "default_backend", lambda: "gpu")
    method = Adam(0.1)  # of which no kernel is chosen by the device
    ensemble(numbered(5), toy(), Recipe(hinge, method=method, max_steps=10), run_keys(5))
    assert [piece.one_by_one for piece in pieces] == [False]


@pytest.fixture
def asked(monkeypatch, module, pieces):
    """Two devices by name; what the memory was asked, and where pieces and results were moved."""
    seen = SimpleNamespace(at_once=[], entered=[], moved=[], fitting=[])
    chunks, fitting = module.largest_chunk, module.fitting_chunks

    def largest(need, n_runs, available, at_once, in_turn):
        seen.at_once.append(at_once)
        return chunks(need, n_runs, available, at_once, in_turn)

    def as_many(need, n_runs, available, workers):
        seen.fitting.append(workers)
        return fitting(need, n_runs, available, workers)

    def enter(device):
        seen.entered.append(device)
        return contextlib.nullcontext()

    def move(tree, device):
        seen.moved.append((type(tree).__name__, device))
        return tree

    monkeypatch.setattr(module, "largest_chunk", largest)
    monkeypatch.setattr(module, "fitting_chunks", as_many)
    monkeypatch.setattr(module, "_moved", move)
    monkeypatch.setattr(module.jax, "default_device", enter)
    return seen


def test_pieces_are_dealt_to_devices_and_results_come_to_the_first(monkeypatch, module, asked, pieces):
    monkeypatch.setattr(module.jax, "local_devices", lambda: ["a", "b"])
    runs = ensemble(numbered(5), toy(), RECIPE, run_keys(5), chunk=2)
    assert runs.loss.tolist() == [0, 1, 2, 3, 4]
    assert sorted(asked.entered) == ["a", "a", "b"]
    assert sorted(asked.moved) == [("Trajectory", "a")] * 3 + [("tuple", "a")] * 2 + [("tuple", "b")]
    assert (asked.at_once, asked.fitting) == ([1], [])


def test_threads_of_several_devices_share_the_memory_of_each(monkeypatch, module, asked, pieces):
    """Three cores for two devices: up to two pieces at a time on one of them."""
    monkeypatch.setattr(module.jax, "local_devices", lambda: ["a", "b"])
    monkeypatch.setattr(module, "cores", lambda: 3)
    monkeypatch.setattr(module, "SMALL_BYTES", 0)
    ensemble(numbered(5), toy(), RECIPE, run_keys(5))
    assert asked.at_once == [2]
    assert [len(piece.budgets) for piece in pieces] == [2, 2, 2]


def test_one_device_has_as_many_pieces_at_a_time_as_fit(monkeypatch, module, asked, pieces):
    monkeypatch.setattr(module.jax, "local_devices", lambda: ["a"])
    monkeypatch.setattr(module, "SMALL_BYTES", 0)
    monkeypatch.setattr(module, "cores", lambda: 4)
    ensemble(numbered(5), toy(), RECIPE, run_keys(5))
    assert (asked.fitting, asked.at_once, asked.entered) == ([4], [4], [])


def test_what_is_where_it_belongs_is_not_moved(monkeypatch, module):
    tree = {"weights": jnp.ones(2), "steps": np.ones(2)}
    assert module._moved(tree, None) is tree
    monkeypatch.setattr(module.jax, "local_device_count", lambda: 2)
    moved = module._moved(tree, jax.devices()[0])
    assert moved is not tree
    assert moved["steps"] is tree["steps"]
    np.testing.assert_array_equal(moved["weights"], tree["weights"])


def test_records_go_as_far_as_the_longest_budget(pieces):
    record = Record((0, 5, 12, 13), {"weights": lambda now: now.network.hidden_weights})
    ensemble(numbered(5), toy(), Recipe(hinge, SGD(0.5), (5, 12, 7, 1, 2)), run_keys(5), record=record)
    assert pieces[0].record.times == (0, 5, 12)
    ensemble(numbered(5), toy(), RECIPE, run_keys(5))
    assert pieces[1].record.times == ()


def test_one_run_is_an_ensemble_of_one(pieces):
    network = jax.tree.map(lambda leaf: leaf[1], numbered(2))
    run = train(network, toy(), RECIPE, run_keys(1)[0])
    assert (run.steps.shape, float(run.loss)) == ((), 1.0)
    assert run.network.hidden_weights.shape == (6, 5)
