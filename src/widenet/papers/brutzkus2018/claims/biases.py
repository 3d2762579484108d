"""Footnote 4: the results hold with first-layer biases, because a bias is a weight on a constant coordinate."""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.given import slope_below_one, slope_positive, step_size
from widenet.claims.implication import Promise, at_least, at_most, equal, hypothesis
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.claims.convergence import zero_loss
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.hypotheses import equal_outputs, output_weight
from widenet.papers.brutzkus2018.runs.lifted import LiftedPoint, LiftedRuns, biased_runs, lifted_points
from widenet.records import Form
from widenet.types import RunStatus


@hypothesis("separable with a bias: $y(⟨w, x⟩ + b)$")
def separable_with_bias(runs: LiftedRuns) -> Sides:
    """y(⟨w, x⟩ + b) ≥ 1."""
    return at_least(runs.smallest_margin, 1, within=ROUNDING)


@hypothesis("norm of a lifted input")
def input_norm(runs: LiftedRuns) -> Sides:
    """‖(x, 1)/√2‖ ≤ 1."""
    return at_most(runs.largest_input, 1, within=ROUNDING)


@hypothesis("initial row norm − $R$")
def row_norm(runs: LiftedRuns) -> Sides:
    """‖w_0‖ ≤ R."""
    return at_most(runs.row_excess, 0, within=ROUNDING)


@claim(
    "brutzkus2018.footnote_4",
    Kind.STEP,
    "footnote 4, Section 2",
    reads=biased_runs,
    given=[separable_with_bias, input_norm, row_norm, output_weight, equal_outputs, slope_positive, slope_below_one,
           step_size],
    form=Form.REPAIR,
    title="The bound on updates holds with first-layer biases",
)  # fmt: skip
def footnote_4(runs: LiftedRuns, *, bound: Callable[..., np.ndarray] = max_nonzero_updates) -> Promise:
    """With first-layer biases, on data with $y(⟨w, x⟩ + b) ≥ 1$, SGD makes at most $M_k$ non-zero updates, with $M_k$
    computed for $‖w'‖² = 2(‖w‖² + b²)$. The biased network is the plain one on the inputs $(x, 1)/√2$.
    """
    lost = runs.status == RunStatus.DIVERGED
    return Promise(
        {
            "updates": at_most(
                runs.updates,
                bound(*runs.parameters),
                within=ROUNDING,
                undecided=lost,
                text="at most $M_k$ non-zero updates",
                quantity="non-zero updates in the tightest lifted run",
            ),
            "zero_loss": zero_loss(runs, lost, "loss 0 at the end"),
            "samples": Fact(
                runs.same_samples, undecided=lost, text="the biased network is updated by the same samples"
            ),
            "outputs": equal(runs.difference, 0.0, within=ROUNDING, text="both networks say the same"),
            "norm": equal(
                runs.separator_norm**2,
                2 * runs.affine_square,
                within=ROUNDING,
                of=runs.affine_square,
                text="$‖w'‖² = 2(‖w‖² + b²)$",
            ),
        },
        note=(
            "The extra coordinate is 1/√2 and x is divided by √2 too, so that ‖x‖ ≤ 1 still holds: a plain 1 leaves "
            "the unit ball. M_k is that of w' = √2(w, b)."
        ),
    )


@claim(
    "brutzkus2018.footnote_4_as_printed",
    Kind.STEP,
    "footnote 4, Section 2",
    draws=lifted_points,
    given=[slope_positive, slope_below_one, step_size],
    title="With a constant coordinate 1, the bound still holds",
)
def footnote_4_as_printed(points: LiftedPoint) -> Promise:
    """The results hold with first-layer biases, by adding a dimension to the input with the value $1$: SGD on $(x, 1)$
    makes at most $M_k$ non-zero updates. Counterexample: $x = 1$, $y = +1$, $α = 9/10$, $η = 10$, $k = v = 1$, $W_0 =
    0$. The lifted point $(1, 1)$ is outside the unit ball, its shortest separator is $(½, ½)$, and $M_k = 55/81 < 1$.
    But $N = 0$ at the start, so one update is made.

    In fractions, so that no rounding is to blame.
    """
    within = at_most(
        points.map(lambda point: point.updates(), int),
        points.map(lambda point: float(point.update_bound)),
        exact=points.map(lambda point: point.updates() <= point.update_bound, bool),
        text="at most $M_k$ non-zero updates",
        quantity="non-zero updates on the lifted point, against M_k",
    )
    return Promise(
        {"updates": within},
        details=lambda: {
            "M_k": points.map(lambda point: str(point.update_bound), object),
            "squared_norm": points.map(lambda point: str(point.square), object),
        },
    )
