"""The drawing of Figure 1 of brutzkus2018."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.brutzkus2018.drawings.error_panels import draw_errors, legend_above, note_below, runs_in_words
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Train and test error against the epoch, one colour per width: the mean over runs in its min–max band."""
    drawing = Drawing(figsize=(7.0, 3.2), layout="constrained")
    train_axes, test_axes = drawing.subplots(1, 2, sharey=True)
    draw_errors(train_axes, test_axes, numbers)
    legend_above(drawing, train_axes)
    note_below(drawing, runs_in_words(numbers))
    return drawing
