"""Section 6.2: three networks with zero training loss on the same data, one of them wrong on every test point."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases, column
from widenet.claims.experiments import Experiment
from widenet.data.points import separable_points
from widenet.papers.brutzkus2018.formulas import printed_half_width
from widenet.papers.brutzkus2018.runs.memorization import Hidden, memorize, outputs
from widenet.papers.brutzkus2018.runs.online import OnlineStart, train_online
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

SOLUTIONS = ("built, test labels flipped", "built on the training points", "SGD")
"""The networks of each data set, in the order of their axis."""


class BadMinimumSetting(ClosedModel):
    """Separable data sets, and the widths of the networks that fit them."""

    #: points to train on and to test on, and their dimension d
    n_train: int = 50
    n_test: int = 150
    dim: int = 20
    multiples: tuple[int, ...] = (1, 2, 4)  #: the widths, as multiples of the k that Theorem 7 asks for on all points
    n_sets: int = 5  #: data sets, each drawn from the seed and its number alone
    slope: float = 0.2  #: α
    #: ‖w*‖; margins are uniform from 1/‖w*‖ on
    separator_norm: float = 10.0
    largest_margin: float = 0.3
    flipped: bool = True  #: whether the first network has to err on the test points
    seed: int = 0

    @property
    def needed(self) -> int:
        """k of Theorem 7 on all points."""
        return printed_half_width(self.n_train + self.n_test, self.dim)

    @property
    def half_widths(self) -> list[int]:
        """k of the networks."""
        return [multiple * self.needed for multiple in self.multiples]


@dataclass(frozen=True, eq=False)
class BadMinimum(Cases):
    """Networks of the three kinds at every width, on every data set."""

    rows: ClassVar = "multiple"

    setting: BadMinimumSetting
    #: y N(x) of every point with its true label; the first `n_train` points are for training
    margins: Float[np.ndarray, "solution multiple set sample"]
    smallest_margin: Float[np.ndarray, " set"]  #: min y⟨w*, x⟩
    #: how closely the first network takes the values asked for, before its weights are doubled
    fit_error: Float[np.ndarray, "multiple set"]
    trained_to_the_end: Bool[np.ndarray, "multiple set"]  #: whether SGD had no update left to make

    @column
    def train_loss(self) -> Float[np.ndarray, "solution multiple set"]:
        """The mean hinge loss on the training points."""
        return np.maximum(1 - self.margins[..., : self.setting.n_train], 0).mean(axis=-1)

    @column
    def test_error(self) -> Float[np.ndarray, "solution multiple set"]:
        """The share of test points with the wrong sign."""
        return (self.margins[..., self.setting.n_train :] <= 0).mean(axis=-1)


def bad_minimum_settings(scale: Scale, seed: int) -> list[BadMinimumSetting]:
    """Three widths."""
    return [BadMinimumSetting(n_sets=5 if scale is Scale.QUICK else 20, seed=seed)]


def run_bad_minimum(setting: BadMinimumSetting, progress: Progress) -> BadMinimum:
    """The built networks solve the linear system behind Theorem 7; SGD starts under R = v = 1/√(2k)."""
    trained, n_samples = slice(0, setting.n_train), setting.n_train + setting.n_test
    margins = np.zeros((len(SOLUTIONS), len(setting.multiples), setting.n_sets, n_samples))
    ended, errors = np.zeros(margins.shape[1:3], bool), np.zeros(margins.shape[1:3])
    smallest = np.zeros(setting.n_sets)
    for number in over(range(setting.n_sets), progress, "data sets"):
        draw = np.random.default_rng([setting.seed, number])
        inputs, labels, separator = separable_points(
            draw, setting.dim, n_samples, setting.separator_norm, setting.largest_margin
        )
        smallest[number] = (labels * (inputs @ separator)).min()
        wanted = labels.copy()
        wanted[setting.n_train :] *= -1 if setting.flipped else 1
        for place, half in enumerate(setting.half_widths):
            every, errors[place, number] = _fitted(draw, inputs, wanted, half, setting.slope)
            seen, _ = _fitted(draw, inputs[trained], labels[trained], half, setting.slope)
            found, ended[place, number] = _trained(draw, inputs[trained], labels[trained], half, setting.slope)
            for row, weights in enumerate((every, seen, found)):
                margins[row, place, number] = labels * outputs(weights, inputs, setting.slope)
    return BadMinimum(setting, margins, smallest, errors, ended)


def _fitted(
    draw: np.random.Generator, inputs: np.ndarray, labels: np.ndarray, half: int, slope: float
) -> tuple[Hidden, float]:
    """Twice the weights that give yN = 1, for zero loss with room for rounding; and how closely they give it."""
    found = memorize(draw, inputs, labels[:, None], half, slope, random_draws=10)
    return 2 * found.weights[0], found.error


def _trained(
    draw: np.random.Generator, inputs: np.ndarray, labels: np.ndarray, half: int, slope: float
) -> tuple[Hidden, bool]:
    """SGD under R = v = 1/√(2k), as weights for output weights ±1, and whether it came to its end."""
    size = (2 * half) ** -0.5
    rows = draw.normal(size=(1, 2 * half, inputs.shape[1]))
    rows *= size / np.linalg.norm(rows, axis=2, keepdims=True)
    runs = train_online(OnlineStart(inputs, labels[None], rows, 1.0, size, slope, seed=int(draw.integers(2**31))))
    return size * runs.weights[0], bool(runs.ended.all())


bad_minimum = Experiment("brutzkus2018.bad_minimum", bad_minimum_settings, run_bad_minimum, seconds=0.5)
