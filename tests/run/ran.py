"""Which modules of the package an experiment really runs code of: a program of its own, as nothing may have run before.

    python -m tests.run.ran            every experiment of every room, at toy size
    python -m tests.run.ran hidden     an experiment that hides an import

It prints a JSON object: for each experiment, the modules in which code ran and that are not in its reach. Each
experiment has a process of its own, split off before any has run: what one has computed no other finds in a cache.
"""

import json
import os
import sys
import threading
import traceback
import warnings
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.run import hidden
from tests.run.toy_sizes import toy
from widenet import papers
from widenet.claims import Experiment
from widenet.progress import silent
from widenet.run.reach import ROOT, reach

SECONDS = 1800
"""After which somebody hangs; a busy machine may take ten times as long as a quiet one."""


def experiments() -> dict[str, Experiment]:
    """All that claims and figures read, by id."""
    found: dict[str, Experiment] = {}
    for reader in (*papers.claims_of(), *papers.figures_of()):
        for experiment in reader.reads:
            found.setdefault(experiment.id, experiment)
    return found


class Tracer:
    """Notes the files of the package in which functions are called. What a module does while it loads is left out."""

    def __init__(self) -> None:
        self.seen: set[CodeType] = set()
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in self.seen or not code.co_filename.startswith(str(ROOT)):
            return
        if _is_loading(frame):
            return
        self.seen.add(code)
        # A package that loads its names on first use asks itself for them, and Python asks for those of old releases.
        asked = {"__getattr__": "__init__.py", "find_spec": "old_names.py", "sentence_of": "old_names.py"}
        if Path(code.co_filename).name != asked.get(code.co_name):
            self.files.add(code.co_filename)

    @property
    def modules(self) -> set[str]:
        names = (Path(file).relative_to(ROOT.parent).with_suffix("").parts for file in self.files)
        return {".".join(parts[:-1] if parts[-1] == "__init__" else parts) for parts in names}


def _is_loading(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
            return True
        frame = frame.f_back
    return False


def outside(experiment: Experiment, inside: frozenset[str]) -> list[str]:
    """The modules in which code ran and that are not in reach."""
    setting = toy(experiment)
    tracer = Tracer()
    # A trace that follows no frame hears of calls alone; a profile would hear of every return and of every C function.
    threading.settrace(tracer)
    sys.settrace(tracer)
    try:
        experiment.run(setting, silent)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # pyright: ignore[reportArgumentType]
    return sorted(tracer.modules - inside)


def apart(experiment: Experiment) -> list[str]:
    """`outside`, in a process of its own; a line with the error where it fails."""
    inside = reach(experiment.run.__module__)  # here: what is read of a source serves those that come after
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer = outside(experiment, inside)
        except BaseException:
            answer = [f"it failed: {traceback.format_exc()}"]
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else ["it died"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # JAX warns of forks; nothing has run yet that they could harm
    chosen = {hidden.sneaky.id: hidden.sneaky} if sys.argv[1:] == ["hidden"] else experiments()
    print(json.dumps({id: apart(experiment) for id, experiment in chosen.items()}))
