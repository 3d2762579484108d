"""Section 2 and the facts its set-up rests on: footnotes 1 and 5, and the update rule."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Runs, Silence, at_most, claim, more_than, separable
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.papers.brutzkus2018.claims.specimens import silence_over_labels
from widenet.papers.brutzkus2018.runs.gradients import Gradients, gradients
from widenet.papers.brutzkus2018.runs.ledger import leaky, update_of
from widenet.papers.brutzkus2018.runs.trials import BasisTrial, RandomTrials, plus_minus_weights
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class SeparatedSets:
    """Data sets with a separator: min y⟨w*, x⟩, max ‖x‖ and ‖w*‖ of each."""

    smallest_margin: Float[np.ndarray, " set"]
    largest_input: Float[np.ndarray, " set"]
    separator_norm: Float[np.ndarray, " set"]


def separated_sets(scale: Scale, seed: int) -> SeparatedSets:
    """Random separable data, and e_1 alone, where ‖w*‖ = 1."""
    batches, each = (4, 25) if scale is Scale.QUICK else (40, 25)
    drawn = RandomTrials(seed=seed, n_batches=batches, per_batch=each, max_bound=1e9).draw()
    trials = [*drawn, *BasisTrial(dim=1, half_width=1, slope=0.5, step_size=1.0).draw()]
    return SeparatedSets(
        np.array([trial.smallest_margin for trial in trials]),
        np.array([np.linalg.norm(trial.inputs, axis=1).max() for trial in trials]),
        np.array([trial.separator_norm for trial in trials]),
    )


@claim("brutzkus2018.footnote_1", Kind.STEP, "footnote 1, Section 2", draws=separated_sets)
def footnote_1(sets: SeparatedSets, *, least: float = 1.0) -> Evidence:
    """A separator with y⟨w*, x⟩ ≥ 1 on points of the unit ball has norm ‖w*‖ ≥ 1.

    Because 1 ≤ y⟨w*, x⟩ ≤ ‖w*‖‖x‖ ≤ ‖w*‖.
    """
    sides = Sides(
        sets.separator_norm,
        least,
        Sense.AT_LEAST,
        room=ROUNDING,
        trivial=0.0,
        quantity="‖w*‖ of the data set where it is smallest",
    )
    hypotheses = (
        separable(sets.smallest_margin),
        at_most("input_norm", "largest input norm ‖x‖", sets.largest_input.max(), 1, tolerance=ROUNDING),
    )
    return evidence({"‖w*‖ ≥ 1": sides}, hypotheses)


@footnote_1.speaks
def footnote_1_on(specimen: Specimen) -> SeparatedSets | Silence:
    """The reader's data with the separator that was found."""
    if (reason := silence_over_labels(specimen)) is not None:
        return reason
    separator = specimen.separation.separator
    if separator is None:
        return Silence(f"There is no separator to speak of: the data is {specimen.separation.sentence}.")
    margins = specimen.labels * (specimen.inputs @ separator)
    return SeparatedSets(
        np.array([margins.min()]), np.array([specimen.largest_norm]), np.array([np.linalg.norm(separator)])
    )


Activation = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
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


def any_networks(scale: Scale, seed: int) -> list[AnyNetwork]:
    """Networks of random sizes; some output weights are exactly 0."""
    draw = np.random.default_rng(seed)
    networks = []
    for _ in range(20 if scale is Scale.QUICK else 100):
        half, dim = int(draw.integers(1, 40)), int(draw.integers(1, 20))
        outputs = draw.normal(size=half) * (draw.random(half) < 0.9)
        points = draw.normal(size=(1000, dim))
        networks.append(AnyNetwork(draw.normal(size=(half, dim)), outputs, points, float(np.exp(draw.normal()))))
    return networks


