"""Proposition 1: every critical point of the training loss is a global minimum, and the loss is not convex."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least, less_than, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.runs.draws import plus_minus_weights, separable_points
from widenet.papers.brutzkus2018.runs.ledger import leaky, outputs_of
from widenet.papers.brutzkus2018.runs.nonconvexity import Certificate, Landscape, certify, largest_gap_error
from widenet.papers.brutzkus2018.runs.trials import ROUNDING
from widenet.types import Progress, Scale, silent


@dataclass(frozen=True)
class Point:
    """A place W in the landscape of a training set. `at_kink` is σ'(0), anything from α to 1."""

    landscape: Landscape
    hidden: Float[np.ndarray, "neuron dim"]
    at_kink: float


def gradient(point: Point) -> tuple[np.ndarray, float]:
    """∂L_S/∂W with the chosen σ'(0), and a(W), the fraction of samples with y N(x) < 1."""
    scape = point.landscape
    z = scape.inputs @ point.hidden.T
    slopes = np.where(z > 0, 1.0, np.where(z < 0, scape.slope, point.at_kink))
    margins = scape.labels * (leaky(z, scape.slope) @ scape.outputs)
    active = (margins < 1).astype(np.float64)
    weights = (active * scape.labels)[:, None] * slopes * scape.outputs
    return weights.T @ scape.inputs / -float(len(scape.labels)), float(active.mean())


def check_proposition_1_1(
    points: Sequence[Point], progress: Progress = silent, *, leak: float | None = None
) -> Evidence:
    """⟨∇L_S, W*⟩ ≤ −2kvα·a(W) and ‖∇L_S‖ ≥ √(2k)vα·a(W)/‖w*‖ at every point; `leak` replaces α for a control.

    a(W) is positive wherever the loss is, so the gradient vanishes only at loss 0.
    """
    slack, tightness, worst, critical, positive = np.inf, np.inf, (0.0, 0.0), 0, 0
    for number, point in enumerate(points):
        scape = point.landscape
        slopes, active = gradient(point)
        stacked = np.outer(np.sign(scape.outputs), scape.separator)
        used = scape.slope if leak is None else leak
        promised = 2 * scape.half_width * scape.output_weight * used * active
        descent = -float(np.vdot(slopes, stacked))
        length = float(np.linalg.norm(slopes)) * float(np.linalg.norm(stacked))
        critical += length == 0
        if active > 0:
            positive += 1
            # A promise of 0 (α = 0) bounds nothing, and the gradient must still not vanish where the loss is positive.
            allowed = promised * (1 - 1e-9)
            slack = np.min([slack, descent - allowed, length - allowed, -1.0 if length == 0 else np.inf])
            if promised > 0 and descent / promised < tightness:
                tightness, worst = descent / promised, (promised, descent)
        progress((number + 1) / len(points), "points of the landscape")
    conditions = (
        at_least(
            "separable",
            "separable: smallest y⟨w*, x⟩",
            min(p.landscape.smallest_margin for p in points),
            1,
            tolerance=ROUNDING,
        ),
        more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", min(p.landscape.slope for p in points), 0),
        more_than(
            "smallest_output_weight_v", "smallest output weight v", min(p.landscape.output_weight for p in points), 0
        ),
    )
    conclusion = bool(slack >= 0) if positive else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(points)),
        conclusion=conclusion,
        quantity="−⟨∇L, W*⟩ where it comes closest to 2kvα·a(W)",
        promised=worst[0],
        measured=worst[1],
        tightness=ratio(worst[1], worst[0]),
        config={"points": len(points), "points_with_positive_loss": positive, "critical_points_met": critical},
    )


def _points(scale: Scale, seed: int) -> list[Point]:
    """Random landscapes at many scales, W = 0, rows exactly orthogonal to a sample, and the one where it is equal."""
    draw = np.random.default_rng(seed)
    points = [_equality()]
    for number in range(170 if scale is Scale.QUICK else 2000):
        scape = random_landscape(draw)
        hidden = draw.normal(size=(2 * scape.half_width, scape.inputs.shape[1])) * 10 ** draw.uniform(-2, 1)
        if number % 10 == 0:
            hidden[:] = 0
        elif number % 3 == 0:
            # Integer entries and a sample on an axis: ⟨w, x⟩ is exactly 0, without rounding.
            scape = _with_axis_sample(scape)
            hidden[:, int(np.argmax(np.abs(scape.inputs[0])))] = 0
        points += [Point(scape, hidden, kink) for kink in (scape.slope, (1 + scape.slope) / 2, 1.0)]
    return points


