"""Paths of gradient flow, with what Section 6 says about them."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import derived, run_column
from widenet.diagnostics.agreement import agree, agreement_margin
from widenet.diagnostics.homogeneous_margins import log_total_loss, normalized_margin, smoothed_margin
from widenet.diagnostics.kkt import kkt_residuals, push_condition
from widenet.diagnostics.sign_clusters import (
    cluster_radius,
    cluster_ratio,
    mean_difference,
    uncovered_directions,
    widest_angle,
)
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.sarussi2021.claims.approach import Approach, towards_pattern, towards_program
from widenet.papers.sarussi2021.formulas import margin_threshold, sharp_factor
from widenet.papers.sarussi2021.hypotheses import SETTLED
from widenet.papers.sarussi2021.runs.flows import FlowRuns, Looks, PerRun
from widenet.papers.sarussi2021.sources import SignedNetwork, split

MONOTONE = 1e-7
"""What the tolerance of the solver may take from a margin, relative, or do to a direction of length 1."""
DIRECTIONS = 500
"""Directions in which a network is compared with a linear classifier; the same for every run of a dimension."""

Times = Float[np.ndarray, "run time"]
Stretches = Float[np.ndarray, "run stretch"]
"""From one look to the next."""


def over_norm(margin: Callable[..., np.ndarray], runs: FlowRuns) -> Times:
    """A margin of W/‖W‖; not a number where W = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return margin(runs.margins, runs.norms)


def of_run(function: Callable[[Any], Any]) -> Any:
    """A column that is written for one run, in one line."""
    return run_column(function)


def angle_to(learned: np.ndarray, line: np.ndarray) -> float:
    """In degrees; NaN where there is no line."""
    return float(widest_angle(np.stack([learned, line])))


def over_time(runs: FlowRuns, approaches: Iterable[Approach], name: str) -> Times:
    """What an approach has at its looks; NaN before."""
    values = np.full((len(runs), len(runs.readings)), np.nan)
    for row, each in zip(values, approaches, strict=True):
        row[each.looks] = getattr(each, name)
    return values


def followed(runs: FlowRuns, approaches: Iterable[Approach]) -> Bool[np.ndarray, "run time"]:
    """Its looks; the first look of a run that is not followed, where nothing is known."""
    chosen = np.zeros((len(runs), len(runs.readings)), bool)
    for row, each in zip(chosen, approaches, strict=True):
        row[each.looks if len(each.looks) else 0] = True
    return chosen


