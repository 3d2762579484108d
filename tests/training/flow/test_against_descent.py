"""Flows in general position, with sliding and shared kinks, against gradient descent with small steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.flow.oracles import in_space, problem, stacked
from widenet.losses import cross_entropy, logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import Flow, GradientDescent, LinearClock, Recipe, Record, ensemble
from widenet.types import Dataset, Layers

KINDS = ("", "mirrored", "contradicting", "whole", "random")
ZERO, LINEAR = 10, 11
PLANE = range(12, 16)
TIMES = np.array([20] * 12 + [60] * 4)


def followed(networks, data, times=TIMES, loss=logistic, step=1.0, tolerance=1e-8, record=None, **others):
    keys = jax.random.split(jax.random.key(0), networks.hidden_weights.shape[0])
    steps = tuple(round(time / step) for time in times)
    recipe = Recipe(loss, method=Flow(LinearClock(step), tolerance), max_steps=steps, **others)
    return ensemble(networks, data, recipe, keys, record=record)


def descended(networks, data, step, times=TIMES, loss=logistic, **others):
    keys = jax.random.split(jax.random.key(0), networks.hidden_weights.shape[0])
    steps = tuple(round(time / step) for time in times)
    return ensemble(networks, data, Recipe(loss, method=GradientDescent(step), max_steps=steps, **others), keys)


def distances(one, other):
    gap = one.network.hidden_weights - other.network.hidden_weights
    return np.asarray(jnp.max(jnp.abs(gap), axis=(1, 2)))


@pytest.fixture(scope="module")
def mixed():
    """Two runs of each kind of kinks, one that starts at 0, where all of its kinks meet, a linear one without; and four
    of the plane, where sliding can lead a neuron through 0."""
    problems = [problem(seed, kind) for kind in KINDS for seed in (1, 3)]
    plane = [in_space(*problem(seed, "random", dim=2, scale=0.5)) for seed in (2, 9, 11, 13)]
    slopes = np.full(16, 0.1)
    slopes[LINEAR] = 1.0
    networks, data = stacked([*problems, problem(5, scale=0.0), problem(6), *plane], slopes)
    return networks, data, followed(networks, data)


@pytest.fixture(scope="module")
def gaps(mixed):
    """How far gradient descent is from the flow at its end, for three steps."""
    networks, data, flow = mixed
    return {step: distances(descended(networks, data, step), flow) for step in (0.02, 0.01, 0.0025)}


def unique(flow):
    """Runs of which the flow has one solution, or descent takes the same one."""
    sure = flow.report.corners.count == 0
    sure[ZERO], sure[PLANE] = True, False
    return sure


def test_the_error_of_descent_shrinks_as_its_step_does(mixed, gaps):
    sure = unique(mixed[2])
    assert sure.sum() >= 10
    coarse, middle, fine = gaps.values()
    np.testing.assert_allclose([coarse[LINEAR] / middle[LINEAR], middle[LINEAR] / fine[LINEAR]], [2, 4], rtol=0.02)
    # Where in a step of descent a kink is met, and the chatter of neurons that slide, make the others less regular.
    assert (fine[sure] < 3e-3).all()
    assert (fine[sure] < 0.5 * coarse[sure]).all()


def test_control_descent_to_another_time_does_not_come_closer(mixed):
    networks, data, flow = mixed
    early = [distances(descended(networks, data, step, TIMES / 2), flow)[: LINEAR + 1] for step in (0.02, 0.0025)]
    assert (early[1] > 0.05).all()
    np.testing.assert_allclose(*early, rtol=0.1)


def test_sliding_and_crossing_were_met(mixed):
    """So that the agreement above is not empty."""
    report = mixed[2].report
    assert (report.sliding.count > 0).sum() >= 5
    assert (report.crossings.count[:LINEAR] > 0).all()
    assert report.crossings.count[LINEAR] == report.sliding.count[LINEAR] == 0
    assert report.corners.count[ZERO] > 0
    # In general position no neuron meets two kinks at once.
    general = [run for run, kind in enumerate(np.repeat(KINDS, 2)) if kind != "whole"]
    np.testing.assert_array_equal(report.corners.count[general], 0)


def test_sliding_pairs_are_those_that_can_attract(mixed):
    """A kink attracts only a neuron that votes against the label (for samples that share a kink, their sum decides)."""
    networks, data, flow = mixed
    sliding = flow.report.sliding
    for run in (0, 1, 8, 9):
        for neuron, sample in zip(sliding.neuron[run], sliding.sample[run], strict=True):
            if neuron >= 0:
                assert networks.output_weights[run, neuron] * data.labels[run, sample] < 0


def test_where_a_path_is_not_the_one_of_descent_a_corner_was_reported(mixed, gaps):
    """In the plane, sliding can lead a neuron through 0, and beyond it solutions differ."""
    corners, apart = mixed[2].report.corners.count[PLANE], gaps[0.0025][PLANE] > 2e-3
    assert (corners[apart] > 0).all()
    assert apart.any()
    assert not apart.all()


def test_several_outputs_both_layers_and_biases():
    draw = np.random.default_rng(3)
    rows, outer, bias = (
        0.3 * draw.normal(size=(3, 6, 3)),
        draw.normal(size=(3, 3, 6)) / 2,
        0.1 * draw.normal(size=(3, 6)),
    )
    networks = TwoLayer(jnp.asarray(rows), jnp.asarray(outer), jnp.asarray(bias), leaky_relu(0.1))
    networks = jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf), (3, *jnp.shape(leaf)[1:])), networks)
    data = Dataset(jnp.asarray(draw.normal(size=(10, 3))), jnp.asarray(draw.integers(0, 3, 10).astype(float)))
    others = {"loss": cross_entropy, "layers": Layers.BOTH}
    times = np.full(3, 10)
    flow = followed(networks, data, times, **others)
    coarse, fine = (descended(networks, data, step, times, **others) for step in (0.01, 0.0025))
    for of in (lambda net: net.hidden_weights, lambda net: net.output_weights, lambda net: net.bias):
        gaps = [np.abs(of(path.network) - of(flow.network)).max() for path in (coarse, fine)]
        assert gaps[1] < min(0.35 * gaps[0], 2e-3)
    assert (flow.report.sliding.count > 0).any()


def test_the_tolerance_is_kept(mixed):
    """Against one that is a thousand times finer, ends differ by some tolerances, and the same kinks are crossed."""
    networks, data, flow = mixed
    finer = followed(networks, data, tolerance=1e-11)
    sure = unique(flow) & (np.arange(16) != ZERO)
    assert (distances(finer, flow)[sure] < 1e-6).all()
    np.testing.assert_array_equal(finer.report.crossings.count[sure], flow.report.crossings.count[sure])
    assert (finer.report.solver_steps > flow.report.solver_steps).all()


def test_the_loss_falls_by_the_square_of_the_velocity(mixed):
    """dL/dt = −‖dW/dt‖² along the whole path, crossings and sliding included; where no kink is met, −‖∇L‖² as well."""
    networks, data, _ = mixed
    step, steps, some = 0.01, 1000, 9
    times = np.where(np.arange(16) == some, steps * step, step)

    def energy(now):
        def loss(rows):
            network = TwoLayer(rows, now.network.output_weights, None, now.network.activation)
            return jnp.mean(logistic(jax.vmap(network)(now.data.inputs), now.data.labels))

        value, gradient = jax.value_and_grad(loss)(now.network.hidden_weights)
        return jnp.stack([value, jnp.sum(gradient**2)])

    sees = Record(range(steps + 1), {"rows": lambda now: now.network.hidden_weights, "energy": energy})
    run = followed(networks, data, times, step=step, record=sees)
    losses, squares = run.records["energy"][some].T
    moved = np.sum(np.diff(run.records["rows"][some], axis=0) ** 2, axis=(1, 2)) / step
    assert run.report.sliding.count[some] > 0
    assert run.report.crossings.count[some] > 10
    np.testing.assert_allclose(np.sum(moved), losses[0] - losses[-1], rtol=1e-3)
    alike = np.isclose(squares[1:], squares[:-1], rtol=5e-3)  # else a kink was crossed
    quiet = alike & (step * np.arange(1, steps + 1) < run.report.sliding.begun[some, 0])
    assert quiet.sum() > 50
    np.testing.assert_allclose((squares[:-1] + squares[1:])[quiet] * step / 2, -np.diff(losses)[quiet], rtol=1e-4)
    # The controls: half the field would lose a quarter as much in a step, and its opposite would gain.
    assert abs(np.sum(moved) / 4 / (losses[0] - losses[-1]) - 1) > 0.5
    assert losses[-1] < losses[0]
