"""Brutzkus, Globerson, Malach, Shalev-Shwartz: SGD on linearly separable data. One file per figure."""

from widenet.papers.base import Paper
from widenet.papers.brutzkus2018.figure_1 import figure_1

PAPER = Paper(
    key="brutzkus2018",
    title="SGD Learns Over-parameterized Networks that Provably Generalize on Linearly Separable Data",
    authors="Alon Brutzkus, Amir Globerson, Eran Malach, Shai Shalev-Shwartz",
    venue="ICLR 2018",
    arxiv="1710.10174",
    in_one_line="On separable data SGD stops after a number of updates that does not depend on the width.",
    figures=(figure_1,),
)
