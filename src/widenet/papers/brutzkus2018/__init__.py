"""Brutzkus, Globerson, Malach, Shalev-Shwartz: SGD on linearly separable data. One file per figure."""

from widenet.papers.base import Paper
from widenet.papers.brutzkus2018.experiment_bad_minimum import experiment_bad_minimum
from widenet.papers.brutzkus2018.experiment_relu_phase import experiment_relu_phase
from widenet.papers.brutzkus2018.experiment_step_size import experiment_step_size
from widenet.papers.brutzkus2018.experiment_width import experiment_width
from widenet.papers.brutzkus2018.figure_1 import figure_1
from widenet.papers.brutzkus2018.figure_2 import figure_2
from widenet.papers.brutzkus2018.figure_3 import figure_3

PAPER = Paper(
    key="brutzkus2018",
    title="SGD Learns Over-parameterized Networks that Provably Generalize on Linearly Separable Data",
    authors="Alon Brutzkus, Amir Globerson, Eran Malach, Shai Shalev-Shwartz",
    venue="ICLR 2018",
    arxiv="1710.10174",
    in_one_line="On separable data SGD stops after a number of updates that does not depend on the width.",
    figures=(
        figure_1,
        figure_2,
        figure_3,
        experiment_width,
        experiment_step_size,
        experiment_relu_phase,
        experiment_bad_minimum,
    ),
)
