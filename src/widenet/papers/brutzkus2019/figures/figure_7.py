"""Figure 7 of brutzkus2019: Figure 4 with filters of 4 × 4 pixels."""

from widenet.papers.brutzkus2019.figures.mnist_filters import figure_with_filters

figure_7 = figure_with_filters(7, side=4, clustered_size=2000)
