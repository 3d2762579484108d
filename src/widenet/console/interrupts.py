"""Ctrl-C at any time: the command ends, with one sentence and without a traceback.

Python raises KeyboardInterrupt wherever the program happens to be, and two such places lose it. An extension module that
is being loaded turns it into an ImportError, and a callback of the garbage collector (JAX has one) drops it with a
traceback. So the handler remembers that Ctrl-C was pressed, and what was dropped is raised again a moment later.
"""

import _thread
import signal
import sys
import threading
from typing import Any

REPEAT_AFTER_S = 0.02

_pressed = threading.Event()


def watch() -> None:
    """From here on Ctrl-C is remembered, and never lost. For the entry point of a program only."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return  # a shell starts its background jobs like that
    signal.signal(signal.SIGINT, _press)
    sys.unraisablehook = _raise_again


def pressed() -> bool:
    """Whether Ctrl-C was pressed: then any error may be its consequence."""
    return _pressed.is_set()


def ignore() -> None:
    """The work is done and only the interpreter's own end is left: nothing can be interrupted any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _press(*_: Any) -> None:
    _pressed.set()
    raise KeyboardInterrupt


def _raise_again(dropped: "sys.UnraisableHookArgs") -> None:
    if dropped.exc_type is KeyboardInterrupt:
        threading.Timer(REPEAT_AFTER_S, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(dropped)
