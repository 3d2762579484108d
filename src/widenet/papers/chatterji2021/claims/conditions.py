"""The hypotheses of Section 3, measured on the networks and runs that a statement is judged on."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from widenet.claims.base import Hypothesis, at_least, at_most, less_than
from widenet.claims.tolerances import ROUNDING
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.papers.chatterji2021.runs.descents import Descent
from widenet.papers.chatterji2021.runs.networks import Networks

Looked = Networks | Descent


def joined(cells: Sequence[Networks], name: str) -> np.ndarray:
    """One field of all cells."""
    return np.concatenate([getattr(cell, name) for cell in cells]) if cells else np.zeros(0)


def followed(runs: Sequence[Descent], values: Callable[[Descent], np.ndarray]) -> np.ndarray:
    """What a function gives per iterate or per step, over all runs."""
    return np.concatenate([values(run) for run in runs]) if runs else np.zeros(0)


def efficiency(run: Descent) -> np.ndarray:
    """(L_t − L_{t+1})/(α_t‖∇L_t‖²), at least 5/6 by Lemma 8."""
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = run.steps * run.gradient_norms[:-1]  # the square of ‖∇L‖ may underflow
        return -np.expm1(-run.gains) / moved * (run.losses[:-1] / run.gradient_norms[:-1])


def most(cells: Sequence[Looked], name: str) -> float:
    """The largest value of a field; a NaN counts as larger than any."""
    return float(np.max([np.max(getattr(cell, name)) for cell in cells]))


def conditions(cells: Sequence[Looked]) -> tuple[Hypothesis, ...]:
    """Each at the network or run that is nearest to breaking it. A NaN anywhere fails what it enters."""
    products = [np.asarray(cell.bandwidth) * np.asarray(cell.half_width) for cell in cells]
    apart = float(np.max([np.abs(product - 1).max() for product in products]))
    widest = float(np.max([product.max() for product in products]))
    return (
        unit_inputs(most(cells, "unit_error")),
        at_most("labels", "labels: largest distance from ±1", most(cells, "label_error"), 0),
        at_most("bandwidth", "largest |hp − 1|", apart, 0, tolerance=ROUNDING),
        at_most("narrow_band", "largest hp", widest, 1, tolerance=ROUNDING),
        at_most("bandwidth_below_one", "largest h", most(cells, "bandwidth"), 1, tolerance=ROUNDING),
    )


def unit_inputs(error: float) -> Hypothesis:
    """‖x‖ = 1, from the largest distance."""
    found = at_most("unit_inputs", "largest |‖x‖ − 1|", error, 0, tolerance=ROUNDING)
    return found if found.met else found.model_copy(update={"why": "divide every row by its norm, in float64"})


def two_points(cells: Sequence[Looked]) -> Hypothesis:
    """n ≥ 2."""
    fewest = min(float(np.min(cell.n_samples)) for cell in cells)
    return at_least("two_points", "fewest points n", fewest, 2)


def small_loss(cells: Sequence[Looked]) -> Hypothesis:
    """L at most where (5) gives Lemma 10, at every iterate."""
    largest = [_share(n, loss) for cell in cells for n, loss in _losses(cell)]
    return at_most("small_loss", f"largest L, {UNITS}", float(np.max(largest)), 1, tolerance=ROUNDING)


def small_start(runs: Sequence[Descent]) -> Hypothesis:
    """The same of the first loss alone."""
    largest = [_share(float(run.n_samples), run.losses[0]) for run in runs]
    return at_most("start_loss", f"largest L₁, {UNITS}", float(np.max(largest)), 1, tolerance=ROUNDING)


UNITS = "in units of the loss up to which (5) gives Lemma 10"


def _losses(cell: Looked) -> Iterator[tuple[float, float]]:
    """(n, L), of a run with its largest L."""
    if isinstance(cell, Descent):
        yield float(cell.n_samples), float(cell.losses.max())
    else:
        yield from zip(cell.n_samples.tolist(), cell.losses.tolist(), strict=True)


def _share(n_samples: float, loss: float) -> float:
    return loss / equation_5_threshold(int(n_samples))


def loss_below_one(runs: Sequence[Descent]) -> Hypothesis:
    """L_t < 1."""
    return less_than("loss_below_one", "largest log L_t", max(float(run.log_losses.max()) for run in runs), 0)
