"""The script for Slurm, and what its commands are asked; a program of the test answers for them."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tests.sweeps.conftest import PRODUCTS
from widenet.cli import app


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "my store"))
    path = tmp_path / "my spec.toml"
    path.write_text(f'of = "{PRODUCTS}"\n[over]\nsize = [2, 3]\nfactor = [1, 0.5]\n')
    return path


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Lets a command of Slurm be a line of a shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def answer(command: str, line: str) -> None:
        (folder / command).write_text(f"#!/bin/sh\n{line}\n")
        (folder / command).chmod(0o755)

    return answer


def invoke(*arguments, code=0):
    result = CliRunner().invoke(app, ["sweep", *map(str, arguments)], prog_name="widenet")
    assert result.exit_code == code, result.output
    return result


def test_print_shows_a_script_and_submits_nothing(spec, answers, tmp_path):
    answers("sbatch", f"touch '{tmp_path}/submitted'")
    options = ["--tasks", 3, "--cores", 2, "--walltime", "1-00:00", "--partition", "long", "--sbatch=--account=theory"]
    lines = invoke(spec, "--on", "slurm", "--print", *options).stdout.splitlines()
    assert lines[0] == "#!/bin/bash"
    for each in ("--array=1-3", "--cpus-per-task=2", "--time=1-00:00", "--partition=long", "--account=theory"):
        assert f"#SBATCH {each}" in lines
    assert "#SBATCH --requeue" in lines
    assert f"export WIDENET_STORE='{tmp_path}/my store'" in lines
    spoken = f"'{spec}' --jobs 2 --share $SLURM_ARRAY_TASK_ID/3"
    assert lines[-1] == f"exec {sys.executable} -m widenet.cli sweep {spoken}"
    assert not any("gpu" in line for line in lines)
    assert not (tmp_path / "submitted").exists()


def test_a_task_of_the_script_computes_its_share(spec, log, tmp_path):
    script = invoke(spec, "--on", "slurm", "--print", "--tasks", 2).stdout
    (tmp_path / "job.sh").write_text(script)
    done = subprocess.run(
        ["bash", tmp_path / "job.sh"], env=os.environ | {"SLURM_ARRAY_TASK_ID": "2"}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(log.counts()) == 4, "it helps with the rest"


def test_a_gpu_is_asked_for_and_not_taken_whole(spec):
    lines = invoke(spec, "--on", "slurm", "--print", "--gpus", 1, "--cores", 4).stdout.splitlines()
    assert "#SBATCH --gres=gpu:1" in lines
    assert "export XLA_PYTHON_CLIENT_PREALLOCATE=false" in lines
    assert "--jobs 1 " in lines[-1]


def test_there_are_no_more_tasks_than_points(spec):
    assert "#SBATCH --array=1-4\n" in invoke(spec, "--on", "slurm", "--print", "--tasks", 100).stdout


def test_submitted_and_followed(spec, answers, tmp_path):
    answers("sbatch", f'cp "$2" "{tmp_path}/script"; echo "1234;cluster"')
    answers("squeue", 'printf "1234 RUNNING\\n1234 PENDING\\n1234 RUNNING\\n99 RUNNING\\n"')
    said = invoke(spec, "--on", "slurm", "--tasks", 2).stdout
    assert said.startswith("job 1234 of Slurm: 2 tasks for 4 points.\n")
    assert f"widenet sweep '{spec}' --status" in said
    assert "scancel 1234" in said
    assert "--array=1-2" in (tmp_path / "script").read_text()
    assert invoke(spec, "--status").stdout.split("\n")[1:3] == [
        "        1 tasks of Slurm pending",
        "        2 tasks of Slurm running",
    ]


def test_nothing_is_submitted_when_nothing_is_missing(spec, answers):
    answers("sbatch", "exit 1")
    first = invoke(spec, "--jobs", 1).stdout
    assert invoke(spec, "--on", "slurm").stdout.splitlines()[1:] == first.splitlines()[1:]


def test_no_sbatch_is_one_sentence(spec, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = invoke(spec, "--on", "slurm", code=2)
    assert result.stderr.startswith("widenet: there is no sbatch here; run this where jobs are submitted, or take")


def test_what_sbatch_refuses_is_one_sentence(spec, answers):
    answers("sbatch", "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1")
    result = invoke(spec, "--on", "slurm", code=2)
    assert result.stderr == "widenet: sbatch refused: invalid partition specified: x.\n"


def test_a_slurm_that_does_not_answer_is_no_trouble_for_the_status(spec, answers):
    answers("sbatch", "echo 7")
    answers("squeue", "echo 'squeue: error: Unable to contact slurm controller' >&2; exit 1")
    invoke(spec, "--on", "slurm")
    assert invoke(spec, "--status").stdout.split() == ["4", "missing"]
