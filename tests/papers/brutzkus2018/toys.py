"""Cells at toy size that several tests read. Each is made once; tests alter copies."""

import functools
from typing import Any

from widenet.papers.brutzkus2018.runs.mnist import (
    MnistRuns,
    MnistSeparator,
    MnistSetting,
    SeparatorSetting,
    run_mnist,
    run_separator,
)
from widenet.papers.brutzkus2018.runs.sign_scan import SignScan, SignScanSetting, run_sign_scan
from widenet.progress import silent
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
