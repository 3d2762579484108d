"""Section 5.3: both layers are trained. Eq. 13 bounds the updates if no output weight changes its sign."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least, at_most, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.data import load_mnist35
from widenet.diagnostics import find_separator
from widenet.papers.brutzkus2018.formulas import both_layers_bound
from widenet.papers.brutzkus2018.runs.draws import as_trials, plus_minus_weights, separable_points, unit_rows
from widenet.papers.brutzkus2018.runs.ledger import Ledger, keep_ledger, leaky, leaky_derivative, start_of
from widenet.papers.brutzkus2018.runs.trials import ORDERS, ROUNDING, Trials, hypotheses
from widenet.types import Dataset, Layers, Progress, RunStatus, Scale, silent

MOST_UPDATES = 20_000


def check_equation_13(
    batches: Sequence[Trials], progress: Progress = silent, *, bound: Callable[..., np.ndarray] = both_layers_bound
) -> Evidence:
    """t ≤ the bound of Eq. 13 with the c and C of the run so far, at every update t; a control passes another bound.

    The inequalities behind it are checked at every update too: G² grows by at most 2η + 2kη²C²v², F by at least
    2kηcvα.
    """
    ledgers: list[Ledger] = []
    for number, trials in enumerate(batches):
        for run in range(len(trials)):
            start = start_of(trials, run)
            ledgers.append(keep_ledger(start, trials.order, MOST_UPDATES, trials.seed + run, Layers.BOTH))
        progress((number + 1) / len(batches), "batches with both layers trained")
    smallest = min(float(ledger.smallest_ratios[-1]) for ledger in ledgers)
    conditions = (
        *hypotheses(batches),
        more_than("c_smallest_v_t_v_0", "c: smallest v_t/v_0 of all runs (no sign changes)", smallest, 0),
    )
    over, broken_steps, tightest = 0, 0, (0.0, 1.0)
    for ledger in ledgers:
        # The first t updates used the output weights before the t-th: c and C up to there.
        low, high = ledger.smallest_ratios[:-1], ledger.largest_ratios[:-1]
        times = np.arange(1.0, ledger.updates + 1)
        limits = bound(*ledger.start.parameters, low, high)
        over += bool((times > np.floor(limits * (1 + 1e-12))).any())
        broken_steps += _broken_steps(ledger, low, high)
        if ledger.updates:
            closest = int(np.argmax(times / limits))
            if times[closest] / limits[closest] > tightest[0] / tightest[1]:
                tightest = (float(times[closest]), float(limits[closest]))
    unfinished = sum(ledger.end is RunStatus.BUDGET_SPENT for ledger in ledgers)
    diverged = sum(ledger.end is RunStatus.DIVERGED for ledger in ledgers)
    conclusion = False if over or broken_steps or diverged else None if unfinished else True
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(ledgers), diverged=diverged, unfinished=unfinished),
        conclusion=conclusion,
        quantity="non-zero updates in the tightest run, against the bound with its own c and C",
        promised=tightest[1],
        measured=tightest[0],
        tightness=ratio(*tightest),
        config={
            "dtype": "float64",
            "updates": sum(ledger.updates for ledger in ledgers),
            "runs_over_the_bound": over,
            "updates_that_break_an_inequality_of_the_proof": broken_steps,
            "smallest_c": smallest,
            "largest_C": max(float(ledger.largest_ratios[-1]) for ledger in ledgers),
        },
    )


def _broken_steps(ledger: Ledger, low: np.ndarray, high: np.ndarray) -> int:
    """Updates at which G² grew by more than 2η + 2kη²C²v², or F by less than 2kηcvα."""
    start = ledger.start
    k, eta, v = start.half_width, start.step_size, start.output_weight
    most, least = 2 * eta + 2 * k * (eta * high * v) ** 2, 2 * k * eta * low * v * start.slope
    too_long = np.diff(ledger.norms**2) > most + 1e-9 * ledger.norms[1:] ** 2
    sizes = np.maximum(np.abs(ledger.alignments[1:]), np.abs(ledger.alignments[:-1]))
    too_little = np.diff(ledger.alignments) < least - 1e-9 * sizes
    return int((too_long | too_little).sum())


def _equation_13_setting(scale: Scale, seed: int) -> list[Trials]:
    draw = np.random.default_rng(seed)
    each = 7 if scale is Scale.QUICK else 20
    return [both_layers_trials(draw, half, each, seed + half) for half in (1, 5, 20)]


def both_layers_trials(
    draw: np.random.Generator, half: int, count: int, seed: int, step_sizes: tuple[float, float] = (0.01, 0.5)
) -> Trials:
    """n = 100 points with ‖w*‖ = 2, R = v = 1/√(2k), step sizes log-uniform in a range."""
    dim, n_samples, norm, size = 10, 100, 2.0, (2 * half) ** -0.5
    points = [separable_points(draw, dim, n_samples, norm) for _ in range(count)]
    inputs, labels, separators = (np.stack(column) for column in zip(*points, strict=True))
    return as_trials(
        inputs,
        labels,
        separators,
        np.stack([size * unit_rows(draw, 2 * half, dim) for _ in range(count)]),
        np.tile(plus_minus_weights(half, size), (count, 1)),
        draw.choice([0.1, 0.5, 0.9], count),
        np.exp(draw.uniform(np.log(step_sizes[0]), np.log(step_sizes[1]), count)),
        np.full(count, size),
        ORDERS[half % len(ORDERS)],
        seed,
    )


equation_13 = Claim(
    id="brutzkus2018.equation_13",
    kind=Kind.MAIN,
    statement=(
        "With both layers trained from output weights ±v, as long as 0 < c ≤ v_t/v_0 ≤ C for every output weight, SGD "
        "makes at most C²‖w*‖²/(c²α²) + ‖w*‖²/(kηc²v²α²) + √(R(8k²η²C²v² + 8ηk))·‖w*‖^1.5/(2k(ηcvα)^1.5) + "
        "2R‖w*‖/(ηcvα) non-zero updates (c and C as measured in the run)."
    ),
    where="Eq. 13, Section 9.1.2; Section 5.3",
    judge=check_equation_13,
    draws=_equation_13_setting,
)


@dataclass(frozen=True)
class SignScan:
    """MNIST images, widths, and the step sizes to try, largest first."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    half_widths: tuple[int, ...]
    step_sizes: tuple[float, ...]
    n_runs: int
    seed: int
    slope: float = 0.2

    @functools.cached_property
    def gram(self) -> Float[np.ndarray, "sample sample"]:
        """⟨x_i, x_j⟩: all that training needs to know of the inputs."""
        return self.inputs @ self.inputs.T


