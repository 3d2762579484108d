"""Figure 8 of brutzkus2019: Figure 4 with filters of 7 × 7 pixels."""

from widenet.papers.brutzkus2019.figures.mnist_filters import figure_with_filters

figure_8 = figure_with_filters(8, side=7, clustered_size=2000)
