"""A real Slurm on this machine, from Debian's packages `slurm-wlm` and `munge`, with its files in one folder.

    .venv/bin/python -m tools.one_slurm /tmp/slurm

starts it, prints the variable that `sbatch` and the other commands need, and ends it on Ctrl-C. It touches no Slurm and
no munge that may be here already. It needs root, as every `slurmd` does.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "scancel", "squeue", "sinfo")
CONFIGURATION = """\
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1,batch_sched_delay=0
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ReturnToService=2
MinJobAge=2
KillWait=5
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
PATIENCE = 60.0


class NoSlurm(Exception):
    """It could not be started; the message says why."""


def missing() -> list[str]:
    """Programs of Slurm that are not here."""
    return [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]


@contextlib.contextmanager
def running(folder: Path, cpus: int = 2) -> Iterator[dict[str, str]]:
    """A Slurm with one node; the environment that its commands need.

    Raises:
      NoSlurm: a program is missing, or does not start.
    """
    if absent := missing():
        raise NoSlurm(f"{absent[0]} is not here: apt-get install --no-install-recommends slurm-wlm munge")
    if os.geteuid() != 0:
        raise NoSlurm("slurmd needs root.")
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    folder.chmod(0o755)
    text = CONFIGURATION.format(
        host=socket.gethostname().partition(".")[0], folder=folder, cpus=cpus, controller=_port(), node=_port()
    )
    (folder / "slurm.conf").write_text(text)
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": _path()}
    places = [f"--{name}={folder}/munge.{end}" for name, end in (("key-file", "key"), ("socket", "socket"))]
    places += [f"--{name}={folder}/munge.{end}" for name, end in (("pid-file", "pid"), ("log-file", "log"))]
    daemons = [["munged", "--foreground", "--force", *places, f"--seed-file={folder}/munge.seed"]]
    daemons += [["slurmctld", "-D", "-i"], ["slurmd", "-D"]]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for daemon in daemons:
            started.append(_start(daemon, environment, folder))
            if daemon[0] == "munged":
                _until(lambda: (folder / "munge.socket").exists(), started, folder)
        _until(lambda: "idle" in _said(["sinfo", "--noheader", "--format=%t"], environment), started, folder)
        yield environment
    finally:
        with contextlib.suppress(OSError, NoSlurm):
            subprocess.run(["scancel", "--user=root"], env=environment, check=False, capture_output=True)
            _until(lambda: not _said(["squeue", "--noheader"], environment), started, folder)
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
        for process in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


def _start(command: Sequence[str], environment: dict[str, str], folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "daemons.log").open("ab") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)


def _until(condition: Callable[[], bool], started: Sequence[subprocess.Popen[bytes]], folder: Path) -> None:
    last = time.monotonic() + PATIENCE
    while not condition():
        ended = [process.args for process in started if process.poll() is not None]
        if ended or time.monotonic() > last:
            words = (folder / "daemons.log").read_text(errors="replace").strip().splitlines()[-3:]
            raise NoSlurm(f"{ended[0] if ended else 'Slurm'} did not start: {' '.join(words)}")
        time.sleep(0.1)


def _said(command: Sequence[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


def _path() -> str:
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> None:
    """Run it until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A real Slurm on this machine.")
    parser.add_argument("folder", type=Path, help="where its files go")
    parser.add_argument("--cpus", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have switched the first one off
        signal.signal(number, signal.default_int_handler)
    try:
        with running(arguments.folder.absolute(), arguments.cpus) as environment:
            print(f"export SLURM_CONF={environment['SLURM_CONF']}", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
    except NoSlurm as error:
        sys.exit(f"one_slurm: {error}")


if __name__ == "__main__":
    main()
