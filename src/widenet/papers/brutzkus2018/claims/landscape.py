"""Proposition 1: every critical point of the training loss is a global minimum, and the loss is not convex."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, Silence, claim
from widenet.claims.cases import Cases, Number, column, derived
from widenet.claims.given import output_weight, slope_below_one, slope_positive
from widenet.claims.hypotheses import NOT_KNOWN
from widenet.claims.implication import Promise, at_least, equal, hypothesis, more_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Sides
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING, STEP
from widenet.data.points import separable_points
from widenet.papers.brutzkus2018.hypotheses import derivative_above_slope, derivative_at_zero
from widenet.papers.brutzkus2018.runs.nonconvexity import Certificate, Landscape, certify
from widenet.papers.brutzkus2018.runs.online import votes
from widenet.papers.brutzkus2018.user_data import separation_of
from widenet.records import Scale

GAP = "L((A + B)/2) − (L(A) + L(B))/2"


class OnLandscape(Cases):
    """What the hypotheses measure of `landscape`."""

    smallest_margin: Number = derived(lambda each: each.landscape.smallest_margin)  #: min y⟨w*, x⟩
    output_weight: Number = derived(lambda each: each.landscape.output_weight)  #: v
    slope: Number = derived(lambda each: each.landscape.slope)  #: α
    why: str = derived(lambda each: each.landscape.why)  #: the sentence of the certificate of w*


@hypothesis("separable: $y⟨w*, x⟩$")
def separable(cases: Any) -> Sides:
    """y⟨w*, x⟩ ≥ 1, with the sentence of the certificate."""
    margins = cases.smallest_margin
    unknown = np.isnan(margins)
    said = next((why for why in cases.why[unknown] if why), NOT_KNOWN)
    return at_least(margins, 1, within=ROUNDING, undecided=unknown, unknown=said, why=lambda case: cases.why[case])


@dataclass(frozen=True, eq=False)
class Point(OnLandscape):
    """A place W in the landscape of a training set."""

    landscape: Landscape
    hidden: Float[np.ndarray, "neuron dim"]  #: W
    at_zero: Number  #: σ'(0), anything from α to 1

    @column
    def loss(self) -> Number:
        """L_S(W)."""
        return self.landscape.loss(self.hidden)


Slopes = Callable[[Point], tuple[np.ndarray, float]]


def gradient(point: Point) -> tuple[np.ndarray, float]:
    """∂L_S/∂W with the chosen σ'(0), and a(W), the fraction of samples with y N(x) < 1."""
    scape = point.landscape
    z = scape.inputs @ point.hidden.T
    slopes = np.where(z > 0, 1.0, np.where(z < 0, scape.slope, point.at_zero))
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
    given=[separable, output_weight, slope_positive, derivative_above_slope, derivative_at_zero],
    title="Every critical point is a global minimum",
)
def proposition_1_1(
    points: Point, *, factor: float = 1.0, leak: float | None = None, slopes_at: Slopes = gradient
) -> Promise:
    """Every critical point of the training loss is a global minimum (loss 0). Quantitatively,
    −⟨∇L_S(W), W*⟩ ≥ 2kvα·a(W), so ‖∇L_S(W)‖ ≥ √(2k)vα·a(W)/‖w*‖, where a(W) is the fraction of samples with
    y N(x) < 1; for any choice of σ'(0) between α and 1.

    a(W) is positive wherever the loss is, so the gradient vanishes only at loss 0. For controls, `factor` multiplies
    the bounds, `leak` takes the place of α, and `slopes_at` that of the gradient.
    """

    def promised(point: Point) -> float:
        scape, used = point.landscape, point.landscape.slope if leak is None else leak
        return factor * 2 * scape.half_width * scape.output_weight * used * slopes_at(point)[1]

    bounds = points.map(promised)
    descents = points.map(lambda point: -float(np.vdot(slopes_at(point)[0], _stacked(point))))
    # ‖W*‖ = √(2k)‖w*‖, so the second bound is the first with ‖∇L‖‖W*‖ on its left.
    lengths = points.map(lambda point: np.linalg.norm(slopes_at(point)[0]) * np.linalg.norm(_stacked(point)))
    bounded = {"within": STEP, "where": bounds > 0, "event": "places with a positive bound"}
    return Promise(
        {
            "descent": at_least(
                descents,
                bounds,
                text="$−⟨∇L, W*⟩ ≥ 2kvα·a(W)$",
                quantity="−⟨∇L, W*⟩ where it comes closest to 2kvα·a(W)",
                **bounded,
            ),
            "length": at_least(
                lengths,
                bounds,
                text="$‖∇L‖ ≥ √(2k)vα·a(W)/‖w*‖$",
                quantity="‖∇L‖·√(2k)‖w*‖ where it comes closest to 2kvα·a(W)",
                **bounded,
            ),
            "not_critical": more_than(
                lengths,
                0.0,
                where=points.loss > 0,
                event="places with a positive loss",
                text="a gradient other than 0 wherever the loss is positive",
                quantity="‖∇L‖·√(2k)‖w*‖",
            ),
        },
        details=lambda: {
            "points": len(points),
            "points_with_positive_loss": (points.loss > 0).sum(),
            "critical_points_met": (lengths == 0).sum(),
        },
    )


