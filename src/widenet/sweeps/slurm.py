"""A sweep as a job array of Slurm, each task of which is `widenet sweep SPEC --share i/N` on one store.

The job has no state: what is asked is in SPEC, and what is finished is in the store. So the same script may be
submitted again, requeued or cancelled at any time.
"""

import contextlib
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from widenet.errors import InputError
from widenet.store.directory import ROOT_VARIABLE
from widenet.sweeps.driver import Survey

PATIENCE = 120.0
"""Seconds that a command of Slurm may take."""
WALLTIME = re.compile(r"\d+(:\d{1,2}){0,2}|\d+-\d{1,2}(:\d{1,2}){0,2}")
OURS = ("array", "a", "output", "o", "wrap")
"""Options of sbatch that the script needs for itself."""


@dataclass(frozen=True)
class Array:
    """What is asked of Slurm.

    Attributes:
      tasks: how many tasks the array has; each starts by itself as soon as there is room for it.
      cores: of each task, which has as many worker processes.
      gpus: of each task, at most one: it computes on one.
      walltime: in the form that sbatch takes; the partition's own if left out.
      sbatch: further options of it, such as --account=theory.
    """

    tasks: int = 8
    cores: int = 1
    gpus: int = 0
    walltime: str | None = None
    partition: str | None = None
    sbatch: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse what sbatch would refuse in words that are not ours, and what would break the script.

        Raises:
          InputError: a value is wrong.
        """
        for name, number in (("--tasks", self.tasks), ("--cores", self.cores)):
            if number < 1:
                raise InputError(f"{name} must be at least 1, got {number}.")
        if self.gpus not in (0, 1):
            raise InputError(f"--gpus is 0 or 1, got {self.gpus}: a task computes on one GPU; take more tasks.")
        if self.walltime is not None and not WALLTIME.fullmatch(self.walltime):
            raise InputError(f"--walltime is minutes, H:MM:SS or D-HH:MM:SS, such as 4:00:00, got {self.walltime!r}.")
        if self.partition is not None and not re.fullmatch(r"[\w.,-]+", self.partition):
            raise InputError(f"--partition is a name that sinfo shows, got {self.partition!r}.")
        for option in self.sbatch:
            name = option.lstrip("-").partition("=")[0]
            if not re.fullmatch(r"--?[A-Za-z][^\n]*", option):
                raise InputError(f"--sbatch takes an option of sbatch, such as --sbatch=--account=abc, got {option!r}.")
            if name in OURS:
                raise InputError(f"--sbatch={option} is set by widenet; leave it out.")


def folder_of(sweep: Survey) -> Path:
    """Where the script and the output of the tasks are."""
    return sweep.plan.absolute().with_name(f"{sweep.order.digest[:12]}.slurm")


def script_of(sweep: Survey, spec: str | Path, array: Array) -> str:
    """The script that sbatch gets."""
    n = min(array.tasks, sweep.order.n_points)
    options = [
        f"--job-name=widenet-{sweep.order.digest[:8]}",
        f"--array=1-{n}",
        "--ntasks=1",
        f"--cpus-per-task={array.cores}",
        *(["--gres=gpu:1"] if array.gpus else []),
        *([f"--time={array.walltime}"] if array.walltime else []),
        *([f"--partition={array.partition}"] if array.partition else []),
        "--requeue",
        "--open-mode=append",
        f"--output={_quoted(folder_of(sweep) / '%A_%a.log')}",
        *array.sbatch,
    ]
    jobs = 1 if array.gpus else array.cores
    command = [sys.executable, "-m", "widenet.cli", "sweep", str(Path(spec).absolute()), "--jobs", str(jobs)]
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {each}" for each in options),
            "# Submit this again whenever you like: finished points are never computed again.",
            f"export {ROOT_VARIABLE}={shlex.quote(str(sweep.store.root.absolute()))}",
            *(["export XLA_PYTHON_CLIENT_PREALLOCATE=false"] if array.gpus else []),
            # The task itself is the process that Slurm tells to end.
            f"exec {shlex.join(command)} --share $SLURM_ARRAY_TASK_ID/{n}",
            "",
        ]
    )


def submit(sweep: Survey, spec: str | Path, array: Array) -> str:
    """Submit the array; the answer says what was submitted and how to follow it.

    Raises:
      InputError: there is no sbatch here, or it refuses.
      StoreError: the store cannot be written.
    """
    if shutil.which("sbatch") is None:
        raise InputError(
            "there is no sbatch here; run this where jobs are submitted, or take the script that --print shows there."
        )
    path = folder_of(sweep) / "job.sh"
    sweep.store.write_beside(path, script_of(sweep, spec, array).encode())
    job = _asked("sbatch", "--parsable", str(path)).partition(";")[0]
    sweep.store.write_beside(path.with_name(f"{job}.job"), b"")
    n = min(array.tasks, sweep.order.n_points)
    again = f"widenet sweep {shlex.quote(str(spec))}"
    return "\n".join(
        [
            f"job {job} of Slurm: {n:,} tasks for {sweep.order.n_points:,} points.",
            f"how far it is:   {again} --status",
            f"what tasks say:  {path.parent}/{job}_*.log",
            f"cancel:          scancel {job}",
            f"go on later:     {again} --on slurm",
        ]
    )


def tasks_of(sweep: Survey) -> Counter[str]:
    """How many tasks of this sweep are in which state, as Slurm says; none where there is no Slurm here."""
    jobs = [path.stem for path in folder_of(sweep).glob("*.job")]
    if not jobs or shutil.which("squeue") is None:
        return Counter()
    with contextlib.suppress(InputError):
        # By its name: to ask for the number of a job that ended long ago is an error.
        name = f"--name=widenet-{sweep.order.digest[:8]}"
        rows = _asked("squeue", "--noheader", "--array", name, "--format=%F %T").splitlines()
        return Counter(state.lower() for job, _, state in (row.partition(" ") for row in rows) if job in jobs)
    return Counter()


def _asked(*command: str) -> str:
    """What a command of Slurm answers.

    Raises:
      InputError: it refuses, or does not answer.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise InputError(f"{command[0]} does not answer; see with sinfo whether Slurm is running.") from None
    if done.returncode:
        lines = re.findall(rf"^{command[0]}: (?:error: |fatal: )?(.+)$", done.stderr, re.MULTILINE)
        raise InputError(f"{command[0]} refused: {'; '.join(lines) or f'exit code {done.returncode}'}.")
    return done.stdout.strip()


def _quoted(path: Path) -> str:
    """As a line of #SBATCH takes it: the folder as it is, and numbers of the job in the name."""
    text = f"{path.parent}/".replace("%", "%%") + path.name
    return f'"{text}"' if " " in text else text
