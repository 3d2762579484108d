"""Outputs of networks: margins, errors, and how large they are at the start."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.papers.li2018.formulas import SIGMAS, E, margin_of, start_bound
from widenet.papers.li2018.runs.random_networks import random_starts
from widenet.papers.li2018.runs.single_neurons import weights_in_span
from widenet.papers.li2018.sources import TOY, Sample
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale
from widenet.training.small.softmax import decided_rightly, log_wrong_mass, wrong_mass

Points = Float[np.ndarray, " point"]


@dataclass(frozen=True, eq=False)
class OutputMargins(Cases):
    """Points under networks."""

    rows = "point"

    margins: Points  #: f_y − max_{i≠y} f_i
    residuals: Points  #: 1 − o_y
    log_residuals: Points


def measure_margins(logits: Float[np.ndarray, "point kind"], classes: np.ndarray) -> OutputMargins:
    """Of points with these outputs."""
    rows = np.arange(len(classes))
    others = logits.copy()
    others[rows, classes] = -np.inf
    log = log_wrong_mass(logits, classes)
    return OutputMargins(logits[rows, classes] - others.max(axis=1), np.exp(log), log)


def two_class_logits(residuals: Iterable[float]) -> np.ndarray:
    """f = (ln((1 − v)/v), 0): the first class has the residual v."""
    return np.stack([margin_of(np.array(list(residuals))), np.zeros(len(list(residuals)))], axis=1)


def measure_random_margins(sample: Sample, seed: int) -> OutputMargins:
    """Five networks."""
    logits = [network.logits(sample.points) for _, network, _ in random_starts(sample, seed, 5)]
    return measure_margins(np.concatenate(logits), np.tile(sample.classes, len(logits)))


@drawn_on_points(measure_random_margins)
def draw_margins(scale: Scale, seed: int) -> OutputMargins:
    """Random outputs for 2 to 6 classes, and two classes at residuals from 0.01 to 0.99."""
    draw, found = np.random.default_rng([seed, 41]), []
    for k in (2, 3, 6):
        logits = draw.normal(size=(200, k)) * np.exp(draw.uniform(-1, 2, (200, 1)))
        found.append(measure_margins(logits, draw.integers(0, k, 200)))
    grid = np.linspace(0.01, 0.99, 99)
    found.append(measure_margins(two_class_logits(grid), np.zeros(99, np.int64)))
    names = ("margins", "residuals", "log_residuals")
    return OutputMargins(*(np.concatenate([getattr(each, name) for each in found]) for name in names))


def draw_printed_margin(scale: Scale, seed: int) -> OutputMargins:
    """Two classes at residuals 1/e and 0.3."""
    return measure_margins(two_class_logits([1 / E, 0.3]), np.zeros(2, np.int64))


# ── errors and residuals ──

Components = Float[np.ndarray, " component"]

Networks = Float[np.ndarray, " network"]


@dataclass(frozen=True, eq=False)
class OutputErrors(Cases):
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


def measure_errors(outputs: Iterable[tuple[np.ndarray, Sample]]) -> OutputErrors:
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
    return OutputErrors(
        np.concatenate(errors), np.concatenate(means), *np.array(wholes, np.float64).T, total=max(totals)
    )


def undecided_outputs(sample: Sample, lead: float = 0.0) -> np.ndarray:
    """The class of the point leads by this much; 0 is a tie, which is an error."""
    outputs = np.zeros((len(sample.classes), sample.n_classes))
    outputs[np.arange(len(outputs)), sample.classes] = lead
    return outputs


def measure_random_errors(sample: Sample, seed: int) -> OutputErrors:
    """Five networks, and outputs that are sure and right, so that some component has a small residual."""
    drawn = [(network.logits(sample.points), sample) for _, network, sample in random_starts(sample, seed, 5)]
    return measure_errors([*drawn, (undecided_outputs(sample, 10.0), sample)])


@drawn_on_points(measure_random_errors)
def draw_errors(scale: Scale, seed: int) -> OutputErrors:
    """Random networks on toys, and two classes that tie everywhere."""
    toy = TOY.draw(seed)
    pairs = [(network.logits(toy.points), toy) for _, network, toy in random_starts(toy, seed, 40)]
    tie = TOY.model_copy(update={"n_classes": 2, "per_class": 3}).draw(seed)
    return measure_errors([*pairs, (undecided_outputs(tie), tie), (undecided_outputs(tie, 4.0), tie)])


# ── the start ──

PerStart = Float[np.ndarray, " start"]


@dataclass(frozen=True, eq=False)
class StartOutputs(Cases):
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


def measure_starts(
    sample: Sample, seed: int, widths: tuple[int, ...] = START_WIDTHS, count: int = 400
) -> list[StartOutputs]:
    """Networks with independent Gaussian weights on points that were fixed before, a cell per width."""
    cells = []
    for width in widths:
        draw = np.random.default_rng([seed, 42, width])
        # Only what the points see of the weights is drawn.
        products = weights_in_span(draw, count * width, sample.points) @ sample.points.T / np.sqrt(width)
        active = np.maximum(products, 0).reshape(count, width, -1)
        votes = draw.normal(size=(count, sample.n_classes, width))
        measured = _outputs(votes @ active, (active**2).sum(axis=1), sample)
        cells.append(StartOutputs(*measured, width=width, n_classes=sample.n_classes, norm_error=sample.norm_error))
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


def measure_own_starts(sample: Sample, seed: int) -> list[StartOutputs] | NotApplicable:
    """1000 starts of one width."""
    if sample.points.shape[1] > 200:
        return NotApplicable("Hundreds of starts are drawn here, in at most 200 dimensions.")
    return measure_starts(sample, seed, widths=(64,), count=1000)


@drawn_on_points(measure_own_starts, most=200)
def draw_starts(scale: Scale, seed: int) -> list[StartOutputs]:
    """800 starts on toy points."""
    return measure_starts(TOY.draw(seed), seed)
