"""Figure 4 of brutzkus2019: filters of 3 × 3 pixels on MNIST, clustered (a) and handed to a small network (b)."""

from widenet.papers.brutzkus2019.figures.mnist_filters import filter_figure

figure_4 = filter_figure("brutzkus2019.figure_4", side=3, clustered_size=6000)
