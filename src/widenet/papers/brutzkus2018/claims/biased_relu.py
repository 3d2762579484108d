"""Footnote 4 for Section 7: what first-layer biases do to the ReLU results.

The footnote says that all results hold with biases, by a further coordinate with the value 1. The lifted points
(e_j, 1) are not orthogonal: an update on one of them raises the bias of a neuron, and with it the pre-activation of
that neuron everywhere. So points leave the set K of Lemma 12, and the first half of Theorem 9 fails.

How badly, exactly: let the entries of W_0, biases among them, be independent with one continuous symmetric law on
[−C, C], 2kC < 1 and η > 2C. At the start N ≤ 2kC < 1 everywhere. If some +1 neuron is on at some point, that point
stays active until an update on a point at which a +1 neuron is on: until then +1 neurons rest and −1 neurons only fall.
That update raises a neuron by η > 2C at every point, so it is on everywhere, K is empty for good, and every later
update adds η or more to N at every point: the loss reaches 0. If no +1 neuron is on anywhere, none ever moves, and
N ≤ 0 for ever. A neuron is off at all points when −b is the largest of d + 1 numbers with one law, w_1, …, w_d and −b,
so SGD gets stuck with probability (d + 1)^{−k}. Theorem 9 promises 1 − δ and more.

Theorem 8, on the other hand, gains: with all weights 0 and all biases −1 every neuron is off on all of S, and the loss
is 1 in a ball. Without biases two opposite points cannot both be behind a hyperplane through 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Count, Number, column, derived
from widenet.claims.given import separable, step_size
from widenet.claims.implication import Promise, Promised, at_least, at_most, hypothesis, less_than, more_than
from widenet.claims.rates import Conjunct, Rate
from widenet.claims.sides import Fact, Sides
from widenet.claims.statistics import matches_rate
from widenet.papers.brutzkus2018.claims.relu_width import OFF_THE_LAW
from widenet.papers.brutzkus2018.formulas import narrow_width
from widenet.papers.brutzkus2018.hypotheses import entry_bound, plus_labels, relu, unit_output_weights
from widenet.papers.brutzkus2018.runs.biased_relu import (
    AllOff,
    BiasedStarts,
    narrow_starts,
    one_escape,
    sets_with_biases,
    small_starts,
    starts_below_one,
)
from widenet.papers.brutzkus2018.runs.exact_sgd import ExactProblem
from widenet.records import Form

Flags = Bool[np.ndarray, " run"]
Counts = Int[np.ndarray, " run"]


class BiasedRuns(BiasedStarts):
    """The same, with what is measured of them."""

    dim: Count = derived(lambda runs: runs.starts.shape[2] - 1)  #: d
    half_width: Count = derived(lambda runs: runs.starts.shape[1] // 2)  #: k
    solved: Flags = derived(lambda runs: np.array([end.solved for end in runs.ends]))
    ended: Flags = derived(lambda runs: np.array([end.ended for end in runs.ends]))
    unfinished: Flags = derived(lambda runs: ~runs.ended)
    #: whether every +1 neuron starts off at every point
    all_off: Flags = derived(lambda runs: np.array([end.stuck[0].all() for end in runs.ends]))
    words: str = derived(lambda runs: f"d = {runs.dim}, k = {runs.half_width}")
    moved: Flags = derived(lambda runs: np.array([end.updates.any() for end in runs.ends]))
    #: after how many updates a point is new in K, or gone from it
    entered: Counts = derived(lambda runs: _changes(runs, entering=True))
    left: Counts = derived(lambda runs: _changes(runs, entering=False))
    slope: Number = derived(lambda runs: float(max(each.slope for each in _problems(runs))))
    weight_error: Number = derived(lambda runs: float(max(each.weight_error for each in _problems(runs))))
    smallest_label: Number = derived(lambda runs: float(min(each.labels.min() for each in _problems(runs))))
    excess: Number = derived(lambda runs: float(np.abs(runs.starts).max() - runs.entry_bound))
    size: Number = derived(lambda runs: float(2 * runs.half_width * runs.entry_bound))  #: 2kC
    step_beyond: Number = derived(lambda runs: float(runs.step_size - 2 * runs.entry_bound))  #: η − 2C
    #: k − log2(d/ln(1/δ))
    excess_of_narrow: Number = derived(lambda runs: runs.half_width - narrow_width(runs.dim, runs.delta))

    @column
    def gram_error(self) -> Number:
        """The largest entry of XXᵀ − I, without the extra coordinate."""
        return float(max(each.gram_error(each.inputs[:, :-1]) for each in _problems(self)))

    @column
    def constant_error(self) -> Number:
        """The largest distance of the extra coordinate from 1."""
        return float(max(np.abs(each.inputs[:, -1] - 1).max() for each in _problems(self)))

    @column
    def smallest_start(self) -> Number:
        """The smallest |⟨w, x⟩ + b| of a +1 neuron at the start."""
        plus = self.starts[:, : self.half_width]
        return float(np.abs(plus @ self.ends[0].problem.inputs.T).min())


def _problems(runs: BiasedStarts) -> list[ExactProblem]:
    return list({id(end.problem): end.problem for end in runs.ends}.values())


def _changes(runs: BiasedStarts, entering: bool) -> np.ndarray:
    pairs = [(end.stuck[:-1], end.stuck[1:]) for end in runs.ends]
    return np.array([((old < new) if entering else (old > new)).any(axis=1).sum() for old, new in pairs])


@hypothesis("orthonormal points: entry of $XXᵀ − I$")
def orthonormal(runs: BiasedRuns) -> Sides:
    """XXᵀ = I, in fractions."""
    return at_most(runs.gram_error, 0)


@hypothesis("extra coordinate 1: distance from it")
def constant_coordinate(runs: BiasedRuns) -> Sides:
    """The inputs are (x, 1)."""
    return at_most(runs.constant_error, 0)


@hypothesis("continuous start: $|⟨w, x⟩ + b|$ of a $+1$ neuron")
def continuous_start(runs: BiasedRuns) -> Sides:
    """No +1 neuron starts at its kink."""
    return more_than(runs.smallest_start, 0)


@hypothesis("$2kC$")
def small_start(runs: BiasedRuns) -> Sides:
    """2kC < 1."""
    return less_than(runs.size, 1)


@hypothesis("$η − 2C$")
def large_step(runs: BiasedRuns) -> Sides:
    """η > 2C."""
    return more_than(runs.step_beyond, 0)


@hypothesis("$k − log2(d/ln(1/δ))$")
def width(runs: BiasedRuns) -> Sides:
    """k ≤ log2(d/ln(1/δ))."""
    return at_most(runs.excess_of_narrow, 0)


WITH_BIASES = (orthonormal, constant_coordinate, relu, unit_output_weights, plus_labels, entry_bound, step_size)
"""Section 7.2 with biases."""


@claim(
    "brutzkus2018.footnote_4_lemma_12",
    Kind.STEP,
    "footnote 4, Section 2, for Lemma 12, Section 9.3.2",
    draws=small_starts,
    given=WITH_BIASES,
    form=Form.REPAIR,
    title="With biases, the set of stuck points can only shrink",
)
def footnote_4_lemma_12(runs: BiasedRuns, *, may_leave: bool = True) -> Promise:
    """ReLU with first-layer biases and output weights $±1$, on $e_1, …, e_d$ labelled $+1$: the set $K_t$ of points at
    which every neuron with output weight $+1$ is off can only shrink, $K_{t+1} ⊆ K_t$. Points may leave it.

    In fractions.

    In code: `may_leave` is False for the statement as printed.
    """
    moved = {"where": runs.moved, "event": "runs with updates"}
    new, gone = "updates after which a point is new in K", "updates after which a point of K is gone"
    parts: dict[str, Conjunct] = {
        "entering": at_most(runs.entered, 0.0, text="no point enters $K$", quantity=new, **moved)
    }
    if not may_leave:
        parts["leaving"] = at_most(runs.left, 0.0, text="no point leaves $K$", quantity=gone, **moved)
    return Promise(
        parts,
        details=lambda: {"arithmetic": "fractions", "runs_in_which_a_point_leaves_K": (runs.left > 0).sum()},
    )


footnote_4_lemma_12_as_printed = footnote_4_lemma_12.variant(
    "footnote_4_lemma_12_as_printed",
    title="With biases, updates never change the stuck points",
    where="footnote 4, Section 2, for Lemma 12, Section 9.3.2",
    statement=(
        "The results hold with first-layer biases, so by Lemma 12 $K_{t+1} = K_t$. Counterexample: $d = 2$, $k = 1$, "
        "$η = 1$, biases $0$, $w = (−1/10, 1/2)$, $u = (−1, −1)$. $K_0 = {e_1}$. The update on $e_2$, where $N = "
        "1/2$, gives $w = (−1/10, 3/2)$ with bias $1$, so $⟨w, e_1⟩ + b = 9/10 > 0$: $e_1$ has left $K$, and one "
        "update later the loss is $0$."
    ),
    draws=one_escape,
    may_leave=False,
)


@claim(
    "brutzkus2018.footnote_4_theorem_9",
    Kind.STEP,
    "derived; footnote 4, Section 2, for Theorem 9, Section 7.2",
    draws=starts_below_one,
    given=[*WITH_BIASES, continuous_start, small_start, large_step],
    form=Form.REPAIR,
    title="With biases, SGD gets stuck with chance $(d + 1)^{−k}$",
)
def footnote_4_theorem_9(
    runs: BiasedRuns, *, law: Callable[[int, int], float] = lambda dim, half: (dim + 1.0) ** -half
) -> Promise:
    """ReLU with first-layer biases on $e_1, …, e_d$ labelled $+1$. The entries of $W_0$ and the biases are independent
    with one continuous symmetric law on $[−C, C]$, $2kC < 1$ and $η > 2C$. SGD ends at a positive loss if and only if
    every neuron with output weight $+1$ starts off at every point, which has probability $(d + 1)^{−k}$.

    In fractions. The module has the proof.
    """
    tallies = runs.per("cell").map(lambda each: _tally(each, law), object)
    off = {"where": runs.all_off, "event": "runs with every +1 neuron off everywhere"}
    on = {"where": ~runs.all_off, "event": "the other runs"}
    return Promise(
        {
            "law": at_least(
                np.array([tally["p_value"] for tally in tallies]),
                OFF_THE_LAW,
                text="the share of starts that are stuck is that of the law",
                quantity="p-value of the count under (d + 1)^{−k}",
            ),
            "stuck": Fact(
                ~runs.solved,
                undecided=runs.unfinished,
                text="a positive loss if every $+1$ neuron is off everywhere",
                **off,
            ),
            "solved": Fact(
                runs.solved, undecided=runs.unfinished, text="loss 0 if some $+1$ neuron is on somewhere", **on
            ),
        },
        details=lambda: {"arithmetic": "fractions", "cases": tallies.tolist()},
    )


def _tally(runs: BiasedRuns, law: Callable[[int, int], float]) -> dict[str, Any]:
    count, chance = int(runs.all_off.sum()), law(int(runs.dim), int(runs.half_width))
    return {
        "dim": runs.dim,
        "half_width": runs.half_width,
        "starts": len(runs),
        "all_off": count,
        "expected_share": chance,
        "p_value": matches_rate(count, len(runs), chance),
    }


@claim(
    "brutzkus2018.footnote_4_theorem_9_as_printed",
    Kind.STEP,
    "footnote 4, Section 2, for Theorem 9, first part, Section 7.2",
    draws=narrow_starts,
    given=[*WITH_BIASES, width],
    title="With biases too, a narrow ReLU network gets stuck",
)
def footnote_4_theorem_9_as_printed(runs: BiasedRuns) -> Promise:
    """The results hold with first-layer biases, so by Theorem 9, if $k ≤ log2(d/ln(1/δ))$, SGD ends at a non-global
    point with probability at least $1 − δ$. Counterexample: $d = 20$, $k = 2$, $δ = 0.05$, entries of $W_0$ and biases
    independent and uniform on $[−1/5, 1/5]$, $η = 1/2$. SGD gets stuck only when both neurons with output weight $+1$
    start off at all $20$ points, with probability $21^{−2} = 1/441$, and $0.95$ is promised.

    In fractions.
    """
    shapes = "; ".join(runs.per("cell").words)
    rarely = Rate(
        runs.solved,
        runs.delta,
        undecided=runs.unfinished,
        setting=runs.cell,
        text="at most a share $δ$ of the runs reach loss 0" + (f" ({shapes})" if shapes else ""),
        quantity="share of runs that reach loss 0",
    )
    return Promise(
        {"rarely_solved": rarely},
        details=lambda: {"arithmetic": "fractions", "promised_share": 1 - runs.per("cell").delta},
        note=f"{runs.solved.sum()} of {len(runs)} runs reach loss 0.",
    )


@claim(
    "brutzkus2018.footnote_4_theorem_8",
    Kind.STEP,
    "footnote 4, Section 2, for Theorem 8, Section 7.1",
    draws=sets_with_biases,
    given=[separable, relu],
    title="With biases, ReLU always has minima with loss above $½$",
)
def footnote_4_theorem_8(sets: AllOff) -> Promised:
    """With first-layer biases Theorem 8 is true as printed: for every finite separable $S$ the ReLU loss with output
    weights $±1$ has a local minimum with $L_S > ½$. With all weights $0$ and all biases $−1$ every neuron is off on all
    of $S$, so the loss is $1$ there and in a ball around it.
    """
    return {
        "level": more_than(sets.level, 0.5, text="a loss above $½$", quantity="training loss"),
        "gradient": at_most(sets.gradient, 0.0, text="gradient 0", quantity="largest |entry| of the gradient"),
        "ball": more_than(sets.radius, 0.0, text="a ball around $W$", quantity="its radius"),
        "constant": at_most(sets.changed, 0, text="the loss is constant in the ball"),
    }
