"""Requests that are too large run in pieces, and those that can never fit are refused with a sentence."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, run_keys, separable
from widenet.errors import InputError
from widenet.losses import hinge, logistic
from widenet.training import SGD, Adam, GradientDescent, Recipe, Record, ensemble, train
from widenet.training.engine import memory
from widenet.training.engine.batch import Batch, together
from widenet.training.engine.evaluation import compiled_look
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.methods.base import init, without_runs
from widenet.training.stopping import never
from widenet.types import Layers

DATA = separable()
RECIPE = Recipe(hinge, 0.5, 500)
COUNTERS = ("status", "updates", "mistakes", "last_update", "zero_loss_step", "steps")


def need(nets, data, recipe, record=None):
    method = recipe.method.fitted(nets, data, recipe.layers, None)
    return memory.estimate(nets, data, method, recipe.layers, record or Record(), nets.output_weights.shape[0])


def test_a_request_that_is_too_large_runs_in_pieces_with_the_same_results(monkeypatch):
    record = Record((0, 24), {"weights": lambda now: now.network.hidden_weights})
    asked = need(networks(4), DATA, RECIPE, record=record)
    room = asked.shared + 4 * asked.kept + 2 * (asked.held + asked.working)
    assert memory.largest_chunk(asked, 4, room, 1, False) == 2
    whole = ensemble(networks(4), DATA, RECIPE, run_keys(4), record=record)
    sizes, module = [], sys.modules["widenet.training.ensemble"]  # the package exports a function of the same name

    def spy(*parts):
        sizes.append(parts[5].shape[0])
        return Batch(*parts)

    monkeypatch.setattr(module, "Batch", spy)
    pieces = ensemble(networks(4), DATA, RECIPE, run_keys(4), record=record, memory=room)
    assert sizes == [2, 2]
    for name in COUNTERS:
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name), err_msg=name)
    np.testing.assert_array_equal(whole.records["weights"][:, 0], pieces.records["weights"][:, 0])
    np.testing.assert_allclose(whole.records["weights"], pieces.records["weights"], atol=1e-13)


def test_threads_do_not_add_up_to_more_than_there_is():
    asked = need(networks(4), DATA, RECIPE)

    def room(runs):
        return asked.shared + 4 * asked.kept + int(runs * (asked.held + asked.working))

    assert [memory.fitting_chunks(asked, 4, room(runs), 3) for runs in (1, 2, 2.9, 3, 9)] == [1, 2, 2, 3, 3]
    assert memory.largest_chunk(asked, 4, room(2.9), 2, False) == 1


def test_what_never_fits_is_refused_with_what_would_fit(monkeypatch):
    nets, one = networks(2, n_neurons=200, dim=5), need(networks(1, n_neurons=200, dim=5), DATA, RECIPE).one_run
    with pytest.raises(InputError, match=r"one run needs about .*; a network of about \d+ hidden neurons would fit"):
        ensemble(nets, DATA, RECIPE, run_keys(2), memory=one // 2)
    with pytest.raises(InputError, match="take fewer samples or records"):
        ensemble(nets, DATA, RECIPE, run_keys(2), memory=100)
    kept = need(networks(1), DATA, RECIPE).kept
    with pytest.raises(
        InputError, match=r"60 runs need .* for their networks and records alone, .* \d+ runs would fit"
    ):
        ensemble(networks(60), DATA, RECIPE, run_keys(60), memory=need(networks(1), DATA, RECIPE).one_run + 30 * kept)
    one_of_them = jax.tree.map(lambda leaf: leaf[0], nets)
    with pytest.raises(InputError, match=r"one run needs .* and 100 B are there"):
        train(one_of_them, DATA, RECIPE, run_keys(1)[0], memory=100)
    monkeypatch.setenv(memory.VARIABLE, "100")
    with pytest.raises(InputError, match=r"one run needs .* and WIDENET_MEMORY allows 100 B"):
        ensemble(nets, DATA, RECIPE, run_keys(2))
    monkeypatch.setenv(memory.VARIABLE, str(need(networks(1), DATA, RECIPE).one_run + 30 * kept))
    with pytest.raises(InputError, match=r"60 runs need .* and WIDENET_MEMORY allows .* \d+ runs would fit"):
        ensemble(networks(60), DATA, RECIPE, run_keys(60))


@pytest.mark.parametrize("given", ["much", "-5", "0", "inf", "nan"])
def test_a_variable_that_is_no_number_of_bytes_is_refused(monkeypatch, given):
    monkeypatch.setenv(memory.VARIABLE, given)
    with pytest.raises(InputError, match=f"WIDENET_MEMORY must be a positive number of bytes, got '{given}'"):
        ensemble(networks(2), DATA, RECIPE, run_keys(2))


def test_what_is_said_to_fit_does_fit():
    asked = need(networks(1, n_neurons=200), DATA, RECIPE)
    with pytest.raises(InputError) as refusal:
        memory.largest_chunk(asked, 1, asked.one_run // 3, 1, False)
    neurons = int(str(refusal.value).split("about ")[-1].split()[0])
    smaller = need(networks(1, n_neurons=neurons // 2 * 2), DATA, RECIPE)
    assert smaller.one_run <= asked.one_run // 3
    assert memory.largest_chunk(smaller, 1, asked.one_run // 3, 1, False) == 1


def test_the_limit_is_that_of_the_machine(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    assert 1e8 < memory.limit() < 1e14
    for given in (12345, 12345.0, np.int64(12345), np.float32(12345)):
        assert memory.limit(given) == 12345
    for given in (np.inf, np.nan, 0, -1, True):
        with pytest.raises(InputError, match=f"memory must be a positive number of bytes, got {given}"):
            memory.limit(given)


@pytest.mark.parametrize(
    ("method", "n_samples", "dim"),
    [
        (SGD(0.1, kernel="blocked"), 300, 20),
        (SGD(0.1, kernel="gram"), 60, 200),
        (SGD(0.1, batch_size=50, kernel="plain"), 300, 20),
        (GradientDescent(0.1), 300, 20),
        (Adam(0.1, 50), 300, 20),
    ],
    ids=["blocked", "gram", "plain", "descent", "adam"],
)
def test_the_estimate_is_what_the_compiled_programs_hold(method, n_samples, dim):
    """Not less than what the compiler plans for, and not ten times more."""
    runs, recipe = 6, Recipe(logistic, method=method, max_steps=10)
    nets, data = networks(runs, 40, dim, dtype=jnp.float32), separable(n_samples, dim, dtype=jnp.float32)
    asked = need(nets, data, recipe)
    span = np.asarray(0, np.int32), np.asarray(9, np.int32)
    state = State(nets, Tally.zero(runs), None, init(method, nets, Layers.HIDDEN))
    segment = Segment(
        data, method.sampling.order, run_keys(runs), jnp.ones(runs), None, span[0], span[1], logistic, Layers.HIDDEN,
        method.batch(n_samples),
    )  # fmt: skip
    steps = together.lower(without_runs(method), state, jnp.zeros(runs, jnp.int32), segment, span, np.ones(runs, bool))
    look = compiled_look(logistic, never, False, False).lower(nets, data)
    found = [program.compile().memory_analysis() for program in (steps, look)]
    planned = max(sizes.temp_size_in_bytes + sizes.output_size_in_bytes for sizes in found if sizes)
    estimated = asked.shared + runs * (asked.held + asked.working)
    assert planned <= estimated <= 10 * planned, (planned, estimated)
