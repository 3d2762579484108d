"""Novikoff's bound for the perceptron (1962), a theorem in a file of its own.

widenet check examples/perceptron.py:perceptron
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims import ROUNDING, Cases, Experiment, Kind, Promised, Scale, Setting, at_most, claim, hypothesis
from widenet.claims.given import separable

Runs = Float[np.ndarray, " run"]


class Data(Setting):
    """Points of the unit ball, separated by a random direction with at least this margin; or the standard basis."""

    dim: int
    margin: float = 0.0  # 0: the basis, all labels +1
    seed: int = 0
    most_passes: int = 1000

    def draw(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points, labels and w*, the shortest multiple of the direction with y⟨w*, x⟩ ≥ 1."""
        if not self.margin:
            return np.eye(self.dim), np.ones(self.dim), np.ones(self.dim)
        generator = np.random.default_rng(self.seed)
        points, direction = generator.normal(size=(1000, self.dim)), np.eye(self.dim)[0]
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points = points[np.abs(points[:, 0]) > self.margin]
        return points, np.sign(points[:, 0]), direction / np.abs(points[:, 0]).min()


@dataclass(frozen=True, eq=False)
class Perceptrons(Cases):
    """One run per order of the points."""

    mistakes: Int[np.ndarray, " run"]  #: until a pass has none
    unfinished: Bool[np.ndarray, " run"]  #: truncated before that
    separator_norm: Runs  #: ‖w*‖
    smallest_margin: Runs  #: min y⟨w*, x⟩
    largest_input: Runs  #: max ‖x‖


def train(points: np.ndarray, labels: np.ndarray, order: str, setting: Data) -> tuple[int, bool]:
    """Mistakes of w ← w + y x where y⟨w, x⟩ ≤ 0, and whether the last pass still made one."""
    weights, mistakes, generator = np.zeros(points.shape[1]), 0, np.random.default_rng(setting.seed)
    indices = np.arange(len(points))
    for _ in range(setting.most_passes):
        before = mistakes
        for i in {"given": indices, "reversed": indices[::-1], "random": generator.permutation(indices)}[order]:
            if labels[i] * (weights @ points[i]) <= 0:
                weights, mistakes = weights + labels[i] * points[i], mistakes + 1
        if mistakes == before:
            return mistakes, False
    return mistakes, True


def run(setting: Data, _) -> Perceptrons:
    """Three orders of one data set."""
    points, labels, separator = setting.draw()
    found = [train(points, labels, order, setting) for order in ("given", "reversed", "random")]
    norms = (np.linalg.norm(separator), (labels * (points @ separator)).min(), np.linalg.norm(points, axis=1).max())
    counts, unfinished = zip(*found, strict=True)
    return Perceptrons(np.array(counts), np.array(unfinished), *(np.full(3, each) for each in norms))


def settings(scale: Scale, seed: int) -> list[Data]:
    """The basis, on which the bound is attained, and random data."""
    sizes = (2, 10) if scale is Scale.QUICK else (2, 10, 50, 200)
    return [Data(dim=25), *(Data(dim=dim, margin=0.1 / dim**0.5, seed=seed) for dim in sizes)]


perceptrons = Experiment("example.perceptrons", settings, run)


@hypothesis("input norm $‖x‖$")
def input_norm(runs: Perceptrons):
    """‖x‖ ≤ 1."""
    return at_most(runs.largest_input, 1, within=ROUNDING)


@claim("example.perceptron", Kind.MAIN, "Novikoff (1962)", reads=perceptrons, given=[separable, input_norm])
def perceptron(runs: Perceptrons, *, bound=np.square) -> Promised:
    """The perceptron makes at most ‖w*‖² mistakes on data of the unit ball with y⟨w*, x⟩ ≥ 1, in any order."""
    limit, cut = bound(runs.separator_norm), runs.unfinished  # a truncated run may break the bound, and not keep it
    return {"mistakes": at_most(runs.mistakes, limit, within=ROUNDING, cut_off=cut, text="at most $‖w*‖²$ mistakes")}
