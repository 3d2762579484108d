"""Section 7.2: ReLU on orthonormal points. Whether a run succeeds is decided before it starts.

The points never meet, so each is its own small problem. A point at which every neuron that votes for its label
starts off (⟨w, x⟩ ≤ 0) is stuck: those neurons have derivative 0 there and stay off. Any other point is solved.
K_0 is the set of stuck points, and the final loss is exactly #K_0/d.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Count, Number, column, derived
from widenet.claims.given import step_size
from widenet.claims.implication import Promise, at_most, equal, hypothesis, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.hypotheses import orthonormal, plus_labels, relu, unit_output_weights
from widenet.papers.brutzkus2018.runs.basis import BasisBatch, basis, mixed_settings
from widenet.papers.brutzkus2018.runs.several_cases import SeveralCases
from widenet.records import Form

Rounding = Callable[[np.ndarray], np.ndarray]
PerRun = Float[np.ndarray, " run"]
PerPoint = Float[np.ndarray, "run sample"]


class Fates(SeveralCases, BasisBatch):
    """Batches as cells, with what was predicted at the start and what came of it."""

    lengths: ClassVar = {"end": lambda batch: batch.balls_of_run}

    slope: Number = derived(lambda batch: batch.start.slope)
    step_size: Number = derived(lambda batch: batch.start.step_size)
    weight_error: Number = derived(lambda batch: abs(batch.start.output_weight - 1))
    excess: Number = derived(lambda batch: np.abs(batch.start.weights).max() - batch.start.entry_bound)
    smallest_entry: Number = derived(lambda batch: np.abs(batch.start.weights).min())
    smallest_label: Number = derived(lambda batch: batch.start.labels.min())
    labels: PerPoint = derived(lambda batch: batch.start.labels)
    updates: Int[np.ndarray, "run sample"] = derived(lambda batch: batch.runs.updates)
    outputs: PerPoint = derived(lambda batch: batch.runs.outputs)
    ended: Bool[np.ndarray, " run"] = derived(lambda batch: batch.runs.ended)
    unfinished: Bool[np.ndarray, " run"] = derived(lambda batch: ~batch.runs.ended)
    total: Int[np.ndarray, " run"] = derived(lambda batch: batch.runs.updates.sum(axis=1))  #: T
    entered: PerRun = derived(lambda batch: _watched(batch.runs.entered, batch))  #: changes of K; NaN if not watched
    left: PerRun = derived(lambda batch: _watched(batch.runs.left, batch))
    predicted: PerRun = derived(lambda batch: batch.stuck.mean(axis=1))  #: #K_0/d
    loss: PerRun = derived(lambda batch: np.where(batch.ended, batch.losses, np.nan))  #: at the end; NaN without one
    radius: Float[np.ndarray, " end"] = derived(lambda batch: _of_balls(batch, "radius"))  #: of the ball at a stuck end
    changed: Float[np.ndarray, " end"] = derived(lambda batch: _of_balls(batch, "changed"))  #: directions that change L
    moving: Float[np.ndarray, " end"] = derived(lambda batch: _of_balls(batch, "moving"))  #: points still updated there

    tried: Count = derived(lambda batch: 0 if batch.balls is None else batch.balls.tried)  #: directions in each ball

    @column
    def gram_error(self) -> Number:
        """The largest entry of XXᵀ − I."""
        return float(np.abs(self.start.inputs @ self.start.inputs.T - np.eye(len(self.start.inputs))).max())

    @column
    def balls_of_run(self) -> Int[np.ndarray, " run"]:
        """How many balls were tried around the end of each run: one, or none."""
        return np.bincount([] if self.balls is None else self.balls.run, minlength=len(self)).astype(int)

    @column
    def steps(self) -> PerPoint:
        """max_i max(⟨u_0^(i), e_j⟩, 0)/η."""
        z = self.start.weights[:, self.start.half_width :] @ self.start.inputs.T
        with np.errstate(divide="ignore", invalid="ignore"):  # a step size of 0 is a hypothesis that fails
            return np.maximum(z, 0).max(axis=1) / self.start.step_size

    @column
    def dim(self) -> Count:
        """d."""
        return self.start.inputs.shape[1]


class StuckEnds(Fates):
    """The same, for a statement about the ends at positive loss."""

    def counts(self) -> dict[str, int]:
        """The balls that were tried, and the runs without an end."""
        return {"tried": len(self.per("end")), "unfinished": int(self.unfinished.sum())}


def _watched(changes: np.ndarray | None, batch: BasisBatch) -> np.ndarray:
    """How often K changed; unknown where nobody looked."""
    return np.full(len(batch.runs.ended), np.nan) if changes is None else changes.astype(np.float64)


def _of_balls(batch: BasisBatch, name: str) -> np.ndarray:
    return np.zeros(0) if batch.balls is None else np.asarray(getattr(batch.balls, name), np.float64)


@hypothesis("largest |entry of $W_0$| minus $C$", extreme=False)
def entry_bound(runs: Fates) -> Sides:
    """|entry of W_0| ≤ C."""
    return at_most(runs.excess, 0)


@hypothesis("continuous start: |entry of $W_0$|")
def continuous_start(runs: Fates) -> Sides:
    """No entry of W_0 is 0."""
    return more_than(runs.smallest_entry, 0)


@hypothesis("ended: active points that would still make an update", extreme=False)
def ended(runs: Fates) -> Sides:
    """No point would make another update."""
    return at_most(runs.per("end").moving, 0)


ANY_LABELS = (orthonormal, relu, unit_output_weights, entry_bound, continuous_start, step_size)
"""The hypotheses of Section 7.2 for labels of both signs."""
ALL_PLUS = (*ANY_LABELS, plus_labels)


@claim(
    "brutzkus2018.lemma_12",
    Kind.STEP,
    "Lemma 12, Section 9.3.2",
    reads=basis,
    given=[each for each in ALL_PLUS if each is not continuous_start],
    title="Updates never change the set of stuck points",
)
def lemma_12(runs: Fates) -> Promise:
    """ReLU with output weights $±1$, on $e_1, …, e_d$ labelled $+1$: the set $K_t$ of points at which every neuron with
    output weight $+1$ is off ($⟨w, e_j⟩ ≤ 0$) is the same after every SGD update, $K_{t+1} = K_t$.

    A start with an entry that is exactly 0 is allowed here.
    """
    moved = {"where": runs.total != 0, "event": "runs with updates"}
    new, gone = "updates after which a point is new in K", "updates after which a point of K is gone"
    return Promise(
        {
            "entering": at_most(runs.entered, 0.0, text="no point enters $K$", quantity=new, **moved),
            "leaving": at_most(runs.left, 0.0, text="no point leaves $K$", quantity=gone, **moved),
        },
        details=lambda: _describe(runs) | {"updates_watched": runs.total.sum()},
    )


@claim(
    "brutzkus2018.theorem_9_equivalence",
    Kind.STEP,
    "Section 7.2, the observation before Theorem 9",
    reads=basis,
    given=ALL_PLUS,
    title="The share of stuck points at the start is the final loss",
)
def theorem_9_equivalence(runs: Fates) -> Promise:
    """ReLU on $e_1, …, e_d$ labelled $+1$: SGD ends at a non-global point if and only if $K_0$, the set of points at
    which every neuron with output weight $+1$ starts off, is not empty. The final training loss is exactly $#K_0/d$.

    Runs that have not ended decide nothing; nor does a setting in which all starts are of one kind.
    """
    stuck = {"where": runs.predicted != 0, "event": "runs with stuck points"}
    solvable = {"where": runs.predicted == 0, "event": "runs without stuck points"}
    return Promise(
        {
            "level": _level(runs.loss, runs.predicted),
            "positive": Fact(
                runs.loss > 0, undecided=runs.unfinished, text="a positive loss if $K_0$ is not empty", **stuck
            ),
            "zero_loss": at_most(runs.loss, 0, undecided=runs.unfinished, text="loss 0 if $K_0$ is empty", **solvable),
        },
        details=lambda: _describe(runs) | _tally(runs.loss, runs.predicted),
    )


@claim(
    "brutzkus2018.section_7_2_labels",
    Kind.STEP,
    "Section 7.2, first paragraph",
    reads=basis.at(mixed_settings),
    given=ANY_LABELS,
    title="With mixed labels too, stuck points make the final loss",
)
def section_7_2_labels(runs: Fates, *, plus_half_only: bool = False) -> Promise:
    """The same result holds for mixed labels on orthonormal points: with $K_0$ the set of points at which every neuron
    whose output sign is the label starts off, the final training loss is exactly $#K_0/d$.
    """

    def stuck(batch: Fates) -> np.ndarray:
        return batch.start.stuck(batch.start.weights, np.ones(1)) if plus_half_only else batch.stuck

    def of_label(sign: int) -> Sides:
        """The share of points of this label that are unsolved, against the share that is stuck."""
        share = runs.map(lambda batch: (stuck(batch) & (batch.labels == sign)).mean(axis=1))
        text = f"points labelled ${sign:+d}$".replace("-", "−")
        return equal(runs.map(lambda batch: _loss_on(batch, sign)), share, room=ROUNDING, text=text)

    predicted = runs.map(lambda batch: stuck(batch).mean(axis=1))
    empty = {"where": predicted == 0, "event": "runs without stuck points"}
    return Promise(
        {
            "level": _level(runs.loss, predicted),
            "zero_loss": at_most(runs.loss, 0.0, within=ROUNDING, text="loss 0 if $K_0$ is empty", **empty),
            "plus": of_label(1),
            "minus": of_label(-1),
        },
        details=lambda: _describe(runs) | _tally(runs.loss, predicted),
    )


@claim(
    "brutzkus2018.theorem_9_stuck_count",
    Kind.IDENTITY,
    "Theorem 9, Section 9.3.2 (derived from its proof)",
    reads=basis,
    given=ALL_PLUS,
    form=Form.OURS,
    title="How many updates a stuck point makes, exactly",
)
def theorem_9_stuck_count(runs: Fates, *, rounding: Rounding = np.ceil) -> Promise:
    """ReLU on $e_1, …, e_d$ labelled $+1$: a point $e_j$ of $K_0$ makes exactly $⌈max_i max(⟨u_0^(i), e_j⟩, 0)/η⌉$
    non-zero updates, which switch the neurons with output weight $−1$ off, and ends with $N(e_j) = 0$.

    Where the quotient is an integer up to rounding, the count is left open.
    """
    points = runs.per("sample")
    points = points.where(points.stuck & points.ended)
    steps = points.steps
    tie = (steps > 0) & (np.abs(steps - np.round(steps)) <= STEP * np.maximum(steps, 1))
    promised = np.where(tie, np.nan, rounding(steps))
    # Points that make no update are no test of a count.
    moved = (points.updates != 0) | (promised != 0)
    return Promise(
        {
            "updates": equal(
                points.updates,
                promised,
                where=moved,
                event="stuck points with updates",
                text="the number of updates",
                quantity="non-zero updates on one stuck point",
            ),
            "silent": at_most(np.abs(points.outputs), 0.0, text="$N = 0$ at the end", quantity="|N(e_j)|"),
        },
        details=lambda: _describe(runs) | {"stuck_points": len(points), "updates_on_them": points.updates.sum()},
    )


@claim(
    "brutzkus2018.theorem_9_local_minimum",
    Kind.STEP,
    "Theorem 9, proof in Section 9.3.2",
    reads=basis,
    given=[*ALL_PLUS, ended],
    title="A stuck end is a local minimum",
)
def theorem_9_local_minimum(runs: StuckEnds) -> Promise:
    """ReLU on $e_1, …, e_d$ labelled $+1$, with a continuous start: the non-global point at which SGD ends is almost
    surely a local minimum. The loss is constant in a ball whose radius is computed from the pre-activations.

    A neuron off at an active point stays off while its row moves by less than |z|/‖x‖; a solved point stays solved
    while the whole of W moves by less than (yN − 1)/(v√(2k)‖x‖). The ball is the smaller of the two.
    """
    balls = runs.per("end")
    words = "directions in which the loss changes within the ball"
    return Promise(
        {
            "constant": at_most(balls.changed, 0.0, text="the loss is constant in the ball", quantity=words),
            "ball": more_than(balls.radius, 0.0, text="a ball of positive radius", quantity="its radius"),
        },
        details=lambda: (
            _describe(runs)
            | {
                "perturbations_per_run": np.max(runs.tried, initial=0),
                "smallest_radius": balls.radius.min(initial=np.inf),
            }
        ),
    )


def _loss_on(batch: Fates, sign: int) -> np.ndarray:
    """The part of the final loss that comes from the points of this label; NaN where there is no end."""
    hinge = np.maximum(1 - batch.labels * batch.outputs, 0)
    return np.where(batch.ended, np.where(batch.labels == sign, hinge, 0.0).mean(axis=1), np.nan)


def _level(losses: np.ndarray, predicted: np.ndarray) -> Sides:
    return equal(
        losses,
        predicted,
        room=ROUNDING,
        where=predicted != 0,
        event="runs with stuck points",
        text="a loss of $#K_0/d$",
        quantity="training loss at the end of a stuck run",
    )


def _tally(losses: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    return {
        "runs_with_empty_K_0": int((predicted == 0).sum()),
        "runs_ending_at_loss_0": int((losses == 0).sum()),
        "mismatches": int((np.abs(losses - predicted) > ROUNDING).sum()),
    }


def _describe(runs: Fates) -> dict[str, Any]:
    return {
        "order": "with replacement",
        "batches": runs.per("cell").map(_shape, object).tolist(),
    }


def _shape(batch: Fates) -> dict[str, Any]:
    return {
        "runs": len(batch),
        "dim": batch.dim,
        "neurons": 2 * batch.start.half_width,
        "step_size": batch.start.step_size,
        "entry_bound": batch.start.entry_bound,
    }
