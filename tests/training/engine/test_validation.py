"""Requests that do not fit are refused in one sentence; those that mean the same are taken as the same."""

import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, run_keys, toy
from widenet.errors import WidenetError
from widenet.losses import cross_entropy, hinge, logistic
from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.training import SGD, Layers, Listed, Recipe, ensemble, loss_below, never, train
from widenet.training.engine.validation import (
    are_keys,
    check,
    check_watch,
    one_per_run,
    per_run,
    takes,
    whole,
    whole_or_none,
)
from widenet.types import Dataset

OF_SGD = ("step_size", "order", "batch_size", "kernel")


def recipe_of(loss=hinge, max_steps=10, **fields):
    """A recipe for SGD from fields of both."""
    own = {"step_size": 0.5, **{name: fields.pop(name) for name in OF_SGD if name in fields}}
    return Recipe(loss, SGD(**own), max_steps, **fields)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_steps": 0}, "max_steps must lie between 1 and"),
        ({"step_size": -0.1}, "step_size must be positive and finite, got -0.1"),
        ({"step_size": 0.0}, "step_size must be positive and finite, got 0.0"),
        ({"step_size": float("nan")}, "step_size must be positive and finite, got nan"),
        (lambda: {"step_size": jnp.ones(3)}, r"one number or one per run, got shape \(3,\) for 2 runs"),
        ({"batch_size": 25}, "batch_size must lie between 1 and 24"),
        ({"check_every": 0}, "check_every must be at least 1, got 0"),
        ({"check_every": -5}, "check_every must be at least 1, got -5"),
        (lambda: {"order": Listed(jnp.zeros((3, 4), int))}, "one list or one per run, got 3 lists"),
        ({"kernel": "warp"}, "kernel must be 'auto' or one of"),
        (lambda: {"step_size": jnp.float32(-1)}, "step_size must be positive and finite"),
        ({"layers": "hiden"}, "layers must be 'hidden' or 'both', got 'hiden'"),
        ({"max_steps": 10.5}, "max_steps must be a whole number, got 10.5"),
        ({"max_steps": (5, 6, 7)}, "one number or one per run, got 3 for 2 runs"),
        ({"batch_size": 2.5}, "batch_size must be a whole number, got 2.5"),
        ({"stop": lambda look: True}, r"stop must take \(outputs, labels, losses\)"),
        ({"stop": loss_below}, r"stop must take \(outputs, labels, losses\)"),
        ({"stop": lambda outputs, labels, losses: losses < 1}, "a single true or false"),
        ({"loss": cross_entropy}, "cross_entropy and multiclass_hinge for one per class"),
        ({"loss": lambda outputs, labels: jnp.sum(outputs)}, "one number per sample"),
    ],
)
def test_bad_recipes_are_refused(change: Any, words):
    asked: dict[str, Any] = change if isinstance(change, dict) else change()  # arrays are made in the test
    with pytest.raises(ValueError, match=words):
        ensemble(networks(2), toy(), recipe_of(**asked), run_keys(2))


def test_layers_by_their_words_are_the_same_programs():
    """`"both" == Layers.BOTH`, but they are not one object, and programs are kept by equality."""
    moved = []
    for layers in ("both", Layers.BOTH, "hidden"):
        run = ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), 10, layers=layers), run_keys(2))
        moved.append(bool((run.network.output_weights != networks(2).output_weights).any()))
    assert moved == [True, True, False]


def test_budgets_may_be_a_list_or_an_array():
    for budgets in ([10, 30], np.array([10, 30]), (10.0, 30)):
        run = ensemble(networks(2), toy(), Recipe(logistic, SGD(0.5), budgets), run_keys(2))
        assert run.steps.tolist() == [10, 30]


def test_networks_that_cannot_take_the_data_are_refused():
    recipe = Recipe(hinge, SGD(0.5), 10)
    other = Dataset(toy().inputs[:, :-1], toy().labels)
    with pytest.raises(ValueError, match=r"cannot take a sample of shape .* train takes one network"):
        ensemble(networks(2), other, recipe, run_keys(2))
    with pytest.raises(ValueError, match=r"ensemble one per key"):
        train(networks(2), toy(), recipe, jax.random.key(0))
    with pytest.raises(ValueError, match="chunk must be a whole number from 1 on, got -1"):
        ensemble(networks(2), toy(), recipe, run_keys(2), chunk=-1)
    with pytest.raises(ValueError, match="a data set needs at least one sample"):
        ensemble(networks(2), Dataset(toy().inputs[:0], toy().labels[:0]), recipe, run_keys(2))


