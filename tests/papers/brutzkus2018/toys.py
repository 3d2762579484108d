"""Cells at toy size that several tests read. Each is made once; tests alter copies."""

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from widenet.losses import hinge
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.runs.mnist import (
    MnistRuns,
    MnistSeparator,
    MnistSetting,
    SeparatorSetting,
    run_mnist,
    run_separator,
)
from widenet.papers.brutzkus2018.runs.sign_scan import SignScan, SignScanSetting, run_sign_scan
from widenet.papers.brutzkus2018.sources import OnePoint, Trial
from widenet.progress import silent
from widenet.training.small.networks import PULLS
from widenet.types import Layers

IMAGES: dict[str, Any] = {"n_train": 200, "n_test": 100}
WIDTHS = (4, 8)


@functools.cache
def mnist_runs(width: int, layers: Layers, step_size: float, n_runs: int = 2, max_epochs: int = 200) -> MnistRuns:
    setting = MnistSetting(
        width=width, n_runs=n_runs, step_size=step_size, layers=layers, max_epochs=max_epochs, **IMAGES
    )
    return run_mnist(setting, silent)


@functools.cache
def separator() -> MnistSeparator:
    return run_separator(SeparatorSetting(n_train=IMAGES["n_train"]), silent)


def first_layer() -> list[MnistRuns]:
    """Figure 1; the wider network has fewer runs."""
    return [mnist_runs(4, Layers.HIDDEN, 10.0, n_runs=3), mnist_runs(8, Layers.HIDDEN, 10.0)]


def both_layers() -> list[MnistRuns]:
    """Figure 2."""
    return [mnist_runs(width, Layers.BOTH, 1.0, max_epochs=150) for width in WIDTHS]


@functools.cache
def scan(width: int, step_sizes: tuple[float, ...] = (3.0, 0.3, 0.1), max_epochs: int = 150) -> SignScan:
    setting = SignScanSetting(width=width, step_sizes=step_sizes, n_pilot=2, n_runs=2, max_epochs=max_epochs, **IMAGES)
    return run_sign_scan(setting, silent)


def scans() -> list[SignScan]:
    """Figure 3."""
    return [scan(width) for width in WIDTHS]


def with_last(runs: Any, **fields: Any) -> Any:
    """The record with other values in the last entry of these columns; the other entries stay as they were."""
    columns = {name: np.array(getattr(runs, name)) for name in fields}
    for name, value in fields.items():
        columns[name][-1] = value
    return dataclasses.replace(runs, **columns)


def three_points(slope: float, step_size: float, **changes: Any) -> Trial:
    """Three points of norm ≤ 1 on which w* = (0, 5/4) has all margins 1, k = 2, v = R = ½, cycled: short enough to be
    followed by hand.
    """
    fields: dict[str, Any] = {
        "inputs": np.array([[0.6, 0.8], [0.0, -0.8], [-0.6, 0.8]]),
        "labels": np.array([1.0, -1.0, 1.0]),
        "separator": np.array([0.0, 1.25]),
        "hidden": np.array([[-0.3, -0.4], [0.1, 0.2], [0.4, 0.3], [-0.1, 0.25]]),
        "output": plus_minus_weights(2, 0.5),
        "slope": slope,
        "step_size": step_size,
        "row_bound": 0.5,
    }
    return Trial(**fields | changes)


def nearly_solved(step_size: float) -> Trial:
    """One point with y N(x) = 0.999 and both neurons on: an update adds nearly 2η + 2kη²v² to G²."""
    point = OnePoint(slope=0.5, step_size=step_size, output_weight=1.0, plus_rows=(2.999,), minus_rows=(2.0,))
    return point.draw()[0]


def all_off() -> Trial:
    """One point with every neuron off: an update adds exactly 2kηvα = ¼ to F."""
    rows = (-0.1, -0.1)
    return OnePoint(slope=0.25, step_size=0.5, output_weight=0.5, plus_rows=rows, minus_rows=rows).draw()[0]


def as_perceptron(patch: pytest.MonkeyPatch) -> None:
    """From here on SGD updates only where y N(x) ≤ 0, and stops too early."""
    patch.setitem(PULLS, hinge, lambda margins: 1.0 * (margins <= 0))
