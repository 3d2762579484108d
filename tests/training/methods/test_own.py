"""What you may bring: an optimizer of optax, a step, an activation, a loss; each against plain JAX."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.training.problems import networks, run_keys, toy
from widenet.losses import logistic
from widenet.networks import TwoLayer, huberized_relu, leaky_relu, make_two_layer
from widenet.training import SGD, Cyclic, Flow, GradientDescent, LinearClock, Listed, Optax, Recipe, Record, ensemble
from widenet.training.methods import Method

STEPS = 60


def squared(outputs, labels):
    return (outputs - labels) ** 2


def weights_of(net):
    return net.hidden_weights, net.output_weights


def by_hand(net, step, init, batches, loss=squared, both=False):
    """Training by plain JAX: every batch a list of row numbers, `step(gradient, kept, weights)` as in optax."""
    data = toy()

    def mean_loss(weights, rows):
        hidden, output = weights if both else (weights[0], net.output_weights)
        outputs = jax.vmap(lambda x: jnp.dot(output, net.activation(hidden @ x)))(data.inputs[rows])
        return jnp.mean(loss(outputs, data.labels[rows]))

    weights = weights_of(net) if both else weights_of(net)[:1]
    kept = init(weights)
    for rows in batches:
        with jax.numpy_dtype_promotion("standard"):  # optax multiplies floats and counts
            change, kept = step(jax.grad(mean_loss)(weights, rows), kept, weights)
        weights = jax.tree.map(jnp.add, weights, change)
    return weights[0]


def take(tree, run):
    return jax.tree.map(lambda leaf: leaf[run] if jnp.ndim(leaf) else leaf, tree)


@pytest.mark.parametrize(
    "optimizer",
    [optax.sgd(0.1, momentum=0.9), optax.adamw(0.01, weight_decay=0.1), optax.chain(optax.clip(0.1), optax.sgd(0.5))],
    ids=["momentum", "adamw", "clipped"],
)
def test_any_optimizer_of_optax_is_its_plain_loop(optimizer):
    nets, rows = networks(2), np.arange(24).reshape(-1, 4)
    recipe = Recipe(squared, Optax(optimizer, Cyclic(), batch_size=4), STEPS, layers="both")
    runs = ensemble(nets, toy(), recipe, run_keys(2))
    for run in range(2):
        batches = [rows[step % 6] for step in range(STEPS)]
        wanted = by_hand(take(nets, run), optimizer.update, optimizer.init, batches, both=True)
        np.testing.assert_allclose(runs.network.hidden_weights[run], wanted, rtol=0, atol=1e-13)


def test_optax_takes_the_whole_set_unless_told_otherwise():
    runs = ensemble(networks(2), toy(), Recipe(squared, Optax(optax.sgd(0.1)), STEPS), run_keys(2))
    descent = ensemble(networks(2), toy(), Recipe(squared, GradientDescent(0.1), STEPS), run_keys(2))
    np.testing.assert_allclose(runs.network.hidden_weights, descent.network.hidden_weights, rtol=0, atol=1e-13)


class Momentum(Method):
    step_size: float | jax.Array
    decay: float | jax.Array = 0.9

    def init(self, weights):
        return jax.tree.map(jnp.zeros_like, weights)

    def step(self, gradient, kept, now):
        kept = jax.tree.map(lambda v, g: self.decay * v - self.step_size * g, kept, gradient)
        return kept, kept


class Signs(Method):
    """A step without anything to keep, on batches in an order of its own."""

    step_size: float
    order: Listed
    batch_size: int = eqx.field(static=True, default=3)

    def step(self, gradient, kept, now):
        size = self.step_size / (1 + now.taken)
        return jax.tree.map(lambda g: -size * jnp.sign(g), gradient), kept


def test_a_step_of_your_own_with_a_number_for_each_run():
    sizes, decays = [0.05, 0.1, 0.02], jnp.asarray([0.9, 0.5, 0.0])
    nets = networks(3)
    runs = ensemble(nets, toy(), Recipe(squared, Momentum(jnp.asarray(sizes), decays), STEPS), run_keys(3))
    for run in range(3):
        optimizer = optax.sgd(sizes[run], momentum=float(decays[run]))
        wanted = by_hand(take(nets, run), optimizer.update, optimizer.init, [np.arange(24)] * STEPS)
        np.testing.assert_allclose(runs.network.hidden_weights[run], wanted, rtol=0, atol=1e-13)


def test_a_step_of_your_own_on_batches():
    listed, nets = np.random.default_rng(0).integers(0, 24, 30), networks(2)
    runs = ensemble(nets, toy(), Recipe(squared, Signs(0.1, Listed(listed)), STEPS), run_keys(2))
    batches = [listed.reshape(-1, 3)[step % 10] for step in range(STEPS)]

    def step(gradient, kept, weights):
        return jax.tree.map(lambda g: -0.1 / (1 + kept) * jnp.sign(g), gradient), kept + 1

    wanted = by_hand(take(nets, 1), step, lambda weights: 0, batches)
    np.testing.assert_allclose(runs.network.hidden_weights[1], wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", [Momentum(0.05), Optax(optax.adam(0.01))], ids=["own", "optax"])
def test_a_run_does_not_depend_on_its_batch_mates_and_float32_stays(method):
    recipe = Recipe(logistic, method, STEPS)
    alone = ensemble(networks(1), toy(), recipe, run_keys(1))
    among = ensemble(networks(5), toy(), recipe, run_keys(5), chunk=2)
    np.testing.assert_allclose(among.network.hidden_weights[0], alone.network.hidden_weights[0], rtol=0, atol=1e-13)
    single = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), toy())
    lower = ensemble(networks(1, dtype=jnp.float32), single, recipe, run_keys(1))
    assert lower.network.hidden_weights.dtype == jnp.float32


class Swish(eqx.Module):
    sharpness: float | jax.Array

    def __call__(self, z):
        return z * jax.nn.sigmoid(self.sharpness * z)


class Told(eqx.Module):
    """|z| with the derivative 0.25 at 0."""

    def __call__(self, z):
        return jnp.abs(z)

    def derivative(self, z):
        return jnp.where(z == 0, 0.25, jnp.sign(z))


@pytest.mark.parametrize("activation", [jnp.tanh, lambda z: jnp.sin(z) + 1, Swish(2.0), Told()])
@pytest.mark.parametrize("kernel", ["blocked", "gram", "single"])
@pytest.mark.parametrize("layers", ["hidden", "both"])
def test_an_activation_of_your_own_has_the_path_of_plain(activation, kernel, layers):
    nets = jax.vmap(lambda key: make_two_layer(key, 6, toy().dim, activation))(run_keys(2))
    runs = [
        ensemble(nets, toy(), Recipe(logistic, SGD(0.3, kernel=each), STEPS, layers=layers), run_keys(2))
        for each in ("plain", kernel)
    ]
    np.testing.assert_allclose(runs[1].network.hidden_weights, runs[0].network.hidden_weights, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(runs[1].updates, runs[0].updates)


@pytest.mark.parametrize("activation", [jnp.tanh, Swish(2.0)])
def test_descent_with_an_activation_of_your_own_is_plain_jax(activation):
    net = make_two_layer(jax.random.key(3), 6, toy().dim, activation)
    nets = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], net)
    runs = ensemble(nets, toy(), Recipe(squared, GradientDescent(0.1), STEPS), run_keys(1))
    optimizer = optax.sgd(0.1)
    wanted = by_hand(net, optimizer.update, optimizer.init, [np.arange(24)] * STEPS)
    np.testing.assert_allclose(runs.network.hidden_weights[0], wanted, rtol=0, atol=1e-13)


def test_the_derivative_that_an_activation_says_is_used_at_its_kink():
    net = TwoLayer(jnp.zeros((1, 1)), jnp.ones(1), None, Told())
    assert float(net.activation.derivative(jnp.zeros(()))) == 0.25
    assert float(jax.grad(net.activation)(jnp.zeros(()))) == 0.25


@pytest.mark.parametrize("activation", [huberized_relu(0.5), jnp.tanh], ids=["huberized", "tanh"])
@pytest.mark.parametrize("layers", ["hidden", "both"])
def test_a_flow_of_a_smooth_activation_is_the_limit_of_descent(activation, layers):
    nets = jax.vmap(lambda key: make_two_layer(key, 6, toy().dim, activation, bias=True))(run_keys(2))
    flow = ensemble(nets, toy(), Recipe(squared, Flow(LinearClock(0.25)), 4, layers=layers), run_keys(2))

    def descent(n_steps):
        recipe = Recipe(squared, GradientDescent(1 / n_steps), n_steps, layers=layers)
        return np.asarray(ensemble(nets, toy(), recipe, run_keys(2)).network.hidden_weights)

    coarse, fine = descent(1000), descent(2000)
    limit = 2 * fine - coarse  # Richardson: the error of a step is of first order
    np.testing.assert_allclose(flow.network.hidden_weights, limit, rtol=0, atol=1e-5)
    assert np.abs(coarse - limit).max() > 1e-5  # control: a thousand steps alone are not as close
    assert (flow.report.crossings.count == 0).all()


RULED = [
    (lambda: make_two_layer(jax.random.key(0), 4, 2, leaky_relu), "call it"),  # pyright: ignore
    (lambda: make_two_layer(jax.random.key(0), 4, 2, "tanh"), "or a function such as jnp.tanh, got 'tanh'"),  # pyright: ignore
    (lambda: make_two_layer(jax.random.key(0), 4, 2, jnp.sum), r"one number per entry, .* got shape \(\)"),
    (lambda: make_two_layer(jax.random.key(0), 4, 2, lambda z: "z"), "must return|take one array"),  # pyright: ignore
    (lambda: make_two_layer(jax.random.key(0), 4, 2, np.tanh), "written in jax.numpy"),  # pyright: ignore
    (lambda: Optax(0.1), "must be an optax.GradientTransformation such as optax.sgd"),
    (lambda: Method(), r"Method has no step; write step\(self, gradient, kept, now\)"),
]


@pytest.mark.parametrize(("wrong", "words"), RULED)
def test_what_cannot_be_one_is_refused_with_a_sentence(wrong, words):
    with pytest.raises(Exception, match=rf"(?i){words}|type-check"):
        wrong()


class Wrong(Momentum):
    gives: str = eqx.field(static=True, default="")

    def step(self, gradient, kept, now):
        return {"one": kept, "text": ("large", kept), "other": (jnp.zeros(3), kept), "lost": (kept, None)}[self.gives]


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Wrong(0.1, gives="one"), "step of Wrong must return a pair"),
        (Wrong(0.1, gives="text"), "change of Wrong.step must have the form of the weights, .* got .*'large'"),
        (Wrong(0.1, gives="other"), r"change of Wrong.step .* got \(\(3,\),\)"),
        (Wrong(0.1, gives="lost"), r"kept of Wrong.step must have the form of what init returns, .* got \(\)"),
        (Momentum(jnp.ones(3)), r"a number of Momentum must be one number or one per run, got shape \(3,\) for 2 runs"),
        (Momentum("0.1"), "fields of Momentum must be numbers, one or one per run, or static"),  # pyright: ignore
    ],
)
def test_a_wrong_step_is_refused_before_anything_is_compiled(method, words):
    with pytest.raises(ValueError, match=words):
        ensemble(networks(2), toy(), Recipe(logistic, method, STEPS), run_keys(2))


@pytest.mark.parametrize("method", [SGD(0.3), SGD(0.3, batch_size=4), GradientDescent(0.2), Momentum(0.05)])
@pytest.mark.parametrize("times", [range(STEPS + 1), (0, *range(3, 55))])
def test_a_dense_record_is_the_record_taken_from_outside(method, times, monkeypatch):
    def seen(now):
        moved = jnp.sum((now.network.hidden_weights - now.start.hidden_weights) ** 2)
        return jnp.stack([moved, now.step.astype(float), jnp.sum(now.data.labels)])

    recipe = Recipe(logistic, method, (STEPS, 41, STEPS), check_every=25)
    record = Record(times, {"seen": seen, "weights": lambda now: now.network.hidden_weights})
    assert record.is_dense
    inside = ensemble(networks(3), toy(), recipe, run_keys(3), record=record)
    monkeypatch.setattr(Record, "is_dense", False)
    outside = ensemble(networks(3), toy(), recipe, run_keys(3), record=record)
    for name in ("seen", "weights"):
        np.testing.assert_allclose(inside.records[name], outside.records[name], rtol=0, atol=1e-12)
    assert inside.times == outside.times
    np.testing.assert_array_equal(inside.updates, outside.updates)