@claim("brutzkus2018.footnote_5", Kind.CONSTRUCTION, "footnote 5, Section 2", draws=any_networks)
def footnote_5(
    networks: Sequence[AnyNetwork],
    *,
    activations: dict[str, Activation] = ACTIVATIONS,
    rewritten: Callable[[AnyNetwork], np.ndarray] = rewrite,
) -> Evidence:
    """Every network with k neurons and any output weights a_i equals one with 2k neurons and output weights ±v:
    the row (|a_i|/v)·w_i goes to a slot with the sign of a_i, all other rows are 0 (σ positively homogeneous).
    """
    differences, homogeneity = [], [0.0]
    for network in networks:
        rows = rewritten(network)
        signs = plus_minus_weights(len(rows) // 2, network.output_weight)
        for activation in activations.values():
            z = network.points @ network.weights.T
            before, after = activation(z) @ network.outputs, activation(network.points @ rows.T) @ signs
            size = np.abs(activation(z)) @ np.abs(network.outputs)
            # A network whose output weights are all 0 has size 0, and says 0 on both sides.
            differences.append(np.abs(before - after).max() / max(size.max(), np.finfo(float).tiny))
            homogeneity.append(np.abs(activation(3 * z) - 3 * activation(z)).max() / np.abs(z).max())
    sides = Sides(
        np.array(differences),
        0.0,
        Sense.EQUAL,
        room=IDENTITY,
        quantity="largest difference of outputs, relative to Σ|a_i σ(z_i)|",
    )
    name = "largest |σ(3z) − 3σ(z)| / |z|: positively homogeneous"
    hypotheses = (at_most("homogeneous", name, max(homogeneity), 0, tolerance=ROUNDING),)
    return evidence({"both networks say the same": sides}, hypotheses, details={"activations": list(activations)})


Rule = Callable[[np.ndarray, np.ndarray, np.ndarray, float, float, float], tuple[np.ndarray, np.ndarray]]


@claim("brutzkus2018.equation_10", Kind.IDENTITY, "Eq. 10, Section 9.1.2", reads=gradients)
def equation_10(cells: Sequence[Gradients], *, rule: Rule = update_of) -> Evidence:
    """A non-zero update adds ηv·p·y·x to each row w and −ηv·q·y·x to each row u, where p, q are 1 for a neuron that
    is on at x and α otherwise: this is −η times the gradient of the hinge loss (with v_i each neuron's own
    weight when both layers move, which adds ηyσ(z_i) to it).

    By hand against automatic differentiation, both layers; `rule` is Eq. 10.
    """
    (states,) = cells
    z = np.einsum("snd,sd->sn", states.hidden, states.inputs)
    margins = states.labels * np.einsum("sn,sn->s", states.outputs, leaky(z, states.slope))
    active = margins < 1
    steps = [
        rule(hidden, output, x, float(y), states.slope, states.step_size)
        for hidden, output, x, y in zip(states.hidden, states.outputs, states.inputs, states.labels, strict=True)
    ]
    to_hidden, to_outputs = (np.stack(layer) for layer in zip(*steps, strict=True))
    hypotheses = (
        more_than("off_kink", "smallest |⟨w_r, x⟩|: no neuron at its kink", np.abs(z).min(), 0),
        more_than(
            "off_loss_kink", "smallest |y N(x) − 1|: no sample at the kink of the loss", np.abs(margins - 1).min(), 0
        ),
    )
    return evidence(
        {
            "the step of the hidden rows": _same_step(to_hidden, states.by_hidden, states.step_size, active),
            "the step of the output weights": _same_step(to_outputs, states.by_outputs, states.step_size, active),
            "no step at zero loss": Sides(
                np.abs(states.by_hidden).max(axis=(1, 2)) + np.abs(states.by_outputs).max(axis=1),
                0.0,
                Sense.EQUAL,
                scored=~active,
            ),
        },
        hypotheses,
        runs=Runs(tried=len(active)),
        details={"states_with_an_update": int(active.sum()), "layers": "both"},
        note=(
            "Eq. 10 is read with v̂ as a magnitude (it is introduced as −v) and with output weights from before the "
            "step, which is what its use in the proof needs."
        ),
    )


def _same_step(taken: np.ndarray, gradient: np.ndarray, step_size: float, active: np.ndarray) -> Sides:
    """The difference between a step and −η times the gradient, relative to the latter."""
    exact = (-step_size * gradient).reshape(len(gradient), -1)
    sizes = np.linalg.norm(exact, axis=1)
    errors = np.linalg.norm(taken.reshape(len(taken), -1) - exact, axis=1)
    return Sides(
        errors / np.where(sizes > 0, sizes, 1.0),
        0.0,
        Sense.EQUAL,
        room=IDENTITY,
        scored=active,
        quantity="largest relative difference between Eq. 10 and automatic differentiation",
    )
