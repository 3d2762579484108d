"""Figure 7 of brutzkus2019: Figure 4 with filters of 4 × 4 pixels."""

from widenet.papers.brutzkus2019.figures.mnist_filters import filter_figure

figure_7 = filter_figure("brutzkus2019.figure_7", side=4, clustered_size=2000)