@dataclass(frozen=True)
class SignRun:
    """c and C of a run with both layers trained, and how it ended."""

    smallest_ratio: float
    largest_ratio: float
    updates: int
    end: RunStatus


def sign_run(scan: SignScan, half: int, step_size: float, number: int) -> SignRun:
    """Both layers from Eq. 6 weights, a fresh permutation each epoch, until the loss is 0.

    All pre-activations are kept and moved by a column of the Gram matrix, so a wide network on images costs no more
    than its neurons times the samples.
    """
    draw = np.random.default_rng((scan.seed, half, number))
    v, n_samples = (2 * half) ** -0.5, len(scan.labels)
    z = scan.inputs @ (v * unit_rows(draw, 2 * half, scan.inputs.shape[1])).T
    first = output = plus_minus_weights(half, v)
    low, high, updates, position, order = 1.0, 1.0, 0, n_samples, np.arange(0)
    with np.errstate(over="ignore", invalid="ignore"):
        while updates < MOST_UPDATES:
            margins = scan.labels * (leaky(z, scan.slope) @ output)
            if not np.isfinite(margins).all():
                return SignRun(low, high, updates, RunStatus.DIVERGED)
            active = margins < 1
            if not active.any():
                return SignRun(low, high, updates, RunStatus.CONVERGED)
            ahead = np.flatnonzero(active[order[position:]])
            while not len(ahead):
                order, position = draw.permutation(n_samples), 0
                ahead = np.flatnonzero(active[order])
            position += int(ahead[0]) + 1
            row = int(order[position - 1])
            push = step_size * float(scan.labels[row])
            at_row = z[row].copy()
            z += np.outer(scan.gram[:, row], push * output * leaky_derivative(at_row, scan.slope))
            output = output + push * leaky(at_row, scan.slope)
            ratios = output / first
            low, high, updates = min(low, float(ratios.min())), max(high, float(ratios.max())), updates + 1
    return SignRun(low, high, updates, RunStatus.BUDGET_SPENT)


