"""Section 6.1: the trained network is a function of its start and of the few points that made updates."""

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.given import slope_below_one, slope_positive, step_size
from widenet.claims.implication import Promise, at_least, at_most, equal, hypothesis
from widenet.claims.sides import Fact, Sides
from widenet.papers.brutzkus2018.hypotheses import LEARNING, loss_zero
from widenet.papers.brutzkus2018.runs.learning import LearningRuns, learning_runs
from widenet.papers.brutzkus2018.runs.two_samples import TwoSamples, opposite_labels
from widenet.records import Form


class Replays(LearningRuns):
    """Runs that were replayed."""

    same: Bool[np.ndarray, " trial"] = derived(lambda runs: runs.same_replay)  #: whether the replay gives the same W
    unfinished: Bool[np.ndarray, " trial"] = derived(lambda runs: runs.loss > 0)  #: whether the loss is positive


LABELLED = (
    "The points come with their labels. The paper prints B_{W_0} as a function of points alone, which is false: see "
    "compression_replay_as_printed."
)


@claim(
    "brutzkus2018.compression_replay",
    Kind.IDENTITY,
    "Section 6.1",
    reads=learning_runs,
    given=[*LEARNING, loss_zero],
    form=Form.REPAIR,
    title="The updated points alone give the trained network",
)
def compression_replay(runs: Replays) -> Promise:
    """The trained weights are a function of $W_0$ and of at most $c_k = ⌊M_k⌋$ labelled points: replaying only the
    points that made updates, in their order and padded to $c_k$ with any others, gives exactly the same network.
    """
    untested = not runs.updates.any()
    return Promise(
        {
            "points": at_most(
                runs.updates,
                runs.compression_size,
                where=runs.compression_size != 0,
                event="runs with a bound",
                text="at most $⌊M_k⌋$ compression points",
                quantity="compression points (updates, repetitions counted) in the tightest run, against ⌊M_k⌋",
            ),
            # At a positive loss padding may make updates of its own: the statement is about the end of training.
            "replay": Fact(runs.same, undecided=untested | runs.unfinished, text="their replay gives the same network"),
        },
        details=lambda: {
            "distinct_points": [runs.distinct.min(), runs.distinct.max()],
            "updates": [runs.updates.min(), runs.updates.max()],
        },
        note=LABELLED
        if (runs.same | runs.unfinished).all()
        else f"{int((~runs.same).sum())} of {len(runs)} replays ended elsewhere.",
    )


@hypothesis("separable: $y⟨w*, x⟩$", key="separable")
def exactly_separable(pairs: TwoSamples) -> Sides:
    """y⟨w*, x⟩ ≥ 1, in fractions."""
    return at_least(pairs.smallest_margin, 1)


@hypothesis("input norm $‖x‖$", key="input_norm")
def exact_input_norm(pairs: TwoSamples) -> Sides:
    """‖x‖ ≤ 1, in fractions."""
    return at_most(pairs.largest_input, 1)


@hypothesis("pairs of samples updated on different points", extreme=False)
def same_points(pairs: TwoSamples) -> Sides:
    """Both runs are updated on the same list of points."""
    return at_most(1 - pairs.per("cell").same_points, 0)


@claim(
    "brutzkus2018.compression_replay_as_printed",
    Kind.IDENTITY,
    "Section 6.1",
    draws=opposite_labels,
    given=[exactly_separable, exact_input_norm, slope_positive, slope_below_one, step_size, same_points, loss_zero],
    title="The updated points, without labels, give the network",
)
def compression_replay_as_printed(pairs: TwoSamples) -> Promise:
    """From $S$ and $W_0$ SGD learns $B_{W_0}(x_{i_1}, …, x_{i_c})$ for a function $B_{W_0}: X^c → H_k$ of the points
    that made updates, without their labels. Counterexample: $S = {(1, +1)}$ and $S' = {(1, −1)}$ with $k = v = 1$, $α =
    1/2$, $η = 1$, $W_0 = 0$. Both runs make one update, on the point $1$, and end with $N(1) = 3/2$ and $N(1) = −3/2$:
    no function of the point gives both.

    In fractions.
    """
    pair = pairs.per("cell")
    words = "difference of N(x) between the two networks"
    text = "one network for one list of points"
    return Promise(
        {"one_network": equal(pair.difference, 0.0, exact=pair.is_same, text=text, quantity=words)},
        details={"arithmetic": "fractions"},
    )


@hypothesis("fewest points outside the compression set", extreme=False)
def unused_points(runs: LearningRuns) -> Sides:
    """Some point made no update."""
    return at_least(runs.n_unused, 1)


@claim(
    "brutzkus2018.section_6_1_unused_points",
    Kind.STEP,
    "Section 6.1, before Theorem 6",
    reads=learning_runs,
    given=[*LEARNING, loss_zero, unused_points],
    title="At loss 0, every point that made no update is right",
)
def section_6_1_unused_points(runs: Replays) -> Promise:
    """At a global minimum of the training loss $L_V = 0$: no point that made no update is misclassified."""
    right = equal(
        runs.unused_error,
        0.0,
        where=runs.n_unused != 0,
        event="runs with such points",
        text="$L_V = 0$",
        quantity="largest 0-1 error L_V on the points that made no update",
    )
    return Promise({"unused_right": right}, note="It is implied by loss 0, which is measured on the same points.")
