"""Peak memory of trainings of growing length, in a process of their own: the parent has held more than they do.

`python -m benchmarks.memory NEURONS INPUTS RUNS STEPS…` trains for each number of steps and prints the peak so far,
in bytes. A peak cannot be taken back, so the numbers of steps ascend: what more steps need shows as growth. On a GPU it
is the peak of the device's allocator. On Linux it is the process's own high-water mark: the usual `getrusage` would
count what the parent held when it started the child.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def peak_bytes(n_neurons: int, dim: int, n_runs: int, steps: Sequence[int]) -> list[int]:
    """The peak after the training of each of these ascending numbers of steps, and after all those before it."""
    if list(steps) != sorted(steps):
        raise ValueError(f"the numbers of steps must ascend, and {list(steps)} do not")
    command = [sys.executable, "-m", "benchmarks.memory", *map(str, (n_neurons, dim, n_runs, *steps))]
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    clone = Path(__file__).parents[1]
    child = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=clone, timeout=300, check=False
    )
    if child.returncode:
        raise RuntimeError(f"the process that measures memory failed: {child.stderr.strip()[-500:]}")
    return [int(peak) for peak in child.stdout.split()]


def train_and_measure(n_neurons: int, dim: int, n_runs: int, steps: Sequence[int]) -> list[int]:
    """Train in this process, once for each number of steps, and return its peak after each, in bytes."""
    import jax

    from benchmarks import ours, workloads

    workload = workloads.logistic_sgd(n_runs, n_neurons=n_neurons, dim=dim, n_samples=1024)
    train = ours.sgd(workload, steps[0], 0).train
    assert train is not None
    peaks = []
    for count in steps:
        train(count)
        on_cpu = jax.default_backend() == "cpu"
        stats = {} if on_cpu else jax.devices()[0].memory_stats() or {}
        peaks.append(own_peak_bytes() if on_cpu else int(stats["peak_bytes_in_use"]))
    return peaks


def own_peak_bytes() -> int:
    """The high-water mark of this process."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    import resource  # not on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    neurons, inputs, runs, *lengths = map(int, sys.argv[1:])
    print(*train_and_measure(neurons, inputs, runs, lengths))
