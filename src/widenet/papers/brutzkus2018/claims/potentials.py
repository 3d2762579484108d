"""The proof of Theorem 2 (Section 9.1.2), step by step: F grows linearly, G like a square root, and F ≤ G‖W*‖.

All claims here read the same ledgers: every run of the setting is trained once, under its own order and under
three orders that look at the network, and every inequality is checked at every non-zero update.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates, root_bound, start_bound
from widenet.papers.brutzkus2018.runs.draws import basis_sequence, draw_trials
from widenet.papers.brutzkus2018.runs.ledger import Ledger, Pick, Start, keep_ledger, start_of
from widenet.papers.brutzkus2018.runs.trials import Trials, hypotheses
from widenet.types import Progress, RunStatus, Scale, silent

STEP_TOLERANCE = 1e-9
"""What rounding may add to one side of an inequality, relative to that side (or to G_t², from which it is taken)."""


@dataclass(frozen=True)
class Book:
    """Batches of trials, and the ledgers of their runs, kept once for all claims that read them."""

    batches: tuple[Trials, ...]

    @functools.cached_property
    def ledgers(self) -> list[Ledger]:
        """Every trial under the order of its batch, and under each order that looks at the network."""
        return [
            keep_ledger(start, order, start.budget, trials.seed + run)
            for trials in self.batches
            for run, start in enumerate(start_of(trials, run) for run in range(len(trials)))
            for order in (trials.order, *Pick)
        ]


Sides = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(measured, promised, room): both sides of an inequality over time, and what rounding may add."""


def stacked_norm(start: Start) -> float:
    """‖W*‖ = √(2k)‖w*‖."""
    return (2 * start.half_width) ** 0.5 * start.separator_norm


def growth_of_square(start: Start) -> float:
    """2η + 2kη²v², the most one update adds to G²."""
    return 2 * start.step_size + 2 * start.half_width * (start.step_size * start.output_weight) ** 2


def growth_of_alignment(start: Start) -> float:
    """2kηvα, the least one update adds to F."""
    return 2 * start.half_width * start.step_size * start.output_weight * start.slope


Constant = Callable[[Start], float]


def check_equation_9(book: Book, progress: Progress = silent, *, constant: Constant = stacked_norm) -> Evidence:
    """|F_t| ≤ G_t ‖W*‖ from t = 0 on. A control passes another constant for ‖W*‖."""

    def sides(ledger: Ledger) -> Sides:
        promised = ledger.norms * constant(ledger.start)
        return np.abs(ledger.alignments), promised, 1e-12 * promised

    return _evidence(book, progress, (), "|F| against G‖W*‖ where they are closest", sides, upper=True)


def check_equation_11_step(
    book: Book, progress: Progress = silent, *, constant: Constant = growth_of_square
) -> Evidence:
    """G_t² − G_{t−1}² < 2η + 2kη²v² at every update."""

    def sides(ledger: Ledger) -> Sides:
        promised = np.full(ledger.updates, constant(ledger.start))
        return ledger.norm_gains, promised, STEP_TOLERANCE * promised

    words = "growth of G² in the update that comes closest to 2η + 2kη²v²"
    return _evidence(book, progress, ("‖x‖", "output weight"), words, sides, upper=True, identity=_square_identity)


def check_equation_11(book: Book, progress: Progress = silent, *, constant: Constant = growth_of_square) -> Evidence:
    """G_t² ≤ G_0² + t(2kη²v² + 2η) after every update."""

    def sides(ledger: Ledger) -> Sides:
        promised = ledger.norms[0] ** 2 + np.arange(1, ledger.updates + 1) * constant(ledger.start)
        return ledger.norms[1:] ** 2, promised, STEP_TOLERANCE * promised

    words = "G² in the run and at the update where it comes closest to its bound"
    return _evidence(book, progress, ("‖x‖", "output weight"), words, sides, upper=True)


def check_equation_12_step(
    book: Book, progress: Progress = silent, *, constant: Constant = growth_of_alignment
) -> Evidence:
    """F_t − F_{t−1} ≥ 2kηvα at every update."""

    def sides(ledger: Ledger) -> Sides:
        promised = np.full(ledger.updates, constant(ledger.start))
        return ledger.alignment_gains, promised, STEP_TOLERANCE * promised

    words = "growth of F in the update that comes closest to 2kηvα"
    needed = ("separable", "output weight", "slope")
    return _evidence(book, progress, needed, words, sides, upper=False, identity=_alignment_identity)


def check_equation_12(book: Book, progress: Progress = silent, *, constant: Constant = growth_of_alignment) -> Evidence:
    """F_t ≥ F_0 + 2kηvα·t after every update."""

    def sides(ledger: Ledger) -> Sides:
        promised = np.arange(1, ledger.updates + 1) * constant(ledger.start)
        sizes = np.maximum(np.abs(ledger.alignments[1:]), abs(ledger.alignments[0]))
        return ledger.alignments[1:] - ledger.alignments[0], promised, STEP_TOLERANCE * sizes

    words = "F − F_0 in the run and at the update where it comes closest to its bound"
    return _evidence(book, progress, ("separable", "output weight", "slope"), words, sides, upper=False)


