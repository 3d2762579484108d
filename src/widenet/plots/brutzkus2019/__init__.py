"""Drawings of brutzkus2019, one file per figure; two of them also move."""

from widenet.plots.brutzkus2019.figure_1 import figure_1
from widenet.plots.brutzkus2019.figure_1_laws import figure_1_laws
from widenet.plots.brutzkus2019.figure_2 import figure_2, figure_2_animation
from widenet.plots.brutzkus2019.figure_3 import figure_3, figure_3_animation
from widenet.plots.brutzkus2019.figure_5 import figure_5
from widenet.plots.brutzkus2019.figure_6 import figure_6
from widenet.plots.brutzkus2019.mnist_filters import mnist_filters
from widenet.plots.style import Animate, Draw

DRAWINGS: dict[str, Draw] = {
    "brutzkus2019.figure_1": figure_1,
    "brutzkus2019.figure_1_laws": figure_1_laws,
    "brutzkus2019.figure_2": figure_2,
    "brutzkus2019.figure_3": figure_3,
    "brutzkus2019.figure_4": mnist_filters,
    "brutzkus2019.figure_5": figure_5,
    "brutzkus2019.figure_6": figure_6,
    "brutzkus2019.figure_7": mnist_filters,
    "brutzkus2019.figure_8": mnist_filters,
}

ANIMATIONS: dict[str, Animate] = {
    "brutzkus2019.figure_2": figure_2_animation,
    "brutzkus2019.figure_3": figure_3_animation,
}
