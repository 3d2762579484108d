"""Section 6.1: the trained network is a function of its start and of the few points that made updates."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from widenet.claims.base import (
    Evidence,
    Hypothesis,
    Kind,
    Runs,
    Silence,
    at_least,
    at_most,
    claim,
    less_than,
    more_than,
    separable,
)
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.claims.specimens import silence_over_labels
from widenet.papers.brutzkus2018.runs.exact_sgd import ExactEnd, ExactProblem, fractions
from widenet.papers.brutzkus2018.runs.learning import LearningRule, LearningRuns, LearningSetting, learning_runs
from widenet.papers.brutzkus2018.runs.sample_sets import OwnSamples
from widenet.records import Scale


def setting_of_the_paper(cells: Sequence[LearningRuns]) -> tuple[Hypothesis, ...]:
    """Separable points of the unit ball under Eq. 6; each at the case nearest to breaking it."""
    slopes = [runs.rule.slope for runs in cells]
    return (
        separable(runs.smallest_margin for runs in cells),
        at_most(
            "input_norm", "largest input norm ‖x‖", max(runs.largest_norm for runs in cells), 1, tolerance=ROUNDING
        ),
        more_than("slope_positive", "smallest Leaky slope α", min(slopes), 0),
        less_than("slope_below_one", "largest Leaky slope α", max(slopes), 1),
        more_than("step_size", "smallest step size η", min(runs.rule.step_size for runs in cells), 0),
        at_most(
            "row_norm",
            "Eq. 6: largest initial row norm / R, R = 1/√(2k)",
            max(runs.relative_row for runs in cells),
            1,
            tolerance=ROUNDING,
        ),
        at_most(
            "normalized_output",
            "Eq. 6: v against 1/√(2k): relative difference",
            max(runs.output_error for runs in cells),
            0,
            tolerance=ROUNDING,
        ),
    )


LABELLED = (
    "The points come with their labels. The paper prints B_{W_0} as a function of points alone, which is false: see "
    "compression_replay_as_printed."
)


def _loss_zero(losses: np.ndarray) -> Hypothesis:
    return at_most("loss_zero", "largest training loss at the end", losses.max(), 0)


@claim("brutzkus2018.compression_replay", Kind.IDENTITY, "Section 6.1", reads=learning_runs)
def compression_replay(cells: Sequence[LearningRuns]) -> Evidence:
    """The trained weights are a function of W_0 and of at most c_k = ⌊M_k⌋ labelled points: replaying only the
    points that made updates, in their order and padded to c_k with any others, gives exactly the same network.
    """
    updates, losses = (np.concatenate([getattr(runs, name) for runs in cells]) for name in ("updates", "loss"))
    sizes = np.concatenate([np.full(len(runs.updates), runs.compression_size) for runs in cells])
    same = np.concatenate([runs.same_replay for runs in cells])
    distinct = np.concatenate([runs.distinct for runs in cells])
    untested = not updates.any()
    return evidence(
        {
            "at most ⌊M_k⌋ compression points": Sides(
                updates,
                sizes,
                Sense.AT_MOST,
                scored=sizes != 0,
                quantity="compression points (updates, repetitions counted) in the tightest run, against ⌊M_k⌋",
            ),
            # At a positive loss padding may make updates of its own: the statement is about the end of training.
            "their replay gives the same network": Fact(same, undecided=untested | (losses > 0)),
        },
        (*setting_of_the_paper(cells), _loss_zero(losses)),
        runs=Runs(tried=len(updates), unfinished=int((losses > 0).sum())),
        details={
            "distinct_points": [int(distinct.min()), int(distinct.max())],
            "updates": [int(updates.min()), int(updates.max())],
        },
        note=LABELLED
        if (same | (losses > 0)).all()
        else f"{int((~same).sum())} of {len(same)} replays ended elsewhere.",
    )


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Two samples of one point each, in one dimension, and where SGD gets to from one W_0, in fractions.

    `separators` are the w* of both.
    """

    first: ExactEnd
    second: ExactEnd
    separators: tuple[Fraction, Fraction]
    step_size: Fraction

    @property
    def ends(self) -> tuple[ExactEnd, ExactEnd]:
        """Both runs."""
        return self.first, self.second

    @property
    def same_points(self) -> bool:
        """Whether the points that made updates are the same, labels aside."""
        listed = [np.repeat(end.problem.inputs, end.updates, axis=0).tolist() for end in self.ends]
        return listed[0] == listed[1]

    @property
    def difference(self) -> Fraction:
        """The largest difference of the two outputs on the points."""
        return max(abs(self.first.outputs - self.second.problem.outputs(self.second.weights)))

    @property
    def smallest_margin(self) -> Fraction:
        """min y⟨w*, x⟩ over both samples."""
        pairs = zip(self.ends, self.separators, strict=True)
        return min(min(end.problem.labels * end.problem.inputs[:, 0] * w) for end, w in pairs)


