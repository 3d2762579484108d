"""One training run in plain NumPy that writes down what the proofs speak of, at every non-zero update.

The proof of Theorem 2 follows two numbers, F_t = ⟨W_t, W*⟩ and G_t = ‖W_t‖, where W* stacks k copies of w* over k
copies of −w*. A `Ledger` has both after every update, and what each update should have added to them by the exact
identities

  F_t − F_{t−1}  = η y⟨w*, x⟩ Σ_r |a_r| p_r,
  G_t² − G_{t−1}² = 2η y N_{t−1}(x) + η²‖x‖² Σ_r a_r² p_r²,

with a the output weights and p_r = σ'(⟨w_r, x⟩). The problems are tiny, so nothing is compiled.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.papers.brutzkus2018.runs.trials import ADVERSARIAL, SampleOrder, Trial
from widenet.types import Layers, RunStatus

LARGEST_BLOCK = 512
"""Between two updates the weights rest, so this many upcoming samples can be evaluated in one product."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """What a run wrote down.

    Attributes:
      samples: which sample made each update.
      margins: y_t N_{t−1}(x_t) at each update.
      alignments, norms: F_t and G_t, from t = 0.
      alignment_gains, norm_gains: what the identities say each update adds to F and to G².
      smallest_ratios, largest_ratios: running extremes of v_t/v_0 over the neurons, from t = 0 (c and C).
      hidden, output: the weights at the end.
      last_margin: min y N(x) over all samples at the end; the training loss is 0 where it is at least 1.
      end: why the run ended.
    """

    trial: Trial
    samples: Int[np.ndarray, " update"]
    margins: Float[np.ndarray, " update"]
    alignments: Float[np.ndarray, " time"]
    norms: Float[np.ndarray, " time"]
    alignment_gains: Float[np.ndarray, " update"]
    norm_gains: Float[np.ndarray, " update"]
    smallest_ratios: Float[np.ndarray, " time"]
    largest_ratios: Float[np.ndarray, " time"]
    hidden: Float[np.ndarray, "neuron dim"]
    output: Float[np.ndarray, " neuron"]
    last_margin: float
    end: RunStatus

    @property
    def updates(self) -> int:
        """T, the number of non-zero updates."""
        return len(self.samples)


def larger(first: float, second: float) -> float:
    """The larger number, or NaN if one of them is: Python's `max` would lose it, and an error with it."""
    return float(np.maximum(first, second))


def leaky(z: np.ndarray, slope: float) -> np.ndarray:
    """σ(z) = max(αz, z)."""
    return np.where(z >= 0, z, slope * z)


def leaky_derivative(z: np.ndarray, slope: float, at_zero: float = 1.0) -> np.ndarray:
    """σ'(z), with σ'(0) = 1 as the paper has it unless told otherwise."""
    return np.where(z > 0, 1.0, np.where(z == 0, at_zero, slope))


def outputs_of(hidden: np.ndarray, output: np.ndarray, inputs: np.ndarray, slope: float) -> np.ndarray:
    """N(x) for every row of `inputs`."""
    return leaky(inputs @ hidden.T, slope) @ output


