"""One training run in plain NumPy that writes down what the proofs speak of, at every non-zero update.

The proof of Theorem 2 follows two numbers, F_t = ⟨W_t, W*⟩ and G_t = ‖W_t‖, where W* stacks k copies of w* over k
copies of −w*. A `Ledger` has both after every update, and what each update should have added to them by the exact
identities

  F_t − F_{t−1}  = η y⟨w*, x⟩ Σ_r |a_r| p_r,
  G_t² − G_{t−1}² = 2η y N_{t−1}(x) + η²‖x‖² Σ_r a_r² p_r²,

with a the output weights and p_r = σ'(⟨w_r, x⟩). The problems are tiny, so nothing is compiled.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.trials import Trials
from widenet.training import Cyclic, Listed, Permutation
from widenet.training.orders import Order
from widenet.types import Layers, RunStatus

PATIENCE, GIVEN_UP = 1e6, 2_000
"""The largest M_k that a run is given time for, and the updates it gets otherwise, or without a promise."""
LARGEST_BLOCK = 512
"""Between two updates the weights rest, so this many upcoming samples can be evaluated in one product."""


class Pick(enum.StrEnum):
    """Orders that look at the network: always a sample that produces an update."""

    HARDEST = "hardest"
    """The smallest y N(x)."""
    EASIEST = "easiest"
    """The largest y N(x) below 1."""
    SLOWEST = "slowest"
    """The smallest cosine of the angle between W and W* after the update: what the proof waits for comes last."""


@dataclass(frozen=True)
class Start:
    """A run before its first step. Symbols: `separator` w*, `slope` α, `step_size` η, `row_bound` R."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]
    hidden: Float[np.ndarray, "neuron dim"]
    output: Float[np.ndarray, " neuron"]
    slope: float
    step_size: float
    row_bound: float

    @property
    def half_width(self) -> int:
        """k."""
        return len(self.output) // 2

    @property
    def output_weight(self) -> float:
        """v."""
        return float(self.output[0])

    @property
    def separator_norm(self) -> float:
        """‖w*‖."""
        return float(np.linalg.norm(self.separator))

    @property
    def smallest_margin(self) -> float:
        """min_i y_i⟨w*, x_i⟩."""
        return float((self.labels * (self.inputs @ self.separator)).min())

    @property
    def votes(self) -> Float[np.ndarray, " neuron"]:
        """+1 for the first half of the neurons, −1 for the second."""
        return np.repeat([1.0, -1.0], self.half_width)

    @property
    def budget(self) -> int:
        """Updates that decide Theorem 2: one more than M_k, if anybody can wait for them; `GIVEN_UP` otherwise."""
        bound = float(max_nonzero_updates(*self.parameters)) if self.smallest_margin >= 0.5 else np.inf
        return int(bound) + 1 if bound <= PATIENCE else GIVEN_UP

    @property
    def parameters(self) -> tuple[float, float, float, float, float, int]:
        """The arguments of `bounds.max_nonzero_updates`, in its order."""
        return (
            self.separator_norm,
            self.slope,
            self.step_size,
            self.output_weight,
            self.row_bound,
            self.half_width,
        )


@dataclass(frozen=True)
class Ledger:
    """What a run wrote down.

    Attributes:
      samples: which sample made each update.
      margins: y_t N_{t−1}(x_t) at each update.
      alignments, norms: F_t and G_t, from t = 0.
      alignment_gains, norm_gains: what the identities say each update adds to F and to G².
      smallest_ratios, largest_ratios: running extremes of v_t/v_0 over the neurons, from t = 0 (c and C).
      hidden, output: the weights at the end.
      end: why the run ended.
    """

    start: Start
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


def leaky_derivative(z: np.ndarray, slope: float) -> np.ndarray:
    """σ'(z), with σ'(0) = 1 as the paper has it."""
    return np.where(z >= 0, 1.0, slope)


def outputs_of(hidden: np.ndarray, output: np.ndarray, inputs: np.ndarray, slope: float) -> np.ndarray:
    """N(x) for every row of `inputs`."""
    return leaky(inputs @ hidden.T, slope) @ output


def update_of(
    hidden: np.ndarray, output: np.ndarray, x: np.ndarray, y: float, slope: float, step_size: float
) -> tuple[np.ndarray, np.ndarray]:
    """What a sample with y N(x) < 1 adds to (W, a), by Eq. 10: ηy a_r p_r x to row r, and ηy σ(⟨w_r, x⟩) to a_r."""
    z = hidden @ x
    return step_size * y * np.outer(output * leaky_derivative(z, slope), x), step_size * y * leaky(z, slope)


def start_of(trials: Trials, run: int) -> Start:
    """One trial of a batch, in NumPy (indexed there too: JAX would compile every slice)."""
    return Start(
        np.asarray(trials.data.inputs)[run],
        np.asarray(trials.data.labels)[run],
        np.asarray(trials.separators)[run],
        np.asarray(trials.networks.hidden_weights)[run],
        np.asarray(trials.networks.output_weights)[run],
        float(trials.slopes[run]),
        float(np.asarray(trials.step_sizes)[run]),
        float(np.asarray(trials.row_bounds)[run]),
    )