def opposite_labels(scale: Scale, seed: int) -> list[TwoSamples]:
    """S = {(1, +1)} and S' = {(1, −1)}, k = v = 1, α = 1/2, η = 1, W_0 = 0."""
    return [two_samples(1, -1)]


def two_samples(first: int, second: int) -> TwoSamples:
    """The point 1 with these labels."""
    half = Fraction(1, 2)
    ends = [
        ExactProblem(fractions([[1]]), fractions([label]), fractions([1, -1]), half, Fraction(1)).train(
            fractions([[0], [0]]), Fraction(1)
        )
        for label in (first, second)
    ]
    return TwoSamples(ends[0], ends[1], (Fraction(first), Fraction(second)), Fraction(1))


@claim("brutzkus2018.compression_replay_as_printed", Kind.IDENTITY, "Section 6.1", draws=opposite_labels)
def compression_replay_as_printed(pairs: Sequence[TwoSamples]) -> Evidence:
    """SGD_k(S, W_0) = B_{W_0}(x_{i_1}, …, x_{i_c}) for a function B_{W_0}: X^c → H_k of the points that made updates,
    without their labels. Counterexample: S = {(1, +1)} and S' = {(1, −1)} with k = v = 1, α = 1/2, η = 1, W_0 = 0. Both
    runs make one update, on the point 1, and end with N(1) = 3/2 and N(1) = −3/2: no function of the point gives both.

    In fractions.
    """
    problems = [end.problem for pair in pairs for end in pair.ends]
    slopes = [float(problem.slope) for problem in problems]
    losses = np.array([0.0 if end.solved else 1.0 for pair in pairs for end in pair.ends])
    return evidence(
        {
            "one network for one list of points": Sides(
                [float(pair.difference) for pair in pairs],
                0.0,
                Sense.EQUAL,
                exact=[pair.difference == 0 for pair in pairs],
                quantity="difference of N(x) between the two networks",
            )
        },
        (
            at_least("separable", "separable: smallest y⟨w*, x⟩", float(min(p.smallest_margin for p in pairs)), 1),
            at_most("input_norm", "largest input norm ‖x‖", float(max(abs(p.inputs).max() for p in problems)), 1),
            more_than("slope_positive", "smallest Leaky slope α", min(slopes), 0),
            less_than("slope_below_one", "largest Leaky slope α", max(slopes), 1),
            more_than("step_size", "smallest step size η", float(min(pair.step_size for pair in pairs)), 0),
            at_most(
                "same_points", "pairs of samples updated on different points", sum(not p.same_points for p in pairs), 0
            ),
            _loss_zero(losses),
        ),
        details={"arithmetic": "fractions"},
    )


@claim("brutzkus2018.section_6_1_unused_points", Kind.STEP, "Section 6.1, before Theorem 6", reads=learning_runs)
def section_6_1_unused_points(cells: Sequence[LearningRuns]) -> Evidence:
    """At a global minimum of the training loss L_V = 0: no point that made no update is misclassified."""
    errors, losses, left = (
        np.concatenate([getattr(runs, name) for runs in cells]) for name in ("unused_error", "loss", "n_unused")
    )
    sides = Sides(
        errors,
        0.0,
        Sense.EQUAL,
        scored=left != 0,
        quantity="largest 0-1 error L_V on the points that made no update",
    )
    hypotheses = (
        *setting_of_the_paper(cells),
        _loss_zero(losses),
        at_least("unused_points", "fewest points outside the compression set", left.min(), 1),
    )
    return evidence(
        {"L_V = 0": sides},
        hypotheses,
        runs=Runs(tried=len(losses), unfinished=int((losses > 0).sum())),
        note="It is implied by loss 0, which is measured on the same points.",
    )


FEWEST_POINTS = 4


def rule_on(specimen: Specimen) -> LearningRule:
    """The rule with the reader's width, slope and step."""
    chosen = specimen.choices
    return LearningRule(half_width=chosen.n_neurons // 2, slope=chosen.slope, step_size=chosen.step_size)


def learning_on(specimen: Specimen, trials: int, *, replayed: bool) -> list[LearningSetting] | Silence:
    """Trials on halves of the reader's data, the rest split between the next trial and what is held out."""
    n_points = len(specimen.labels)
    if n_points < FEWEST_POINTS:
        return Silence(f"It needs at least {FEWEST_POINTS} points to split, and there are {n_points}.")
    if (reason := silence_over_labels(specimen)) is not None:
        return reason
    samples = OwnSamples(own_data=specimen.digest, trials=trials, n_samples=n_points // 2, seed=specimen.choices.seed)
    chosen = specimen.choices
    return [
        LearningSetting(
            samples=samples,
            rule=rule_on(specimen),
            seed=chosen.seed,
            replayed=replayed,
            most_updates=chosen.max_updates,
        )
    ]


@compression_replay.speaks
@section_6_1_unused_points.speaks
def replays_on(specimen: Specimen) -> list[LearningSetting] | Silence:
    """A few trials, replayed."""
    return learning_on(specimen, specimen.choices.n_runs or 3, replayed=True)
