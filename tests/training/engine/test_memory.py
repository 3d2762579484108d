"""Requests that are too large run in pieces, and those that can never fit are refused with a sentence."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, run_keys, separable, toy
from widenet.errors import InputError
from widenet.losses import cross_entropy, hinge, logistic
from widenet.networks import TwoLayer, relu
from widenet.training import SGD, Adam, GradientDescent, Recipe, Record, ensemble, train
from widenet.training.engine import memory
from widenet.training.engine.batch import Batch, together
from widenet.training.engine.evaluation import compiled_look
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.methods.base import init, numbers_of_runs, without_runs
from widenet.training.stopping import never
from widenet.types import Layers

RECIPE = Recipe(hinge, SGD(0.5), 500)
COUNTERS = ("status", "updates", "mistakes", "last_update", "zero_loss_step", "steps")


def need(nets, data, recipe, record=None):
    method = recipe.method.fitted(nets, data, recipe.loss, recipe.layers, None)
    return memory.estimate(nets, data, method, recipe.layers, record or Record(), nets.output_weights.shape[0])


def test_a_request_that_is_too_large_runs_in_pieces_with_the_same_results(monkeypatch):
    record = Record((0, 24), {"weights": lambda now: now.network.hidden_weights})
    asked = need(networks(4), toy(), RECIPE, record=record)
    room = asked.shared + 4 * asked.kept + 2 * (asked.held + asked.working)
    assert memory.largest_chunk(asked, 4, room, 1, False) == 2
    whole = ensemble(networks(4), toy(), RECIPE, run_keys(4), record=record)
    sizes, module = [], sys.modules["widenet.training.ensemble"]  # the package exports a function of the same name

    def spy(*parts):
        sizes.append(parts[5].shape[0])
        return Batch(*parts)

    monkeypatch.setattr(module, "Batch", spy)
    pieces = ensemble(networks(4), toy(), RECIPE, run_keys(4), record=record, memory=room)
    assert sizes == [2, 2]
    for name in COUNTERS:
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name), err_msg=name)
    np.testing.assert_array_equal(whole.records["weights"][:, 0], pieces.records["weights"][:, 0])
    np.testing.assert_allclose(whole.records["weights"], pieces.records["weights"], atol=1e-13)


def test_threads_do_not_add_up_to_more_than_there_is():
    asked = need(networks(4), toy(), RECIPE)

    def room(runs):
        return asked.shared + 4 * asked.kept + int(runs * (asked.held + asked.working))

    assert [memory.fitting_chunks(asked, 4, room(runs), 3) for runs in (1, 2, 2.9, 3, 9)] == [1, 2, 2, 3, 3]
    assert memory.largest_chunk(asked, 4, room(2.9), 2, False) == 1


def test_what_never_fits_is_refused_with_what_would_fit(monkeypatch):
    nets, one = networks(2, n_neurons=200, dim=5), need(networks(1, n_neurons=200, dim=5), toy(), RECIPE).one_run
    with pytest.raises(InputError, match=r"one run needs about .*; a network of about \d+ hidden neurons would fit"):
        ensemble(nets, toy(), RECIPE, run_keys(2), memory=one // 2)
    with pytest.raises(InputError, match="take fewer samples or records"):
        ensemble(nets, toy(), RECIPE, run_keys(2), memory=100)
    kept = need(networks(1), toy(), RECIPE).kept
    with pytest.raises(
        InputError, match=r"60 runs need .* for their networks and records alone, .* \d+ runs would fit"
    ):
        ensemble(networks(60), toy(), RECIPE, run_keys(60), memory=need(networks(1), toy(), RECIPE).one_run + 30 * kept)
    one_of_them = jax.tree.map(lambda leaf: leaf[0], nets)
    with pytest.raises(InputError, match=r"one run needs .* and 100 B are there"):
        train(one_of_them, toy(), RECIPE, run_keys(1)[0], memory=100)
    monkeypatch.setenv(memory.VARIABLE, "100")
    with pytest.raises(InputError, match=r"one run needs .* and WIDENET_MEMORY allows 100 B"):
        ensemble(nets, toy(), RECIPE, run_keys(2))
    monkeypatch.setenv(memory.VARIABLE, str(need(networks(1), toy(), RECIPE).one_run + 30 * kept))
    with pytest.raises(InputError, match=r"60 runs need .* and WIDENET_MEMORY allows .* \d+ runs would fit"):
        ensemble(networks(60), toy(), RECIPE, run_keys(60))


@pytest.mark.parametrize("given", ["much", "-5", "0", "inf", "nan"])
def test_a_variable_that_is_no_number_of_bytes_is_refused(monkeypatch, given):
    monkeypatch.setenv(memory.VARIABLE, given)
    with pytest.raises(InputError, match=f"WIDENET_MEMORY must be a positive number of bytes, got '{given}'"):
        ensemble(networks(2), toy(), RECIPE, run_keys(2))


def test_what_is_said_to_fit_does_fit():
    asked = need(networks(1, n_neurons=200), toy(), RECIPE)
    with pytest.raises(InputError) as refusal:
        memory.largest_chunk(asked, 1, asked.one_run // 3, 1, False)
    neurons = int(str(refusal.value).split("about ")[-1].split()[0])
    smaller = need(networks(1, n_neurons=neurons // 2 * 2), toy(), RECIPE)
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
        (Adam(0.1, batch_size=50), 300, 20),
    ],
    ids=["blocked", "gram", "plain", "descent", "adam"],
)
def test_the_estimate_is_what_the_compiled_programs_hold(method, n_samples, dim):
    """Not less than what the compiler plans for, and not ten times more."""
    runs, recipe = 6, Recipe(logistic, method=method, max_steps=10)
    nets, data = networks(runs, 40, dim, dtype=jnp.float32), separable(n_samples, dim, dtype=jnp.float32)
    asked = need(nets, data, recipe)
    span = np.asarray(0, np.int32), np.asarray(9, np.int32)
    numbers = numbers_of_runs(method, runs)
    state = State(nets, Tally.zero(runs), None, init(method, numbers, nets, Layers.HIDDEN))
    segment = Segment(
        data, method.sampling.order, run_keys(runs), numbers, None, span[0], span[1], logistic, Layers.HIDDEN,
        method.batch(n_samples),
    )  # fmt: skip
    steps = together.lower(without_runs(method), state, jnp.zeros(runs, jnp.int32), segment, span, np.ones(runs, bool))
    look = compiled_look(logistic, never, False, False).lower(nets, data)
    found = [program.compile().memory_analysis() for program in (steps, look)]
    planned = max(sizes.temp_size_in_bytes + sizes.output_size_in_bytes for sizes in found if sizes)
    estimated = asked.shared + runs * (asked.held + asked.working)
    assert planned <= estimated <= 10 * planned, (planned, estimated)


def by_hand(neurons=8):
    """100 bytes for all, 10 for each run of the request, 5 for each of a chunk, 7 for each that is worked on."""
    return memory.Need(100, 10, 5, 7, neurons, lambda count: memory.Need(100, 0, 0, 10 * count, count, by_hand))


def test_chunks_at_the_edge_of_what_is_there():
    """One run: 122. Three: 130 for all and 12 for each of the chunk, or with runs in turn 7 and 5 for each."""

    def chunk(available, n_runs=3, at_once=1, in_turn=False):
        return memory.largest_chunk(by_hand(), n_runs, available, at_once, in_turn)

    assert by_hand().one_run == 122
    assert chunk(122, n_runs=1) == 1
    assert [chunk(available) for available in (142, 153, 154, 165, 166, 10**6)] == [1, 1, 2, 2, 3, 3]
    assert [chunk(available, at_once=2) for available in (142, 177, 178)] == [1, 1, 2]
    assert [chunk(available, in_turn=True) for available in (142, 146, 147, 152)] == [1, 1, 2, 3]
    with pytest.raises(InputError, match="one run needs about 122 B of memory, and 121 B are there"):
        chunk(121, n_runs=1)
    with pytest.raises(InputError, match=r"3 runs need 30 B of memory .* 141 B are there; 2 runs would fit"):
        chunk(141)
    with pytest.raises(InputError, match=r"9 runs need 90 B .* 132 B are there; 2 runs would fit"):
        chunk(132, n_runs=9)


def test_as_many_chunks_at_a_time_as_fit_and_were_asked_for():
    assert [memory.fitting_chunks(by_hand(), 3, available, 5) for available in (0, 153, 154, 165, 166)] == [
        1,
        1,
        2,
        2,
        3,
    ]
    assert memory.fitting_chunks(by_hand(), 3, 10**6, 5) == 5


def test_the_largest_network_that_would_fit():
    """Of c neurons 100 + 10 c bytes."""
    need = memory.Need(100, 0, 0, 80, 8, by_hand().narrower)
    found = []
    for available in (109, 110, 145, 150, 179):
        with pytest.raises(InputError) as refusal:
            memory.largest_chunk(need, 1, available, 1, False)
        found.append(str(refusal.value).split("; ")[1])
    assert found[0].startswith("not even one neuron would fit")
    sizes = [words.split()[4] for words in found[1:]]
    assert sizes == ["1", "4", "5", "7"]


def test_sizes_in_words():
    sizes = (0, 1, 999, 1000, 1500, 999_499, 1e6, 2.5e9, 1e12, 4e15)
    words = [memory._words(size) for size in sizes]
    assert words == ["0 B", "1 B", "999 B", "1 kB", "1.5 kB", "999 kB", "1 MB", "2.5 GB", "1 TB", "4e+03 TB"]


def test_the_memory_of_the_machine_or_of_its_container(monkeypatch):
    """A thousand pages of 4096 bytes, and half of them for an ensemble."""
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    jax.default_backend()  # which reads files and asks the system when it is called first
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    for allowed, there in (("max\n", 4_096_000), ("1000001\n", 1_000_001), ("9999999999", 4_096_000)):
        monkeypatch.setattr(memory.Path, "read_text", lambda self, allowed=allowed: allowed)
        assert memory._main_memory() == there
        assert memory.limit() == there // 2


def test_the_least_that_may_be_allowed(monkeypatch):
    assert memory.limit(1) == 1
    with pytest.raises(InputError, match=r"got 0\.5"):
        memory.limit(0.5)
    monkeypatch.setenv(memory.VARIABLE, "1")
    assert memory.limit() == 1
    monkeypatch.setenv(memory.VARIABLE, "0.5")
    with pytest.raises(InputError, match=r"got '0\.5'"):
        memory.limit()
    monkeypatch.setenv(memory.VARIABLE, "")
    assert memory.allowed_by_environment() is None


def test_the_estimate_by_hand():
    """Six neurons on 24 points of 5 numbers: 38 numbers of 8 bytes, with the slope and the derivative at 0."""
    plain = Recipe(hinge, SGD(0.5, kernel="plain"), 500)
    asked = need(networks(4), toy(), plain)
    look = 8 * (2 * 24 * 6 + 3 * 24)
    assert (asked.shared, asked.kept, asked.held, asked.working) == (2 * 1152, 2 * 304, 3 * 304, look)
    half = asked.narrower(3)
    assert (half.shared, half.kept, half.held, half.working) == (2304, 304, 456, 8 * (2 * 24 * 3 + 3 * 24))
    assert (asked.neurons, half.neurons) == (6, 3)
    record = Record((0, 10, 20), {"inputs": lambda now: now.data.inputs})
    seen = need(networks(4), toy(), plain, record)
    assert (seen.kept, seen.working) == (608 + 3 * 960, 960 + 2 * 8 * 24 * 6)


def test_the_estimate_of_a_gram_matrix_and_of_data_of_each_run():
    gram = Recipe(hinge, SGD(0.5, kernel="gram"), 500)
    step = 12 * 24 + 304 + 8 * (3 * 24 * 6 + 64 * 88)
    shared = need(networks(4), toy(), gram)
    assert (shared.shared, shared.working) == (2 * 1152 + 8 * 24 * 24, step)
    own = jax.tree.map(lambda leaf: jnp.tile(leaf, (4, *[1] * leaf.ndim)), toy())
    each = need(networks(4), own, gram)
    assert (each.shared, each.kept, each.held) == (0, 608 + 1152, 912 + 1152)
    assert each.working == step + 8 * 24 * 24


def test_the_estimate_counts_what_a_method_keeps():
    """Adam: two moments of the 30 hidden weights, and a count of four bytes."""
    asked = need(networks(4), toy(), Recipe(hinge, method=Adam(0.1), max_steps=5))
    assert asked.held == 3 * 304 + 3 * (2 * 240 + 4)


def test_the_estimate_of_several_outputs():
    """A look at all samples holds the neurons of 24 of them twice, and three numbers for each of three outputs."""
    slopes = jax.tree.map(lambda leaf: jnp.full(4, leaf), relu())
    nets = TwoLayer(jnp.zeros((4, 6, 5)), jnp.zeros((4, 3, 6)), None, slopes)
    asked = need(nets, toy(), Recipe(cross_entropy, SGD(0.5, kernel="plain"), 500))
    assert asked.working == 8 * (2 * 24 * 6 + 3 * 24 * 3)
