"""What Figures 4, 7 and 8 of brutzkus2019 share: their numbers, from one cell per size of the training set."""

from collections.abc import Sequence

import xarray as xr

from widenet.papers.brutzkus2019.runs.mnist_filters import FROZEN

ANGLES = ("trained_angle", "untrained_angle", "other_untrained_angle")
SHOWN = tuple(f"{name}_{what}" for name in ("trained", "untrained") for what in ("filters", "centres", "cluster"))


def filter_numbers(cells: Sequence[xr.Dataset], clustered_size: int) -> xr.Dataset:
    """Test errors for all sizes; angles and filters for one: `clustered_size`, or the largest if it is not there."""
    by_size = {int(cell["size"]): cell for cell in cells}
    clustered_size = clustered_size if clustered_size in by_size else max(by_size)
    clustering = by_size[clustered_size][[*ANGLES, *SHOWN]].drop_vars("size")
    errors = [cell.drop_vars([*ANGLES, *SHOWN, "diverged"]) for cell in by_size.values()]
    numbers = xr.concat(errors, "size", combine_attrs="drop").assign_coords({"filters": list(FROZEN)})
    numbers = numbers.assign(diverged=sum(int(cell["diverged"]) for cell in cells)).merge(clustering)
    return numbers.assign_attrs(cells[0].attrs | {"clustered_size": clustered_size})
