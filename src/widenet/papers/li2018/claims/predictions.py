"""From residuals to predictions, in the proof of Theorem 4.1: margins, Markov's step, the reduction, and the start."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Fact, Rate, Sense, Sides, evidence
from widenet.claims.specimen import Silence, Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.li2018.claims.geometry import SIGMAS, weights_in_span
from widenet.papers.li2018.claims.network import random_starts, unit_norm
from widenet.papers.li2018.claims.specimens import applies, prepared
from widenet.papers.li2018.formulas import (
    E,
    loss_bound,
    margin_of,
    reduction,
    reduction_as_printed,
    start_bound,
    start_variance,
)
from widenet.papers.li2018.settings import TOY, Sample
from widenet.records import Scale
from widenet.training.small.softmax import decided_rightly, log_wrong_mass, wrong_mass


@dataclass(frozen=True, eq=False)
class Margins:
    """f_y − max_{i≠y} f_i of points, 1 − o_y and its logarithm."""

    margins: Float[np.ndarray, " point"]
    residuals: Float[np.ndarray, " point"]
    log_residuals: Float[np.ndarray, " point"]


def measure_margins(logits: Float[np.ndarray, "point kind"], classes: np.ndarray) -> Margins:
    """Of points with these outputs."""
    rows = np.arange(len(classes))
    others = logits.copy()
    others[rows, classes] = -np.inf
    log = log_wrong_mass(logits, classes)
    return Margins(logits[rows, classes] - others.max(axis=1), np.exp(log), log)


def two_class_logits(residuals: Iterable[float]) -> np.ndarray:
    """f = (ln((1 − v)/v), 0): the first class has the residual v."""
    return np.stack([margin_of(np.array(list(residuals))), np.zeros(len(list(residuals)))], axis=1)


def draw_margins(scale: Scale, seed: int) -> Margins:
    """Random outputs for 2 to 6 classes, and two classes at residuals from 0.01 to 0.99."""
    draw, found = np.random.default_rng([seed, 41]), []
    for k in (2, 3, 6):
        logits = draw.normal(size=(200, k)) * np.exp(draw.uniform(-1, 2, (200, 1)))
        found.append(measure_margins(logits, draw.integers(0, k, 200)))
    grid = np.linspace(0.01, 0.99, 99)
    found.append(measure_margins(two_class_logits(grid), np.zeros(99, np.int64)))
    names = ("margins", "residuals", "log_residuals")
    return Margins(*(np.concatenate([getattr(each, name) for each in found]) for name in names))


@claim("li2018.theorem_4_1_margin", Kind.STEP, "proof of Theorem 4.1", draws=draw_margins)
def theorem_4_1_margin(found: Margins, *, share: float = 1.0, half: float = 0.5) -> Evidence:
    """1 − o_a ≤ ε gives f_a ≥ f_i + ln((1 − ε)/ε) for every i ≠ a, with equality for two classes; so below ε = 1/2 the
    prediction is right, and a margin of 1 needs ε ≤ 1/(1 + e) = 0.269.
    """
    with np.errstate(divide="ignore"):
        promised = np.log1p(-found.residuals) - found.log_residuals
    small = found.residuals < half
    return evidence(
        {
            "margin at least ln((1 − ε)/ε)": Sides(
                found.margins, share * promised, Sense.AT_LEAST, room=STEP * (1 + promised), scored=small
            ),
            "right below ε = 1/2": Fact(found.margins > 0, scored=small),
        }
    )


@applies(theorem_4_1_margin)
def _(specimen: Specimen) -> Margins | Silence:
    sample = prepared(specimen)
    if isinstance(sample, Silence):
        return sample
    pairs = [
        (network.logits(sample.points), sample.classes)
        for _, network, sample in random_starts(sample, specimen.choices.seed, 5)
    ]
    return measure_margins(np.concatenate([each[0] for each in pairs]), np.concatenate([each[1] for each in pairs]))


def draw_printed_margin(scale: Scale, seed: int) -> Margins:
    """Two classes at residuals 1/e and 0.3."""
    return measure_margins(two_class_logits([1 / E, 0.3]), np.zeros(2, np.int64))


@claim("li2018.theorem_4_1_margin_as_printed", Kind.STEP, "proof of Theorem 4.1", draws=draw_printed_margin)
def theorem_4_1_margin_as_printed(found: Margins) -> Evidence:
    """For every ε ≤ 1/e, 1 − o_a ≤ ε gives f_a ≥ f_i + 1 for every i ≠ a."""
    scored = found.residuals <= (1 + ROUNDING) / E
    return evidence({"margin at least 1": Sides(found.margins, 1.0, Sense.AT_LEAST, room=ROUNDING, scored=scored)})


# ── errors and residuals ──


@dataclass(frozen=True, eq=False)
class Errors:
    """Networks on samples.

    Attributes:
      component_errors, component_means: Pr[wrong] and E[1 − o_y] in each component of each network.
      errors, largest: of each network, the error, and max p·E[1 − o_y]; counts: kl.
      total: the farthest that Σp was from 1.
    """

    component_errors: np.ndarray
    component_means: np.ndarray
    errors: np.ndarray
    largest: np.ndarray
    counts: np.ndarray
    total: float


def measure_errors(outputs: Iterable[tuple[np.ndarray, Sample]]) -> Errors:
    """Of outputs on samples."""
    errors, means, wholes, totals = [], [], [], []
    for logits, sample in outputs:
        wrong, mass = ~decided_rightly(logits, sample.classes), wrong_mass(logits, sample.classes)
        places = np.unique(sample.components, return_inverse=True)[1]
        weights = np.bincount(places, sample.shares)
        errors.append(np.bincount(places, sample.shares * wrong) / weights)
        means.append(np.bincount(places, sample.shares * mass) / weights)
        wholes.append((sample.shares @ wrong, sample.residual_max(mass), len(weights)))
        totals.append(abs(float(sample.shares.sum()) - 1))
    return Errors(np.concatenate(errors), np.concatenate(means), *np.array(wholes, np.float64).T, total=max(totals))


def undecided_outputs(sample: Sample, lead: float = 0.0) -> np.ndarray:
    """The class of the point leads by this much; 0 is a tie, which is an error."""
    outputs = np.zeros((len(sample.classes), sample.n_classes))
    outputs[np.arange(len(outputs)), sample.classes] = lead
    return outputs


def draw_errors(scale: Scale, seed: int) -> Errors:
    """Random networks on toys, and two classes that tie everywhere."""
    toy = TOY.draw(seed)
    pairs = [(network.logits(toy.points), toy) for _, network, toy in random_starts(toy, seed, 40)]
    tie = TOY.model_copy(update={"n_classes": 2, "per_class": 3}).draw(seed)
    return measure_errors([*pairs, (undecided_outputs(tie), tie), (undecided_outputs(tie, 4.0), tie)])


@claim("li2018.theorem_4_1_markov", Kind.STEP, "proof of Theorem 4.1", draws=draw_errors)
def theorem_4_1_markov(found: Errors, *, factor: float = 2.0, limit: float = 1 / E) -> Evidence:
    """E[1 − o_a] ≤ ε² on a component, ε ≤ 1/e, gives an error of at most ε there; at most 2·E[1 − o_a] always, with
    equality where two classes tie, which counts as an error.
    """
    root = np.sqrt(found.component_means)
    return evidence(
        {
            "at most 2·E[1 − o_a]": Sides(
                found.component_errors, factor * found.component_means, room=ROUNDING, trivial=1.0
            ),
            "at most √E[1 − o_a] up to 1/e": Sides(found.component_errors, root, room=ROUNDING, scored=root <= limit),
        }
    )


@claim("li2018.theorem_4_1_reduction", Kind.STEP, "proof of Theorem 4.1", draws=draw_errors)
def theorem_4_1_reduction(found: Errors, *, sharp: float = 1.0, printed: float = 1.0) -> Evidence:
    """An error of ε gives max p·E[1 − o_a] ≥ ε³/(8kl); even ≥ ε/(2kl), with equality where two classes tie and all
    components have equal probability.
    """
    low, lower = reduction(found.errors, found.counts), reduction_as_printed(found.errors, found.counts)
    return evidence(
        {
            "v ≥ ε/(2kl)": Sides(found.largest, sharp * low, Sense.AT_LEAST, room=ROUNDING),
            "v ≥ ε³/(8kl)": Sides(found.largest, printed * lower, Sense.AT_LEAST, room=ROUNDING),
        },
        (at_most("total", "|Σp − 1|", found.total, 0, tolerance=ROUNDING),),
    )


@applies(theorem_4_1_markov, theorem_4_1_reduction)
def _(specimen: Specimen) -> Errors | Silence:
    sample = prepared(specimen)
    if isinstance(sample, Silence):
        return sample
    drawn = [
        (network.logits(sample.points), sample)
        for _, network, sample in random_starts(sample, specimen.choices.seed, 5)
    ]
    # Outputs that are sure and right, so that some component has a small residual.
    return measure_errors([*drawn, (undecided_outputs(sample, 10.0), sample)])


# ── the start ──


@dataclass(frozen=True, eq=False)
class Starts:
    """Outputs of networks at their start.

    Attributes:
      squares: the mean of f_i(x)² over classes and points, of each network; widths: m.
      ratios: max over classes and points of |f|/√(2V ln(2kn/p₀)).
      losses: mean loss of each network; largest: its largest |f|.
    """

    squares: np.ndarray
    widths: np.ndarray
    ratios: np.ndarray
    losses: np.ndarray
    largest: np.ndarray
    n_classes: int
    norm_error: float


START_FAILURE = 0.01


def measure_starts(sample: Sample, seed: int, widths: tuple[int, ...] = (64, 256), count: int = 400) -> Starts:
    """Networks with independent Gaussian weights on points that were fixed before."""
    parts = []
    for width in widths:
        draw = np.random.default_rng([seed, 42, width])
        # Only what the points see of the weights is drawn.
        products = weights_in_span(draw, count * width, sample.points) @ sample.points.T / np.sqrt(width)
        active = np.maximum(products, 0).reshape(count, width, -1)
        votes = draw.normal(size=(count, sample.n_classes, width))
        parts.append(_outputs(votes @ active, (active**2).sum(axis=1), sample, width))
    return Starts(*np.concatenate(parts, axis=1), n_classes=sample.n_classes, norm_error=sample.norm_error)


def _outputs(
    logits: Float[np.ndarray, "start kind point"],
    variances: Float[np.ndarray, "start point"],
    sample: Sample,
    width: int,
) -> Float[np.ndarray, "5 start"]:
    """What `Starts` keeps of each network."""
    bound = start_bound(variances, sample.n_classes, len(sample.points), START_FAILURE)[:, None]
    with np.errstate(invalid="ignore"):
        ratios = np.nan_to_num(np.abs(logits) / bound).max(axis=(1, 2))
    own = logits[:, sample.classes, np.arange(len(sample.points))]
    losses = (scipy.special.logsumexp(logits, axis=1) - own) @ sample.shares
    largest = np.abs(logits).max(axis=(1, 2))
    return np.stack([(logits**2).mean(axis=(1, 2)), np.full(len(logits), width), ratios, losses, largest])


def draw_starts(scale: Scale, seed: int) -> Starts:
    """800 starts on toy points."""
    return measure_starts(TOY.draw(seed), seed)


@claim("li2018.theorem_4_1_start", Kind.STEP, "proof of Theorem 4.1", draws=draw_starts)
def theorem_4_1_start(found: Starts, *, failure: float = START_FAILURE) -> Evidence:
    """At the start |f_i(x)| = Õ(1) and L = Õ(1) for points fixed before it: f_i(x) is Gaussian given W⁰ with a variance
    V_x whose mean is mσ²/2 = 1/2 for every m, so with probability 1 − p₀ all |f_i(x)| of n points are at most
    √(2V_x ln(2kn/p₀)), and the loss is at most ln k + 2·max |f|.
    """
    parts = {}
    for width in np.unique(found.widths):
        squares = found.squares[found.widths == width]
        room = SIGMAS * squares.std(ddof=1) / np.sqrt(len(squares))
        promised = start_variance(int(width), float(width) ** -0.5)
        parts[f"E f² = 1/2 at m = {width:g}"] = Sides(squares.mean(), promised, Sense.EQUAL, room=room)
    limits = loss_bound(found.n_classes, found.largest)
    return evidence(
        {
            **parts,
            "|f| ≤ √(2V ln(2kn/p₀)) with probability 1 − p₀": Rate(found.ratios > 1, failure),
            "L ≤ ln k + 2·max|f|": Sides(found.losses, limits, room=STEP),
        },
        (unit_norm(found.norm_error),),
    )


@applies(theorem_4_1_start)
def _(specimen: Specimen) -> Starts | Silence:
    sample = prepared(specimen, most=200)
    if isinstance(sample, Silence):
        return sample
    if sample.points.shape[1] > 200:
        return Silence("Hundreds of starts are drawn here, in at most 200 dimensions.")
    return measure_starts(sample, specimen.choices.seed, widths=(64,), count=1000)