def random_landscape(draw: np.random.Generator) -> Landscape:
    """Separable data and a ±v Leaky ReLU network, all parameters drawn."""
    dim, half = int(draw.integers(1, 8)), int(draw.integers(1, 7))
    inputs, labels, separator = separable_points(draw, dim, int(draw.integers(1, 30)), float(draw.uniform(1.01, 10)))
    outputs = plus_minus_weights(half, float(np.exp(draw.normal())))
    return Landscape(inputs, labels, separator, outputs, float(draw.uniform(0.01, 0.99)))


def _with_axis_sample(scape: Landscape) -> Landscape:
    """The same data with its first sample replaced by an axis vector on the right side of w*."""
    axis = int(np.argmax(np.abs(scape.separator)))
    first = np.zeros(len(scape.separator))
    first[axis] = np.sign(scape.separator[axis]) * scape.labels[0]
    separator = scape.separator / min(1.0, abs(scape.separator[axis]))
    inputs = np.concatenate([first[None], scape.inputs[1:]])
    return Landscape(inputs, scape.labels, separator, scape.outputs, scape.slope)


def _equality() -> Point:
    """S = {(1, +1)}, every neuron off: the gradient is exactly as small as the proposition allows."""
    scape = Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), plus_minus_weights(2, 0.5), 0.25)
    return Point(scape, np.full((4, 1), -0.1), 1.0)


proposition_1_1 = Claim(
    id="brutzkus2018.proposition_1_1",
    kind=Kind.MAIN,
    statement=(
        "Every critical point of the training loss is a global minimum (loss 0). Quantitatively, "
        "−⟨∇L_S(W), W*⟩ ≥ 2kvα·a(W), so ‖∇L_S(W)‖ ≥ √(2k)vα·a(W)/‖w*‖, where a(W) is the fraction of samples with "
        "y N(x) < 1; for any choice of σ'(0) between α and 1."
    ),
    where="Proposition 1 (1), Section 5.1; proof in Section 9.1.1",
    judge=check_proposition_1_1,
    draws=_points,
)


def check_proposition_1_2(scapes: Sequence[Landscape], progress: Progress = silent) -> Evidence:
    """In every landscape, two points whose mean loss is below the loss halfway between them."""
    certificates: list[Certificate | None] = []
    for number, scape in enumerate(scapes):
        certificates.append(certify(scape, seed=number))
        progress((number + 1) / len(scapes), "landscapes")
    found = [certificate for certificate in certificates if certificate is not None]
    missing = len(certificates) - len(found)
    error = largest_gap_error(found)
    conditions = (
        at_least(
            "separable",
            "separable: smallest y⟨w*, x⟩",
            min(scape.smallest_margin for scape in scapes),
            1,
            tolerance=ROUNDING,
        ),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", max(scape.slope for scape in scapes), 1),
        more_than(
            "smallest_output_weight_v", "smallest output weight v", min(scape.output_weight for scape in scapes), 0
        ),
    )
    conclusion = bool(missing == 0 and error <= 1e-6)
    smallest = min(found, key=lambda certificate: certificate.measured, default=None)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(scapes)),
        conclusion=conclusion,
        quantity="L((A + B)/2) − (L(A) + L(B))/2 in the landscape where it is smallest",
        promised=None if smallest is None else smallest.predicted,
        measured=None if smallest is None else smallest.measured,
        tightness=None if smallest is None else ratio(smallest.measured, smallest.predicted),
        config={
            "landscapes": len(scapes),
            "certificates": len(found),
            "balanced_data_sets": sum(certificate.balanced for certificate in found),
            "largest_relative_error_of_the_predicted_gap": error,
        },
        note=f"No certificate in {missing} of {len(scapes)} landscapes." if missing else "",
    )


def _landscapes(scale: Scale, seed: int) -> list[Landscape]:
    """Random data, and data balanced on every line, where the simple certificate has gap 0."""
    draw = np.random.default_rng(seed)
    count = 60 if scale is Scale.QUICK else 400
    return [balanced_landscape(draw) if number % 3 == 0 else random_landscape(draw) for number in range(count)]


