"""Figure 8 of brutzkus2019: Figure 4 with filters of 7 × 7 pixels."""

from widenet.papers.brutzkus2019.figures.figure_4 import filter_figure

figure_8 = filter_figure(8, filter_side=7, clustered_size=2000)