def _square_identity(ledger: Ledger) -> tuple[np.ndarray, np.ndarray]:
    squares = ledger.norms**2
    return np.abs(np.diff(squares) - ledger.norm_gains), np.maximum(squares[1:], squares[:-1])


def _alignment_identity(ledger: Ledger) -> tuple[np.ndarray, np.ndarray]:
    sizes = ledger.norms * stacked_norm(ledger.start)
    return np.abs(np.diff(ledger.alignments) - ledger.alignment_gains), np.maximum(sizes[1:], sizes[:-1])


def _evidence(
    book: Book,
    progress: Progress,
    needed: tuple[str, ...],
    quantity: str,
    sides: Callable[[Ledger], Sides],
    *,
    upper: bool,
    identity: Callable[[Ledger], tuple[np.ndarray, np.ndarray]] | None = None,
) -> Evidence:
    """Both sides over all updates of all runs; `upper` for measured ≤ promised, else ≥.

    `identity` gives (difference, size) between what an update did and what it should have done: a step read from
    the identity proves nothing about the run unless the two agree.
    """
    ledgers = book.ledgers
    progress(0.9, f"reading {len(ledgers)} ledgers")
    conditions = named(hypotheses(book.batches), needed)
    measured, promised, room = (np.concatenate(side) for side in zip(*map(sides, ledgers), strict=True))
    sign = 1 if upper else -1
    broken = ~(sign * (measured - promised) <= room)
    worst_identity = 0.0
    if identity is not None:
        errors, sizes = (np.concatenate(side) for side in zip(*map(identity, ledgers), strict=True))
        worst_identity = float((errors / np.where(sizes > 0, sizes, 1)).max(initial=0.0))
    updates = sum(ledger.updates for ledger in ledgers)
    conclusion = bool(not broken.any() and worst_identity <= STEP_TOLERANCE) if updates else None
    usable = np.flatnonzero(promised > 0)
    closeness = sign * measured[usable] / promised[usable]
    worst = int(usable[np.argmax(closeness)]) if len(usable) else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=_runs(ledgers),
        conclusion=conclusion,
        quantity=quantity,
        promised=None if worst is None else float(promised[worst]),
        measured=None if worst is None else float(measured[worst]),
        tightness=None if worst is None else ratio(float(measured[worst]), float(promised[worst])),
        config={
            **_describe(book),
            "updates_checked": updates,
            "updates_broken": int(broken.sum()),
            "largest_identity_error": worst_identity if identity is not None else None,
        },
        note="" if conclusion is not False else _failure(broken, worst_identity),
    )


def _failure(broken: np.ndarray, worst_identity: float) -> str:
    if broken.any():
        return f"Broken at {int(broken.sum())} of {len(broken)} comparisons."
    return f"The identity for the step is off by {worst_identity:.1e}, so the steps themselves are wrong."


UpdateBound = Callable[[Ledger], float]


def bound_of_start(ledger: Ledger) -> float:
    """M_init of a run: from its own F_0 and G_0."""
    norm, slope, eta, weight, _, half = ledger.start.parameters
    return float(start_bound(norm, slope, eta, weight, half, ledger.alignments[0], ledger.norms[0]))


def bound_of_rows(ledger: Ledger) -> float:
    """M_root of a run: from R."""
    return float(root_bound(*ledger.start.parameters))


def bound_of_theorem_2(ledger: Ledger) -> float:
    """M_k of a run."""
    return float(max_nonzero_updates(*ledger.start.parameters))


def promise(ledgers: Sequence[Ledger], bound: UpdateBound) -> np.ndarray:
    """The bound of each run; infinite where w* does not separate the data, because then nothing is promised."""
    return np.asarray([bound(run) if run.start.smallest_margin >= 0.5 else np.inf for run in ledgers])


def check_theorem_2_chain(
    book: Book,
    progress: Progress = silent,
    *,
    innermost: UpdateBound = bound_of_start,
    middle: UpdateBound = bound_of_rows,
) -> Evidence:
    """T ≤ M_init ≤ M_root ≤ M_k in every run; a control passes other bounds."""
    ledgers = book.ledgers
    progress(0.9, f"reading {len(ledgers)} ledgers")
    conditions = tuple(hypotheses(book.batches))
    counts = np.asarray([ledger.updates for ledger in ledgers], np.float64)
    inner, outer, printed = (promise(ledgers, bound) for bound in (innermost, middle, bound_of_theorem_2))
    over = counts > np.floor(inner * (1 + 1e-11))
    unordered = (inner > outer * (1 + 1e-11)) | (outer > printed * (1 + 1e-11))
    runs = _runs(ledgers)
    conclusion = False if (over | unordered).any() else None if runs.unfinished else True
    worst = int(np.argmax(counts / inner))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=runs,
        conclusion=conclusion,
        quantity="non-zero updates in the run closest to M_init",
        promised=float(inner[worst]),
        measured=float(counts[worst]),
        tightness=ratio(float(counts[worst]), float(inner[worst])),
        vacuous=bool(np.isinf(inner).all()),
        config={
            **_describe(book),
            "runs_over_the_innermost_bound": int(over.sum()),
            "runs_with_bounds_out_of_order": int(unordered.sum()),
            **_medians(counts, inner, outer, printed),
        },
    )


