"""Drawings of brutzkus2018, one file per figure."""

from widenet.plots.brutzkus2018.experiment_bad_minimum import experiment_bad_minimum
from widenet.plots.brutzkus2018.experiment_relu_phase import experiment_relu_phase
from widenet.plots.brutzkus2018.experiment_step_size import experiment_step_size
from widenet.plots.brutzkus2018.experiment_width import experiment_width
from widenet.plots.brutzkus2018.figure_1 import figure_1
from widenet.plots.brutzkus2018.figure_2 import figure_2
from widenet.plots.brutzkus2018.figure_3 import figure_3
from widenet.plots.style import Draw

DRAWINGS: dict[str, Draw] = {
    "brutzkus2018.figure_1": figure_1,
    "brutzkus2018.figure_2": figure_2,
    "brutzkus2018.figure_3": figure_3,
    "brutzkus2018.experiment_width": experiment_width,
    "brutzkus2018.experiment_step_size": experiment_step_size,
    "brutzkus2018.experiment_relu_phase": experiment_relu_phase,
    "brutzkus2018.experiment_bad_minimum": experiment_bad_minimum,
}