def keep_ledger(
    start: Start, order: Order | Pick, max_updates: int, seed: int = 0, layers: Layers = Layers.HIDDEN
) -> Ledger:
    """Batch-1 SGD with the hinge loss, until no sample has y N(x) < 1 or `max_updates` are made."""
    inputs, labels, slope = start.inputs, start.labels, start.slope
    hidden, output = start.hidden.copy(), start.output.copy()
    upcoming = _Upcoming(order, len(labels), np.random.default_rng(seed))
    stacked = start.votes[:, None] * start.separator
    samples, margins, gains, squares, ratios = [], [], [], [], [np.ones(len(output))]
    alignments, norms = [], []
    end = RunStatus.RUNNING

    def margins_of(rows: np.ndarray) -> np.ndarray:
        return labels[rows] * outputs_of(hidden, output, inputs[rows], slope)

    def cosines_of(rows: np.ndarray) -> np.ndarray:
        """F/G after an update by each of these samples, from the identities above (‖W*‖ is the same for all)."""
        z = inputs[rows] @ hidden.T
        pulls = output * leaky_derivative(z, slope)
        eta, shares = start.step_size, labels[rows] * (inputs[rows] @ start.separator)
        aligned = np.vdot(hidden, stacked) + eta * shares * (pulls @ start.votes)
        lengths = (inputs[rows] ** 2).sum(axis=1)
        square = np.vdot(hidden, hidden) + 2 * eta * margins_of(rows) + eta**2 * lengths * (pulls**2).sum(axis=1)
        return aligned / np.sqrt(square)

    def write_potentials() -> None:
        alignments.append(float(np.vdot(hidden, stacked)))
        norms.append(float(np.linalg.norm(hidden)))

    with np.errstate(over="ignore", invalid="ignore"):
        write_potentials()
        while end is RunStatus.RUNNING:
            row = upcoming.next_active(margins_of, cosines_of)
            if row is None:
                # A NaN margin is never below 1, so a run that blew up also ends here.
                finite = np.isfinite(margins_of(np.arange(len(labels)))).all()
                end = RunStatus.CONVERGED if finite else RunStatus.DIVERGED
            elif len(samples) == max_updates:
                end = RunStatus.BUDGET_SPENT
            else:
                x, y = inputs[row], float(labels[row])
                z = hidden @ x
                pulls = output * leaky_derivative(z, slope)
                margin = y * float(output @ leaky(z, slope))
                to_hidden, to_output = update_of(hidden, output, x, y, slope, start.step_size)
                hidden = hidden + to_hidden
                if layers is Layers.BOTH:
                    output = output + to_output
                samples.append(row)
                margins.append(margin)
                gains.append(start.step_size * y * float(x @ start.separator) * float(start.votes @ pulls))
                squares.append(2 * start.step_size * margin + start.step_size**2 * float(x @ x) * float(pulls @ pulls))
                write_potentials()
                ratios.append(output / start.output)
    ratios = np.asarray(ratios)
    return Ledger(
        start,
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
        end,
    )


PerSample = Callable[[np.ndarray], np.ndarray]
"""Indices of samples → one number for each."""


class _Upcoming:
    """The samples still to come, looked through in blocks for the next one that produces an update."""

    def __init__(self, order: Order | Pick, n_samples: int, draw: np.random.Generator):
        self.order, self.n_samples, self.draw = order, n_samples, draw
        self.rows, self.position, self.block = np.arange(0), 0, 8

    def next_active(self, margins_of: PerSample, cosines_of: PerSample) -> int | None:
        """The next sample with a margin below 1; None if there is none."""
        if isinstance(self.order, Pick):
            return self._pick(margins_of(np.arange(self.n_samples)), cosines_of)
        quiet = 0
        while True:
            if self.position == len(self.rows):
                self.rows, self.position = self._epoch(), 0
            rows = self.rows[self.position : self.position + self.block]
            active = np.flatnonzero(margins_of(rows) < 1)
            if len(active):
                self.position += int(active[0]) + 1
                self.block = 2 * (int(active[0]) + 1)
                return int(rows[active[0]])
            self.position += len(rows)
            self.block = min(2 * self.block, LARGEST_BLOCK)
            quiet += len(rows)
            # A margin within rounding of 1 may be below it in one product and not in another; after so many
            # quiet draws every sample has been seen at these weights, and the run is over.
            if quiet >= 50 * self.n_samples or (
                quiet >= self.n_samples and not (margins_of(np.arange(self.n_samples)) < 1).any()
            ):
                return None

    def _pick(self, margins: np.ndarray, cosines_of: PerSample) -> int | None:
        active = np.flatnonzero(margins < 1)
        if not len(active):
            return None
        match self.order:
            case Pick.HARDEST:
                best = np.argmin(margins[active])
            case Pick.EASIEST:
                best = np.argmax(margins[active])
            case _:
                best = np.argmin(cosines_of(active))
        return int(active[best])

    def _epoch(self) -> np.ndarray:
        match self.order:
            case Cyclic():
                return np.arange(self.n_samples)
            case Permutation():
                return self.draw.permutation(self.n_samples)
            case Listed():
                return np.asarray(self.order.indices)
            case _:
                return self.draw.integers(self.n_samples, size=self.n_samples)
