"""Section 2 and the facts its set-up rests on: footnotes 1 and 5, and the update rule."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_most, more_than
from widenet.claims.legacy import Evidence_, decide
from widenet.losses import hinge
from widenet.papers.brutzkus2018.runs.draws import basis_sequence, draw_trials, plus_minus_weights
from widenet.papers.brutzkus2018.runs.ledger import larger, leaky, update_of
from widenet.papers.brutzkus2018.runs.trials import ROUNDING, Trials, hypotheses
from widenet.types import Progress, Scale, silent


def check_footnote_1(batches: Sequence[Trials], progress: Progress = silent) -> Evidence:
    """‖w*‖ ≥ 1 on every data set, because 1 ≤ y⟨w*, x⟩ ≤ ‖w*‖‖x‖ ≤ ‖w*‖."""
    conditions = tuple(hypotheses(batches)[:2])
    norms = np.concatenate([trials.separator_norms for trials in batches])
    smallest = float(norms.min())
    conclusion = bool(smallest >= 1 - ROUNDING)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(norms)),
        conclusion=conclusion,
        quantity="‖w*‖ of the data set where it is smallest",
        promised=1.0,
        measured=smallest,
        tightness=smallest,
        config={"data_sets": len(norms), "largest_norm": float(norms.max())},
    )


def _footnote_1_setting(scale: Scale, seed: int) -> list[Trials]:
    """Random separable data, and e_1 alone, where ‖w*‖ = 1."""
    batches, each = (4, 25) if scale is Scale.QUICK else (40, 25)
    return [*draw_trials(seed, batches, each, 1e9), basis_sequence(1, 1, 0.5, 1.0)]


footnote_1 = Claim(
    id="brutzkus2018.footnote_1",
    kind=Kind.STEP,
    statement="A separator with y⟨w*, x⟩ ≥ 1 on points of the unit ball has norm ‖w*‖ ≥ 1.",
    where="footnote 1, Section 2",
    judge=check_footnote_1,
    draws=_footnote_1_setting,
)


Activation = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class AnyNetwork:
    """A network with k neurons and any output weights, and points to compare it on."""

    weights: Float[np.ndarray, "neuron dim"]
    outputs: Float[np.ndarray, " neuron"]
    points: Float[np.ndarray, "point dim"]
    output_weight: float


def rewrite(network: AnyNetwork) -> Float[np.ndarray, "twice dim"]:
    """W of the equal network with 2k neurons and output weights ±v: row i is (a_i/v)w_i in a slot of its sign."""
    scaled = (np.abs(network.outputs) / network.output_weight)[:, None] * network.weights
    positive = (network.outputs > 0)[:, None]
    return np.concatenate([np.where(positive, scaled, 0.0), np.where(positive, 0.0, scaled)])


ACTIVATIONS: dict[str, Activation] = {
    "Leaky ReLU": functools.partial(leaky, slope=0.2),
    "ReLU": functools.partial(leaky, slope=0.0),
}


def check_footnote_5(
    networks: Sequence[AnyNetwork],
    progress: Progress = silent,
    *,
    activations: dict[str, Activation] = ACTIVATIONS,
    rewritten: Callable[[AnyNetwork], np.ndarray] = rewrite,
) -> Evidence:
    """Both networks say the same about every point. A control passes another activation or construction."""
    worst, homogeneity = 0.0, 0.0
    for number, network in enumerate(networks):
        rows = rewritten(network)
        signs = plus_minus_weights(len(rows) // 2, network.output_weight)
        for activation in activations.values():
            z = network.points @ network.weights.T
            before, after = activation(z) @ network.outputs, activation(network.points @ rows.T) @ signs
            size = np.abs(activation(z)) @ np.abs(network.outputs)
            # A network whose output weights are all 0 has size 0, and says 0 on both sides.
            worst = larger(worst, float(np.abs(before - after).max() / max(size.max(), np.finfo(float).tiny)))
            homogeneity = max(homogeneity, float(np.abs(activation(3 * z) - 3 * activation(z)).max() / np.abs(z).max()))
        progress((number + 1) / len(networks), "networks")
    conditions = (at_most_rounding("largest |σ(3z) − 3σ(z)| / |z|: positively homogeneous", homogeneity),)
    conclusion = worst <= 1e-10 if networks else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(networks) * len(activations)),
        conclusion=conclusion,
        quantity="largest difference of outputs, relative to Σ|a_i σ(z_i)|, against rounding",
        promised=1e-10,
        measured=worst,
        config={"activations": list(activations), "points_per_network": len(networks[0].points) if networks else 0},
    )


def at_most_rounding(name: str, actual: float) -> Hypothesis:
    """The hypothesis that a number is 0 up to rounding."""
    return at_most(name, actual, 0, tolerance=ROUNDING)


def _footnote_5_setting(scale: Scale, seed: int) -> list[AnyNetwork]:
    draw = np.random.default_rng(seed)
    networks = []
    for _ in range(20 if scale is Scale.QUICK else 100):
        half, dim = int(draw.integers(1, 40)), int(draw.integers(1, 20))
        outputs = draw.normal(size=half) * (draw.random(half) < 0.9)  # some output weights are exactly 0
        points = draw.normal(size=(1000, dim))
        networks.append(AnyNetwork(draw.normal(size=(half, dim)), outputs, points, float(np.exp(draw.normal()))))
    return networks


footnote_5 = Claim(
    id="brutzkus2018.footnote_5",
    kind=Kind.CONSTRUCTION,
    statement=(
        "Every network with k neurons and any output weights a_i equals one with 2k neurons and output weights ±v: "
        "the row (|a_i|/v)·w_i goes to a slot with the sign of a_i, all other rows are 0 (σ positively homogeneous)."
    ),
    where="footnote 5, Section 2",
    judge=check_footnote_5,
    draws=_footnote_5_setting,
)


@dataclass(frozen=True)
class States:
    """Random networks, each with one sample: everything an update needs, with a leading axis."""

    hidden: Float[np.ndarray, "state neuron dim"]
    outputs: Float[np.ndarray, "state neuron"]
    inputs: Float[np.ndarray, "state dim"]
    labels: Float[np.ndarray, " state"]
    slope: float
    step_size: float


Rule = Callable[[np.ndarray, np.ndarray, np.ndarray, float, float, float], tuple[np.ndarray, np.ndarray]]


def check_equation_10(states: States, progress: Progress = silent, *, rule: Rule = update_of) -> Evidence:
    """Eq. 10 against −η times the gradient of the hinge loss by automatic differentiation, both layers."""
    by_hand = [
        rule(hidden, output, x, float(y), states.slope, states.step_size)
        for hidden, output, x, y in zip(states.hidden, states.outputs, states.inputs, states.labels, strict=True)
    ]
    gradients = _gradients(states.hidden, states.outputs, states.inputs, states.labels, states.slope)
    z = np.einsum("snd,sd->sn", states.hidden, states.inputs)
    margins = states.labels * np.einsum("sn,sn->s", states.outputs, leaky(z, states.slope))
    active = margins < 1
    worst = 0.0
    for layer in range(2):
        taken = np.where(active.reshape(-1, *[1] * (2 - layer)), np.stack([step[layer] for step in by_hand]), 0.0)
        exact = -states.step_size * np.asarray(gradients[layer])
        flat = lambda array: array.reshape(len(array), -1)  # noqa: E731
        sizes = np.linalg.norm(flat(exact), axis=1)
        errors = np.linalg.norm(flat(taken - exact), axis=1)
        worst = larger(worst, float((errors / np.where(sizes > 0, sizes, 1.0)).max()))
    conditions = (
        more_than("smallest_w_r_x", "smallest |⟨w_r, x⟩|: no neuron at its kink", float(np.abs(z).min()), 0),
        more_than(
            "smallest_y_n_x_1",
            "smallest |y N(x) − 1|: no sample at the kink of the loss",
            float(np.abs(margins - 1).min()),
            0,
        ),
    )
    conclusion = bool(worst <= 1e-10) if active.any() else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(states.labels)),
        conclusion=conclusion,
        quantity="largest relative difference between Eq. 10 and automatic differentiation, against rounding",
        promised=1e-10,
        measured=worst,
        config={"states": len(states.labels), "states_with_an_update": int(active.sum()), "layers": "both"},
        note=(
            "Eq. 10 is read with v̂ as a magnitude (it is introduced as −v) and with output weights from before the "
            "step, which is what its use in the proof needs."
        ),
    )


def _gradients(
    hidden: np.ndarray, outputs: np.ndarray, inputs: np.ndarray, labels: np.ndarray, slope: float
) -> tuple[Array, Array]:
    """∂/∂(W, a) of the hinge loss of one sample, for every state, in one compiled program."""

    def loss(weights: Array, output: Array, x: Array, y: Array) -> Array:
        z = weights @ x
        return hinge(output @ jnp.where(z > 0, z, slope * z), y)

    return jax.jit(jax.vmap(jax.grad(loss, argnums=(0, 1))))(hidden, outputs, inputs, labels)


def _random_states(scale: Scale, seed: int) -> States:
    draw = np.random.default_rng(seed)
    count, half, dim = (200, 4, 6) if scale is Scale.QUICK else (2000, 20, 20)
    scales = np.exp(draw.uniform(-3, 1, (count, 1, 1)))
    return States(
        scales * draw.normal(size=(count, 2 * half, dim)),
        plus_minus_weights(half, 1.0) * np.exp(draw.normal(size=(count, 2 * half))),
        draw.normal(size=(count, dim)) / dim,
        draw.choice([-1.0, 1.0], count),
        0.2,
        0.7,
    )


equation_10 = Claim(
    id="brutzkus2018.equation_10",
    kind=Kind.IDENTITY,
    statement=(
        "A non-zero update adds ηv·p·y·x to each row w and −ηv·q·y·x to each row u, where p, q are 1 for a neuron that "
        "is on at x and α otherwise: this is −η times the gradient of the hinge loss (with v_i each neuron's own "
        "weight when both layers move, which adds ηyσ(z_i) to it)."
    ),
    where="Eq. 10, Section 9.1.2",
    judge=check_equation_10,
    draws=_random_states,
)