def test_mismatched_run_counts_are_refused():
    with pytest.raises(ValueError, match="must agree on the number of runs"):
        ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), 10), run_keys(3))
    three = Dataset(jnp.zeros((3, 4, 5)), jnp.ones((3, 4)))
    with pytest.raises(ValueError, match="must agree on the number of runs"):
        ensemble(networks(2), three, Recipe(hinge, SGD(0.5), 10), run_keys(2))


MISTAKES = """
import jax
import jax.numpy as jnp
import numpy as np
import widenet as wn
from widenet.training import SGD, Cyclic, Flow, GradientDescent, LinearClock, LogSquared, Recipe, Record, loss_below
from widenet.training.engine.memory import limit

def recipe_of(loss=wn.hinge, step_size=0.1, order=Cyclic(), layers="hidden", stop=None, kernel="auto"):
    return Recipe(loss, SGD(step_size, order, kernel=kernel), 10, layers=layers, stop=stop)


steps = ({"step_size": wrong} for wrong in ("0.1", ["a"], [[0.1], [0.1, 0.2]], lambda log_loss, taken: 0.1))
layers = ({"layers": np.ones(2)},)
wrongs = ({"loss": "hinge"}, {"order": "cyclic"}, {"order": Cyclic}, {"stop": 0.1}, *steps, *layers)
for wrong in wrongs:
    try:
        recipe_of(**wrong)
    except ValueError as error:
        print(error)
try:
    limit("2GB")
except wn.WidenetError as error:
    print(error)

keys, recipe = jax.random.split(jax.random.key(0), 2), recipe_of()
network, points = wn.make_two_layer(keys[0], 2, 3, wn.relu()), wn.from_arrays([[1.0, 0, 0], [0, 1, 0]], [1, -1])


class Plain:
    def start(self, network): return 0
    def update(self, value, step): return value + 1


for wrong in (
    lambda: wn.ensemble(None, (1, 2), recipe, keys),
    lambda: wn.train(network, wn.Dataset([[1.0, 0, 0]], [1.0]), recipe, keys[0]),
    lambda: wn.train(network, wn.Dataset(jnp.ones(3), jnp.ones(3)), recipe, keys[0]),
    lambda: wn.train(network, points, GradientDescent(0.1), keys[0]),
    lambda: wn.train(network, points, recipe, keys[0], record=(0, 1)),
    lambda: wn.train(network, points, recipe, keys[0], progress=None),
    lambda: wn.train(network, points, recipe, keys[0], watch=Plain()),
    lambda: wn.train(network, points, recipe_of(wn.logistic, LogSquared("1")), keys[0]),
    lambda: wn.train(network, points, recipe_of(kernel=["plain"]), keys[0]),
    lambda: Recipe(wn.hinge, 0.1, 10),
    lambda: Record((0,), lambda now: now.step),
    lambda: Record((0,), {"step": "step"}),
    lambda: Flow(LinearClock(LogSquared(0.1))),
    lambda: Flow(LinearClock(0.1), tolerance=None),
    lambda: Flow(LinearClock(0.1), events=None),
    lambda: loss_below(np.ones(2)),
    lambda: loss_below("0.1"),
):
    try:
        wrong()
    except ValueError as error:
        print(error)
"""


