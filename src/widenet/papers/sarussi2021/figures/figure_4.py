"""Figure 4 of sarussi2021: the decision boundary of two neurons, with a Leaky ReLU and with a ReLU."""

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.sarussi2021.figures.comparisons import beside
from widenet.papers.sarussi2021.runs.landscapes import landscapes

READING = "follows from w = (1, 0), u = (0, 1); ours"


def compare_figure_4(numbers: xr.Dataset) -> list[Comparison]:
    """The paper prints no numbers; the areas follow from the weights."""
    room = 1.5 / numbers.attrs["nodes"]
    leaky, relu = (np.sign(numbers.output.sel(slope=slope).values) for slope in (0.1, 0.0))
    first, second = np.meshgrid(numbers.x1.values, numbers.x2.values)
    linear = float((leaky == np.sign(first - second)).mean())
    rows = [
        ("Leaky ReLU: share of nodes with the sign of x₁ − x₂", "Linear Decision Boundary", linear, 1.0, 0.0),
        ("ReLU: share of nodes where N = 0", "we explicitly show the regime where the network output is zero",
         float((relu == 0).mean()), 0.25, room),
        ("ReLU: positive share", "Non Linear Decision Boundary", float((relu > 0).mean()), 0.375, room),
        ("ReLU: negative share", "Non Linear Decision Boundary", float((relu < 0).mean()), 0.375, room),
    ]  # fmt: skip
    return [beside(name, said, value, (goal - near, goal + near), READING) for name, said, value, goal, near in rows]


figure_4 = Figure(
    id="sarussi2021.figure_4",
    title="Two neurons: the boundary with a Leaky ReLU and with a ReLU",
    caption=(
        "w = (1, 0), u = (0, 1), as printed; the slope 0.1, v = 1 and the square [−1, 1]² are ours. The ReLU network "
        "is 0 on the third quadrant; whichever label 0 gets, the boundary is two rays 135° apart."
    ),
    setting=(
        "Two neurons, w = (1, 0) and u = (0, 1); orange where the output is positive, blue where it is negative and "
        "grey where it is 0."
    ),
    claims=("section_11_1", "corollary_6_1"),
    reads=(landscapes,),
    compare=compare_figure_4,
)
