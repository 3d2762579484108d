"""`widenet sweep` and `widenet run` on a terminal."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from tests.sweeps.conftest import PAIRS, PRODUCTS
from widenet.cli import app

PATIENCE = 300
# A shell that runs the tests in the background has them ignore Ctrl-C, and so would what they start.
HEARS_CTRL_C = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(f'of = "{PRODUCTS}"\nruns = 2\n[over]\nsize = [2, 3]\nfactor = [1, 0.5]\n')
    return path


def invoke(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments], prog_name="widenet")
    assert result.exit_code == code, result.output
    return result.stdout


def test_a_sweep_prints_a_row_per_point(spec):
    lines = invoke("sweep", spec).splitlines()
    assert lines[0] == f"{PRODUCTS}: 4 points, 4 computed, 0 found"
    assert lines[2].split() == ["size", "factor", "state", "median", "product"]
    assert [line.split()[:3] for line in lines[3:]] == [
        ["2", "1", "finished"],
        ["2", "0.5", "finished"],
        ["3", "1", "finished"],
        ["3", "0.5", "finished"],
    ]


def test_points_that_were_there_are_found(spec):
    """Those of a dry run, and then all."""
    invoke("sweep", spec, "--dry-run")
    assert invoke("sweep", spec).splitlines()[0] == f"{PRODUCTS}: 4 points, 2 computed, 2 found"
    assert invoke("sweep", spec).splitlines()[0] == f"{PRODUCTS}: 4 points, 0 computed, 4 found"


def test_json_has_an_object_per_point(spec):
    rows = json.loads(invoke("sweep", spec, "--json"))
    assert [(row["size"], row["factor"]) for row in rows] == [(2, 1.0), (2, 0.5), (3, 1.0), (3, 0.5)]
    assert all(len(row["product"]) == 2 for row in rows)


def test_dry_run_computes_two_points_and_status_tells(spec, log):
    assert "4 points, 2 runs each" in invoke("sweep", spec, "--dry-run")
    assert sum(log.counts().values()) == 2
    assert invoke("sweep", spec, "--status").split() == ["2", "finished", "2", "missing"]
    assert json.loads(invoke("sweep", spec, "--status", "--json"))["counts"] == {"finished": 2, "missing": 2}
    assert sum(log.counts().values()) == 2


def test_a_point_that_failed_is_told_and_retried(spec, trouble, log):
    trouble.write_text("0.5 99\n")
    assert "2 × toy.products failed: ArithmeticError: no product with 0.5" in invoke("sweep", spec, code=3)
    assert "2 failed" in invoke("sweep", spec, "--status")
    trouble.write_text("")
    invoke("sweep", spec, code=3)
    assert "failed" not in invoke("sweep", spec, "--retry")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--share", "0/4"], "--share I/N takes a share from 1 to N"),
        (["--share", "half"], "got 'half'"),
        (["--share", "1/2", "--on", "slurm"], "--share is for processes that you start yourself"),
        (["--on", "tcp://host"], "--on is processes, slurm, tcp"),
        (["--walltime", "10"], "--walltime is for --on slurm"),
        (["--print"], "--print is for --on slurm"),
        (["--on", "slurm", "--walltime", "soon"], "--walltime is minutes, H:MM:SS or D-HH:MM:SS"),
        (["--on", "slurm", "--tasks", "0"], "--tasks must be at least 1, got 0"),
        (["--on", "slurm", "--cores", "0"], "--cores must be at least 1, got 0"),
        (["--on", "slurm", "--gpus", "2"], "--gpus is 0 or 1, got 2"),
        (["--on", "slurm", "--partition", "a b"], "--partition is a name that sinfo shows"),
        (["--on", "slurm", "--sbatch", "account"], "--sbatch takes an option of sbatch"),
        (["--on", "slurm", "--sbatch", "--mem=1G\nrm -r ."], "--sbatch takes an option of sbatch"),
        (["--on", "slurm", "--sbatch", "--array=1-4"], "--sbatch=--array=1-4 is set by widenet"),
        (["--on", "moon"], "--on is processes, slurm, tcp"),
        (["--jobs", "0"], "--jobs must be a whole number"),
    ],
)
def test_a_wrong_option_is_one_sentence(spec, arguments, words):
    result = CliRunner().invoke(app, ["sweep", str(spec), *arguments], prog_name="widenet")
    assert result.exit_code == 2
    assert words in result.stderr


def test_run_is_a_sweep_of_one_point():
    row = json.loads(invoke("run", PRODUCTS, "--set", "size=4", "--set", "inner.shift=100", "--runs", "3", "--json"))
    assert row["state"] == "finished"
    assert len(row["product"]) == 3
    assert all(90 < each < 110 for each in row["product"])
    assert "state: finished" in invoke("run", PRODUCTS)


def test_run_takes_a_claim_and_a_seed():
    arguments = ("run", "brutzkus2018.theorem_2", "--set", "n_neurons=8", "--runs", "2", "--json")
    row = json.loads(invoke(*arguments, "--seed", "3"))
    assert (row["verdict"], row["seed"], row["n_runs"], len(row["updates"])) == ("HOLDS", 3, 2, 2)


def test_run_refuses_what_is_no_pair():
    result = CliRunner().invoke(app, ["run", PRODUCTS, "--set", "size"], prog_name="widenet")
    assert result.exit_code == 2
    assert "--set takes NAME=VALUE" in result.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_sigterm_ends_a_sweep_in_the_middle_of_a_cell_and_frees_it(tmp_path, log, jobs):
    """As Slurm does it, also while a library does not let Python hear of the signal."""
    spec = tmp_path / "slow.toml"
    spec.write_text(f'of = "{PRODUCTS}"\n[set]\nhashes = {2**31 - 1}\n[over]\nfactor = [1, 2, 3]\nsize = [2, 3]\n')
    command = [sys.executable, "-m", "widenet.cli", "sweep", str(spec), "--share", "1/1", "--jobs", jobs]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    last = time.monotonic() + PATIENCE
    while not log.counts("start"):
        assert time.monotonic() < last
        time.sleep(0.05)
    assert list((tmp_path / "store").rglob("*.lease"))
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert errors == "widenet: ended by SIGTERM; what was finished is in the store.\n"
    assert not list((tmp_path / "store").rglob("*.lease*"))


def test_ctrl_c_ends_a_sweep_cleanly_and_the_next_goes_on(tmp_path, log, trouble):
    """One of its points waits for ever, so that it cannot end before; 6 are computed before packs are decided."""
    trouble.write_text("50 wait\n")
    spec = tmp_path / "slow.toml"
    spec.write_text(f'of = "{PRODUCTS}"\n[over]\nfactor = {list(range(1, 101))}\n')
    sweep = [sys.executable, "-m", "widenet.cli", "sweep", str(spec), "--jobs", "2"]
    command = [sys.executable, "-c", HEARS_CTRL_C, *sweep]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    last = time.monotonic() + PATIENCE
    while sum(log.counts().values()) < 12:
        assert time.monotonic() < last
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "widenet: interrupted; what was finished is in the store."
    assert "Traceback" not in errors
    counts = json.loads(invoke("sweep", spec, "--status", "--json"))["counts"]
    ended = len(log.counts())  # two may have been computed and not yet written
    assert ended - 2 <= counts["finished"] <= ended
    assert sum(counts.values()) == 100
    assert set(counts) <= {"finished", "missing"}


def test_points_that_do_not_apply_are_not_found(tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(f'of = "{PAIRS}"\n[over]\nk = [1, 8]\nn = [10, 5]\n')
    first, again = (invoke("sweep", spec).splitlines()[0] for _ in "ab")
    assert first == f"{PAIRS}: 4 points, 3 computed, 0 found, 1 do not apply"
    assert again == f"{PAIRS}: 4 points, 0 computed, 3 found, 1 do not apply"
