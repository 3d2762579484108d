"""Section 6.2: a wide enough network fits any labels, so zero training loss alone promises nothing about the test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, less_than, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.runs.bad_minima import SAME_RAY, PointSet, separable_set
from widenet.papers.brutzkus2018.runs.memorization import (
    Hidden,
    bump_half_width,
    bumps,
    fit,
    memorize,
    outputs,
    printed_half_width,
    swept_gates,
    swept_half_width,
)
from widenet.papers.brutzkus2018.runs.online import Start, train_online
from widenet.papers.brutzkus2018.runs.trials import ROUNDING
from widenet.types import Progress, Scale, silent

FITTED = 1e-6
"""How far N(x) may be from its label, relative to the label: what is left when numbers of size λ cancel."""

HalfWidth = Callable[[int, int], int]
"""The k that a statement asks for, from n and d."""


@dataclass(frozen=True, eq=False)
class Memory:
    """Points, several labellings of them, and the network that has to take them.

    Attributes:
      inputs: the points.
      labels: ±1, one labelling per column.
      half_width: k, half the number of neurons.
      slope: α.
      planes: how many sweep planes are tried.
    """

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, "sample labelling"]
    half_width: int
    slope: float
    planes: int = 20

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return len(self.inputs), self.inputs.shape[1]


def memory_hypotheses(cases: Sequence[Memory], needed: HalfWidth | None = None, words: str = "") -> list[Hypothesis]:
    """What the memorization results ask for, each at the case nearest to breaking it."""
    wide = []
    if needed is not None:
        wide.append(
            at_least("smallest_k", f"smallest k − {words}", min(c.half_width - needed(*c.shape) for c in cases), 0)
        )
    return [
        *wide,
        at_least("smallest_dimension_d", "smallest dimension d", min(case.shape[1] for case in cases), 2),
        more_than(
            "no_two_points_on_one_ray",
            "no two points on one ray: smallest distance of directions",
            min(map(_closest, cases)),
            SAME_RAY,
        ),
        more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", min(case.slope for case in cases), 0),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", max(case.slope for case in cases), 1),
    ]


def check_theorem_7(cases: Sequence[Memory], progress: Progress = silent, *, gate_draws: int = 50) -> Evidence:
    """Weights for every labelling at k = 2⌈n/(2d − 2)⌉: random gates, or swept ones where these are singular.

    Not finding weights is no proof that there are none. Two points on one ray are: N(cx) = cN(x) for c > 0.
    """
    conditions = memory_hypotheses(cases, printed_half_width, "2⌈n/(2d − 2)⌉")
    results, rows = [], []
    for index, case in enumerate(cases):
        found = memorize(
            np.random.default_rng([index, 7]),
            case.inputs,
            case.labels,
            case.half_width,
            case.slope,
            close_enough=FITTED,
            random_draws=gate_draws,
            planes=case.planes,
        )
        results.append(True if found.error <= FITTED else False if _contradicts(case) else None)
        rows.append(_row(case) | {"gates": found.gates, "largest_error": found.error})
        progress((index + 1) / len(cases), f"{case.shape[0]} points in dimension {case.shape[1]}")
    return _evidence(cases[0].labels.shape[1], conditions, results, rows)


def check_theorem_7_sweep(
    cases: Sequence[Memory], progress: Progress = silent, *, needed: HalfWidth = swept_half_width
) -> Evidence:
    """Swept gates give a system of full rank in every plane, and weights for every labelling, at k = ⌈n/d⌉."""
    conditions = memory_hypotheses(cases, needed, "⌈n/d⌉")
    results, rows = [], []
    for index, case in enumerate(cases):
        draw = np.random.default_rng([index, 77])
        fits = [
            fit(case.inputs, case.labels, swept_gates(draw, case.half_width, case.inputs), case.slope)
            for _ in range(case.planes)
        ]
        best = min(fits, key=lambda each: each.scale)
        error, rank = _error(best.weights, case), min(each.rank for each in fits)
        results.append(error <= FITTED and rank == len(case.inputs))
        rows.append(_row(case) | {"smallest_rank": rank, "smallest_scale": best.scale, "largest_error": error})
        progress((index + 1) / len(cases), f"{case.shape[0]} points in dimension {case.shape[1]}")
    return _evidence(cases[0].labels.shape[1], conditions, results, rows)


def check_theorem_7_bumps(cases: Sequence[Memory], progress: Progress = silent, *, spread: float = 0.5) -> Evidence:
    """Hyperplane bumps fit the first labelling, with the number of neurons counted beforehand.

    `spread` below 1 keeps a bump off the other points; a control goes beyond.
    """
    conditions = memory_hypotheses(cases)
    results, rows = [], []
    for index, case in enumerate(cases):
        labels, dim = case.labels[:, 0], case.shape[1]
        weights = bumps(case.inputs, labels, case.slope, spread=spread)
        error = float(np.abs(outputs(weights, case.inputs, case.slope) - labels).max())
        used, counted = len(weights) // 2, bump_half_width(labels, dim)
        results.append(error <= FITTED and used == counted >= printed_half_width(*case.shape))
        rows.append(
            _row(case)
            | {
                "half_width": used,
                "counted": counted,
                "printed": printed_half_width(*case.shape),
                "largest_error": error,
            }
        )
        progress((index + 1) / len(cases), f"{case.shape[0]} points in dimension {dim}")
    return _evidence(1, conditions, results, rows)


def check_section_6_2_bad_global(
    settings: Sequence[tuple[PointSet, int, int]],
    progress: Progress = silent,
    *,
    use_sgd: bool = False,
    slope: float = 0.2,
) -> Evidence:
    """Zero training loss and 100 % test error, on data where SGD from a random start generalizes.

    A setting is separable data, how many of its points are for training, and k. A control judges SGD's weights.
    """
    sets = [points for points, _, _ in settings]
    margin = min(float((s.labels * (s.inputs @ s.separator)).min()) for s in sets)
    spare = min(half - printed_half_width(*points.inputs.shape) for points, _, half in settings)
    conditions = [
        at_least("separable", "separable: smallest y⟨w*, x⟩", margin, 1, tolerance=ROUNDING),
        at_least("smallest_k_2_n_n_test", "smallest k − 2⌈(n + n_test)/(2d − 2)⌉", spare, 0),
    ]
    rows = []
    for index, (points, n_train, half) in enumerate(settings):
        draw = np.random.default_rng([index, 62])
        by_sgd = _train(points, n_train, half, slope, draw)
        flipped = np.concatenate([points.labels[:n_train], -points.labels[n_train:]])
        found = memorize(draw, points.inputs, flipped[:, None], half, slope, close_enough=FITTED, random_draws=10)
        # Twice the weights give yN = 2: zero loss with room for rounding.
        built = 2 * found.weights[0]
        loss, error = _judge(by_sgd if use_sgd else built, points, n_train, slope)
        sgd_loss, sgd_error = _judge(by_sgd, points, n_train, slope)
        rows.append(
            {
                "train": n_train,
                "test": len(points.labels) - n_train,
                "dim": points.inputs.shape[1],
                "half_width": half,
                "train_loss": loss,
                "test_error": error,
                "sgd_train_loss": sgd_loss,
                "sgd_test_error": sgd_error,
            }
        )
        progress((index + 1) / len(settings), f"{len(points.labels)} points in dimension {points.inputs.shape[1]}")
    conclusion = all(row["train_loss"] == 0 and row["test_error"] == 1 for row in rows) if rows else None
    worst = min(rows, key=lambda row: row["test_error"] - row["train_loss"])
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(rows)),
        conclusion=conclusion,
        quantity="test error of a network with training loss 0",
        promised=1.0,
        measured=worst["test_error"],
        tightness=ratio(worst["test_error"], 1.0),
        config={"slope": slope, "cases": rows},
        note=f"SGD from a random start on the same training points has test error {worst['sgd_test_error']:.3g} "
        f"at training loss {worst['sgd_train_loss']:.3g}.",
    )


def _train(points: PointSet, n_train: int, half: int, slope: float, draw: np.random.Generator) -> Hidden:
    """SGD under R = v = 1/√(2k), as weights for output weights ±1."""
    size = (2 * half) ** -0.5
    rows = draw.normal(size=(1, 2 * half, points.inputs.shape[1]))
    rows *= size / np.linalg.norm(rows, axis=2, keepdims=True)
    start = Start(points.inputs[:n_train], points.labels[None, :n_train], rows, 1.0, size, slope)
    return size * train_online(start).weights[0]


def _judge(weights: Hidden, points: PointSet, n_train: int, slope: float) -> tuple[float, float]:
    margins = points.labels * outputs(weights, points.inputs, slope)
    return float(np.maximum(1 - margins[:n_train], 0).mean()), float((margins[n_train:] <= 0).mean())


def _error(weights: Float[np.ndarray, "labelling neuron dim"], case: Memory) -> float:
    """The largest |N(x_i) − y_i| over points and labellings."""
    found = np.stack([outputs(each, case.inputs, case.slope) for each in weights], axis=1)
    return float(np.abs(found - case.labels).max())


def _closest(case: Memory) -> float:
    """The smallest distance between the directions of two points."""
    units = case.inputs / np.linalg.norm(case.inputs, axis=1, keepdims=True)
    pairs = np.triu_indices(len(units), 1)
    return float(np.linalg.norm(units[pairs[0]] - units[pairs[1]], axis=1).min(initial=2.0))


def _contradicts(case: Memory) -> bool:
    """Whether two points on one ray, x and cx with c > 0, are asked for values other than N and cN."""
    norms = np.linalg.norm(case.inputs, axis=1)
    units = case.inputs / norms[:, None]
    same = np.linalg.norm(units[:, None] - units[None], axis=2) <= SAME_RAY
    asked = case.labels[:, None] * norms[None, :, None] != case.labels[None] * norms[:, None, None]
    return bool((same & asked.any(axis=2)).any())


def _evidence(
    n_labellings: int, conditions: Sequence[Hypothesis], results: Sequence[bool | None], rows: list[dict]
) -> Evidence:
    conclusion = False if False in results else None if None in results or not results else True
    worst = max(row["largest_error"] for row in rows)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=n_labellings * len(rows)),
        conclusion=conclusion,
        quantity=f"largest |N(x) − y|; up to {FITTED:g} counts as 0",
        promised=0.0,
        measured=worst,
        config={"labellings_per_case": n_labellings, "cases": rows},
    )


def _row(case: Memory) -> dict:
    n_samples, dim = case.shape
    return {"samples": n_samples, "dim": dim, "half_width": case.half_width, "slope": case.slope}


def memory(
    draw: np.random.Generator,
    n_samples: int,
    dim: int,
    half_width: HalfWidth,
    slope: float,
    *,
    labellings: int = 10,
    planes: int = 20,
) -> Memory:
    """Gaussian points, which are generic, and random labellings."""
    labels = draw.choice([-1.0, 1.0], (n_samples, labellings))
    return Memory(draw.normal(size=(n_samples, dim)), labels, half_width(n_samples, dim), slope, planes)


SHAPES = ((60, 5), (200, 20), (300, 10), (50, 3), (60, 2))
SMALL = ((60, 5), (50, 3), (60, 2), (61, 2))
SLOPES = (0.1, 0.5, 0.9)


def _setting(scale: Scale, seed: int) -> list[Memory]:
    """Exactly the printed k; the slopes of the spec in turn."""
    draw = np.random.default_rng([seed, 7])
    return [
        memory(draw, n, dim, printed_half_width, SLOPES[index % 3])
        for index, (n, dim) in enumerate(SHAPES * (1 if scale is Scale.QUICK else 5))
    ]


def _sweep_setting(scale: Scale, seed: int) -> list[Memory]:
    draw = np.random.default_rng([seed, 77])
    few = 6 if scale is Scale.QUICK else 20
    cases = [memory(draw, n, dim, swept_half_width, slope, planes=few) for n, dim in SMALL for slope in SLOPES]
    # Large systems take a second each: a few planes at quick scale.
    large, planes = (((120, 12),), 4) if scale is Scale.QUICK else (((200, 20), (300, 10)), 20)
    return cases + [memory(draw, n, d, swept_half_width, a, planes=planes) for n, d in large for a in SLOPES]


def _global_setting(scale: Scale, seed: int) -> list[tuple[PointSet, int, int]]:
    draw = np.random.default_rng([seed, 62])
    sizes = ((200, 20), (120, 10)) if scale is Scale.QUICK else ((200, 20), (120, 10), (400, 20), (600, 30))
    return [(separable_set(draw, n, dim, 10.0, 0.3), n // 2, printed_half_width(n, dim)) for n, dim in sizes]


theorem_7 = Claim(
    id="brutzkus2018.theorem_7",
    kind=Kind.MAIN,
    statement=(
        "Leaky ReLU with output weights ±v: if k ≥ 2⌈n/(2d − 2)⌉, then for all labels y ∈ {−1, +1}^n and almost every "
        "X there are weights with N(x_i) = y_i for every i."
    ),
    where="Theorem 7, Section 6.2",
    judge=check_theorem_7,
    draws=_setting,
)

theorem_7_sweep = Claim(
    id="brutzkus2018.theorem_7_sweep",
    kind=Kind.CONSTRUCTION,
    statement=(
        "k = ⌈n/d⌉ suffices in Theorem 7, for every slope in (0, 1): gates that turn through a plane and stop after "
        "every d points give a linear system of rank n. As ⌈n/d⌉ ≤ 2⌈n/(2d − 2)⌉, this proves Theorem 7."
    ),
    where="Section 6.2 (derived: a proof of Theorem 7 with fewer neurons)",
    judge=check_theorem_7_sweep,
    draws=_sweep_setting,
)

theorem_7_bumps = Claim(
    id="brutzkus2018.theorem_7_bumps",
    kind=Kind.CONSTRUCTION,
    statement=(
        "The route of the proof, a network that is 1 on one label and 0 on the other for each label, fits every "
        "labelling with hyperplane bumps, with k = 2(⌈n₊/(d − 1)⌉ + ⌈n₋/(d − 1)⌉), about twice 2⌈n/(2d − 2)⌉."
    ),
    where="Proof of Theorem 7, Section 9.2.2 (the cited lemma re-derived)",
    judge=check_theorem_7_bumps,
    draws=_setting,
)

section_6_2_bad_global = Claim(
    id="brutzkus2018.section_6_2_bad_global",
    kind=Kind.CONSTRUCTION,
    statement=(
        "With k ≥ 2⌈(n + n_test)/(2d − 2)⌉ the training loss has global minima (loss 0) with arbitrarily bad test "
        "error: here 100 %, on separable data where SGD from a random start also reaches loss 0 and generalizes."
    ),
    where="Section 6.2, after Theorem 7",
    judge=check_section_6_2_bad_global,
    draws=_global_setting,
)
