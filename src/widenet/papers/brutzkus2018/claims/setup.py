"""Section 2 and the facts its set-up rests on: footnotes 1 and 5, and the update rule."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.given import output_weight, separable, step_size
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, hypothesis, less_than, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.networks.arrays import leaky
from widenet.papers.brutzkus2018.hypotheses import input_norm
from widenet.papers.brutzkus2018.runs.any_networks import ACTIVATIONS, Activation, AnyNetwork, any_networks, rewrite
from widenet.papers.brutzkus2018.runs.gradients import Gradients, ScalarStep, gradients, scalar_steps
from widenet.papers.brutzkus2018.runs.separated import SeparatedSets, footnote_1_on, separated_sets
from widenet.papers.brutzkus2018.runs.sgd import update_of
from widenet.papers.brutzkus2018.sources import plus_minus_weights
from widenet.records import Form


@claim(
    "brutzkus2018.footnote_1",
    Kind.STEP,
    "footnote 1, Section 2",
    draws=separated_sets,
    given=[separable, input_norm],
    on=footnote_1_on,
    title="A separator of the unit ball has norm at least 1",
)
def footnote_1(sets: SeparatedSets, *, least: float = 1.0) -> Promise:
    """A separator with $y⟨w*, x⟩ ≥ 1$ on points of the unit ball has norm $‖w*‖ ≥ 1$.

    Because 1 ≤ y⟨w*, x⟩ ≤ ‖w*‖‖x‖ ≤ ‖w*‖.
    """
    closest = "‖w*‖ of the data set where it is smallest"
    norm = at_least(sets.separator_norm, least, within=ROUNDING, trivial=0.0, text="$‖w*‖ ≥ 1$", quantity=closest)
    note = "It is implied by the two hypotheses; what is measured is how close data comes to ‖w*‖ = 1."
    return Promise({"norm": norm}, note=note)


def _difference(network: AnyNetwork, rows: np.ndarray, activation: Activation) -> float:
    """Between what both networks say, relative to Σ|a_i σ(z_i)|."""
    z = network.points @ network.weights.T
    signs = plus_minus_weights(len(rows) // 2, float(network.output_weight))
    before, after = activation(z) @ network.outputs, activation(network.points @ rows.T) @ signs
    size = np.abs(activation(z)) @ np.abs(network.outputs)
    # A network whose output weights are all 0 has size 0, and says 0 on both sides.
    return np.abs(before - after).max() / max(size.max(), np.finfo(float).tiny)


@hypothesis("largest $|σ(3z) − 3σ(z)| / |z|$: positively homogeneous", extreme=False)
def homogeneous(networks: AnyNetwork) -> Sides:
    """σ(cz) = cσ(z) for c > 0."""
    return at_most(networks.homogeneity, 0, within=ROUNDING)


@claim(
    "brutzkus2018.footnote_5",
    Kind.CONSTRUCTION,
    "footnote 5, Section 2",
    draws=any_networks,
    given=[homogeneous, output_weight],
    title="Output weights $±v$ are no restriction",
)
def footnote_5(networks: AnyNetwork, *, rewritten: Callable[[AnyNetwork], np.ndarray] = rewrite) -> Promise:
    """Every network with $k$ neurons and any output weights $a_i$ equals one with $2k$ neurons and output weights $±v$,
    if $σ$ is positively homogeneous: the row $(|a_i|/v)·w_i$ goes to a slot with the sign of $a_i$, and all other rows
    are $0$.
    """

    def alike(name: str) -> Sides:
        differences = networks.map(lambda each: _difference(each, rewritten(each), each.activations[name]))
        text, words = f"both networks say the same ({name})", "largest difference of outputs, relative to Σ|a_i σ(z_i)|"
        return equal(differences, 0.0, within=IDENTITY, text=text, quantity=words)

    used = networks.map(lambda each: len(rewritten(each)))
    needed = networks.map(lambda each: 2 * len(each.outputs))
    return Promise(
        {
            "leaky_relu": alike("Leaky ReLU"),
            "relu": alike("ReLU"),
            "neurons": equal(used, needed, text="$2k$ neurons"),
        },
        details={"activations": list(ACTIVATIONS)},
    )


UpdateRule = Callable[[np.ndarray, np.ndarray, np.ndarray, float, float, float], tuple[np.ndarray, np.ndarray]]
PerState = Float[np.ndarray, " state"]


class States(Gradients):
    """States, with how far they are from the kinks, and whether they make an update."""

    preactivations: Float[np.ndarray, "state neuron"] = derived(
        lambda states: np.einsum("snd,sd->sn", states.hidden, states.inputs)
    )
    off_kink: PerState = derived(lambda states: np.abs(states.preactivations).min(axis=1))
    margin: PerState = derived(
        lambda states: states.labels * np.einsum("sn,sn->s", states.outputs, leaky(states.preactivations, states.slope))
    )  #: y N(x)
    off_loss_kink: PerState = derived(lambda states: np.abs(states.margin - 1))
    active: Bool[np.ndarray, " state"] = derived(lambda states: states.margin < 1)
    gradient: PerState = derived(
        lambda states: np.abs(states.by_hidden).max(axis=(1, 2)) + np.abs(states.by_outputs).max(axis=1)
    )  #: the largest entries


@hypothesis("smallest $|⟨w_r, x⟩|$: no neuron at its kink", extreme=False)
def off_kink(states: States) -> Sides:
    """⟨w_r, x⟩ ≠ 0."""
    return more_than(states.off_kink, 0)


@hypothesis("smallest $|y N(x) − 1|$: no sample at the kink of the loss", extreme=False)
def off_loss_kink(states: States) -> Sides:
    """y N(x) ≠ 1."""
    return more_than(states.off_loss_kink, 0)


@claim(
    "brutzkus2018.equation_10",
    Kind.IDENTITY,
    "Eq. 10, Section 9.1.2",
    reads=gradients,
    given=[off_kink, off_loss_kink],
    form=Form.REPAIR,
    title="An update is the gradient step of Eq. 10",
)
def equation_10(states: States, *, rule: UpdateRule = update_of) -> Promise:
    """A non-zero update adds $ηv·p·y·x$ to each row $w$ and $−ηv·q·y·x$ to each row $u$, where $p$ and $q$ are $1$ for
    a neuron that is on at $x$ and $α$ otherwise: this is $−η$ times the gradient of the hinge loss. When both layers
    move, $v_i$ is each neuron's own weight, and the step adds $ηyσ(z_i)$ to it.

    By hand against automatic differentiation, both layers.

    In code: `rule` is Eq. 10.
    """

    def same(name: str, place: int) -> Sides:
        return equal(
            states.map(lambda cell: _step_errors(cell, rule)[place]),
            0.0,
            within=IDENTITY,
            where=states.active,
            event="states that make an update",
            text=f"the step of the {name}",
            quantity="largest relative difference between Eq. 10 and automatic differentiation",
        )

    resting = {"where": ~states.active, "event": "states that make none"}
    return Promise(
        {
            "rows_w": same("rows $w$", 0),
            "rows_u": same("rows $u$", 1),
            "output_weights": same("output weights", 2),
            "at_rest": equal(states.gradient, 0.0, text="no step at zero loss", **resting),
        },
        details=lambda: {"states_with_an_update": states.active.sum(), "layers": "both"},
        note=(
            "v̂ is taken as a magnitude and the output weights from before the step, which is what the proof needs; "
            "to the letter it is equation_10_as_printed."
        ),
    )


def _step_errors(cell: States, rule: UpdateRule) -> list[np.ndarray]:
    """Of the rows w, the rows u and the output weights, by how much a step differs from −η times the gradient."""
    steps = [
        rule(hidden, output, x, float(y), float(cell.slope), float(cell.step_size))
        for hidden, output, x, y in zip(cell.hidden, cell.outputs, cell.inputs, cell.labels, strict=True)
    ]
    to_hidden, to_outputs = (np.stack(layer) for layer in zip(*steps, strict=True))
    half = cell.hidden.shape[1] // 2
    pairs = (
        (to_hidden[:, :half], cell.by_hidden[:, :half]),
        (to_hidden[:, half:], cell.by_hidden[:, half:]),
        (to_outputs, cell.by_outputs),
    )
    return [_relative(taken, -cell.step_size * gradient) for taken, gradient in pairs]


def _relative(taken: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The length of the difference, relative to that of the exact step."""
    sizes = np.linalg.norm(exact.reshape(len(exact), -1), axis=1)
    errors = np.linalg.norm((taken - exact).reshape(len(taken), -1), axis=1)
    return errors / np.where(sizes > 0, sizes, 1.0)


