"""Job arrays of a real Slurm."""

import json
import time

from tests.cluster.conftest import run

PATIENCE = 300


def wait_until_empty(slurm: dict[str, str]) -> None:
    last = time.monotonic() + PATIENCE
    while run(["squeue", "--noheader"], slurm):
        assert time.monotonic() < last
        time.sleep(0.1)


def test_eight_tasks_on_one_folder_compute_each_cell_once(sweep, slurm, log):
    said = sweep("--on", "slurm", "--tasks", "8", **slurm).stdout
    assert "8 tasks for 40 points" in said
    wait_until_empty(slurm)
    assert json.loads(sweep("--status", "--json", **slurm).stdout) == {
        "counts": {"finished": 40},
        "errors": {},
        "slurm": {},
    }
    assert set(log.counts().values()) == {1}
    assert len(log.counts()) == 40


def test_the_status_counts_tasks_and_a_cancelled_array_is_submitted_again(sweep, slurm, spec, log, trouble):
    trouble.write_text("7 wait\n")
    job = sweep("--on", "slurm", "--tasks", "2", **slurm).stdout.split()[1]
    last = time.monotonic() + PATIENCE
    while log.counts("start").total() < log.counts().total() + 2:
        assert time.monotonic() < last
        time.sleep(0.05)
    assert sum(json.loads(sweep("--status", "--json", **slurm).stdout)["slurm"].values()) == 2
    run(["scancel", job], slurm)
    wait_until_empty(slurm)
    assert not list((spec.parent / "store").rglob("*.lease*")), "tasks that are cancelled give their cells back"
    finished = json.loads(sweep("--status", "--json", **slurm).stdout)["counts"]["finished"]
    assert 0 < finished < 40
    trouble.write_text("")
    (path,) = (spec.parent / "store").rglob("job.sh")
    run(["sbatch", str(path)], slurm)
    wait_until_empty(slurm)
    assert json.loads(sweep("--status", "--json", **slurm).stdout)["counts"] == {"finished": 40}
    assert set(log.counts().values()) == {1}
    assert log.counts("start").total() == 42, "two were at a cell when they were cancelled"


def test_what_slurm_refuses_is_one_sentence(sweep, slurm):
    refused = sweep("--on", "slurm", "--partition", "nowhere", code=2, **slurm).stderr
    assert refused.startswith("widenet: sbatch refused: invalid partition specified: nowhere")
    assert refused.count("\n") == 1


def test_a_slurm_that_is_not_there_is_one_sentence(sweep, slurm, tmp_path):
    (tmp_path / "slurm.conf").touch()
    refused = sweep("--on", "slurm", code=2, **(slurm | {"SLURM_CONF": str(tmp_path / "slurm.conf")})).stderr
    assert refused.startswith("widenet: sbatch refused: ")
    assert refused.count("\n") == 1
