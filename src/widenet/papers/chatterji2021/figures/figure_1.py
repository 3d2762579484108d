"""Figure 1 of chatterji2021: the Huberized ReLU."""

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.chatterji2021.runs.activations import activations

VALUES = {-1.0: 0.0, 0.0: 0.0, 0.5: 0.125, 1.0: 0.5, 2.0: 1.5}
"""φ at h = 1, by Eq. 1."""
NEAR = 1e-9


def compare_figure_1(numbers: xr.Dataset) -> list[Comparison]:
    """The curve against Eq. 1 with h = 1, written out once more here."""
    z = numbers.z.values
    printed = np.where(z < 0, 0.0, np.where(z <= 1, z**2 / 2, z - 0.5))
    rows = [
        Comparison(
            name="largest distance of the curve from Eq. 1 with h = 1",
            reported="A plot of the Huberized ReLU in the case h = 1",
            measured=float(np.abs(numbers.value - printed).max()),
            interval=None,
            band=(0.0, NEAR),
            basis="rounding",
        )
    ]
    for at, value in VALUES.items():
        rows.append(
            Comparison(
                name=f"φ({at:g})",
                reported="—",
                measured=float(numbers.value.sel(z=at, method="nearest")),
                interval=None,
                band=(value - NEAR, value + NEAR),
                basis=f"{value:g} by Eq. 1; the figure prints no numbers",
                added=True,
            )
        )
    return rows


figure_1 = Figure(
    id="chatterji2021.figure_1",
    title="The Huberized ReLU with h = 1",
    caption="Eq. 1 with h = 1, as printed; the range from −1 to 3 is ours.",
    setting="“A plot of the Huberized ReLU in the case h = 1.”",
    claims=("huberized_sandwich", "huberized_slopes"),
    reads=(activations,),
    compare=compare_figure_1,
)
