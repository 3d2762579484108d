"""Figure 7 of brutzkus2019: Figure 4 with filters of 4 × 4 pixels."""

from widenet.papers.brutzkus2019.figures.figure_4 import filter_figure

figure_7 = filter_figure(7, filter_side=4, clustered_size=2000)
