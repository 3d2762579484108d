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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import (
    Evidence,
    Hypothesis,
    Kind,
    Runs,
    at_least,
    at_most,
    claim,
    less_than,
    more_than,
    separable,
)
from widenet.claims.sides import Conjunct, Fact, Rate, Sense, Sides, evidence
from widenet.claims.statistics import matches_rate
from widenet.papers.brutzkus2018.claims.relu_width import OFF_THE_LAW
from widenet.papers.brutzkus2018.formulas import narrow_width
from widenet.papers.brutzkus2018.runs.bad_minima import as_start
from widenet.papers.brutzkus2018.runs.biased import lift
from widenet.papers.brutzkus2018.runs.exact_sgd import ExactEnd, fractions, relu_on_basis
from widenet.papers.brutzkus2018.runs.flat_balls import try_ball
from widenet.papers.brutzkus2018.runs.point_sets import PointSet, antipodal_pair, antipodal_set, separable_set
from widenet.papers.brutzkus2018.runs.update_counts import exact_starts
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class BiasedRuns:
    """ReLU runs on (e_1, 1), …, (e_d, 1), in fractions.

    Attributes:
      starts: W_0 of each run, (2k, d + 1); the last column holds the biases.
      ends: where each run got to.
      entry_bound, step_size: C and η.
      delta: δ.
    """

    starts: np.ndarray
    ends: tuple[ExactEnd, ...]
    entry_bound: Fraction
    step_size: Fraction
    delta: float = 0.5

    @property
    def dim(self) -> int:
        """d."""
        return self.starts.shape[2] - 1

    @property
    def half_width(self) -> int:
        """k."""
        return self.starts.shape[1] // 2

    @property
    def solved(self) -> Bool[np.ndarray, " run"]:
        """Which runs end with loss 0."""
        return np.array([end.solved for end in self.ends])

    @property
    def ended(self) -> Bool[np.ndarray, " run"]:
        """Which runs end."""
        return np.array([end.ended for end in self.ends])

    @property
    def all_off(self) -> Bool[np.ndarray, " run"]:
        """In which runs every +1 neuron starts off at every point."""
        return np.array([end.stuck[0].all() for end in self.ends])

    def changes(self, entering: bool) -> Int[np.ndarray, " run"]:
        """After how many updates a point is new in K, or gone from it."""
        pairs = [(end.stuck[:-1], end.stuck[1:]) for end in self.ends]
        return np.array([((old < new) if entering else (old > new)).any(axis=1).sum() for old, new in pairs])