@hypothesis("$y N(x)$ before the step")
def nonzero_update(steps: ScalarStep) -> Sides:
    """y N(x) < 1."""
    return less_than(steps.before, 1)


@claim(
    "brutzkus2018.equation_10_as_printed",
    Kind.IDENTITY,
    "Eq. 10, Section 9.1.2",
    draws=scalar_steps,
    given=[nonzero_update, step_size],
    title="An update is the step of Eq. 10, with signs as printed",
)
def equation_10_as_printed(steps: ScalarStep) -> Promised:
    """A non-zero update is $w_t = w_{t−1} + ηv_t·p·y·x$ and $u_t = u_{t−1} − ηv̂_t·q·y·x$, with $v_0 = −v̂_0 = v$.
    Counterexample: $w = u = ½$, $v = x = y = η = 1$, $v̂ = −1$. The gradient step gives $u = −½$. The printed one gives
    $u = 3/2$, as $v̂$ is already negative, and $N$ stays $0$ for ever. If both layers move, $v_t = 3/2$ gives $w = 2$;
    the step has $v_{t−1}$ and gives $w = 3/2$.

    In fractions, so that no rounding is to blame.
    """

    def same(name: str, place: int) -> Sides:
        return equal(
            steps.map(lambda step: float(step.as_printed()[place])),
            steps.map(lambda step: float(step.by_gradient()[place])),
            exact=steps.map(lambda step: step.as_printed()[place] == step.by_gradient()[place], bool),
            text=f"the step of the rows ${name}$",
            quantity=f"{name} after the printed step, against the gradient step",
        )

    return {"rows_w": same("w", 0), "rows_u": same("u", 1)}
