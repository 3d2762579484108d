"""Rows that nobody measured. Nothing heavy is loaded before they are asked for."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.rows import Row

CPU, GPU = "a processor, 2 cores", "a GPU"


def row(workload: str, peer: str, device: str, us: float | None, **sizes: int) -> "Row":
    """One row of 16 runs and 256 steps."""
    from benchmarks.rows import Row

    ratio = None if us is None else us / 2
    return Row(workload, peer, device, "float32", {"runs": 16, "steps": 256} | sizes, us, ratio, 0.5, 1.5, "a note")


@cache
def rows() -> "list[Row]":
    """Rows of several workloads on two devices."""
    return [
        row("logistic_sgd", "widenet (blocked)", CPU, 2.0),
        row("logistic_sgd", "JAX vmap of scan", CPU, 20.0),
        row("logistic_sgd", "torch loop", CPU, None),
        row("logistic_sgd", "limit: products", CPU, 1.5),
        row("logistic_sgd", "widenet (fused)", GPU, 0.01),
        row("logistic_sgd", "JAX vmap of scan", GPU, 0.2),
        row("figure_1", "widenet (pattern sets)", CPU, 2.0),
        *(row("linear_runs", "widenet (blocked)", CPU, 2.0 + 0.01 * (runs - 4), runs=runs) for runs in (4, 16, 64)),
        *(row("linear_steps", "widenet (blocked)", CPU, 2.0, steps=steps) for steps in (256, 1024, 4096)),
    ]
