"""Figure 3 of li2018: four balls that meet (A1) as two components per class, and not as one."""

from collections.abc import Sequence

import xarray as xr

from widenet.diagnostics.components import relative
from widenet.figures.base import Comparison, Figure
from widenet.papers.li2018.figures.summaries import ours, row
from widenet.papers.li2018.formulas import widest_component
from widenet.papers.li2018.runs.balls import BallPoints, ball_points
from widenet.papers.li2018.runs.point_structure import measure_balls, with_extremes

ROUNDING = 1e-9
SAID_TWO = "the data will satisfy the separability assumption with ℓ=2"
SAID_ONE = "the data will not satisfy the separability assumption with ℓ=1"
SAID_WITHIN = "the distance between any two points in one component is at most 1/10"
SAID_ACROSS = "the distance between any two points from different components will be at least 19/10"
SAID_LINE = "the data are clearly not linearly separable"


def reduce_figure_3(cells: Sequence[BallPoints]) -> xr.Dataset:
    """The points, and what is measured of them and of the extreme points of their balls."""
    (drawn,) = cells
    found = measure_balls(*with_extremes(drawn.points, drawn.classes, drawn.balls, drawn.diameter))
    return xr.Dataset(
        {
            "points": (("point", "coordinate"), drawn.points),
            "classes": ("point", drawn.classes),
            "balls": ("point", drawn.balls),
            "separation": found.separation,
            "diameter": ("components", [found.whole_diameter, found.diameter]),
            "separable": float(found.separable),
        },
        coords={"components": [1, 2]},
    )


def compare_figure_3(numbers: xr.Dataset) -> list[Comparison]:
    """λ against 1/(8l) with two components and with one; distances; and that no line separates the classes."""
    separation = float(numbers.separation)
    one, two = (float(numbers.diameter.sel(components=count)) for count in (1, 2))
    return [
        row("l = 2: λ·8l", SAID_TWO, relative(two, separation) / widest_component(2), (0.0, 1.0),
            basis="(A1) asks for λ ≤ 1/(8l)"),
        row("l = 1: λ·8l", SAID_ONE, relative(one, separation) / widest_component(1), (1 + ROUNDING, float("inf")),
            basis="(A1) asks for λ ≤ 1/(8l)"),
        row("largest distance in one component, l = 2", SAID_WITHIN, two, (0.0, 0.1 + ROUNDING), basis="printed",
            printed=(0.0, 0.1)),
        row("smallest distance across classes", SAID_ACROSS, separation, (1.9 - ROUNDING, float("inf")),
            basis="printed; \"different components\" means components of different classes"),
        row("a line separates the classes", SAID_LINE, float(numbers.separable), (0.0, 0.0),
            basis="a linear program with a bias; 1 is yes"),
        ours("l = 2: λ", relative(two, separation), (1 / 19 - ROUNDING, 1 / 19 + ROUNDING),
             basis="1/19 for whole balls"),
        ours("l = 1: λ", relative(one, separation), (1.541277434 - 1e-8, 1.541277434 + 1e-8),
             basis="(2√2 + 1/10)/(19/10) for whole balls"),
    ]  # fmt: skip


figure_3 = Figure(
    id="li2018.figure_3",
    title="Four balls, with one and with two components per class",
    caption=(
        "Balls of diameter 1/10 with the printed centres, uniform points; 300 per ball are drawn. Distances are those "
        "of whole balls: their extreme points are measured too. An illustration of (A1) alone: these points do not "
        "have norm 1, and a network without biases is 0 at the origin."
    ),
    setting=(
        "Points “uniformly over two balls of diameter 1/10” per class, with centres (0, 0) and (2, 2) for one, (0, "
        "2) and (2, 0) for the other."
    ),
    claims=("assumption_a1", "assumption_a1_balls"),
    reads=(ball_points,),
    reduce=reduce_figure_3,
    compare=compare_figure_3,
)
