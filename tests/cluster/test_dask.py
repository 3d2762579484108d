"""A Dask cluster that is there already."""

import contextlib
import os
import subprocess
import sys
import time
from typing import Any

import dask.config
import pytest
from distributed import Client

import widenet as wn
from tests.cluster.conftest import cluster_of
from tests.sweeps.conftest import PRODUCTS
from widenet.errors import InputError, StoreError
from widenet.store import Store
from widenet.sweeps import cluster, driver
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.order import order_of
from widenet.sweeps.spec import spec_of

PATIENCE = 300
GRID = {"size": [2, 3, 4, 5], "factor": [float(each) for each in range(1, 11)]}


@pytest.fixture
def survey(tmp_path) -> Survey:
    store = Store(tmp_path / "store")
    return Survey(order_of(spec_of({"of": PRODUCTS, "over": GRID}), store), store)


def test_a_sweep_on_a_cluster_is_that_of_one_process(dask_cluster, sweep, log, tmp_path):
    done = sweep("--on", dask_cluster.scheduler_address)
    assert "widenet:" not in done.stderr, "nothing is wrong with this cluster"
    assert "40 points, 40 computed" in done.stdout
    assert len(log.counts()) == 6, "workers were started without the log; six points were the pilot"
    found = wn.load(tmp_path / "spec.toml", store=Store(tmp_path / "store"))
    values: dict[str, Any] = {name: [*found[name].values.tolist()] for name in ("size", "factor")}
    alone = wn.sweep(PRODUCTS, n_runs=2, store=Store(tmp_path / "alone"), **values)
    assert found["product"].equals(alone["product"])


def test_packs_in_flight_are_bounded_and_text(dask_cluster, survey, monkeypatch):
    submitted = []
    real = Client.submit

    def submit(client, function, *arguments, **options):
        submitted.append(arguments)
        return real(client, function, *arguments, **options)

    monkeypatch.setattr(Client, "submit", submit)
    plan = driver.Packing(prices=[(0, 0.01)], packs=[(1, 40)])
    survey.store.write_once(survey.plan, plan.model_dump_json().encode())
    cluster.compute(survey, dask_cluster.scheduler_address, Quiet(), pytest.fail)
    assert len(submitted) == 40 > driver.IN_FLIGHT
    assert all(isinstance(text, str) and len(text) < 1000 for (text,) in submitted)
    assert cluster.PACKS_PER_WORKER * 2 < driver.IN_FLIGHT


def test_what_may_end_workers_is_told(survey):
    with cluster_of(1, memory="1GB", ttl="5 minutes") as here:
        told: list[str] = []
        cluster.compute(survey, here.scheduler_address, Quiet(), told.append)
    assert [each.partition(";")[0] for each in told] == [
        "this scheduler gives up a worker that is silent for 300 s, as it may be while JAX compiles",
        "1 of 1 workers are paused or killed near their memory limit of 1.0 GB",
    ]


def test_a_worker_with_several_threads_is_refused(survey):
    with (
        cluster_of(1, n_threads=2) as here,
        pytest.raises(InputError, match="has 2 threads; start more workers with --nthreads 1"),
    ):
        cluster.compute(survey, here.scheduler_address, Quiet(), pytest.fail)


def test_a_worker_with_other_code_is_refused(dask_cluster, survey):
    survey.decide()
    with (
        cluster.connected(dask_cluster.scheduler_address) as client,
        pytest.raises(InputError, match="has another widenet, or another version of your file"),
    ):
        list(cluster.trouble_with(client, survey, "another"))
    (_, text, _), *_ = survey.texts([range(1)])
    with pytest.raises(StoreError, match="has another widenet"):
        cluster.compute_there(text, "another")


def test_a_worker_that_does_not_see_the_store_is_refused(dask_cluster, survey, tmp_path):
    """It has the folder, but not what is in it."""
    with cluster.connected(dask_cluster.scheduler_address) as client:
        empty = Survey(survey.order, Store(tmp_path / "elsewhere"))
        with pytest.raises(InputError, match=r"is not in the store .*elsewhere; set WIDENET_STORE"):
            list(cluster.trouble_with(client, empty, "any"))


def test_no_scheduler_is_one_sentence(survey, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with pytest.raises(InputError, match="no Dask scheduler answers at tcp:"):
        cluster.compute(survey, "tcp://127.0.0.1:9", Quiet(), pytest.fail)


def test_a_cluster_that_ends_is_one_sentence(survey):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        cluster_of(1) as here,
    ):

        class Watch(Quiet):
            def end(self, name, counts):
                here.close()

        with pytest.raises(StoreError, match=r"the Dask cluster at .* ended"):
            cluster.compute(survey, here.scheduler_address, Watch(), lambda words: None)


def test_a_scheduler_and_two_workers_started_by_hand_over_tls(tmp_path, sweep):
    """The recipe of docs/sweeps.md."""
    tls = tmp_path / "tls"
    tls.mkdir()
    files = {name: str(tls / f"{name}.pem") for name in ("cert", "key")}
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365", "-subj", "/CN=widenet"]
    subprocess.run([*command, "-keyout", files["key"], "-out", files["cert"]], check=True, capture_output=True)
    pair = f"{{cert: {files['cert']}, key: {files['key']}}}"
    (tls / "dask.yaml").write_text(
        "distributed:\n  comm:\n    require-encryption: true\n    tls:\n"
        f"      ca-file: {files['cert']}\n      scheduler: {pair}\n      worker: {pair}\n      client: {pair}\n"
        "  scheduler: {worker-ttl: null}\n"
    )
    environment = os.environ | {"DASK_CONFIG": str(tls)}
    where = tmp_path / "scheduler.json"
    dask_command = [sys.executable, "-m", "dask"]
    scheduler = [*dask_command, "scheduler", "--protocol", "tls", "--host", "127.0.0.1", "--port", "0"]
    scheduler += ["--no-dashboard", "--scheduler-file", str(where)]
    worker = [*dask_command, "worker", "--scheduler-file", str(where), "--protocol", "tls", "--nthreads", "1"]
    worker += ["--memory-limit", "0", "--no-dashboard"]
    with contextlib.ExitStack() as stack:
        for command in (scheduler, worker, worker):
            process = subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            last = time.monotonic() + PATIENCE
            while not where.exists():
                assert process.poll() is None
                assert time.monotonic() < last
                time.sleep(0.1)
        address = next(
            line.split('"')[3] for line in where.read_text().splitlines() if line.strip().startswith('"address"')
        )
        assert address.startswith("tls://")
        done = sweep("--on", address, DASK_CONFIG=str(tls))
        assert "40 points, 40 computed" in done.stdout
        refused = sweep("--on", address, "--retry", code=2).stderr
        assert "tls:// needs distributed.comm.tls.ca-file in Dask's configuration" in refused


def test_a_worker_that_comes_later_with_several_threads_is_refused(survey):
    """Whoever was there when the sweep began has one."""
    source = cluster.source_of(survey.order, survey.store)
    (_, text, _), *_ = survey.texts(survey.missing())
    with cluster_of(1, n_threads=2) as here, Client(here.scheduler_address) as client:
        future = client.submit(cluster.compute_there, text, source, pure=False)
        with pytest.raises(StoreError, match="has 2 threads; start more workers with --nthreads 1 each"):
            future.result()