def _stacked(point: Point) -> np.ndarray:
    """W*."""
    return np.outer(np.sign(point.landscape.outputs), point.landscape.separator)


@dataclass(frozen=True, eq=False)
class Certified(OnLandscape):
    """A landscape and its certificate, if one was found."""

    landscape: Landscape
    certificate: Certificate | None

    @column
    def measured(self) -> Number:
        """The gap as measured; NaN without a certificate."""
        return np.nan if self.certificate is None else self.certificate.measured

    @column
    def predicted(self) -> Number:
        """The gap as its closed form says."""
        return np.nan if self.certificate is None else self.certificate.predicted

    @column
    def balanced(self) -> bool:
        """Whether the certificate is of the second kind, for balanced data."""
        return self.certificate is not None and self.certificate.balanced


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


@claim(
    "brutzkus2018.proposition_1_2",
    Kind.MAIN,
    "Proposition 1 (2), Section 5.1",
    draws=certified_landscapes,
    given=[separable, output_weight, slope_below_one],
    on=proposition_1_2_on,
    title="The training loss is not convex",
    means=Meaning(
        topic=Topic.TRAPS,
        promise="Between two networks that fit the points there may be worse ones: averaging the weights of two good "
        "networks can give a bad one.",
    ),
)
def proposition_1_2(scapes: Certified) -> Promise:
    """The training loss is not convex, on any separable data: there are A and B with
    L_S((A + B)/2) > (L_S(A) + L_S(B))/2, and the gap has a closed form.

    A certificate that was not found decides nothing.
    """
    found = ~np.isnan(scapes.predicted)
    errors = (np.abs(scapes.measured - scapes.predicted) / scapes.predicted)[found]
    missing = int((~found).sum())

    def closed_form(name: str, kind: np.ndarray) -> Sides:
        """The measured gap against its closed form; a difference of losses of size 1 is rounded too."""
        return equal(
            scapes.measured,
            scapes.predicted,
            room=CLOSED_FORM * np.nan_to_num(scapes.predicted) + ROUNDING,
            where=kind & (kind & found).any(),
            event=name,
            text=f"the gap {name} has its closed form",
            quantity=GAP,
            optional=True,
        )

    return Promise(
        {
            "from_zero": closed_form("from $W = 0$", ~scapes.balanced),
            "on_balanced": closed_form("on balanced data", scapes.balanced),
            # An inequality without its right side: no number to come close to.
            "gap": more_than(scapes.measured, 0.0, text="a positive gap", quantity=GAP),
        },
        details=lambda: {
            "landscapes": len(scapes),
            "certificates": len(scapes) - missing,
            "balanced_data_sets": scapes.balanced.sum(),
            "largest_relative_error_of_the_predicted_gap": errors.max(initial=0.0),
        },
        note=f"No certificate in {missing} of {len(scapes)} landscapes." if missing else "",
    )