def _medians(counts: np.ndarray, inner: np.ndarray, outer: np.ndarray, printed: np.ndarray) -> dict[str, float]:
    """How far apart the bounds are, over the runs that have one."""
    finite = np.isfinite(printed)
    if not finite.any():
        return {}
    return {
        "median_M_init_over_M_k": float(np.median(inner[finite] / printed[finite])),
        "median_M_root_over_M_k": float(np.median(outer[finite] / printed[finite])),
        "median_tightness": float(np.median(counts[finite] / inner[finite])),
    }


def named(conditions: Sequence[Hypothesis], words: tuple[str, ...]) -> tuple[Hypothesis, ...]:
    """The hypotheses a statement needs, picked by words of their names."""
    return tuple(condition for condition in conditions if any(word in condition.name for word in words))


def _runs(ledgers: list[Ledger]) -> Runs:
    ends = [ledger.end for ledger in ledgers]
    return Runs(
        tried=len(ledgers),
        diverged=ends.count(RunStatus.DIVERGED),
        unfinished=ends.count(RunStatus.BUDGET_SPENT),
    )


def _describe(book: Book) -> dict:
    shapes = [
        {
            "trials": len(trials),
            "samples": trials.data.n_samples,
            "dim": trials.data.dim,
            "neurons": trials.networks.n_neurons,
            "orders": [type(trials.order).__name__, *(pick.value for pick in Pick)],
        }
        for trials in book.batches
    ]
    return {"dtype": "float64", "loss": "hinge", "batches": shapes}


@functools.lru_cache(maxsize=2)
def setting(scale: Scale, seed: int) -> Book:
    """Random trials, and the basis sequence: there the inequalities are nearly equalities."""
    batches, each, max_bound = (5, 8, 1e4) if scale is Scale.QUICK else (40, 25, 3e4)
    sequences = (
        basis_sequence(25, 4, 0.5, 5.3),
        basis_sequence(4, 1, 0.9, 1.0001, 0.5**0.5, 50.0),
        basis_sequence(1, 1, 0.5, 0.1),
        basis_sequence(100, 1, 0.99, 100.0),
    )
    return Book((*draw_trials(seed, batches, each, max_bound), *sequences))


def _step(name: str, statement: str, check: Callable[..., Evidence], where: str) -> Claim:
    return Claim(f"brutzkus2018.{name}", Kind.STEP, statement, where, check, setting)


equation_9 = _step(
    "equation_9",
    "|F_t| ≤ ‖W*‖·G_t, where F_t = ⟨W_t, W*⟩, G_t = ‖W_t‖, and W* stacks k copies of w* and k of −w*, so that "
    "‖W*‖ = √(2k)‖w*‖.",
    check_equation_9,
    "Eq. 9, Section 9.1.2",
)
equation_11_step = _step(
    "equation_11_step",
    "Every non-zero update adds less than 2η + 2kη²v² to G², the square of the norm of all trained weights.",
    check_equation_11_step,
    "the display before Eq. 11, Section 9.1.2",
)
equation_11 = _step(
    "equation_11",
    "After t non-zero updates, G_t² ≤ G_0² + t(2kη²v² + 2η).",
    check_equation_11,
    "Eq. 11 with C = 1, Section 9.1.2",
)
equation_12_step = _step(
    "equation_12_step",
    "Every non-zero update adds at least 2kηvα to F = ⟨W, W*⟩.",
    check_equation_12_step,
    "the display before Eq. 12, Section 9.1.2",
)
equation_12 = _step(
    "equation_12",
    "After t non-zero updates, F_t ≥ F_0 + 2kηvα·t.",
    check_equation_12,
    "Eq. 12 with c = 1, Section 9.1.2",
)
theorem_2_chain = _step(
    "theorem_2_chain",
    "T ≤ M_init ≤ M_root ≤ M_k: the number T of non-zero updates is bounded by the proof's quadratic solved with the "
    "run's own F_0 and G_0 (M_init), that by the quadratic with ‖rows‖ ≤ R (M_root), and that by the M_k of Theorem 2.",
    check_theorem_2_chain,
    "the end of the proof of Theorem 2, Section 9.1.2 (M_init and M_root are not named there)",
)