def update_of(
    hidden: np.ndarray,
    output: np.ndarray,
    x: np.ndarray,
    y: float,
    slope: float,
    step_size: float,
    at_zero: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """What a sample with y N(x) < 1 adds to (W, a), by Eq. 10: ηy a_r p_r x to row r, and ηy σ(⟨w_r, x⟩) to a_r."""
    z = hidden @ x
    return step_size * y * np.outer(output * leaky_derivative(z, slope, at_zero), x), step_size * y * leaky(z, slope)


def keep_ledger(trial: Trial, max_updates: int, layers: Layers = Layers.HIDDEN) -> Ledger:
    """Batch-1 SGD with the hinge loss, until no sample has y N(x) < 1 or `max_updates` are made."""
    inputs, labels, slope = trial.inputs, trial.labels, trial.slope
    hidden, output = trial.hidden.copy(), trial.output.copy()
    upcoming = _Upcoming(trial.order, len(labels), np.random.default_rng(trial.seed))
    stacked = trial.votes[:, None] * trial.separator
    samples, margins, gains, squares, ratios = [], [], [], [], [np.ones(len(output))]
    alignments, norms = [], []
    end = RunStatus.RUNNING

    # A sample at the origin moves nothing, and neither does one at which every neuron of a ReLU network is off.
    has_length = (inputs != 0).any(axis=1)
    always_moves = slope > 0 and bool(has_length.all())

    def margins_of(rows: np.ndarray) -> np.ndarray:
        return labels[rows] * outputs_of(hidden, output, inputs[rows], slope)

    def moves(rows: np.ndarray) -> np.ndarray:
        """Which of these samples would change the weights, if their margin is below 1."""
        if always_moves:
            return np.ones(len(rows), bool)
        pulls = leaky_derivative(inputs[rows] @ hidden.T, slope, trial.at_zero)
        return has_length[rows] & (pulls != 0).any(axis=1)

    def cosines_of(rows: np.ndarray) -> np.ndarray:
        """F/G after an update by each of these samples, from the identities above (‖W*‖ is the same for all)."""
        z = inputs[rows] @ hidden.T
        pulls = output * leaky_derivative(z, slope, trial.at_zero)
        eta, shares = trial.step_size, labels[rows] * (inputs[rows] @ trial.separator)
        aligned = np.vdot(hidden, stacked) + eta * shares * (pulls @ trial.votes)
        lengths = (inputs[rows] ** 2).sum(axis=1)
        square = np.vdot(hidden, hidden) + 2 * eta * margins_of(rows) + eta**2 * lengths * (pulls**2).sum(axis=1)
        return aligned / np.sqrt(square)

    def write_potentials() -> None:
        alignments.append(float(np.vdot(hidden, stacked)))
        norms.append(float(np.linalg.norm(hidden)))

    with np.errstate(over="ignore", invalid="ignore"):
        write_potentials()
        while end is RunStatus.RUNNING:
            row = upcoming.next_active(margins_of, moves, cosines_of)
            if row is None:
                # A NaN margin is never below 1, so a run that blew up also ends here.
                last = margins_of(np.arange(len(labels)))
                end = RunStatus.STALLED if (last < 1).any() else RunStatus.CONVERGED
                end = end if np.isfinite(last).all() else RunStatus.DIVERGED
            elif len(samples) == max_updates:
                end = RunStatus.BUDGET_SPENT
            else:
                x, y = inputs[row], float(labels[row])
                z = hidden @ x
                pulls = output * leaky_derivative(z, slope, trial.at_zero)
                margin = y * float(output @ leaky(z, slope))
                to_hidden, to_output = update_of(hidden, output, x, y, slope, trial.step_size, trial.at_zero)
                hidden = hidden + to_hidden
                if layers is Layers.BOTH:
                    output = output + to_output
                samples.append(row)
                margins.append(margin)
                gains.append(trial.step_size * y * float(x @ trial.separator) * float(trial.votes @ pulls))
                squares.append(
                    2 * trial.step_size * margin + float(x @ x) * float(np.sum((trial.step_size * pulls) ** 2))
                )
                write_potentials()
                ratios.append(output / trial.output)
        last_margin = float(margins_of(np.arange(len(labels))).min())
    ratios = np.asarray(ratios)
    return Ledger(
        trial,
        np.asarray(samples, np.int64),
        np.asarray(margins, np.float64),
        np.asarray(alignments),
        np.asarray(norms),
        np.asarray(gains, np.float64),
        np.asarray(squares, np.float64),
        np.minimum.accumulate(ratios.min(axis=1)),
        np.maximum.accumulate(ratios.max(axis=1)),
        hidden,
        output,
        last_margin,
        end,
    )


PerSample = Callable[[np.ndarray], np.ndarray]
"""Indices of samples → one number for each."""


class _Upcoming:
    """The samples still to come, looked through in blocks for the next one that produces an update."""

    def __init__(self, order: SampleOrder, n_samples: int, draw: np.random.Generator):
        self.order, self.n_samples, self.draw = order, n_samples, draw
        self.rows, self.position, self.block = np.arange(0), 0, 8

    def next_active(self, margins_of: PerSample, moves: PerSample, cosines_of: PerSample) -> int | None:
        """The next sample that makes an update; None if there is none."""

        def active_in(rows: np.ndarray) -> np.ndarray:
            return (margins_of(rows) < 1) & moves(rows)

        everyone = np.arange(self.n_samples)
        if self.order in ADVERSARIAL:
            return self._pick(margins_of(everyone), np.flatnonzero(active_in(everyone)), cosines_of)
        quiet = 0
        while True:
            if self.position == len(self.rows):
                self.rows, self.position = self._epoch(), 0
            rows = self.rows[self.position : self.position + self.block]
            active = np.flatnonzero(active_in(rows))
            if len(active):
                self.position += int(active[0]) + 1
                self.block = 2 * (int(active[0]) + 1)
                return int(rows[active[0]])
            self.position += len(rows)
            self.block = min(2 * self.block, LARGEST_BLOCK)
            quiet += len(rows)
            # A margin within rounding of 1 may be below it in one product and not in another; after so many
            # quiet draws every sample has been seen at these weights, and the run is over.
            if quiet >= 50 * self.n_samples or (quiet >= self.n_samples and not active_in(everyone).any()):
                return None

    def _pick(self, margins: np.ndarray, active: np.ndarray, cosines_of: PerSample) -> int | None:
        if not len(active):
            return None
        match self.order:
            case SampleOrder.HARDEST:
                best = np.argmin(margins[active])
            case SampleOrder.EASIEST:
                best = np.argmax(margins[active])
            case _:
                best = np.argmin(cosines_of(active))
        return int(active[best])

    def _epoch(self) -> np.ndarray:
        match self.order:
            case SampleOrder.CYCLIC:
                return np.arange(self.n_samples)
            case SampleOrder.PERMUTATION:
                return self.draw.permutation(self.n_samples)
            case _:
                return self.draw.integers(self.n_samples, size=self.n_samples)
