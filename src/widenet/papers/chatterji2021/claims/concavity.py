"""Lemma 9, and the function F that Lemma 10 applies it to."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, at_most, claim
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.formulas import INFLECTION, entropy_curvature, entropy_term
from widenet.records import Scale

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Split:
    """Points z_1, …, z_n > 0 with Σz = M, and a way towards (M, 0, …, 0).

    Attributes:
      function, limit: ψ and ψ(0⁺).
      samples: points of the simplex.
      corner: (M − (n − 1)η, η, …, η) for ever smaller η.
      bend: the largest second difference of ψ on a grid of (0, M], relative to the size of ψ.
    """

    total: float
    function: Function
    limit: float
    samples: Float[np.ndarray, "sample part"]
    corner: Float[np.ndarray, "way part"]
    bend: float


def draw_split(function: Function, limit: float, total: float, parts: int, seed: int, count: int = 300) -> Split:
    """Random points, and the way."""
    draw = np.random.default_rng([seed, 9, parts])
    samples = np.maximum(total * draw.dirichlet(np.full(parts, 0.7), count), 1e-300)
    small = total * np.logspace(-2, -20, 6)[:, None] / parts
    corner = np.concatenate([total - (parts - 1) * small, np.repeat(small, parts - 1, axis=1)], axis=1)
    values = function(np.linspace(total / 200, total, 200))
    return Split(total, function, limit, samples, corner, float(np.diff(values, 2).max() / np.abs(values).max()))


def draw_concave() -> dict[str, tuple[Function, float]]:
    """Concave functions, each with its limit at 0."""

    def minus_square(z: np.ndarray) -> np.ndarray:
        return -(z**2)

    def two_minus_square(z: np.ndarray) -> np.ndarray:
        return 2 - z**2

    def one_plus_root(z: np.ndarray) -> np.ndarray:
        return 1 + np.sqrt(z)

    return {
        "√z": (np.sqrt, 0.0),
        "log(1 + z)": (np.log1p, 0.0),
        "−z²": (minus_square, 0.0),
        "2 − z²": (two_minus_square, 2.0),
        "1 + √z": (one_plus_root, 1.0),
        "F": (entropy_term, 0.0),
    }


def draw_splits(scale: Scale, seed: int) -> list[Split]:
    """All functions, for 2, 5 and 20 parts, with M = 1 (and 1.5 for F)."""
    return [
        draw_split(function, limit, 1.5 if name == "F" else 1.0, parts, seed)
        for name, (function, limit) in draw_concave().items()
        for parts in (2, 5, 20)
    ]


@claim("chatterji2021.lemma_9", Kind.STEP, "Lemma 9, Appendix B.5", draws=draw_splits)
def lemma_9(splits: Sequence[Split], *, shift: float = 0.0) -> Evidence:
    """The infimum of Σψ(z_i) over z_i > 0 with Σz_i = M is ψ(M) + (n − 1)ψ(0⁺), for ψ continuous and concave on (0, M]
    with a finite limit at 0; (M − (n − 1)η, η, …, η) comes arbitrarily near to it.

    `shift` moves the infimum, for a control.
    """
    values, limits, gaps = [], [], []
    for each in splits:
        n = each.samples.shape[1]
        least = float(each.function(np.array([each.total]))[0]) + (n - 1) * each.limit + shift
        found = each.function(each.samples).sum(axis=1)
        values.append(found)
        limits.append(np.full(len(found), least))
        gaps.append(each.function(each.corner).sum(axis=1)[-1] - least)
    low, promised = np.concatenate(values), np.concatenate(limits)
    room = ROUNDING * (np.abs(low) + np.abs(promised))
    bend = max(each.bend for each in splits)
    return evidence(
        {
            "no point lies below": Sides(low, promised, Sense.AT_LEAST, room=room),
            "the way comes near": Sides(gaps, 0.0, Sense.EQUAL, room=STEP),
        },
        (
            _finite_limit(splits),
            at_most("concave", "largest second difference of ψ", bend, 0, tolerance=ROUNDING),
        ),
    )


def _finite_limit(splits: Sequence[Split]) -> Hypothesis:
    worst = max(abs(each.limit) for each in splits)
    return Hypothesis(
        key="finite_limit",
        name="largest |ψ(0⁺)|",
        required="finite",
        actual=worst if math.isfinite(worst) else str(worst),
        slack=None,
        met=math.isfinite(worst),
    )


@dataclass(frozen=True, eq=False)
class Bend:
    """F and F'' on a grid of (0, end]."""

    z: np.ndarray
    value: np.ndarray
    curvature: np.ndarray


def draw_bend_to(end: float) -> Bend:
    """On a grid that is fine at both ends."""
    z = np.concatenate([np.logspace(-12, math.log10(end), 400), end * np.linspace(0.5, 1, 200)])
    return Bend(z, entropy_term(z), entropy_curvature(z))


def draw_bend(scale: Scale, seed: int) -> Bend:
    """Up to the inflection, 1.524."""
    return draw_bend_to(INFLECTION)


@claim("chatterji2021.entropy_concave", Kind.STEP, "Proof of Lemma 10, before Eq. 5 (with the range)", draws=draw_bend)
def entropy_concave(drawn: Bend) -> Evidence:
    """F(z) = (1 − e^{−z}) log(1/(e^z − 1)) tends to 0 at 0 and is concave on (0, 1.524]. Also F(z) = H(e^{−z}) − z, H
    the entropy of a coin in nats.

    The paper calls F concave without a range; its second derivative is +0.033 at 1.63. Lemma 10 needs nL ≤ 1 only.
    """
    first = int(drawn.z.argmin())
    keep = np.exp(-drawn.z)
    entropy = keep * drawn.z - -np.expm1(-drawn.z) * np.log(-np.expm1(-drawn.z))
    return evidence(
        {
            "F(0⁺) = 0": Sides(drawn.value[first], 0.0, Sense.EQUAL, room=STEP),
            "F'' ≤ 0": Sides(drawn.curvature, 0.0, room=ROUNDING),
            "F(z) = H(e^{−z}) − z": Sides(drawn.value, entropy - drawn.z, Sense.EQUAL, room=ROUNDING),
        },
        (at_most("below_inflection", "largest z", drawn.z.max(), INFLECTION, tolerance=ROUNDING),),
    )