def balanced_landscape(draw: np.random.Generator) -> Landscape:
    """Σ y‖x‖ = 0 on every line through 0: pairs (x, 1), (−x, −1), and a line where two points balance a third."""
    dim, half = int(draw.integers(1, 6)), int(draw.integers(1, 5))
    inputs, _, separator = separable_points(draw, dim, int(draw.integers(1, 5)), float(draw.uniform(3, 8)))
    # y⟨w*, x⟩ ≥ 1 for y = sign⟨w*, x⟩; halving the points needs twice the separator.
    positive = inputs * np.sign(inputs @ separator)[:, None]
    first = positive[:1]
    points = np.concatenate([positive[1:], -positive[1:], first, -first / 2, -first / 2])
    labels = np.concatenate([np.ones(len(positive) - 1), -np.ones(len(positive) - 1), [1.0, -1.0, -1.0]])
    outputs = plus_minus_weights(half, float(np.exp(draw.normal())))
    return Landscape(points, labels, 2 * separator, outputs, float(draw.uniform(0.05, 0.95)))


proposition_1_2 = Claim(
    id="brutzkus2018.proposition_1_2",
    kind=Kind.MAIN,
    statement=(
        "The training loss is not convex, on any separable data: there are A and B with "
        "L_S((A + B)/2) > (L_S(A) + L_S(B))/2, and the gap has a closed form."
    ),
    where="Proposition 1 (2), Section 5.1",
    judge=check_proposition_1_2,
    draws=_landscapes,
)


@dataclass(frozen=True)
class OnePair:
    """A point x ≠ 0 and a slope α, for f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩)."""

    point: Float[np.ndarray, " dim"]
    slope: float


def check_proposition_1_2_own_example(pairs: Sequence[OnePair], progress: Progress = silent) -> Evidence:
    """f_x(x, x) = 0, f_x(x, −x) = (1 + α)‖x‖², f_x(x, 0) = ‖x‖² at the midpoint, which exceeds the mean."""
    error, worst, worst_pair, plus, minus = 0.0, np.inf, (0.0, 0.0), 0, 0
    for pair in pairs:
        x, size = pair.point, float(pair.point @ pair.point)
        outputs = np.array([1.0, -1.0])
        values = [
            float(outputs_of(np.stack([x, u]), outputs, x[None], pair.slope)[0]) for u in (x, -x, np.zeros_like(x))
        ]
        expected = (0.0, (1 + pair.slope) * size, size)
        error = float(np.max([error, *(abs(a - b) / size for a, b in zip(values, expected, strict=True))]))
        gap, promised = values[2] - (values[0] + values[1]) / 2, (1 - pair.slope) / 2 * size
        if gap / size < worst:
            worst, worst_pair = gap / size, (promised, gap)
        first, second, middle = ({y: max(1 - y * value, 0.0) for y in (1, -1)} for value in values)
        plus += middle[1] > (first[1] + second[1]) / 2 * (1 + 1e-12)
        minus += middle[-1] > (first[-1] + second[-1]) / 2 * (1 + 1e-12)
    conditions = (
        more_than("smallest", "smallest ‖x‖", min(float(np.linalg.norm(pair.point)) for pair in pairs), 0),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", max(pair.slope for pair in pairs), 1),
    )
    conclusion = bool(error <= 1e-12 and worst > 1e-12)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(pairs)),
        conclusion=conclusion,
        quantity="f at the midpoint minus the mean of f at the ends, where it is smallest beside ‖x‖²",
        promised=worst_pair[0],
        measured=worst_pair[1],
        tightness=ratio(worst_pair[1], worst_pair[0]),
        config={
            "pairs": len(pairs),
            "hinge_not_convex_here_for_label_plus": plus,
            "hinge_not_convex_here_for_label_minus": minus,
        },
        note=(
            "The proof is about f, not about the loss: through the hinge these three points show non-convexity for "
            f"y = −1 ({minus} of {len(pairs)}) and never for y = +1 ({plus}). proposition_1_2 is about the loss."
        ),
    )


def _pairs(scale: Scale, seed: int) -> list[OnePair]:
    draw = np.random.default_rng(seed)
    return [
        OnePair(draw.normal(size=int(draw.integers(1, 9))) / 3, float(draw.uniform(0.01, 0.99)))
        for _ in range(200 if scale is Scale.QUICK else 2000)
    ]


proposition_1_2_own_example = Claim(
    id="brutzkus2018.proposition_1_2_own_example",
    kind=Kind.STEP,
    statement=(
        "f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩) is not convex: it is 0 at (x, x), (1 + α)‖x‖² at (x, −x), and ‖x‖² halfway, "
        "which is (1 − α)‖x‖²/2 above the mean."
    ),
    where="proof of Proposition 1 (2), Section 9.1.1",
    judge=check_proposition_1_2_own_example,
    draws=_pairs,
)