class Paths(FlowRuns):
    """Runs of gradient flow as claims see them. Most columns are written for one run."""

    smooth: Times = derived(lambda runs: over_norm(smoothed_margin, runs))  #: γ̃
    normalized: Times = derived(lambda runs: over_norm(normalized_margin, runs))  #: γ̄
    smallest: Times = derived(lambda runs: runs.margins.min(axis=2))  #: min y N(x)
    log_loss: Times = derived(lambda runs: log_total_loss(runs.margins))  #: log nL
    first_margin: Times = derived(lambda runs: runs.margins[:, :, 0])  #: y N(x) of the first point
    first_log_loss: Times = derived(lambda runs: log_total_loss(runs.margins[:, :, :1]))  #: log ℓ of it
    right_at_end: Bool[np.ndarray, " run"] = derived(lambda runs: runs.smallest[:, -1] > 0)  #: on every point

    reading_then: Stretches = derived(lambda runs: np.tile(runs.readings[:-1] * 1.0, (len(runs), 1)))
    norm_then: Stretches = derived(lambda runs: runs.norms[:, :-1])
    norm_next: Stretches = derived(lambda runs: runs.norms[:, 1:])
    smallest_then: Stretches = derived(lambda runs: runs.smallest[:, :-1])
    smooth_then: Stretches = derived(lambda runs: runs.smooth[:, :-1])
    smooth_next: Stretches = derived(lambda runs: runs.smooth[:, 1:])

    @run_column
    def disagrees(self) -> float:
        """1 where neurons of one sign do not agree on a point after the run has settled, 0 otherwise."""
        looks = self.later(SETTLED)
        both = agree(self.plus[looks], self.inputs).all() and agree(self.minus[looks], self.inputs).all()
        return 1.0 - bool(both)

    @run_column
    def beta(self) -> float:
        """β: the smallest agreement margin after the run has settled; 0 where it has not."""
        rows = self.weights[self.later(max(SETTLED, float(self.last_crossing)))]
        return float(agreement_margin(rows, self.inputs).min()) if len(rows) else 0.0

    relative_beta: float = of_run(lambda run: run.beta / run.largest_norm)  #: β/R_x

    @run_column
    def best_margin(self) -> float:
        """The largest smoothed margin γ̃ after the run has settled."""
        looks = self.later(SETTLED)
        return float(smoothed_margin(self.margins[looks], self.norms[looks]).max())

    @property
    def threshold(self) -> np.ndarray:
        """√k·αvR_x."""
        return margin_threshold(self.slope, self.output_weight, self.half_width, self.largest_norm)

    #: the smallest |⟨w, x⟩|/(‖w‖·R_x) at the end
    end_clearance: float = of_run(lambda run: float(agreement_margin(run.weights[-1], run.inputs)) / run.largest_norm)

    ratio: Looks = of_run(lambda run: cluster_ratio(run.plus, run.minus))  #: r/‖w̄ − ū‖

    early_ratio: PerRun = derived(lambda runs: runs.ratio[:, runs.at(SETTLED)])  #: the same at s = 20
    last_ratio: PerRun = derived(lambda runs: runs.ratio[:, -1])
    #: the share of directions about which Theorem 5.1, with κ, says nothing
    early_uncovered: PerRun = derived(lambda runs: uncovered_directions(runs.early_ratio, sharp_factor(runs.slope)))
    last_uncovered: PerRun = derived(lambda runs: uncovered_directions(runs.last_ratio, sharp_factor(runs.slope)))

    # From T on, when the run has settled in its regime, or at the last look.

    first: int = of_run(lambda run: int(run.later(min(run.settled, run.readings[-1].item()))[0]))  #: the look T

    #: which looks are at T or later
    since_first: Bool[np.ndarray, " time"] = of_run(lambda run: np.arange(len(run.readings)) >= run.first)

    separator_norm: float = of_run(lambda run: float(np.linalg.norm(run.separator)))  #: ‖w*‖

    @run_column
    def first_radius(self) -> float:
        """r at T."""
        return max(float(cluster_radius(rows[self.first])) for rows in (self.plus, self.minus))

    @run_column
    def first_difference(self) -> float:
        """(w̄ − ū)·w* at T."""
        return float(mean_difference(self.plus[self.first], self.minus[self.first]) @ self.separator)

    #: ‖W − W_T‖
    moved_since: Looks = of_run(lambda run: np.linalg.norm(run.weights - run.weights[run.first], axis=(1, 2)))

    # How each run of a cell approaches the program of its regime, Eq. 7, and the largest margin with its signs.
    to_program: Any = run_column(lambda run: towards_program(run, run.solution, float(run.value)))
    to_perfect: Any = run_column(lambda run: towards_program(run, run.perfect_solution, float(run.perfect_value)))
    to_pattern: Any = run_column(towards_pattern)

    program_error: Times = derived(lambda runs: over_time(runs, runs.to_program, "errors"))  #: 1 − cos
    program_margin: PerRun = derived(lambda runs: np.array([each.margin for each in runs.to_program]))  #: γ*
    program_excess: PerRun = derived(lambda runs: np.array([each.excess for each in runs.to_program]))  #: E_T
    perfect_margin: PerRun = derived(lambda runs: np.array([each.margin for each in runs.to_perfect]))
    perfect_excess: PerRun = derived(lambda runs: np.array([each.excess for each in runs.to_perfect]))
    pattern_error: Times = derived(lambda runs: over_time(runs, runs.to_pattern, "errors"))
    pattern_moved: Times = derived(lambda runs: over_time(runs, runs.to_pattern, "distances"))  #: ‖W − W_T‖
    pattern_margin: PerRun = derived(lambda runs: np.array([each.margin for each in runs.to_pattern]))
    pattern_excess: PerRun = derived(lambda runs: np.array([each.excess for each in runs.to_pattern]))
    pattern_followed: Bool[np.ndarray, "run time"] = derived(lambda runs: followed(runs, runs.to_pattern))

    @run_column
    def perfect_error(self) -> Looks:
        """1 − cos∠((w̄, ū), (w, u)), with the solution of Eq. 7."""
        lengths = np.linalg.norm(self.means, axis=1) * np.linalg.norm(self.perfect_solution)
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - self.means @ self.perfect_solution / lengths

    @run_column
    def angle_error(self) -> Looks:
        """By how much arctan ‖w̄‖/‖ū‖ differs from that of Eq. 7."""
        dim = self.inputs.shape[1]
        lengths = np.linalg.norm(self.means.reshape(-1, 2, dim), axis=2)
        goal = np.linalg.norm(self.perfect_solution.reshape(2, dim), axis=1)
        return np.abs(np.arctan2(lengths[:, 0], lengths[:, 1]) - np.arctan2(*goal))

    @property
    def kkt_inputs(self) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """Output weights, α, points and labels of one run."""
        signs = self.output_weight * plus_minus_weights(self.half_width)
        return signs, float(self.slope), self.inputs, self.labels

    @run_column
    def residuals(self) -> Float[np.ndarray, "time 2"]:
        """What is missing from stationarity, and the slack of the multipliers |ℓ'|."""
        return np.array([kkt_residuals(rows, *self.kkt_inputs) for rows in self.weights])

    stationarity: Times = derived(lambda runs: runs.residuals[:, :, 0])
    slack: Times = derived(lambda runs: runs.residuals[:, :, 1])

    @run_column
    def push_blur(self) -> Looks:
        """How far the flow is turned by margins that the solver has to 1e-7 of themselves."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return MONOTONE * (1 + np.array([push_condition(rows, *self.kkt_inputs) for rows in self.weights]))

    # The network at the end, beside a linear classifier.

    #: the network at the end
    network: SignedNetwork = of_run(lambda run: split(run.weights[-1], float(run.output_weight), float(run.slope)))

    #: w̄ − ū at the end
    classifier: Float[np.ndarray, " dim"] = of_run(lambda run: mean_difference(run.plus[-1], run.minus[-1]))

    @property
    def directions(self) -> np.ndarray:
        """Directions that one run is asked about."""
        return np.random.default_rng(62).normal(size=(DIRECTIONS, self.inputs.shape[1]))

    @run_column
    def cosine(self) -> Float[np.ndarray, " direction"]:
        """|cos| of each direction with the linear classifier."""
        lengths = np.linalg.norm(self.directions, axis=1) * np.linalg.norm(self.classifier)
        return np.abs(self.directions @ self.classifier) / lengths

    #: w − u of Eq. 7
    predicted: Float[np.ndarray, " dim"] = of_run(lambda run: np.subtract(*np.split(run.perfect_solution, 2)))

    #: how far the classifier lies from that of its regime, of Eq. 7, and from the SVM, in degrees; NaN without one
    from_regime: float = of_run(lambda run: angle_to(run.classifier, np.subtract(*np.split(run.solution, 2))))
    from_equation_7: float = of_run(lambda run: angle_to(run.classifier, run.predicted))
    from_svm: float = of_run(lambda run: angle_to(run.classifier, run.separator))

    @run_column
    def linear_share(self) -> float:
        """On which share of its points the network has the sign of the classifier."""
        return float((np.sign(self.network.outputs(self.inputs)) == np.sign(self.inputs @ self.classifier)).mean())

    @run_column
    def is_linear(self) -> Bool[np.ndarray, " direction"]:
        """Whether the network has the sign of the linear classifier there."""
        return np.sign(self.network.outputs(self.directions)) == np.sign(self.directions @ self.classifier)
