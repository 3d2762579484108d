"""Sweeps: a claim or an experiment over any of its choices, on whatever computers there are.

The store is the scheduler. Points are finished in it, whoever computes them, so a sweep that was stopped goes on where
it was, and several computers that share the store share the work.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widenet.sweeps.library import load, sweep

_HOME = {"library": ("load", "sweep")}
_MODULE_OF = {name: f"widenet.sweeps.{module}" for module, names in _HOME.items() for name in names}

__all__ = ["load", "sweep"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'widenet.sweeps' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