def train_biased_relu(starts: np.ndarray, entry_bound: Fraction, step_size: Fraction, delta: float = 0.5) -> BiasedRuns:
    """Train from each of these W_0."""
    problem = relu_on_basis(starts.shape[2] - 1, starts.shape[1] // 2, biased=True)
    ends = tuple(problem.train(start, step_size) for start in starts)
    return BiasedRuns(starts, ends, entry_bound, step_size, delta)


def one_escape(scale: Scale, seed: int) -> list[BiasedRuns]:
    """d = 2, k = 1, η = 1: w = (−1/10, 1/2) and u = (−1, −1), biases 0."""
    start = fractions([[["-1/10", "1/2", 0], [-1, -1, 0]]])
    return [train_biased_relu(start, Fraction(1), Fraction(1))]


def small_starts(scale: Scale, seed: int) -> list[BiasedRuns]:
    """Few points and neurons, steps small and large."""
    count = 10 if scale is Scale.QUICK else 100
    return [
        *one_escape(scale, seed),
        *(
            train_biased_relu(exact_starts(seed + half, (count, 2 * half, dim + 1), Fraction(1)), Fraction(1), step)
            for dim, half, step in ((3, 1, Fraction(1, 4)), (4, 2, Fraction(1, 3)), (3, 2, Fraction(2)))
        ),
    ]


def starts_below_one(scale: Scale, seed: int) -> list[BiasedRuns]:
    """C = 1/5 and η = 1/2: N < 1 at the start, and one update switches a neuron on everywhere."""
    count = 100 if scale is Scale.QUICK else 400
    bound, step = Fraction(1, 5), Fraction(1, 2)
    shapes = ((2, 1), (3, 2), (5, 1))
    return [
        train_biased_relu(exact_starts(3 * seed + index, (count, 2 * half, dim + 1), bound), bound, step)
        for index, (dim, half) in enumerate(shapes)
    ]


def narrow_starts(scale: Scale, seed: int) -> list[BiasedRuns]:
    """d = 20, k = 2, δ = 0.05: k ≤ log2(20/ln 20) = 2.739."""
    count = 20 if scale is Scale.QUICK else 200
    bound, step = Fraction(1, 5), Fraction(1, 2)
    return [train_biased_relu(exact_starts(seed, (count, 4, 21), bound), bound, step, 0.05)]


def hypotheses(runs: Sequence[BiasedRuns]) -> list[Hypothesis]:
    """Section 7.2 with biases, each part at the run nearest to breaking it."""
    problems = list({id(end.problem): end.problem for each in runs for end in each.ends}.values())
    points = [problem.inputs[:, :-1] for problem in problems]
    constant = max(abs(entry - 1) for problem in problems for entry in problem.inputs[:, -1])
    gram = max(problem.gram_error(each) for problem, each in zip(problems, points, strict=True))
    excess = max(np.abs(each.starts).max() - each.entry_bound for each in runs)
    return [
        at_most("orthonormal", "orthonormal points: largest entry of XXᵀ − I", float(gram), 0),
        at_most("constant_coordinate", "extra coordinate 1: largest distance from it", float(constant), 0),
        at_most("relu", "ReLU: slope for z < 0", float(max(problem.slope for problem in problems)), 0),
        at_most(
            "unit_output_weights",
            "output weights ±1: |v − 1|",
            float(max(problem.weight_error for problem in problems)),
            0,
        ),
        at_least(
            "plus_labels",
            "every label is +1: smallest label",
            float(min(problem.labels.min() for problem in problems)),
            1,
        ),
        at_most("entry_bound", "largest |entry of W_0| − C", float(excess), 0),
        more_than("step_size", "smallest step size η", float(min(each.step_size for each in runs)), 0),
    ]


@claim(
    "brutzkus2018.footnote_4_lemma_12",
    Kind.STEP,
    "footnote 4, Section 2, for Lemma 12, Section 9.3.2",
    draws=small_starts,
)
def footnote_4_lemma_12(runs: Sequence[BiasedRuns], *, may_leave: bool = True) -> Evidence:
    """ReLU with first-layer biases and ±1 output weights, on e_1, …, e_d labelled +1: the set K_t of points at which
    every neuron with output weight +1 is off can only shrink, K_{t+1} ⊆ K_t. Points may leave it.

    In fractions. `may_leave` is False for the statement as printed.
    """
    moved = np.concatenate([[end.updates.any() for end in each.ends] for each in runs])
    entered, left = (np.concatenate([each.changes(entering) for each in runs]) for entering in (True, False))
    parts: dict[str, Conjunct] = {
        "no point enters K": Sides(entered, 0.0, scored=moved, quantity="updates after which a point is new in K")
    }
    if not may_leave:
        parts["no point leaves K"] = Sides(left, 0.0, scored=moved, quantity="updates after which a point of K is gone")
    return evidence(
        parts,
        hypotheses(runs),
        details={"arithmetic": "fractions", "runs_in_which_a_point_leaves_K": int((left > 0).sum())},
    )


footnote_4_lemma_12_as_printed = footnote_4_lemma_12.variant(
    "footnote_4_lemma_12_as_printed",
    where="footnote 4, Section 2, for Lemma 12, Section 9.3.2",
    statement=(
        "The results hold with first-layer biases, so by Lemma 12 K_{t+1} = K_t. Counterexample: d = 2, k = 1, η = 1, "
        "biases 0, w = (−1/10, 1/2), u = (−1, −1). K_0 = {e_1}. The update on e_2, where N = 1/2, gives w = (−1/10, "
        "3/2) with bias 1, so ⟨w, e_1⟩ + b = 9/10 > 0: e_1 has left K, and one update later the loss is 0."
    ),
    draws=one_escape,
    may_leave=False,
)


@claim(
    "brutzkus2018.footnote_4_theorem_9",
    Kind.STEP,
    "derived; footnote 4, Section 2, for Theorem 9, Section 7.2",
    draws=starts_below_one,
)
def footnote_4_theorem_9(
    runs: Sequence[BiasedRuns], *, law: Callable[[int, int], float] = lambda dim, half: (dim + 1.0) ** -half
) -> Evidence:
    """ReLU with first-layer biases on e_1, …, e_d labelled +1, the entries of W_0 and the biases independent with one
    continuous symmetric law on [−C, C], 2kC < 1, η > 2C: SGD ends at a positive loss iff every neuron with output
    weight +1 starts off at every point. The probability is (d + 1)^{−k}.

    In fractions. The module has the proof.
    """
    stuck, ended, off = (
        np.concatenate([getattr(each, name) for each in runs]) for name in ("solved", "ended", "all_off")
    )
    stuck = ~stuck
    rows = [_tally(each, law) for each in runs]
    return evidence(
        {
            "the share of starts that are stuck is that of the law": Sides(
                [row["p_value"] for row in rows],
                OFF_THE_LAW,
                Sense.AT_LEAST,
                quantity="p-value of the count under (d + 1)^{−k}",
            ),
            "a positive loss if every +1 neuron is off everywhere": Fact(stuck, undecided=~ended, scored=off),
            "loss 0 if some +1 neuron is on somewhere": Fact(~stuck, undecided=~ended, scored=~off),
        },
        [
            *hypotheses(runs),
            more_than(
                "continuous_start",
                "continuous start: smallest |⟨w, x⟩ + b| of a +1 neuron",
                float(min(_smallest(each) for each in runs)),
                0,
            ),
            less_than("small_start", "largest 2kC", float(max(2 * r.half_width * r.entry_bound for r in runs)), 1),
            more_than("large_step", "smallest η − 2C", float(min(r.step_size - 2 * r.entry_bound for r in runs)), 0),
        ],
        runs=Runs(tried=len(off), unfinished=int((~ended).sum())),
        details={"arithmetic": "fractions", "cases": rows},
    )


def _smallest(runs: BiasedRuns) -> Fraction:
    plus = runs.starts[:, : runs.half_width]
    return np.abs(plus @ runs.ends[0].problem.inputs.T).min()


def _tally(runs: BiasedRuns, law: Callable[[int, int], float]) -> dict[str, Any]:
    count, chance = int(runs.all_off.sum()), law(runs.dim, runs.half_width)
    return {
        "dim": runs.dim,
        "half_width": runs.half_width,
        "starts": len(runs.ends),
        "all_off": count,
        "expected_share": chance,
        "p_value": matches_rate(count, len(runs.ends), chance),
    }


@claim(
    "brutzkus2018.footnote_4_theorem_9_as_printed",
    Kind.STEP,
    "footnote 4, Section 2, for Theorem 9, first part, Section 7.2",
    draws=narrow_starts,
)
def footnote_4_theorem_9_as_printed(runs: Sequence[BiasedRuns]) -> Evidence:
    """The results hold with first-layer biases, so by Theorem 9, if k ≤ log2(d/ln(1/δ)), SGD ends at a non-global point
    with probability at least 1 − δ. Counterexample: d = 20, k = 2, δ = 0.05, entries of W_0 and biases independent and
    uniform on [−1/5, 1/5], η = 1/2. SGD gets stuck only when both +1 neurons start off at all 20 points, with
    probability 21^{−2} = 1/441, and 0.95 is promised.

    In fractions.
    """
    excess = max(each.half_width - narrow_width(each.dim, each.delta) for each in runs)
    solved = sum(int(each.solved.sum()) for each in runs)
    total = sum(len(each.ends) for each in runs)
    return evidence(
        {
            f"at most a share δ of the runs reach loss 0 (d = {each.dim}, k = {each.half_width})": Rate(
                each.solved, each.delta, undecided=~each.ended, quantity="share of runs that reach loss 0"
            )
            for each in runs
        },
        [*hypotheses(runs), at_most("width", "largest k − log2(d/ln(1/δ))", excess, 0)],
        details={"arithmetic": "fractions", "promised_share": [1 - each.delta for each in runs]},
        note=f"{solved} of {total} runs reach loss 0.",
    )


@dataclass(frozen=True)
class AllOff:
    """The network with all weights 0 and all biases −1, on one set.

    Attributes:
      smallest_margin: min y⟨w*, x⟩ of the set.
      slope: of the activation for z < 0.
      level, gradient: the loss, and the largest entry of its gradient.
      radius, changed: of the ball, and in how many directions the loss is another one just inside.
    """

    smallest_margin: float
    slope: float
    level: float
    gradient: float
    radius: float
    changed: int


def switch_all_off(points: PointSet, half_width: int, draw: np.random.Generator) -> AllOff:
    """Evaluate the network and the ball around it."""
    lifted = PointSet(lift(points.inputs, 1.0), points.labels, np.append(points.separator, 0.0))
    start = as_start(lifted, half_width)
    weights: Float[np.ndarray, "neuron lifted"] = np.zeros((2 * half_width, lifted.inputs.shape[1]))
    weights[:, -1] = -1.0
    ball = try_ball(start, weights, draw, perturbations=100)
    return AllOff(
        points.smallest_margin,
        start.slope,
        float(start.loss(weights[None])[0]),
        float(np.abs(start.gradient(weights[None])).max()),
        ball.radius,
        ball.changed,
    )


def sets_with_biases(scale: Scale, seed: int) -> list[AllOff]:
    """The pair on which Theorem 8 fails without biases, other direction-antipodal sets, and sets in general."""
    draw = np.random.default_rng([seed, 81])
    count = 5 if scale is Scale.QUICK else 50
    antipodal = [antipodal_set(draw, pairs, dim) for pairs, dim in ((1, 1), (3, 2), (10, 5))]
    general = [separable_set(draw, int(draw.integers(1, 51)), int(draw.integers(2, 11))) for _ in range(count)]
    return [switch_all_off(each, int(draw.integers(1, 6)), draw) for each in (antipodal_pair(), *antipodal, *general)]


@claim(
    "brutzkus2018.footnote_4_theorem_8",
    Kind.STEP,
    "footnote 4, Section 2, for Theorem 8, Section 7.1",
    draws=sets_with_biases,
)
def footnote_4_theorem_8(sets: Sequence[AllOff]) -> Evidence:
    """With first-layer biases Theorem 8 is true as printed: for every finite separable S the ReLU loss with ±1 output
    weights has a local minimum with L_S > ½. All weights 0 and all biases −1 switch every neuron off on all of S: the
    loss is 1 there and in a ball.
    """
    level, gradient, radius, changed = (
        np.array([getattr(each, name) for each in sets]) for name in ("level", "gradient", "radius", "changed")
    )
    return evidence(
        {
            "a loss above ½": Sides(level, 0.5, Sense.AT_LEAST, strict=True, quantity="training loss"),
            "gradient 0": Sides(gradient, 0.0, quantity="largest |entry| of the gradient"),
            "a ball around W": Sides(radius, 0.0, Sense.AT_LEAST, strict=True, quantity="its radius"),
            "the loss is constant in the ball": Fact(changed == 0),
        },
        [
            separable(each.smallest_margin for each in sets),
            at_most("relu", "ReLU: slope for z < 0", max(each.slope for each in sets), 0),
        ],
    )
