"""Footnote 4: the results hold with first-layer biases, because a bias is a weight on a constant coordinate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least, at_most
from widenet.claims.legacy import Evidence_, decide
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.draws import plus_minus_weights, unit_rows
from widenet.papers.brutzkus2018.runs.ledger import Ledger, Start, keep_ledger, outputs_of
from widenet.papers.brutzkus2018.runs.trials import ROUNDING
from widenet.training import Cyclic
from widenet.types import Progress, RunStatus, Scale, silent


@dataclass(frozen=True)
class Biased:
    """Data with y(⟨w, x⟩ + b) ≥ 1, and a network for the lifted inputs (x, 1)/√2.

    `start` has the lifted inputs and w' = √2(w, b); `inputs` are the points before the lift.
    """

    inputs: np.ndarray
    start: Start


def lift(inputs: np.ndarray, scale: float = 2**-0.5) -> np.ndarray:
    """(x, 1)·scale; 1/√2 keeps the unit ball, 1 does not."""
    return np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1) * scale


def check_footnote_4(cases: Sequence[Biased], progress: Progress = silent) -> Evidence:
    """The lifted run obeys Theorem 2, and it is the run of a network with first-layer biases, step for step.

    Training W' on (x, 1)/√2 with step η is training (W, b) = W'/√2 on x with step η/2: the same samples update, and
    both networks say the same about every point.
    """
    counts, limits, differences, margins, norms, same = [], [], [], [], [], []
    for number, case in enumerate(cases):
        start = case.start
        limit = float(max_nonzero_updates(*start.parameters))
        lifted = keep_ledger(start, Cyclic(), int(limit) + 1)
        biased = keep_ledger(_with_bias_of(case), Cyclic(), int(limit) + 1)
        counts.append(lifted.updates)
        limits.append(limit)
        same.append(np.array_equal(lifted.samples, biased.samples) and lifted.end is RunStatus.CONVERGED)
        differences.append(_difference(case, lifted, biased))
        margins.append(start.smallest_margin)
        norms.append(np.linalg.norm(start.inputs, axis=1).max())
        progress((number + 1) / len(cases), "lifted runs")
    conditions = (
        at_least(
            "separable_with_a_bias",
            "separable with a bias: smallest y(⟨w, x⟩ + b)",
            min(margins),
            1,
            tolerance=ROUNDING,
        ),
        at_most("largest_norm_of_a_lifted_input", "largest norm of a lifted input", max(norms), 1, tolerance=ROUNDING),
    )
    counted = np.asarray(counts) <= np.floor(np.asarray(limits) * (1 + 1e-12))
    conclusion = bool(counted.all() and all(same) and np.max(differences) <= 1e-12)
    worst = int(np.argmax(np.divide(counts, limits)))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(cases)),
        conclusion=conclusion,
        quantity="non-zero updates in the tightest lifted run",
        promised=limits[worst],
        measured=float(counts[worst]),
        tightness=counts[worst] / limits[worst],
        config={
            "dtype": "float64",
            "runs_over_the_bound": int((~counted).sum()),
            "runs_that_differ_from_the_biased_network": len(same) - sum(same),
            "largest_difference_of_outputs": float(np.max(differences)),
        },
        note=(
            "The extra coordinate is 1/√2 and x is divided by √2 too, so that ‖x‖ ≤ 1 still holds: a plain 1 leaves "
            "the unit ball. M_k is that of w' = √2(w, b)."
        ),
    )


def _with_bias_of(case: Biased) -> Start:
    """The network with explicit biases: inputs (x, 1), weights (W, b) = W'/√2, half the step."""
    start, root = case.start, 2**0.5
    return Start(
        lift(case.inputs, 1.0),
        start.labels,
        start.separator / root,
        start.hidden / root,
        start.output,
        start.slope,
        start.step_size / 2,
        start.row_bound,
    )


def _difference(case: Biased, lifted: Ledger, biased: Ledger) -> float:
    """Between the lifted network and ⟨w_r, x⟩ + b_r written out, relative to the largest output."""
    start = case.start
    weights, bias = biased.hidden[:, :-1], biased.hidden[:, -1]
    z = case.inputs @ weights.T + bias
    explicit = np.where(z >= 0, z, start.slope * z) @ start.output
    through_lift = outputs_of(lifted.hidden, lifted.output, start.inputs, start.slope)
    return float(np.abs(explicit - through_lift).max() / max(1.0, np.abs(through_lift).max()))


def _footnote_4_setting(scale: Scale, seed: int) -> list[Biased]:
    """Clouds on one side of the origin: no separator without a bias, an easy one with it."""
    draw = np.random.default_rng(seed)
    return [_biased_case(draw) for _ in range(12 if scale is Scale.QUICK else 200)]


def _biased_case(draw: np.random.Generator) -> Biased:
    dim, half = int(draw.integers(2, 9)), int(draw.integers(1, 9))
    n_samples = 8 * dim  # fewer points of so many dimensions might be separable without a bias, too
    direction = unit_rows(draw, 1, dim)[0]
    offset, gap = draw.uniform(0.3, 0.5), draw.uniform(0.1, 0.25)
    labels = draw.permutation(np.where(np.arange(n_samples) % 2, 1.0, -1.0))
    along = offset + labels * draw.uniform(gap, 0.3, n_samples)
    across = draw.normal(size=(n_samples, dim))
    across -= np.outer(across @ direction, direction)
    across *= 0.5 * draw.random((n_samples, 1)) / np.linalg.norm(across, axis=1, keepdims=True)
    inputs = np.outer(along, direction) + across
    # y(⟨w, x⟩ + b) ≥ 1 for w = u/gap, b = −offset/gap; a hair more, so that rounding does not undercut it.
    affine = np.r_[direction, -offset] / gap * (1 + 1e-9)
    scale, outputs = (2 * half) ** -0.5, plus_minus_weights(half, (2 * half) ** -0.5)
    start = Start(
        lift(inputs),
        labels,
        2**0.5 * affine,
        scale * unit_rows(draw, 2 * half, dim + 1),
        outputs,
        float(draw.choice([0.1, 0.3, 0.7])),
        float(np.exp(draw.uniform(-1, 3))),
        scale,
    )
    return Biased(inputs, start)


footnote_4 = Claim(
    id="brutzkus2018.footnote_4",
    kind=Kind.STEP,
    statement=(
        "With first-layer biases, on data with y(⟨w, x⟩ + b) ≥ 1, SGD makes at most M_k non-zero updates, M_k taken "
        "for ‖w'‖² = 2(‖w‖² + b²): the biased network is the plain one on the inputs (x, 1)/√2."
    ),
    where="footnote 4, Section 2",
    judge=check_footnote_4,
    draws=_footnote_4_setting,
)
