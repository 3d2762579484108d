"""Trainings of a paper, kept between mutants: a weakened judge trains nothing else than a sound one."""

import functools
import hashlib
import importlib
import os
import pickle
import pkgutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.mutants.targets import PACKAGE

WORTH_KEEPING = 0.1
"""Seconds of processor time from which a call is kept."""
REMEMBERED = ("run", "train", "keep", "scan", "trace", "follow")
"""How the names of functions begin that train, or follow a run."""
OUTSIDE = {"claims", "figures", "drawings", "console", "report", "plots", "store", "run"}
"""Folders of the package that no training depends on."""


def remember(paper: str, folder: Path) -> None:
    """From here on, functions of the paper's `runs` that were called before with equal arguments answer from disk."""
    from widenet.claims.experiments import Experiment

    digest = _digest()
    package = importlib.import_module(f"widenet.papers.{paper}.runs")
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        originals = {}
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", "") == module.__name__
            if is_own and callable(value) and name.split("_")[0] in REMEMBERED:
                originals[value] = _kept(value, folder, digest)
        for other in _loaded(package.__name__):
            for name, value in list(vars(other).items()):
                if getattr(value, "__hash__", None) and callable(value) and value in originals:
                    setattr(other, name, originals[value])
                elif isinstance(value, Experiment) and value.run in originals:
                    object.__setattr__(value, "run", originals[value.run])


def _loaded(prefix: str) -> list[Any]:
    return [module for name, module in list(sys.modules.items()) if name.startswith(prefix)]


def _kept(function: Callable[..., Any], folder: Path, digest: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            asked = pickle.dumps((function.__module__, function.__qualname__, args, sorted(kwargs.items()), digest))
        except Exception:
            return function(*args, **kwargs)
        path = folder / f"{hashlib.sha256(asked).hexdigest()[:32]}.pickle"
        if path.exists():
            return pickle.loads(path.read_bytes())
        before = time.process_time()
        answer = function(*args, **kwargs)
        if time.process_time() - before > WORTH_KEEPING:
            folder.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            try:
                part.write_bytes(pickle.dumps(answer))
                part.rename(path)
            except Exception:
                part.unlink(missing_ok=True)
        return answer

    return call


def _digest() -> str:
    sources = (path for path in sorted(PACKAGE.rglob("*.py")) if not OUTSIDE & set(path.relative_to(PACKAGE).parts))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
