"""From residuals to predictions, in the proof of Theorem 4.1: margins, Markov's step, the reduction, and the start."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.sides import Fact, Rate
from widenet.claims.silence import Silence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.li2018.claims.geometry import SIGMAS, weights_in_span
from widenet.papers.li2018.claims.network import random_starts
from widenet.papers.li2018.formulas import (
    E,
    loss_bound,
    margin_of,
    reduction,
    reduction_as_printed,
    start_bound,
    start_variance,
)
from widenet.papers.li2018.hypotheses import total, unit_norm
from widenet.papers.li2018.sources import TOY, Sample
from widenet.papers.li2018.user_data import drawn_on
from widenet.records import Scale
from widenet.training.small.softmax import decided_rightly, log_wrong_mass, wrong_mass

Points = Float[np.ndarray, " point"]


@dataclass(frozen=True, eq=False)
class Margins(Cases):
    """Points under networks."""

    rows = "point"

    margins: Points  #: f_y − max_{i≠y} f_i
    residuals: Points  #: 1 − o_y
    log_residuals: Points


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


def measure_random_margins(sample: Sample, seed: int) -> Margins:
    """Five networks."""
    logits = [network.logits(sample.points) for _, network, _ in random_starts(sample, seed, 5)]
    return measure_margins(np.concatenate(logits), np.tile(sample.classes, len(logits)))


@drawn_on(measure_random_margins)
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


@claim("li2018.theorem_4_1_margin", Kind.STEP, "proof of Theorem 4.1", draws=draw_margins, given=[],
       title="A small residual gives a margin, and a right answer")  # fmt: skip
def theorem_4_1_margin(found: Margins, *, share: float = 1.0, half: float = 0.5) -> Promised:
    """1 − o_a ≤ ε gives f_a ≥ f_i + ln((1 − ε)/ε) for every i ≠ a, with equality for two classes; so below ε = 1/2 the
    prediction is right, and a margin of 1 needs ε ≤ 1/(1 + e) = 0.269.
    """
    with np.errstate(divide="ignore"):
        promised = np.log1p(-found.residuals) - found.log_residuals
    among = {"where": found.residuals < half, "event": "points of residual below 1/2"}
    text = "margin at least $ln((1 − ε)/ε)$"
    return {
        "margin": at_least(found.margins, share * promised, within=STEP, of=1 + promised, text=text, **among),
        "right": Fact(found.margins > 0, text="right below $ε = 1/2$", **among),
    }


def draw_printed_margin(scale: Scale, seed: int) -> Margins:
    """Two classes at residuals 1/e and 0.3."""
    return measure_margins(two_class_logits([1 / E, 0.3]), np.zeros(2, np.int64))


@claim("li2018.theorem_4_1_margin_as_printed", Kind.STEP, "proof of Theorem 4.1", draws=draw_printed_margin,
       given=[], title="A residual of at most $1/e$ gives a margin of 1")  # fmt: skip
def theorem_4_1_margin_as_printed(found: Margins) -> Promised:
    """For every ε ≤ 1/e, 1 − o_a ≤ ε gives f_a ≥ f_i + 1 for every i ≠ a."""
    among = {"where": found.residuals <= (1 + ROUNDING) / E, "event": "points of residual up to 1/e"}
    return {"margin": at_least(found.margins, 1, within=ROUNDING, text="margin at least 1", **among)}


# ── errors and residuals ──


Components = Float[np.ndarray, " component"]
Networks = Float[np.ndarray, " network"]


@dataclass(frozen=True, eq=False)
class Errors(Cases):
    """Networks on samples."""

    component_errors: Components  #: Pr[wrong] in each component of each network
    component_means: Components  #: E[1 − o_y] there
    errors: Networks  #: of each network
    largest: Networks  #: max p·E[1 − o_y]
    n_components: Networks  #: kl
    total: Number  #: the farthest that Σp was from 1

    def counts(self) -> dict[str, int]:
        """A network is what was tried."""
        return {"tried": len(self.per("network"))}


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


def measure_random_errors(sample: Sample, seed: int) -> Errors:
    """Five networks, and outputs that are sure and right, so that some component has a small residual."""
    drawn = [(network.logits(sample.points), sample) for _, network, sample in random_starts(sample, seed, 5)]
    return measure_errors([*drawn, (undecided_outputs(sample, 10.0), sample)])


@drawn_on(measure_random_errors)
def draw_errors(scale: Scale, seed: int) -> Errors:
    """Random networks on toys, and two classes that tie everywhere."""
    toy = TOY.draw(seed)
    pairs = [(network.logits(toy.points), toy) for _, network, toy in random_starts(toy, seed, 40)]
    tie = TOY.model_copy(update={"n_classes": 2, "per_class": 3}).draw(seed)
    return measure_errors([*pairs, (undecided_outputs(tie), tie), (undecided_outputs(tie, 4.0), tie)])


@claim("li2018.theorem_4_1_markov", Kind.STEP, "proof of Theorem 4.1", draws=draw_errors, given=[],
       title="The error on a component is at most twice its mean residual")  # fmt: skip
def theorem_4_1_markov(found: Errors, *, factor: float = 2.0, limit: float = 1 / E) -> Promised:
    """E[1 − o_a] ≤ ε² on a component, ε ≤ 1/e, gives an error of at most ε there; at most 2·E[1 − o_a] always, with
    equality where two classes tie, which counts as an error.
    """
    c = found.per("component")
    root = np.sqrt(c.component_means)
    return {
        "twice": at_most(
            c.component_errors,
            factor * c.component_means,
            room=ROUNDING,
            trivial=1.0,
            text="at most $2·E[1 − o_a]$",
        ),
        "root": at_most(
            c.component_errors,
            root,
            room=ROUNDING,
            where=root <= limit,
            event="components of small residual",
            text="at most $√E[1 − o_a]$ up to $1/e$",
        ),
    }


@claim("li2018.theorem_4_1_reduction", Kind.STEP, "proof of Theorem 4.1", draws=draw_errors, given=[total],
       title="An error leaves a large residual on some component")  # fmt: skip
def theorem_4_1_reduction(found: Errors, *, sharp: float = 1.0, printed: float = 1.0) -> Promised:
    """An error of ε gives max p·E[1 − o_a] ≥ ε³/(8kl); even ≥ ε/(2kl), with equality where two classes tie and all
    components have equal probability.
    """
    n = found.per("network")
    low, lower = reduction(n.errors, n.n_components), reduction_as_printed(n.errors, n.n_components)
    return {
        "sharp": at_least(n.largest, sharp * low, room=ROUNDING, text="$v ≥ ε/(2kl)$"),
        "printed": at_least(n.largest, printed * lower, room=ROUNDING, text="$v ≥ ε³/(8kl)$"),
    }


# ── the start ──


PerStart = Float[np.ndarray, " start"]


@dataclass(frozen=True, eq=False)
class Starts(Cases):
    """Outputs of networks of one width at their start."""

    rows = "start"

    squares: PerStart  #: the mean of f_i(x)² over classes and points
    ratios: PerStart  #: max over classes and points of |f|/√(2V ln(2kn/p₀))
    losses: PerStart  #: the mean loss
    largest: PerStart  #: the largest |f|
    width: Count  #: m
    n_classes: Count
    norm_error: Number

    @column
    def mean_square(self) -> Number:
        """Over all starts."""
        return self.squares.mean()

    @column
    def square_room(self) -> Number:
        """What chance may do to it."""
        return SIGMAS * self.squares.std(ddof=1) / np.sqrt(len(self.squares))


START_FAILURE = 0.01
START_WIDTHS = (64, 256)


def measure_starts(sample: Sample, seed: int, widths: tuple[int, ...] = START_WIDTHS, count: int = 400) -> list[Starts]:
    """Networks with independent Gaussian weights on points that were fixed before, a cell per width."""
    cells = []
    for width in widths:
        draw = np.random.default_rng([seed, 42, width])
        # Only what the points see of the weights is drawn.
        products = weights_in_span(draw, count * width, sample.points) @ sample.points.T / np.sqrt(width)
        active = np.maximum(products, 0).reshape(count, width, -1)
        votes = draw.normal(size=(count, sample.n_classes, width))
        measured = _outputs(votes @ active, (active**2).sum(axis=1), sample)
        cells.append(Starts(*measured, width=width, n_classes=sample.n_classes, norm_error=sample.norm_error))
    return cells


def _outputs(
    logits: Float[np.ndarray, "start kind point"],
    variances: Float[np.ndarray, "start point"],
    sample: Sample,
) -> Float[np.ndarray, "4 start"]:
    """What `Starts` keeps of each network."""
    bound = start_bound(variances, sample.n_classes, len(sample.points), START_FAILURE)[:, None]
    with np.errstate(invalid="ignore"):
        ratios = np.nan_to_num(np.abs(logits) / bound).max(axis=(1, 2))
    own = logits[:, sample.classes, np.arange(len(sample.points))]
    losses = (scipy.special.logsumexp(logits, axis=1) - own) @ sample.shares
    largest = np.abs(logits).max(axis=(1, 2))
    return np.stack([(logits**2).mean(axis=(1, 2)), ratios, losses, largest])


def measure_own_starts(sample: Sample, seed: int) -> list[Starts] | Silence:
    """1000 starts of one width."""
    if sample.points.shape[1] > 200:
        return Silence("Hundreds of starts are drawn here, in at most 200 dimensions.")
    return measure_starts(sample, seed, widths=(64,), count=1000)


@drawn_on(measure_own_starts, most=200)
def draw_starts(scale: Scale, seed: int) -> list[Starts]:
    """800 starts on toy points."""
    return measure_starts(TOY.draw(seed), seed)


@claim("li2018.theorem_4_1_start", Kind.STEP, "proof of Theorem 4.1", draws=draw_starts, given=[unit_norm],
       title="At the start outputs and loss are of order 1 at every width")  # fmt: skip
def theorem_4_1_start(found: Starts, *, failure: float = START_FAILURE) -> Promised:
    """At the start |f_i(x)| = Õ(1) and L = Õ(1) for points fixed before it: f_i(x) is Gaussian given W⁰ with a variance
    V_x whose mean is mσ²/2 = 1/2 for every m, so with probability 1 − p₀ all |f_i(x)| of n points are at most
    √(2V_x ln(2kn/p₀)), and the loss is at most ln k + 2·max |f|.
    """
    cell = found.per("cell")
    variance = start_variance(cell.width, cell.width**-0.5)
    squares = {
        f"variance_{width}": equal(
            cell.mean_square,
            variance,
            room=cell.square_room,
            where=cell.width == width,
            event=f"networks of width {width}",
            optional=True,
            text=f"$E f² = 1/2$ at $m = {width}$",
        )
        for width in START_WIDTHS
    }
    text = "$|f| ≤ √(2V ln(2kn/p₀))$ with probability $1 − p₀$"
    return {
        **squares,
        "outputs": Rate(found.ratios > 1, failure, text=text),
        "loss": at_most(
            found.losses, loss_bound(found.n_classes, found.largest), room=STEP, text="$L ≤ ln k + 2·max|f|$"
        ),
    }
