"""The drawing of Figure 3 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.animation import Words, film
from widenet.papers.brutzkus2019.drawings.arrows import NOTE, discs, endings
from widenet.plots.picture import Picture


def draw(numbers: xr.Dataset) -> Picture:
    """Filters at the start and at the end, k = 100 and k = 2, and how all runs ended."""
    return Picture([*discs(numbers), endings(numbers)], NOTE)


def animate(numbers: xr.Dataset) -> bytes:
    """The filters of both networks from the first step to the last."""
    wide, narrow = numbers.sizes["wide_channel"], numbers.sizes["narrow_channel"]
    words = Words(
        title=f"XORD, a decoy training set: {wide} and {narrow} filters in training",
        start="Start: tiny random filters.",
        middle="Training: each filter turns to a pattern that it looks at, and grows.",
        end="End: no filter moves any more.",
        asked="kinds of input",
        legend=(
            "Arrow: a filter that votes + (blue) or − (red); length on a log scale, inner ring: as at the start.  "
            "Card: patterns of an input; thick frame: trained on."
        ),
        wide_end="right on all {total} kinds of input: the rule",
        narrow_end="fits the training set, wrong on {wrong} of {total} kinds: a decoy",
    )
    return film(numbers, words)
