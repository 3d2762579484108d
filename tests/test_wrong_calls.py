"""Wrong arguments of public names are answered by a sentence: the value, the rule, and what to do."""

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import widenet as wn
from widenet.claims import at_most
from widenet.claims.conclusion import evidence
from widenet.claims.sides import Sides
from widenet.data import with_bias
from widenet.training import Listed, Permutation
from widenet.training.small import SmallNetworks, train_small

DATA = wn.from_arrays([[0.6, 0.8], [-0.5, 0.1], [0.3, 0.2]], [1, -1, 1])
THEOREM = "brutzkus2018.theorem_2"
KEY = jax.random.key(0)


def network() -> Any:
    return wn.make_two_layer(KEY, 4, 2, wn.leaky_relu(0.2))


def trained(loss: Any = wn.logistic, method: Any = None, **how: Any) -> Any:
    return wn.train(network(), DATA, wn.Recipe(loss, method or wn.SGD(1.0), max_steps=5), KEY, **how)


def recorded(what: Any) -> Any:
    return trained(record=wn.Record(times=(0, 5), what={"a": what}))


def small(output: Any) -> Any:
    networks = SmallNetworks(np.ones((1, 4, 2)), output)
    return train_small(networks, np.eye(2), np.ones((1, 2)), step_size=0.1, max_updates=5, order=None)


class Conditional(wn.StepRule):
    """A rule that JAX cannot trace."""

    def __call__(self, log_loss, taken):
        return jnp.asarray(0.1 if log_loss > 0 else 0.2)


def odd(value: Any) -> Any:
    """A value of a type that checkers would refuse in its place."""
    return value


three: Any = 3
word: Any = "x"
"""Which type checkers would refuse in their places."""

WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: Sides([1], [1], "<="), "sense must be one of ≤, ≥, =, got '<='; at_most, at_least"),
    (lambda: Sides([1, 2], [1, 2, 3]), r"must have one length, got shapes \(2,\), \(3,\)"),
    (lambda: Sides(["a"], [1]), r"measured must be a number or an array of numbers, got \['a'\]"),
    (lambda: at_most([1], None), "promised must be a number or an array of numbers, got None"),
    (lambda: evidence({"a": three}), "part 'a' must be Sides, Fact, Rate or Part, got int; compare two columns"),
    (lambda: evidence({}), "at least one part"),
    (lambda: evidence({"a": at_most([1], 2)}, [word]), "hypotheses must be measured, .* got 'x'"),
    (lambda: wn.check_on(DATA, THEOREM, n_runs="5"), "n_runs must be a valid integer, got '5'"),
    (lambda: wn.check_on(DATA, THEOREM, n_runs=True), "n_runs must be a valid integer, got True"),
    (lambda: wn.check_on(DATA, THEOREM, n_runs=0), "n_runs must be greater than or equal to 1, got 0"),
    (lambda: wn.check_on(DATA, THEOREM, n_runs=2.5), "n_runs must be a valid integer, got 2.5"),
    (lambda: wn.check_on(DATA, THEOREM, n_neurons=3), "n_neurons must be a multiple of 2, got 3"),
    (
        lambda: wn.check_on(DATA, THEOREM, step_size=np.array([0.1, 0.2])),
        "several values in widenet.sweep",
    ),
    (
        lambda: wn.check_on(DATA, THEOREM, step_size=[0.1]),
        "step_size must be a valid number",
    ),
    (lambda: wn.check_on(DATA, THEOREM, slope=2), "slope must be less than 1, got 2"),
    (lambda: wn.check_on(DATA, THEOREM, order="worst"), "order must be one of permutation, .* got 'worst'"),
    (lambda: wn.check_on(DATA, THEOREM, nruns=2), "no choice 'nruns'; did you mean 'n_runs'"),
    (lambda: wn.Choices(n_runs=0), "n_runs must be greater than or equal to 1, got 0"),
    (lambda: wn.Choices(width=4), "no choice 'width'; known: diverse_only"),
    (lambda: wn.check_on(DATA, "brutzkus2018.theorem_22"), "did you mean 'brutzkus2018.theorem_2'"),
    (lambda: wn.check_on(DATA, 5), "name a claim by its id, .* got 5"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.check(7), "name a claim by its id, .* got 7"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.check_on(np.eye(3), THEOREM), "data must be a Dataset, the name of a file, or a pair"),
    (lambda: wn.from_arrays([[1.0, 2.0], [3.0, 4.0]], [1]), "there are 2 inputs and 1 labels"),
    (lambda: wn.certify([[1.0, np.nan], [1, 2]], [1, -1]), "row 1, coordinate 2 is nan, not finite; remove or repair"),
    (lambda: wn.figure("nope"), "there is no figure 'nope'; 'widenet list' shows"),
    (lambda: wn.figure("brutzkus2018.figure_1", scale="huge"), "no scale 'huge'; known: paper, quick"),
    (lambda: wn.Scale("big"), "scale must be 'quick' or 'paper', got 'big'"),
    (lambda: recorded(lambda now: "text"), "must return one array or number, got the text 'text' from 'a'"),
    (lambda: recorded(lambda now: None), "must return one array or number, got NoneType from 'a'"),
    (lambda: recorded(lambda one, two: 1.0), "an observation takes one Snapshot"),
    (
        lambda: trained(loss=lambda outputs, labels: np.maximum(0, 1 - outputs * labels)),
        "the loss must be written in jax.numpy, got functions of NumPy, .* write jnp for np",
    ),
    (
        lambda: wn.train(
            wn.make_two_layer(KEY, 4, 2, jax.nn.softmax), DATA, wn.Recipe(wn.logistic, wn.SGD(1.0), 5), KEY
        ),
        "activation must act on each entry alone, got one that mixes them, as softmax does; use",
    ),
    (
        lambda: trained(method=wn.Optax(optax.lbfgs())),
        r"use optax.lbfgs\(0.1, linesearch=None\)",
    ),
    (lambda: trained(method=wn.Optax(optax.sgd)), "such as optax.sgd"),
    (lambda: trained(method=wn.SGD(np.array([0.1, 0.2]))), r"one number or one per run, got shape \(2,\)"),
    (lambda: wn.SGD("fast"), "step_size must be a number"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.leaky_relu("a"), "slope must be a finite number, got 'a'"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.make_two_layer(KEY, 0, 2, wn.relu()), "n_neurons must be a whole number of at least 1, got 0"),
    (lambda: wn.make_two_layer(3, 4, 2, wn.relu()), r"key must be a JAX key such as jax.random.key\(0\), got 3"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.load_mnist_pair(3), r"digits must be a pair such as \(3, 5\), got 3"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.scale_to_unit_ball([[1.0]]), "must be a widenet.Dataset, got list"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.find_separator([[1.0]]), "must be a widenet.Dataset, got list"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.margins(network(), [[1.0]]), "must be a widenet.Dataset, got list"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.load_csv(5), "load_csv reads a file by its name, got 5"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.UserData(np.eye(2)), "must be a widenet.Dataset, got ndarray"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.UserData(DATA, {"n_runs": 1}), "choices must be widenet.Choices"),  # pyright: ignore[reportArgumentType]
    (lambda: wn.find_claim(THEOREM).on(DATA), r"takes widenet.UserData\(data, choices\), got Dataset"),
    (lambda: wn.sweep(THEOREM, DATA, n_neurons=[]), "n_neurons has no values"),
    (lambda: wn.sweep(THEOREM, DATA, n_neurons=[2, 3]), "n_neurons must be a multiple of 2, got 3"),
    (lambda: wn.sweep(THEOREM, DATA, n_neuron=[2, 4]), "no choice 'n_neuron'; did you mean 'n_neurons'"),
    (lambda: wn.sweep("brutzkus2018.theorem_22"), "no claim or experiment 'brutzkus2018.theorem_22'; did you mean"),
    (lambda: wn.sweep(THEOREM, DATA, n_runs=odd("5")), "runs: must be a valid integer, got '5'"),
    (lambda: wn.sweep(THEOREM, DATA, jobs=odd("2")), "jobs must be a whole number of at least 1, got '2'"),
    (lambda: wn.sweep(THEOREM, DATA, n_neurons=3), "^n_neurons must be a multiple of 2, got 3"),
    (lambda: wn.sweep([]), r"name a claim or an experiment by its id, .* got \[\]"),
    (lambda: wn.sweep(odd(None)), "name a claim or an experiment by its id, .* got None"),
    (lambda: wn.load(odd(3)), "name the file of a sweep, such as 'question.toml', got 3"),
    (lambda: wn.check(THEOREM, seed=odd("1")), "seed must be a whole number between 0 and 4294967295, got '1'"),
    (lambda: wn.check_on(DATA, []), "the list of claims is empty; leave it out to check all"),
    (
        lambda: wn.check_on(DATA, THEOREM, store=odd("x")),
        r"store must be a widenet.Store, got 'x'; Store\('FOLDER'\) opens one",
    ),
    (lambda: wn.check_on(DATA, THEOREM, progress=odd(3)), "progress must be a function of"),
    (lambda: wn.Store(odd(3)), "a store is opened by the name of its folder, got 3"),
    (lambda: wn.find_figure(odd(["a"])), r"name a figure by its id, a text such as .* got \['a'\]"),
    (lambda: wn.from_arrays([[1.0], [2.0]], [1, -1], dtype="int32"), "floating-point type such as .* got 'int32'"),
    (lambda: wn.from_arrays([[1.0], [2.0]], [1, -1], dtype="nope"), "floating-point type such as .* got 'nope'"),
    (lambda: wn.from_arrays([[1.0], [2.0]], None), "there are no labels; give one per point"),
    (lambda: with_bias(odd(np.eye(2))), "must be a widenet.Dataset, got ndarray"),
    (lambda: wn.margins(odd(3), DATA), "network must take one input and return its output, .* got 3"),
    (lambda: wn.make_separable(KEY, odd("a"), 4.0), "dim must be a whole number of at least 1, got 'a'"),
    (lambda: wn.make_separable(odd(3), 2, 4.0), r"key must be a JAX key such as jax.random.key\(0\), got 3"),
    (lambda: wn.make_separable(KEY, 2, 4.0).sample(KEY, -1), "n_samples must be a whole number of at least 1, got -1"),
    (lambda: wn.make_separable(KEY, 2, 4.0).sample(odd(5), 4), "key must be a JAX key"),
    (lambda: wn.leaky_relu(float("nan")), "slope must be a finite number, got nan"),
    (lambda: wn.huberized_relu(odd("a")), "bandwidth must be positive and finite, got 'a'"),
    (lambda: wn.make_two_layer(KEY, 4, 2, jnp.tanh, dtype="int32"), "floating-point type such as .* got 'int32'"),
    (lambda: wn.SGD(0.1, odd("hardest")), "got 'hardest'; orders by name, .* are choices of check_on and sweep"),
    (lambda: wn.SGD(0.1, odd(Permutation)), r"; call it: Permutation\(\)"),
    (lambda: Listed(odd(["a"])), r"must be one list of indices, or one per run, got \['a'\]"),
    (
        lambda: trained(method=wn.Optax(optax.sgd(jnp.ones(3)))),
        "must update the weights of one run .* shared by all runs",
    ),
    (lambda: trained(method=wn.SGD(Conditional())), "a step rule must be .* got a condition in plain Python"),
    (lambda: recorded(lambda now: float(now.step)), r"observation 'a' must be .* got float\(\) or int\(\) of an array"),
    (lambda: recorded(lambda now: np.sin(now.step)), "observation 'a' must be .* write jnp for np"),
    (lambda: trained(loss=lambda outputs, labels: outputs > labels), "floating-point numbers, .* not bool"),
    (
        lambda: trained(loss=lambda outputs, labels: max(0, 1 - outputs * labels)),
        "the loss .* got a condition in plain",
    ),
    (lambda: small(np.ones((1, 5))), r"one output weight per neuron, shape \(1, 4\), got \(1, 5\)"),
]


@pytest.fixture(autouse=True)
def own_types():
    """What a user meets: the types that tests check are checked nowhere else."""
    from jaxtyping import config

    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.mark.parametrize("place", range(len(WRONG)))
def test_a_wrong_call_gets_a_sentence(place):
    call, words = WRONG[place]
    with pytest.raises((wn.WidenetError, ValueError, TypeError), match=words):
        call()


def test_nothing_that_works_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path))
    answer = wn.check_on(DATA, THEOREM, n_runs=np.int64(2))[THEOREM]
    assert isinstance(answer, wn.Evidence)
    assert answer.runs.tried == 2
    assert wn.Choices(step_size=1, slope=np.float32(0.5)).step_size == 1.0
    run = trained(method=wn.Optax(optax.lbfgs(0.1, linesearch=None)))
    assert np.isfinite(run.loss)


def test_three_points_of_three_dimensions_leak_no_warning():
    """SciPy takes a square array of points for one of distances, and warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = wn.from_arrays([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [1, 1, -1])
        found = wn.check_on(data, "li2018.assumption_a1")["li2018.assumption_a1"]
        assert not isinstance(found, wn.NotApplicable)
