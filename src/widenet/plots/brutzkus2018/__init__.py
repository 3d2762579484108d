"""Drawings of brutzkus2018, one file per figure."""

from widenet.plots.brutzkus2018.figure_1 import figure_1
from widenet.plots.style import Draw

DRAWINGS: dict[str, Draw] = {
    "brutzkus2018.figure_1": figure_1,
}
