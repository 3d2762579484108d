"""The assumption (A1): the balls of Figure 3, angles across classes, and what a ReLU adds to a linear unit."""

from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, more_than
from widenet.claims.sides import Fact
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.diagnostics.components import Structure
from widenet.papers.li2018.formulas import least_squared_sine, squared_sine, widest_component
from widenet.papers.li2018.hypotheses import DATA, unit_norm
from widenet.papers.li2018.runs.point_structure import (
    Assumed,
    Cancelled,
    CrossPairs,
    XorBalls,
    draw_bad_pairs,
    draw_balls,
    draw_cancelled,
    draw_pairs,
    draw_toy,
)
from widenet.records import Form


def ball_details(balls: XorBalls) -> dict[str, Any]:
    """Both λ."""
    cell = balls.cells[-1]
    return {"λ with l = 2": cell.relative_diameter, "λ with l = 1": cell.whole_relative_diameter}


@claim("li2018.assumption_a1_balls", Kind.CONSTRUCTION, "Figure 3, Appendix C", draws=draw_balls, given=[],
       details=ball_details, title="Four balls meet (A1) with two components per class only")  # fmt: skip
def assumption_a1_balls(
    balls: XorBalls, *, distance: float = 1.9, diameter: float = 0.1, one_component: float = widest_component(1)
) -> Promised:
    """Balls of diameter 1/10 around $(0, 0)$ and $(2, 2)$ for one class, $(0, 2)$ and $(2, 0)$ for the other, have
    distance 19/10 across classes, so they meet (A1) with $l = 2$: $λ = 1/19 ≤ 1/16$. With $l = 1$, $λ = (2√2 +
    1/10)/(19/10) = 1.54$ exceeds 1/8. No line separates the classes.
    """
    limit = widest_component(balls.per_class)
    return {
        "distance": equal(balls.separation, distance, within=ROUNDING, text="distance 19/10 across classes"),
        "diameter": equal(balls.diameter, diameter, within=ROUNDING, text="diameters of 1/10"),
        "two_components": at_most(balls.relative_diameter, limit, text="$λ ≤ 1/(8l)$ with two components"),
        "one_component": more_than(balls.whole_relative_diameter, one_component, text="$λ > 1/8$ with one component"),
        "no_line": Fact(~np.asarray(balls.separable, bool), text="no line separates the classes"),
    }


def structure_details(cell: Any) -> dict[str, Any]:
    """δ, λ and l of one data set."""
    return {
        "classes": cell.n_classes,
        "components per class": cell.per_class,
        "δ": cell.separation,
        "δ to mirror images": cell.opposite_separation,
        "λ": cell.relative_diameter,
    }


@claim("li2018.cross_class_sine", Kind.STEP, "proof of Lemma A.2", draws=draw_pairs, given=[unit_norm],
       details=lambda pairs: structure_details(pairs.cells[-1]),
       form=Form.REPAIR, title="Points of different classes enclose a large angle")  # fmt: skip
def cross_class_sine(pairs: CrossPairs, *, quarter: float = 4.0, share: float = 1.0) -> Promised:
    """$1 − ⟨x, x'⟩² = ‖x − x'‖²·‖x + x'‖²/4$ for unit vectors. So with distance $δ$ across classes from points and from
    their mirror images it is at least $δ²(1 − δ²/4)$, which is attained.

    In code: `quarter` and `share` are for controls.
    """
    product, bound = pairs.squares * pairs.opposite_squares / quarter, share * least_squared_sine(pairs.distances)
    return {
        "product": equal(pairs.sines, product, room=ROUNDING, text="$1 − ⟨x, x'⟩² = ‖x − x'‖²·‖x + x'‖²/4$"),
        "bound": at_least(pairs.sines, bound, room=ROUNDING, text="at least $δ²(1 − δ²/4)$"),
        "one_distance": equal(
            pairs.sines, squared_sine(pairs.squares), room=IDENTITY, text="from one distance alone: $u(4 − u)/4$"
        ),
    }


@claim("li2018.cross_class_sine_as_printed", Kind.STEP, "proof of Lemma A.2", draws=draw_bad_pairs,
       given=[unit_norm], title="The squared sine across classes is at least $δ²$")  # fmt: skip
def cross_class_sine_as_printed(pairs: CrossPairs) -> Promised:
    """$1 − ⟨x, x'⟩² ≥ δ²$ for points of different classes, from (A1) and (A2)."""
    return {"bound": at_least(pairs.sines, pairs.separations**2, room=ROUNDING, text="$1 − ⟨x, x'⟩² ≥ δ²$")}


@claim("li2018.assumption_a1", Kind.CONSTRUCTION, "(A1) and (A2), Section 3", draws=draw_toy, given=DATA,
       form=Form.REPAIR, title="Data that meets (A1) and (A1') has no antipodal obstruction")  # fmt: skip
def assumption_a1(data: Assumed, *, widest: float = 2**0.5) -> Promise:
    """Classes whose components are farther than $δ > 0$ from those of other classes, and from their mirror images, and
    have diameters of at most $λδ$ with $λ ≤ 1/(8l)$, have $δ ≤ √2$, and no antipodal points keep a two-layer ReLU
    network from classifying them.

    That mirror images count, (A1'), is ours. The hexagon of `theorem_4_1_obstruction` meets (A1) alone, and is
    obstructed.
    """
    return Promise(
        {
            "distance_limit": at_most(data.distance, widest, within=ROUNDING, text="$δ ≤ √2$"),
            "no_obstruction": Fact(~np.asarray(data.obstructed, bool), text="no antipodal obstruction"),
        },
        details=lambda: {**structure_details(data.cells[-1]), "components": data.cells[-1].n_components},
        note=lambda: natural_note(data.cells[-1].natural),
    )


def natural_note(natural: Structure | None) -> str:
    """By how much the components that stand apart miss (A1), where they do."""
    if natural is None or natural.relative_diameter <= natural.widest_allowed:
        return ""
    excess = natural.relative_diameter - natural.widest_allowed
    return (
        f"{natural.n_components} components stand apart, {natural.per_class} in a class at most, but are too wide: "
        f"λ = {natural.relative_diameter:.4g} exceeds 1/(8l) = {natural.widest_allowed:.4g} by {excess:.2g}."
    )


@claim("li2018.remark_without_relu", Kind.CONSTRUCTION, "after Lemma A.2, Appendix A.2", draws=draw_cancelled,
       given=[], title="Pieces that cancel with linear units do not with ReLU")  # fmt: skip
def remark_without_relu(found: Cancelled) -> Promised:
    """Without ReLU $P_{1,r}$ can vanish: where $Σ_b x_{1,b} = 0$, all $p_{1,b}v_{1,1,b}$ are $v$ and the other classes
    add nothing, it is 0. With ReLU one or two of three such points at 120° are active, and $‖P_{1,r}‖ = v$ for every
    $w_r$.
    """
    return {
        "linear": at_most(found.linear, 0, within=ROUNDING, text="0 with linear units"),
        "gated": equal(found.gated, 1, within=ROUNDING, text="$v$ with ReLU"),
    }
