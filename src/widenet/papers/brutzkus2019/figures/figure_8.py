"""Figure 8 of brutzkus2019: Figure 4 with filters of 7 × 7 pixels."""

from widenet.papers.brutzkus2019.figures.mnist_filters import filter_figure

figure_8 = filter_figure("brutzkus2019.figure_8", side=7, clustered_size=2000)
