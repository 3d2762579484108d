"""Peak memory of a training, each in a process of its own: a peak cannot be taken back.

`python -m widenet.bench.memory NEURONS INPUTS RUNS STEPS` trains and prints the bytes. On a GPU it is the peak of the
device's allocator. On Linux it is the process's own high-water mark: the usual `getrusage` would count what the
parent held when it started the child.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def peak_bytes(sizes: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """The peak of each (neurons, inputs, runs, steps), all processes at the same time: nobody is timed."""
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "widenet.bench.memory", *map(str, size)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for size in sizes
    ]
    try:
        answers = [child.communicate(timeout=300) for child in children]
    finally:
        for child in children:
            child.kill()
    for child, (_, errors) in zip(children, answers, strict=True):
        if child.returncode:
            raise RuntimeError(f"the process that measures memory failed: {errors.strip()[-500:]}")
    return [int(output.split()[-1]) for output, _ in answers]


def train_and_measure(n_neurons: int, dim: int, n_runs: int, steps: int) -> int:
    """Train in this process and return its peak, in bytes."""
    import jax

    from widenet.bench import ours, workloads

    workload = workloads.logistic_sgd(n_runs, n_neurons=n_neurons, dim=dim, n_samples=1024)
    train = ours.sgd(workload, steps, 0).train
    assert train is not None
    train(steps)
    if jax.default_backend() != "cpu":
        return int((jax.devices()[0].memory_stats() or {})["peak_bytes_in_use"])
    return own_peak_bytes()


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
    print(train_and_measure(*map(int, sys.argv[1:5])))