@dataclass(frozen=True, eq=False)
class OnePair(Cases):
    """A point x ≠ 0 and a slope α, for f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩)."""

    point: Float[np.ndarray, " dim"]  #: x
    slope: Number  #: α

    def value(self, u: Float[np.ndarray, " dim"]) -> float:
        """f_x(x, u)."""
        z = np.array([self.point @ self.point, u @ self.point])
        plus, minus = np.maximum(z, self.slope * z)
        return float(plus - minus)

    @column
    def square(self) -> Number:
        """‖x‖²."""
        return float(self.point @ self.point)

    @column
    def norm(self) -> Number:
        """‖x‖."""
        return float(np.sqrt(self.square))

    @column
    def same(self) -> Number:
        """f at (x, x)."""
        return self.value(1.0 * self.point)

    @column
    def opposite(self) -> Number:
        """f at (x, −x)."""
        return self.value(-1.0 * self.point)

    @column
    def halfway(self) -> Number:
        """f at (x, 0)."""
        return self.value(0.0 * self.point)


def random_pairs(scale: Scale, seed: int) -> list[OnePair]:
    """Points of every size up to eight dimensions, and slopes."""
    draw = np.random.default_rng(seed)
    return [
        OnePair(draw.normal(size=int(draw.integers(1, 9))) / 3, float(draw.uniform(0.01, 0.99)))
        for _ in range(200 if scale is Scale.QUICK else 2000)
    ]


@hypothesis("$‖x‖$")
def nonzero_point(pairs: OnePair) -> Sides:
    """x ≠ 0."""
    return more_than(pairs.norm, 0)


@claim(
    "brutzkus2018.proposition_1_2_own_example",
    Kind.STEP,
    "proof of Proposition 1 (2), Section 9.1.1",
    draws=random_pairs,
    given=[nonzero_point, slope_below_one],
    title="A difference of two neurons is not convex",
)
def proposition_1_2_own_example(pairs: OnePair, *, factors: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Promise:
    """f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩) is not convex: it is 0 at (x, x), (1 + α)‖x‖² at (x, −x), and ‖x‖² halfway,
    which is (1 − α)‖x‖²/2 above the mean.

    For controls, `factors` multiply the value at (x, −x), the value halfway, and the excess.
    """
    rounding = {"within": ROUNDING, "of": pairs.square}
    excess = pairs.halfway - (pairs.same + pairs.opposite) / 2
    plus, minus = int(_bends(pairs, 1).sum()), int(_bends(pairs, -1).sum())
    return Promise(
        {
            "excess": equal(
                excess,
                factors[2] * (1 - pairs.slope) / 2 * pairs.square,
                text="the midpoint exceeds the mean by $(1 − α)‖x‖²/2$",
                quantity="f at the midpoint minus the mean of f at the ends",
                **rounding,
            ),
            "exceeds": Fact(excess > ROUNDING * pairs.square, text="the midpoint exceeds the mean"),
            "same": equal(pairs.same, 0.0, text="0 at $(x, x)$", **rounding),
            "opposite": equal(
                pairs.opposite,
                factors[0] * (1 + pairs.slope) * pairs.square,
                text="$(1 + α)‖x‖²$ at $(x, −x)$",
                **rounding,
            ),
            "halfway": equal(pairs.halfway, factors[1] * pairs.square, text="$‖x‖²$ halfway", **rounding),
        },
        details=lambda: {
            "pairs": len(pairs),
            "hinge_not_convex_here_for_label_plus": plus,
            "hinge_not_convex_here_for_label_minus": minus,
        },
        note=(
            "The proof is about f, not about the loss: through the hinge these three points show non-convexity for "
            f"y = −1 ({minus} of {len(pairs)}) and never for y = +1 ({plus}). proposition_1_2 is about the loss."
        ),
    )


def _bends(pairs: OnePair, label: int) -> np.ndarray:
    """Whether the hinge loss of this label is above the mean of the ends halfway."""
    same, opposite, halfway = (
        np.maximum(1 - label * value, 0) for value in (pairs.same, pairs.opposite, pairs.halfway)
    )
    return halfway > (same + opposite) / 2
