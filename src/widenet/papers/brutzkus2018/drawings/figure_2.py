"""The drawing of Figure 2 of brutzkus2018."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.brutzkus2018.drawings.error_panels import draw_errors, legend_above, note_below, runs_in_words
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """As Figure 1; the note under it gives the final test errors with and without a trained second layer."""
    drawing = Drawing(figsize=(7.0, 3.3), layout="constrained")
    train_axes, test_axes = drawing.subplots(1, 2, sharey=True)
    draw_errors(train_axes, test_axes, numbers)
    legend_above(drawing, train_axes)
    note_below(drawing, f"{runs_in_words(numbers)}\n{_beside_figure_1(numbers)}")
    return drawing


def _beside_figure_1(numbers: xr.Dataset) -> str:
    both = numbers["test_error"].isel(epoch=-1).mean("run").values
    first = numbers["reference_test_error"].mean("run").values
    widths = ", ".join(str(width) for width in numbers["width"].values)
    ours, theirs = (", ".join(f"{100 * value:.2f} %" for value in values) for values in (both, first))
    return f"Mean final test error at widths {widths}: {ours}; with a fixed second layer (Figure 1): {theirs}."
