"""Executors of other libraries, each of which really computes a sweep: once each point, and the same numbers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import widenet as wn
from tests.sweeps.conftest import PRODUCTS
from widenet.store import Store

GRID: dict[str, Any] = {"size": [2, 3, 4], "factor": [0.5, 1.0]}
BY_MPI = f"""
import sys, widenet as wn
from mpi4py.futures import MPIPoolExecutor
from widenet.store import Store
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        found = wn.sweep({PRODUCTS!r}, store=Store(sys.argv[1]), on=executor, **{GRID!r})
    sys.exit(0 if (found.state == "finished").all() else 1)
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return wn.sweep(PRODUCTS, store=Store(tmp_path_factory.mktemp("alone")), **GRID)


def test_submitit(store, tmp_path, log, expected):
    """Each of its jobs is a new process."""
    submitit = pytest.importorskip("submitit")
    executor = submitit.AutoExecutor(folder=tmp_path / "jobs", cluster="local")
    executor.update_parameters(timeout_min=30)
    found = wn.sweep(PRODUCTS, store=store, on=executor, **GRID)
    assert found.identical(expected)
    assert set(log.counts().values()) == {1}


def test_executorlib(store, log, expected):
    executorlib = pytest.importorskip("executorlib")
    with executorlib.SingleNodeExecutor(max_workers=2) as executor:
        found = wn.sweep(PRODUCTS, store=store, on=executor, **GRID)
    assert found.identical(expected)
    assert set(log.counts().values()) == {1}


def test_mpi4py(store, tmp_path, log, expected):
    pytest.importorskip("mpi4py")
    if shutil.which("mpiexec") is None:
        pytest.skip("there is no mpiexec")
    program = tmp_path / "by_mpi.py"
    program.write_text(BY_MPI)
    command = ["mpiexec", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures", str(program)]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [*command, str(store.root)], env=os.environ | allowed, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(log.counts().values()) == {1}
    assert wn.sweep(PRODUCTS, store=store, **GRID).identical(expected)
