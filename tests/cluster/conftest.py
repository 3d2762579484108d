"""A Slurm of Debian's packages and a Dask cluster, both on this machine; `make test-sweep` installs what they need."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dask.config
import pytest
from distributed import LocalCluster

from tests.sweeps.conftest import PRODUCTS, log, store, trouble
from tools import one_slurm

__all__ = ["log", "store", "trouble"]

Sweep = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def slurm(tmp_path_factory) -> Iterator[dict[str, str]]:
    with one_slurm.running(tmp_path_factory.mktemp("slurm"), cpus=8) as environment:
        yield {name: environment[name] for name in ("SLURM_CONF", "PATH")}


@contextlib.contextmanager
def cluster_of(n_workers: int, n_threads: int = 1, memory: int | str = 0, ttl: str | None = None) -> Iterator[Any]:
    """A Dask cluster with so many worker processes."""
    with dask.config.set({"distributed.scheduler.worker-ttl": ttl}):
        options = {"n_workers": n_workers, "threads_per_worker": n_threads, "memory_limit": memory}
        here: Any = LocalCluster(**options, dashboard_address=":0")
        try:
            yield here
        finally:
            here.close()


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    with cluster_of(2) as here:
        yield here


@pytest.fixture
def spec(tmp_path) -> Path:
    path = tmp_path / "spec.toml"
    path.write_text(f'of = "{PRODUCTS}"\nruns = 2\n[over]\nsize = [2, 3, 4, 5]\nfactor = {[*range(1, 11)]}\n')
    return path


@pytest.fixture
def sweep(tmp_path, spec, log) -> Sweep:
    """`widenet sweep` in a process of its own."""

    def run(*options: str, code: int = 0, **more: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "widenet.cli", "sweep", str(spec), *options]
        environment = os.environ | {"WIDENET_STORE": str(tmp_path / "store")} | more
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done

    return run


def run(command: Sequence[str], environment: dict[str, str]) -> str:
    """What a command of Slurm says."""
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=60, check=True
    ).stdout
