"""Three networks with zero training loss on the same data, and their test errors. The paper draws no such figure."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2018.claims.expressiveness import FITTED
from widenet.papers.brutzkus2018.runs.draws import separable_points
from widenet.papers.brutzkus2018.runs.memorization import memorize, outputs, printed_half_width
from widenet.papers.brutzkus2018.runs.mnist_runs import PILOT_BASIS, mean_interval
from widenet.papers.brutzkus2018.runs.online import Start, train_online
from widenet.types import Progress, Scale, silent

SOLUTIONS = ("built, test labels flipped", "built on the training points", "SGD")


def compute_experiment_bad_minimum(
    seed: int,
    progress: Progress = silent,
    *,
    multiples: Sequence[int] = (1, 2, 4),
    n_runs: int = 5,
    n_train: int = 50,
    n_test: int = 150,
    dim: int = 20,
    slope: float = 0.2,
    flip: bool = True,
) -> xr.Dataset:
    """Training loss and test error of each solution, per width and data set.

    The widths are multiples of the k that Theorem 7 asks for on all points. A control sets `flip` to False.
    """
    fewest = printed_half_width(n_train + n_test, dim)
    shape = (len(SOLUTIONS), len(multiples), n_runs)
    loss, error = np.full(shape, np.nan), np.full(shape, np.nan)
    for run in range(n_runs):
        draw = np.random.default_rng([seed, run])
        inputs, labels, _ = separable_points(draw, dim, n_train + n_test, 10.0, 0.3)
        trained = slice(0, n_train)
        wanted = labels.copy()
        wanted[n_train:] *= -1 if flip else 1
        for column, multiple in enumerate(multiples):
            half = multiple * fewest
            # Twice the weights give yN = 2 on the fitted points: zero loss with room for rounding.
            found = (
                2 * _fitted(draw, inputs, wanted, half, slope),
                2 * _fitted(draw, inputs[trained], labels[trained], half, slope),
                _trained(draw, inputs[trained], labels[trained], half, slope),
            )
            for row, weights in enumerate(found):
                margins = labels * outputs(weights, inputs, slope)
                loss[row, column, run] = np.maximum(1 - margins[trained], 0).mean()
                error[row, column, run] = (margins[n_train:] <= 0).mean()
            progress((run * len(multiples) + column + 1) / (n_runs * len(multiples)), f"data set {run + 1}")
    axes = ("solution", "multiple", "run")
    return xr.Dataset(
        {
            "train_loss": (axes, loss),
            "test_error": (axes, error),
            "half_width": ("multiple", [multiple * fewest for multiple in multiples]),
        },
        coords={"solution": list(SOLUTIONS), "multiple": list(multiples), "run": np.arange(n_runs)},
        attrs={"n_train": n_train, "n_test": n_test, "dim": dim, "slope": slope, "seed": seed},
    )


def _fitted(draw: np.random.Generator, inputs: np.ndarray, labels: np.ndarray, half: int, slope: float) -> np.ndarray:
    return memorize(draw, inputs, labels[:, None], half, slope, close_enough=FITTED, random_draws=10).weights[0]


def _trained(draw: np.random.Generator, inputs: np.ndarray, labels: np.ndarray, half: int, slope: float) -> np.ndarray:
    """SGD under R = v = 1/√(2k), as weights for output weights ±1."""
    size = (2 * half) ** -0.5
    rows = draw.normal(size=(1, 2 * half, inputs.shape[1]))
    rows *= size / np.linalg.norm(rows, axis=2, keepdims=True)
    seed = int(draw.integers(2**31))
    return size * train_online(Start(inputs, labels[None], rows, 1.0, size, slope, seed=seed)).weights[0]


def compare_experiment_bad_minimum(numbers: xr.Dataset) -> list[Comparison]:
    """Section 6.2: zero training loss alone promises nothing; the zero-loss solutions of SGD generalize."""
    built = numbers.test_error.sel(solution=SOLUTIONS[0])
    sgd = numbers.test_error.sel(solution=SOLUTIONS[2])
    return [
        Comparison(
            name="largest training loss of all three solutions",
            reported="0 (global minima)",
            measured=float(numbers.train_loss.max(skipna=False)),
            interval=None,
            band=(0.0, 0.0),
        ),
        Comparison(
            name="smallest test error of the built minimum",
            reported="global minima with arbitrarily bad generalization exist (Section 6.2)",
            measured=float(built.min(skipna=False)),
            interval=None,
            band=(1.0, 1.0),
            basis="1 by construction: the test labels are fitted with the wrong sign",
        ),
        Comparison(
            name="mean test error of SGD",
            reported="SGD converges to a global minimum that generalizes",
            measured=float(sgd.mean()),
            interval=mean_interval(sgd.mean("multiple").values),
            band=(0.0, 0.1),
            basis=PILOT_BASIS.replace("a curve and no number", "a statement"),
        ),
    ]


experiment_bad_minimum = Figure(
    id="brutzkus2018.experiment_bad_minimum",
    title="Three networks with zero training loss on the same data, one of them wrong on every test point",
    caption=(
        "The paper states in Section 6.2 that bad global minima exist and draws no such figure. 50 training and 150 "
        "test points of dimension 20, margins 0.1 to 0.3; the built networks solve the linear system behind Theorem 7 "
        "(least squares), once on all points with the test labels flipped, once on the training points alone."
    ),
    compute=compute_experiment_bad_minimum,
    compare=compare_experiment_bad_minimum,
    sizes={
        Scale.QUICK: {"multiples": (1, 2, 4), "n_runs": 5},
        Scale.PAPER: {"multiples": (1, 2, 4), "n_runs": 20},
    },
)
