"""Proposition 1: every critical point of the training loss is a global minimum, and the loss is not convex."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

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
from widenet.claims.meaning import Topic
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING, STEP
from widenet.data.points import separable_points
from widenet.papers.brutzkus2018.claims.specimens import separation_of
from widenet.papers.brutzkus2018.runs.nonconvexity import Certificate, Landscape, certify
from widenet.papers.brutzkus2018.runs.online import votes
from widenet.records import Scale

GAP = "L((A + B)/2) − (L(A) + L(B))/2"


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
    active = (scape.margins(point.hidden) < 1).astype(np.float64)
    weights = (active * scape.labels)[:, None] * slopes * scape.outputs
    return weights.T @ scape.inputs / -float(len(scape.labels)), float(active.mean())


def random_points(scale: Scale, seed: int) -> list[Point]:
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
    outputs = votes(half, float(np.exp(draw.normal())))
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
    scape = Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), votes(2, 0.5), 0.25)
    return Point(scape, np.full((4, 1), -0.1), 1.0)


@claim(
    "brutzkus2018.proposition_1_1",
    Kind.MAIN,
    "Proposition 1 (1), Section 5.1; proof in Section 9.1.1",
    draws=random_points,
)
def proposition_1_1(
    points: Sequence[Point],
    *,
    factor: float = 1.0,
    leak: float | None = None,
    slopes_at: Callable[[Point], tuple[np.ndarray, float]] = gradient,
) -> Evidence:
    """Every critical point of the training loss is a global minimum (loss 0). Quantitatively,
    −⟨∇L_S(W), W*⟩ ≥ 2kvα·a(W), so ‖∇L_S(W)‖ ≥ √(2k)vα·a(W)/‖w*‖, where a(W) is the fraction of samples with
    y N(x) < 1; for any choice of σ'(0) between α and 1.

    a(W) is positive wherever the loss is, so the gradient vanishes only at loss 0. For controls, `factor` multiplies
    the bounds, `leak` takes the place of α, and `slopes_at` that of the gradient.
    """
    descents, promised, lengths, losses = [], [], [], []
    for point in points:
        scape = point.landscape
        slopes, active = slopes_at(point)
        stacked = np.outer(np.sign(scape.outputs), scape.separator)
        used = scape.slope if leak is None else leak
        promised.append(factor * 2 * scape.half_width * scape.output_weight * used * active)
        descents.append(-float(np.vdot(slopes, stacked)))
        # ‖W*‖ = √(2k)‖w*‖, so the second bound is the first with ‖∇L‖‖W*‖ on its left.
        lengths.append(float(np.linalg.norm(slopes)) * float(np.linalg.norm(stacked)))
        losses.append(scape.loss(point.hidden))
    bounds, lengths, losses = np.array(promised), np.array(lengths), np.array(losses)
    bounded, positive = bounds > 0, losses > 0
    return evidence(
        {
            "−⟨∇L, W*⟩ ≥ 2kvα·a(W)": Sides(
                descents,
                bounds,
                Sense.AT_LEAST,
                room=STEP * bounds,
                scored=bounded,
                quantity="−⟨∇L, W*⟩ where it comes closest to 2kvα·a(W)",
            ),
            "‖∇L‖ ≥ √(2k)vα·a(W)/‖w*‖": Sides(
                lengths,
                bounds,
                Sense.AT_LEAST,
                room=STEP * bounds,
                scored=bounded,
                quantity="‖∇L‖·√(2k)‖w*‖ where it comes closest to 2kvα·a(W)",
            ),
            "a gradient other than 0 wherever the loss is positive": Sides(
                lengths, 0.0, Sense.AT_LEAST, strict=True, scored=positive, quantity="‖∇L‖·√(2k)‖w*‖"
            ),
        },
        [
            *_separable_network([point.landscape for point in points]),
            more_than("slope_positive", "smallest Leaky slope α", min(p.landscape.slope for p in points), 0),
            at_least(
                "derivative_above_slope", "smallest σ'(0) − α", min(p.at_kink - p.landscape.slope for p in points), 0
            ),
            at_most("derivative_at_zero", "largest σ'(0)", max(p.at_kink for p in points), 1),
        ],
        runs=Runs(tried=len(points)),
        details={
            "points": len(points),
            "points_with_positive_loss": int((losses > 0).sum()),
            "critical_points_met": int((lengths == 0).sum()),
        },
    )


def _separable_network(scapes: Sequence[Landscape]) -> list[Hypothesis]:
    closest = min(scapes, key=lambda scape: scape.smallest_margin)
    return [
        separable((scape.smallest_margin for scape in scapes), why=closest.why),
        more_than("output_weight", "smallest output weight v", min(scape.output_weight for scape in scapes), 0),
    ]


@dataclass(frozen=True, eq=False)
class Certified:
    """A landscape and its certificate, if one was found."""

    landscape: Landscape
    certificate: Certificate | None


def certified_landscapes(scale: Scale, seed: int) -> list[Certified]:
    """Random data, and data balanced on every line, where the simple certificate has gap 0."""
    draw = np.random.default_rng(seed)
    count = 60 if scale is Scale.QUICK else 400
    scapes = [balanced_landscape(draw) if number % 3 == 0 else random_landscape(draw) for number in range(count)]
    return [Certified(scape, certify(scape, seed=number)) for number, scape in enumerate(scapes)]


def balanced_landscape(draw: np.random.Generator) -> Landscape:
    """Σ y‖x‖ = 0 on every line through 0: pairs (x, 1), (−x, −1), and a line where two points balance a third."""
    dim, half = int(draw.integers(1, 6)), int(draw.integers(1, 5))
    inputs, _, separator = separable_points(draw, dim, int(draw.integers(1, 5)), float(draw.uniform(3, 8)))
    # y⟨w*, x⟩ ≥ 1 for y = sign⟨w*, x⟩; halving the points needs twice the separator.
    positive = inputs * np.sign(inputs @ separator)[:, None]
    first = positive[:1]
    points = np.concatenate([positive[1:], -positive[1:], first, -first / 2, -first / 2])
    labels = np.concatenate([np.ones(len(positive) - 1), -np.ones(len(positive) - 1), [1.0, -1.0, -1.0]])
    outputs = votes(half, float(np.exp(draw.normal())))
    return Landscape(points, labels, 2 * separator, outputs, float(draw.uniform(0.05, 0.95)))


@claim("brutzkus2018.proposition_1_2", Kind.MAIN, "Proposition 1 (2), Section 5.1", draws=certified_landscapes)
def proposition_1_2(certified: Sequence[Certified]) -> Evidence:
    """The training loss is not convex, on any separable data: there are A and B with
    L_S((A + B)/2) > (L_S(A) + L_S(B))/2, and the gap has a closed form.

    A certificate that was not found decides nothing.
    """
    scapes = [each.landscape for each in certified]
    measured, predicted = (
        np.array([np.nan if each.certificate is None else getattr(each.certificate, side) for each in certified])
        for side in ("measured", "predicted")
    )
    balanced = np.array([each.certificate is not None and each.certificate.balanced for each in certified])
    missing = int(np.isnan(predicted).sum())
    parts = {
        f"the gap {name} has its closed form": _closed_form(measured, predicted, kind)
        for name, kind in (("from W = 0", ~balanced), ("on balanced data", balanced))
        if (kind & ~np.isnan(predicted)).any()
    }
    # An inequality without its right side: no number to come close to.
    parts["a positive gap"] = Sides(measured, 0.0, Sense.AT_LEAST, strict=True, quantity=GAP)
    errors = (np.abs(measured - predicted) / predicted)[~np.isnan(predicted)]
    return evidence(
        parts,
        [
            *_separable_network(scapes),
            less_than("slope_below_one", "largest Leaky slope α", max(scape.slope for scape in scapes), 1),
        ],
        runs=Runs(tried=len(scapes)),
        details={
            "landscapes": len(scapes),
            "certificates": len(scapes) - missing,
            "balanced_data_sets": int(balanced.sum()),
            "largest_relative_error_of_the_predicted_gap": float(errors.max(initial=0.0)),
        },
        note=f"No certificate in {missing} of {len(scapes)} landscapes." if missing else "",
    )


def _closed_form(measured: np.ndarray, predicted: np.ndarray, kind: Bool[np.ndarray, " landscape"]) -> Sides:
    """The measured gap against its closed form; a difference of losses of size 1 is rounded too."""
    return Sides(
        measured,
        predicted,
        Sense.EQUAL,
        room=CLOSED_FORM * np.nan_to_num(predicted) + ROUNDING,
        scored=kind,
        quantity=GAP,
    )


@proposition_1_2.speaks
def proposition_1_2_on(specimen: Specimen) -> list[Certified] | Silence:
    """The reader's points under a network of the chosen width, with v = 1/√(2k)."""
    separation = separation_of(specimen)
    if isinstance(separation, Silence):
        return separation
    n_neurons = specimen.choices.n_neurons
    scape = Landscape(
        specimen.inputs,
        specimen.labels,
        separation.vector(specimen.inputs.shape[1]),
        votes(n_neurons // 2, n_neurons**-0.5),
        specimen.choices.slope,
        separation.sentence,
    )
    return [Certified(scape, certify(scape, specimen.choices.seed))]


@dataclass(frozen=True)
class OnePair:
    """A point x ≠ 0 and a slope α, for f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩)."""

    point: Float[np.ndarray, " dim"]
    slope: float

    def value(self, u: Float[np.ndarray, " dim"]) -> float:
        """f_x(x, u)."""
        z = np.array([self.point @ self.point, u @ self.point])
        plus, minus = np.maximum(z, self.slope * z)
        return float(plus - minus)


def random_pairs(scale: Scale, seed: int) -> list[OnePair]:
    """Points of every size up to eight dimensions, and slopes."""
    draw = np.random.default_rng(seed)
    return [
        OnePair(draw.normal(size=int(draw.integers(1, 9))) / 3, float(draw.uniform(0.01, 0.99)))
        for _ in range(200 if scale is Scale.QUICK else 2000)
    ]


@claim(
    "brutzkus2018.proposition_1_2_own_example",
    Kind.STEP,
    "proof of Proposition 1 (2), Section 9.1.1",
    draws=random_pairs,
)
def proposition_1_2_own_example(
    pairs: Sequence[OnePair], *, factors: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> Evidence:
    """f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩) is not convex: it is 0 at (x, x), (1 + α)‖x‖² at (x, −x), and ‖x‖² halfway,
    which is (1 − α)‖x‖²/2 above the mean.

    For controls, `factors` multiply the value at (x, −x), the value halfway, and the excess.
    """
    sizes = np.array([float(pair.point @ pair.point) for pair in pairs])
    slopes = np.array([pair.slope for pair in pairs])
    same, opposite, halfway = (np.array([pair.value(u * pair.point) for pair in pairs]) for u in (1.0, -1.0, 0.0))
    hinge = {
        y: np.maximum(1 - y * halfway, 0) > (np.maximum(1 - y * same, 0) + np.maximum(1 - y * opposite, 0)) / 2
        for y in (1, -1)
    }
    plus, minus = int(hinge[1].sum()), int(hinge[-1].sum())
    room = ROUNDING * sizes
    excess = halfway - (same + opposite) / 2
    return evidence(
        {
            "the midpoint exceeds the mean by (1 − α)‖x‖²/2": Sides(
                excess,
                factors[2] * (1 - slopes) / 2 * sizes,
                Sense.EQUAL,
                room=room,
                quantity="f at the midpoint minus the mean of f at the ends",
            ),
            "the midpoint exceeds the mean": Fact(excess > room),
            "0 at (x, x)": Sides(same, 0.0, Sense.EQUAL, room=room),
            "(1 + α)‖x‖² at (x, −x)": Sides(opposite, factors[0] * (1 + slopes) * sizes, Sense.EQUAL, room=room),
            "‖x‖² halfway": Sides(halfway, factors[1] * sizes, Sense.EQUAL, room=room),
        },
        [
            more_than("nonzero_point", "smallest ‖x‖", float(np.sqrt(sizes).min()), 0),
            less_than("slope_below_one", "largest Leaky slope α", float(slopes.max()), 1),
        ],
        details={
            "pairs": len(pairs),
            "hinge_not_convex_here_for_label_plus": plus,
            "hinge_not_convex_here_for_label_minus": minus,
        },
        note=(
            "The proof is about f, not about the loss: through the hinge these three points show non-convexity for "
            f"y = −1 ({minus} of {len(pairs)}) and never for y = +1 ({plus}). proposition_1_2 is about the loss."
        ),
    )


proposition_1_2.means(
    Topic.TRAPS,
    "Between two networks that fit the points there may be worse ones: averaging the weights of two good networks "
    "can give a bad one.",
)