def check_section_5_3_signs(scan: SignScan, progress: Progress = silent) -> Evidence:
    """For each width, the largest step size of the list that keeps every output weight's sign in every run."""
    separation = find_separator(Dataset(jnp.asarray(scan.inputs), jnp.asarray(scan.labels)))
    margin = 0.0 if separation.separator is None else (scan.labels * (scan.inputs @ separation.separator)).min()
    conditions = (
        at_least("separable", "separable: smallest y⟨w*, x⟩", float(margin), 1, tolerance=ROUNDING),
        at_most(
            "largest_input_norm",
            "largest input norm ‖x‖",
            np.linalg.norm(scan.inputs, axis=1).max(),
            1,
            tolerance=ROUNDING,
        ),
    )
    chosen: dict[int, float | None] = {}
    tried: list[SignRun] = []
    table = []
    for number, half in enumerate(scan.half_widths):
        chosen[half] = None
        for step_size in scan.step_sizes:
            runs = [sign_run(scan, half, step_size, run) for run in range(scan.n_runs)]
            tried += runs
            low, high = min(run.smallest_ratio for run in runs), max(run.largest_ratio for run in runs)
            table.append({"neurons": 2 * half, "eta": step_size, "c": low, "C": high})
            if low > 0 and all(run.end is RunStatus.CONVERGED for run in runs):
                chosen[half] = step_size
                break
        progress((number + 1) / len(scan.half_widths), "widths")
    found = [entry for entry in table if chosen[entry["neurons"] // 2] == entry["eta"]]
    conclusion = None not in chosen.values()
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(
            tried=len(tried),
            diverged=sum(run.end is RunStatus.DIVERGED for run in tried),
            unfinished=sum(run.end is RunStatus.BUDGET_SPENT for run in tried),
        ),
        conclusion=conclusion,
        quantity="c, the smallest v_t/v_0 over all widths at their chosen step size; it must stay above 0",
        promised=0.0,
        measured=min((entry["c"] for entry in found), default=None),
        config={
            "samples": len(scan.labels),
            "step_sizes": list(scan.step_sizes),
            "chosen": {str(2 * half): step_size for half, step_size in chosen.items()},
            "scan": table,
            "alpha": scan.slope,
        },
        note="; ".join(
            f"{entry['neurons']} neurons: η = {entry['eta']:g} keeps c = {entry['c']:.3g}, C = {entry['C']:.3g}"
            for entry in found
        )
        or "No step size of the list keeps the signs.",
    )


def _sign_setting(scale: Scale, seed: int) -> SignScan:
    """Quick: 500 images and two widths. The paper: 3000 images, widths 10, 100 and 1000, three runs each."""
    n_train, half_widths, n_runs = (500, (5, 50), 1) if scale is Scale.QUICK else (3000, (5, 50, 500), 3)
    images, _ = load_mnist35(n_train, 1)
    inputs, labels = np.asarray(images.inputs, np.float64), np.asarray(images.labels, np.float64)
    return SignScan(inputs, labels, half_widths, (1.0, 0.3, 0.1, 0.03), n_runs, seed)


section_5_3_signs = Claim(
    id="brutzkus2018.section_5_3_signs",
    kind=Kind.TREND,
    statement=(
        "With a suitable constant step size, training both layers on MNIST 3 against 5 changes the sign of no output "
        "weight (c > 0) and reaches loss 0, at every width; the list tried is η = 1, 0.3, 0.1, 0.03."
    ),
    where="Section 5.3 and Figure 3",
    judge=check_section_5_3_signs,
    draws=_sign_setting,
)
