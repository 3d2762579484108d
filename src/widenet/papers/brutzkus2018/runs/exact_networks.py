"""Whole networks trained on the basis sequence in fractions: do they collapse to the scalar recursion of `lower_bound`?

The full (2k, d) matrix is trained, so that "equal" and "at least" are meant exactly.
"""

import math
import operator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.runs.lower_bound import BasisSequence, basis_sequence
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale


class ExactSetting(ClosedModel):
    """Random small networks with round parameters, where thresholds are hit exactly."""

    count: int
    #: √d and k are at most these
    largest_root: int
    largest_half_width: int
    most_updates: int  #: networks that need more are drawn again
    seed: int


@dataclass(frozen=True)
class ExactNetwork:
    """A ±v network on R^d before training on e_1, …, e_d."""

    hidden: np.ndarray  #: W_0 as an object array of fractions, (2k, d); the first k rows vote plus
    output_weight: Fraction  #: v
    slope: Fraction  #: α
    step_size: Fraction  #: η
    row_bound: Fraction  #: R

    @property
    def half_width(self) -> int:
        """k."""
        return len(self.hidden) // 2

    @property
    def dim(self) -> int:
        """d."""
        return self.hidden.shape[1]


@dataclass(frozen=True)
class ExactRun(Cases):
    """What the training left."""

    dim: int  #: d
    half_width: int  #: k
    output_weight: Fraction  #: v
    slope: Fraction  #: α
    step_size: Fraction  #: η
    row_bound: Fraction  #: R
    start_distance: Fraction  #: the largest distance of an entry of W_0 from ∓R/√d
    updates: int  #: T
    untied_plus: int  #: after how many updates two plus rows differed
    untied_minus: int  #: after how many updates two minus rows differed
    untied_coordinates: int  #: after how many passes two coordinates of a row differed
    largest_plus: Fraction  #: the largest entry of a plus row at the end
    smallest_minus: Fraction  #: the smallest entry of a minus row at the end


@dataclass(frozen=True)
class ExactRuns:
    """The networks of a setting, trained; the longest run first, as of those equally close the first is shown."""

    cases: tuple[ExactRun, ...]


def sequence_of(network: ExactNetwork | ExactRun) -> BasisSequence:
    """The scalar recursion that a network is said to collapse to."""
    return basis_sequence(
        network.dim,
        network.slope,
        network.step_size,
        gain=network.half_width * network.output_weight**2,
        radius=network.row_bound / network.output_weight,
    )


def tied_network(
    dim: int, half_width: int, slope: Fraction, step_size: Fraction, output_weight: Fraction, row_bound: Fraction
) -> ExactNetwork:
    """The start of the theorem: plus rows −(R/√d)·1, minus rows +(R/√d)·1; d a square."""
    return ExactNetwork(
        _tied_rows(dim, half_width, row_bound / math.isqrt(dim)), output_weight, slope, step_size, row_bound
    )


def _tied_rows(dim: int, half_width: int, entry: Fraction) -> np.ndarray:
    return np.array([[-entry] * dim] * half_width + [[entry] * dim] * half_width, dtype=object)


def train_exactly(network: ExactNetwork) -> ExactRun:
    """SGD on e_1, …, e_d, all labelled +1, cycled until a pass makes no update.

    One pass more than the recursion needs shows that the updates have ended; a few more, that they did not end too
    late.
    """
    hidden, k, dim = network.hidden.copy(), network.half_width, network.dim
    votes = np.array([network.output_weight] * k + [-network.output_weight] * k, dtype=object)
    points = np.array([[Fraction(int(i == j)) for j in range(dim)] for i in range(dim)], dtype=object)
    updates = untied_plus = untied_minus = untied_coordinates = 0
    for _ in range(sequence_of(network).updates() // dim + 3):
        before = updates
        for x in points:
            z = hidden @ x
            slopes = np.array([Fraction(1) if each >= 0 else network.slope for each in z], dtype=object)
            if votes @ (slopes * z) < 1:
                hidden = hidden + network.step_size * np.outer(votes * slopes, x)
                updates += 1
                untied_plus += not (hidden[:k] == hidden[0]).all()
                untied_minus += not (hidden[k:] == hidden[k]).all()
        untied_coordinates += not (hidden == hidden[:, :1]).all()
        if updates == before:
            break
    start = _tied_rows(dim, k, network.row_bound / math.isqrt(dim))
    return ExactRun(
        dim,
        k,
        network.output_weight,
        network.slope,
        network.step_size,
        network.row_bound,
        np.abs(network.hidden - start).max(),
        updates,
        untied_plus,
        untied_minus,
        untied_coordinates,
        hidden[:k].max(),
        hidden[k:].min(),
    )


def random_networks(setting: ExactSetting) -> list[ExactNetwork]:
    """Networks whose updates fractions can count."""
    draw = np.random.default_rng(setting.seed)
    networks: list[ExactNetwork] = []
    while len(networks) < setting.count:
        network = tied_network(
            int(draw.integers(1, setting.largest_root + 1)) ** 2,
            int(draw.integers(1, setting.largest_half_width + 1)),
            Fraction(int(draw.integers(1, 10)), 10),
            Fraction(int(draw.integers(1, 50)), 10),
            Fraction(int(draw.integers(1, 10)), 4),
            Fraction(int(draw.integers(0, 12)), 2),
        )
        if sequence_of(network).updates() <= setting.most_updates:
            networks.append(network)
    return networks


def run_exact_networks(setting: ExactSetting, progress: Progress) -> ExactRuns:
    """The networks of a setting, trained one after the other."""
    runs = [train_exactly(each) for each in over(random_networks(setting), progress, "networks")]
    return ExactRuns(tuple(sorted(runs, key=operator.attrgetter("updates"), reverse=True)))


def _settings(scale: Scale, seed: int) -> list[ExactSetting]:
    count, root, half, most = (20, 3, 3, 400) if scale is Scale.QUICK else (100, 4, 5, 2000)
    return [
        ExactSetting(count=count, largest_root=root, largest_half_width=half, most_updates=most, seed=seed),
    ]


exact_networks = Experiment("brutzkus2018.exact_networks", _settings, run_exact_networks, seconds=0.2)