def test_mistakes_get_a_sentence_where_types_are_not_checked():
    """In a process of its own: here the types are checked first."""
    done = subprocess.run([sys.executable, "-c", MISTAKES], capture_output=True, text=True, check=True)
    words = [line.split(", got")[0] for line in done.stdout.splitlines()]
    assert words == [
        "loss must be a function such as widenet.hinge",
        "order must be Permutation(), Cyclic() or Listed(indices)",
        "order must be Permutation(), Cyclic() or Listed(indices)",
        "stop must be a stopping rule such as zero_error or loss_below(0.1)",
        *["step_size must be a number, one number per run, or a StepRule"] * 4,
        "layers must be 'hidden' or 'both'",
        "memory must be a positive number of bytes",
        "data must be a widenet.Dataset, as from_arrays makes one",
        "inputs and labels of a Dataset must be arrays; from_arrays makes them of lists",
        "a data set needs one row of inputs for each label",
        "recipe must be a Recipe(loss, method, max_steps=…)",
        "record must be a Record(times, what)",
        "progress must be a function of (fraction, words)",
        "watch must be an instance of an equinox.Module with start(network) and update(value, step)",
        "fields of a step rule must be numbers, or static",
        "kernel must be 'auto' or one of ['blocked', 'fused', 'gram', 'minibatch', 'plain', 'single']",
        "method must be a method such as SGD(0.5) or GradientDescent(0.1)",
        "what must be observations by name, {'norm': a function}",
        "what must be observations by name, {'norm': a function}",
        "the step of a clock must be a number, or one number per run",
        "tolerance must lie between 1e-13 and 0.01",
        "events must be rules by name, such as {'no mistake': zero_error}",
        "loss_below takes one number",
        "loss_below takes one number",
    ]


def test_rows_of_inputs_and_labels_belong_together():
    recipe = Recipe(hinge, SGD(0.1), 10)
    short = Dataset(toy().inputs[:5], toy().labels[:5])
    short = eqx.tree_at(lambda data: data.labels, short, toy().labels)
    with pytest.raises(ValueError, match=r"one row of inputs for each label, got shapes \(5, \d+\) and \(24,\)"):
        ensemble(networks(2), short, recipe, run_keys(2))


class Count(eqx.Module):
    bound: jax.Array

    def start(self, network):
        return 0

    def update(self, value, step):
        return value + 1


def test_classes_of_watches_are_no_watches():
    for watch in (Count, "norm", lambda step: 0.0):
        with pytest.raises(ValueError, match="watch must be an instance"):
            ensemble(networks(2), toy(), Recipe(hinge, SGD(0.1), 10), run_keys(2), watch=watch)
        with pytest.raises(ValueError, match="watch must be an instance"):
            train(networks(1), toy(), Recipe(hinge, SGD(0.1), 10), run_keys(1)[0], watch=watch)


def test_a_list_is_one_number_per_run():
    listed, array = one_per_run([1, 0.5]), jnp.asarray([1.0, 0.5])
    assert listed.dtype == jnp.float64
    assert (listed == array).all()
    assert one_per_run((2, 3)).dtype == jnp.float64
    for other in (0.1, array, None, ["a"], [[0.1], [0.1, 0.2]]):
        assert one_per_run(other) is other


def test_functions_that_take_so_many():
    for function, count in ((lambda a: a, 1), (lambda a, b=0: a, 2), (max, 3)):
        assert takes(function, count)
    for function, count in ((lambda a: a, 2), (lambda a, b: a, 1)):
        assert not takes(function, count)


def test_a_short_watch_and_impossible_memory_are_refused():
    recipe = Recipe(hinge, SGD(0.1), 10)
    with pytest.raises(ValueError, match="leading axis of 3 runs"):
        ensemble(networks(3), toy(), recipe, run_keys(3), watch=Count(jnp.ones(6)))
    with pytest.raises(WidenetError, match="memory must be a positive number of bytes"):
        ensemble(networks(3), toy(), recipe, run_keys(3), memory=-1)


def test_keys_are_arrays_of_keys_with_so_many_axes():
    one, several = jax.random.key(0), run_keys(2)
    assert are_keys(one, 0)
    assert are_keys(several, 1)
    for value, ndim in ((one, 1), (several, 0), (0, 0), (np.zeros(2, np.uint32), 1), (jnp.zeros(2), 1), (None, 0)):
        assert not are_keys(value, ndim)


def test_numbers_are_shared_and_arrays_are_not():
    assert per_run(0.5, 3).tolist() == [0.5] * 3
    assert per_run(jnp.arange(2.0), 2).tolist() == [0, 1]
    assert per_run(jnp.ones((2, 3)), 2).shape == (2, 3)


