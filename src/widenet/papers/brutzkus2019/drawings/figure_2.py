"""The drawing of Figure 2 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.animation import Words, film
from widenet.papers.brutzkus2019.drawings.arrows import NOTE, discs, endings
from widenet.plots.picture import Picture


def draw(numbers: xr.Dataset) -> Picture:
    """Neurons at the start and at the end, k = 50 and k = 2, and how all runs ended."""
    return Picture([*discs(numbers), endings(numbers)], NOTE)


def animate(numbers: xr.Dataset) -> bytes:
    """The neurons of both networks from the first step to the last."""
    wide, narrow = numbers.sizes["wide_channel"], numbers.sizes["narrow_channel"]
    words = Words(
        title=f"XOR: {wide} and {narrow} neurons in training",
        start="Start: tiny random neurons.",
        middle="Training: each neuron turns to a point of its colour that it looks at, and grows.",
        end="End: no neuron moves any more.",
        asked="points",
        legend=(
            "Arrow: a neuron that votes + (blue) or − (red); length on a log scale, inner ring: as at the start.  "
            "Card: one of the four points."
        ),
        wide_end="all {total} points right, loss 0",
        narrow_end="stuck: {wrong} of {total} points stays wrong",
    )
    return film(numbers, words)
