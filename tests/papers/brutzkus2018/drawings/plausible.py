"""Numbers of the right shape for the drawings of Figures 1 to 3."""

import numpy as np
import xarray as xr

from widenet.types import RunStatus

WIDTHS, RUNS_PER_WIDTH, LAST_EPOCH = (10, 100, 1000), (10, 10, 2), 90


def first_layer(seed: int = 0) -> xr.Dataset:
    """Curves that fall like the measured ones: half wrong before training, then to zero and to a plateau."""
    rng = np.random.default_rng(seed)
    epoch = np.arange(LAST_EPOCH + 1)
    shape = (len(WIDTHS), max(RUNS_PER_WIDTH), len(epoch))
    train, test = np.full(shape, np.nan), np.full(shape, np.nan)
    zero_loss, status, updates = (np.full(shape[:2], np.nan) for _ in range(3))
    for row, n_runs in enumerate(RUNS_PER_WIDTH):
        for run in range(n_runs):
            end = rng.integers(36, 80)
            noise = 1 + 0.25 * rng.standard_normal(len(epoch)) / np.sqrt(row + 1)
            train[row, run] = np.where(epoch < end, 0.06 * noise / np.maximum(epoch, 1) ** 0.8, 0)
            test[row, run] = (0.022 + 0.09 / np.maximum(epoch, 1)) * (1 + 0.1 * rng.standard_normal(len(epoch)))
            train[row, run, 0] = test[row, run, 0] = 0.5
            test[row, run, end:] = test[row, run, end]
            zero_loss[row, run], status[row, run] = end, RunStatus.CONVERGED
            updates[row, run] = rng.integers(2500, 4000)
    return xr.Dataset(
        {
            "train_error": (("width", "run", "epoch"), np.clip(train, 0, 1)),
            "test_error": (("width", "run", "epoch"), np.clip(test, 0, 1)),
            "updates": (("width", "run"), updates),
            "zero_loss_epoch": (("width", "run"), zero_loss),
            "status": (("width", "run"), status),
            "update_bound": (("width",), np.full(len(WIDTHS), 4.1e6)),
        },
        coords={"width": list(WIDTHS), "epoch": epoch},
        attrs={"step_size": 1.0},
    )


def both_layers(lowest: float = 0.5) -> xr.Dataset:
    """The same with output weights that move; the smallest ratio ends at `lowest`."""
    numbers = first_layer()
    error = numbers["train_error"]
    exists = error.notnull().any("epoch")
    return numbers.assign(
        smallest_ratio=xr.full_like(error, 1.0).where(error.notnull()) * np.linspace(1, lowest, error.sizes["epoch"]),
        largest_ratio=xr.full_like(error, 1.0).where(error.notnull()) * np.linspace(1, 30, error.sizes["epoch"]),
        c=xr.full_like(exists, lowest, float).where(exists),
        C=xr.full_like(exists, 31.0, float).where(exists),
        chosen_step_size=("width", [0.3, 0.1, 0.1]),
        reference_test_error=numbers["test_error"].isel(epoch=-1),
        reference_zero_loss_epoch=2 * numbers["zero_loss_epoch"],
    ).assign_attrs(first_layer_step_size=10.0)