def test_whole_numbers_within_their_limits():
    assert [whole("n", value) for value in (3, 3.0, np.int64(3), np.float32(3), -3)] == [3, 3, 3, 3, -3]
    assert [whole("n", value, 2, 4) for value in (2, 3, 4)] == [2, 3, 4]
    for value, words in (
        (1, "from 2 to 4, got 1"),
        (5, "from 2 to 4, got 5"),
        (2.5, "from 2 to 4, got 2.5"),
        (True, "from 2 to 4, got True"),
        ("3", "from 2 to 4, got '3'"),
        (np.nan, "from 2 to 4, got nan"),
        (np.inf, "from 2 to 4, got inf"),
        ([3], "from 2 to 4, got"),
        (None, "from 2 to 4, got None"),
    ):
        with pytest.raises(ValueError, match=f"n must be a whole number {words}"):
            whole("n", value, 2, 4)
    with pytest.raises(ValueError, match="n must be a whole number from 2 on, got 1"):
        whole("n", 1, 2)
    with pytest.raises(ValueError, match=r"n must be a whole number, got 1\.5"):
        whole("n", 1.5)
    assert whole_or_none("n")(None) is None
    assert whole_or_none("n")(4.0) == 4


def test_every_array_of_a_watch_has_its_runs_first():
    check_watch((jnp.ones(3), jnp.ones((3, 2))), 3)
    for wrong in (jnp.ones(2), jnp.ones((2, 3)), jnp.float64(1.0)):
        with pytest.raises(ValueError, match="a leading axis of 3 runs"):
            check_watch((jnp.ones(3), wrong), 3)


@pytest.mark.parametrize("slope", [0.2, np.float64(0.2)], ids=["a number", "an array without axes"])
def test_a_slope_may_be_shared_by_all_runs(slope):
    shared = PiecewiseLinear(*(jnp.asarray(each) if isinstance(slope, np.float64) else each for each in (slope, 1.0)))
    nets = TwoLayer(networks(2).hidden_weights, networks(2).output_weights, None, shared)
    check(nets, toy(), hinge, never, 2)
    with pytest.raises(ValueError, match="agree on the number of runs"):
        check(nets, toy(), hinge, never, 3)


def test_no_run_and_no_sample_are_refused():
    with pytest.raises(ValueError, match="at least one key"):
        check(networks(1), toy(), hinge, never, 0)
    with pytest.raises(ValueError, match="at least one sample"):
        check(networks(1), Dataset(toy().inputs[:0], toy().labels[:0]), hinge, never, 1)
    check(networks(1), Dataset(toy().inputs[:1], toy().labels[:1]), hinge, never, 1)


def test_a_second_layer_of_another_dtype_is_refused():
    nets = networks(2)
    mixed = TwoLayer(nets.hidden_weights, nets.output_weights.astype(jnp.float32), None, nets.activation)
    with pytest.raises(ValueError, match="one dtype, got float64 and float32, float64"):
        check(mixed, toy(), hinge, never, 2)


class Answering(eqx.Module):
    """A network that answers with an array of this shape, times its weight."""

    weight: jax.Array
    shape: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x):
        return jnp.full(self.shape, 1.0) * jnp.sum(self.weight * x)


@pytest.mark.parametrize(("shape", "loss"), [((), hinge), ((3,), cross_entropy)])
def test_a_network_answers_with_a_number_or_one_per_class(shape, loss):
    labels = toy().labels if loss is hinge else jnp.zeros(24)
    check(Answering(jnp.ones((2, 5)), shape), Dataset(toy().inputs, labels), loss, never, 2)
    own = Dataset(jnp.stack([toy().inputs] * 2), jnp.stack([labels] * 2))
    check(Answering(jnp.ones((2, 5)), shape), own, loss, never, 2)
    with pytest.raises(ValueError, match=r"one number per sample, or one per class, not shape \(3, 2\)"):
        check(Answering(jnp.ones((2, 5)), (3, 2)), Dataset(toy().inputs, labels), loss, never, 2)


def test_labels_of_several_outputs_are_classes():
    nets = TwoLayer(jnp.ones((2, 3, 5)), jnp.ones((2, 4, 3)), None, PiecewiseLinear(0.5, 1.0))
    classes = Dataset(toy().inputs, jnp.asarray(np.arange(24) % 4, jnp.float64))
    check(nets, classes, cross_entropy, never, 2)
    for wrong in (4.0, -1.0, 0.5):
        data = Dataset(classes.inputs, classes.labels.at[5].set(wrong))
        with pytest.raises(ValueError, match="4 outputs must be classes 0 to 3"):
            check(nets, data, cross_entropy, never, 2)
