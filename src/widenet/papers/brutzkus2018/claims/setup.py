"""Section 2 and the facts its set-up rests on: footnotes 1 and 5, and the update rule."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Runs, Silence, at_most, claim, less_than, more_than, separable
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
    note = "It is implied by the two hypotheses; what is measured is how close data comes to ‖w*‖ = 1."
    return evidence({"‖w*‖ ≥ 1": sides}, hypotheses, note=note)


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
    differences: dict[str, list[float]] = {name: [] for name in activations}
    counts, homogeneity = [], [0.0]
    for network in networks:
        rows = rewritten(network)
        counts.append(len(rows))
        signs = plus_minus_weights(len(rows) // 2, network.output_weight)
        for name, activation in activations.items():
            z = network.points @ network.weights.T
            before, after = activation(z) @ network.outputs, activation(network.points @ rows.T) @ signs
            size = np.abs(activation(z)) @ np.abs(network.outputs)
            # A network whose output weights are all 0 has size 0, and says 0 on both sides.
            differences[name].append(np.abs(before - after).max() / max(size.max(), np.finfo(float).tiny))
            homogeneity.append(np.abs(activation(3 * z) - 3 * activation(z)).max() / np.abs(z).max())
    parts = {
        f"both networks say the same ({name})": Sides(
            found,
            0.0,
            Sense.EQUAL,
            room=IDENTITY,
            quantity="largest difference of outputs, relative to Σ|a_i σ(z_i)|",
        )
        for name, found in differences.items()
    }
    parts["2k neurons"] = Sides(counts, [2 * len(network.outputs) for network in networks], Sense.EQUAL)
    name = "largest |σ(3z) − 3σ(z)| / |z|: positively homogeneous"
    hypotheses = (
        at_most("homogeneous", name, max(homogeneity), 0, tolerance=ROUNDING),
        more_than("output_weight", "smallest output weight v", min(each.output_weight for each in networks), 0),
    )
    return evidence(parts, hypotheses, runs=Runs(tried=len(counts)), details={"activations": list(activations)})


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
    active, half = margins < 1, states.hidden.shape[1] // 2
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
            "the step of the rows w": _same_step(
                to_hidden[:, :half], states.by_hidden[:, :half], states.step_size, active
            ),
            "the step of the rows u": _same_step(
                to_hidden[:, half:], states.by_hidden[:, half:], states.step_size, active
            ),
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
            "v̂ is taken as a magnitude and the output weights from before the step, which is what the proof needs; "
            "to the letter it is equation_10_as_printed."
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


@dataclass(frozen=True)
class ScalarStep:
    """One neuron of each sign in one dimension, and a point with label +1, in exact numbers.

    Symbols: w, u, v, v̂ (negative, as the paper introduces it: v_0 = −v̂_0), x, α, η. `moves_outputs` says whether
    the output weights are trained too.
    """

    w: Fraction
    u: Fraction
    plus_output: Fraction
    minus_output: Fraction
    point: Fraction
    slope: Fraction
    step_size: Fraction
    moves_outputs: bool

    @property
    def output(self) -> Fraction:
        """N(x) = vσ(wx) + v̂σ(ux)."""
        return self.plus_output * self._activation(self.w) + self.minus_output * self._activation(self.u)

    def by_gradient(self) -> tuple[Fraction, Fraction]:
        """(w, u) after a step along −∂/∂(w, u) of 1 − N(x)."""
        return (
            self.w + self.step_size * self.plus_output * self._derivative(self.w) * self.point,
            self.u + self.step_size * self.minus_output * self._derivative(self.u) * self.point,
        )

    def as_printed(self) -> tuple[Fraction, Fraction]:
        """(w + ηv_t p x, u − ηv̂_t q x), with the output weights after their own update."""
        moved = self.step_size if self.moves_outputs else Fraction(0)
        plus = self.plus_output + moved * self._activation(self.w)
        minus = self.minus_output + moved * self._activation(self.u)
        return (
            self.w + self.step_size * plus * self._derivative(self.w) * self.point,
            self.u - self.step_size * minus * self._derivative(self.u) * self.point,
        )

    def _derivative(self, weight: Fraction) -> Fraction:
        return Fraction(1) if weight * self.point >= 0 else self.slope

    def _activation(self, weight: Fraction) -> Fraction:
        return weight * self.point * self._derivative(weight)


def scalar_steps(scale: Scale, seed: int) -> list[ScalarStep]:
    """w = u = ½, v = −v̂ = x = η = 1, α = ½: first with output weights at rest, then with both layers trained."""
    half, one = Fraction(1, 2), Fraction(1)
    return [ScalarStep(half, half, one, -one, one, half, one, moves) for moves in (False, True)]


@claim("brutzkus2018.equation_10_as_printed", Kind.IDENTITY, "Eq. 10, Section 9.1.2", draws=scalar_steps)
def equation_10_as_printed(steps: Sequence[ScalarStep]) -> Evidence:
    """A non-zero update is w_t = w_{t−1} + ηv_t·p·y·x and u_t = u_{t−1} − ηv̂_t·q·y·x, with v_0 = −v̂_0 = v.
    Counterexample: w = u = ½, v = x = y = η = 1, v̂ = −1. The gradient step gives u = −½; the printed one u = 3/2, as v̂
    is already negative, and N stays 0 for ever. If both layers move, v_t = 3/2 gives w = 2; the step has v_{t−1}
    and gives w = 3/2.

    In fractions, so that no rounding is to blame.
    """
    taken, exact = ([getattr(step, name)() for step in steps] for name in ("as_printed", "by_gradient"))
    parts = {
        f"the step of the rows {name}": Sides(
            [float(each[place]) for each in taken],
            [float(each[place]) for each in exact],
            Sense.EQUAL,
            exact=[left[place] == right[place] for left, right in zip(taken, exact, strict=True)],
            quantity=f"{name} after the printed step, against the gradient step",
        )
        for place, name in enumerate("wu")
    }
    return evidence(
        parts,
        [
            less_than("nonzero_update", "largest y N(x) before the step", float(max(s.output for s in steps)), 1),
            more_than("step_size", "smallest step size η", float(min(s.step_size for s in steps)), 0),
        ],
    )
