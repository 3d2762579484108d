"""Ctrl-C at any time: the command ends with one sentence and exit code 130, without a traceback.

SIGTERM, by which a scheduler of a cluster ends a task, ends the process at once, also in the middle of a compiled
training, with exit code 143. The cells that it was at are free for others then.

Python raises KeyboardInterrupt wherever the program happens to be, and four such places need care. A library that is
being loaded may print a traceback of its own, so there the process ends at once: an import has nothing to clean up. A
callback of the garbage collector (JAX has one) drops the interrupt, so it is raised again a moment later. A compiler
may be at work for a minute before Python hears of the signal, so a thread hears of it too, and ends the process if
Python has not: what is written is written whole or not at all. And threads of XLA that are still at work crash the
interpreter on its way out, so after an interrupt it does not take that way.
"""

import _thread
import contextlib
import os
import signal
import socket
import sys
import threading
from types import FrameType
from typing import Any

from widenet.console.exit_codes import ExitCode

SENTENCE = "widenet: interrupted; what was finished is in the store."
OTHERS = {"bench": "widenet: interrupted; nothing was written, and times are not kept in the store."}
"""What is said for commands whose results do not go to the store."""
REPEAT_AFTER_S = 0.02
PATIENCE_S = 1.0
"""How long Python may take to hear of a signal before the process ends without it."""
IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"
"""A progress bar hides the cursor; this ends its line and shows it again."""

_pressed = threading.Event()
_sentence = SENTENCE


def watch() -> None:
    """From here on Ctrl-C and SIGTERM are remembered, and never lost. For the entry point of a program only."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a shell starts its background jobs like that
        signal.signal(signal.SIGINT, _press)
        sys.unraisablehook = _raise_again
    signal.signal(signal.SIGTERM, _wait_for_the_end)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(ours,), daemon=True).start()


def pressed() -> bool:
    """Whether Ctrl-C was pressed: then any error may be its consequence."""
    return _pressed.is_set()


def speak_for(command: str) -> None:
    """From here on an interrupt is one of this command."""
    _say(OTHERS.get(command, SENTENCE))


def files_are_written() -> None:
    """From here on an interrupt costs nothing but what would have been printed."""
    _say("widenet: interrupted; the files are written.")


def sentence() -> str:
    """What to tell who pressed Ctrl-C."""
    return _sentence


def _say(words: str) -> None:
    global _sentence  # a signal handler takes no arguments of ours
    _sentence = words


def leave() -> None:
    """The command has ended. What is left is the interpreter's own end, which Ctrl-C must not disturb."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if pressed():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ExitCode.INTERRUPTED)


def _press(_: int, frame: FrameType | None) -> None:
    _pressed.set()
    while frame is not None:
        if frame.f_code.co_filename == IMPORT_SYSTEM:
            _end()
        frame = frame.f_back
    raise KeyboardInterrupt


def _listen(signals: socket.socket) -> None:
    """End the process after a Ctrl-C that Python does not hear of, because a library keeps it waiting."""
    if hasattr(signal, "pthread_sigmask"):  # the signal itself is for the main thread
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    while numbers := signals.recv(64):
        if signal.SIGTERM in numbers:
            _end(sentence().replace("interrupted", "ended by SIGTERM"), 128 + signal.SIGTERM)
        if signal.SIGINT in numbers and not _pressed.wait(PATIENCE_S):
            _end()


def _wait_for_the_end(_: int, frame: FrameType | None) -> None:
    """The thread that listens ends the process. Python needs a handler to tell that thread."""


def _end(words: str | None = None, code: int = ExitCode.INTERRUPTED) -> None:
    if "widenet.store.leases" in sys.modules:
        sys.modules["widenet.store.leases"].let_go()
    cursor = SHOW_CURSOR if os.isatty(2) else ""
    with contextlib.suppress(OSError):  # whoever read it may be gone
        os.write(2, f"{cursor}{words or sentence()}\n".encode())
    os._exit(code)


def _raise_again(dropped: Any) -> None:
    if dropped.exc_type is KeyboardInterrupt:
        threading.Timer(REPEAT_AFTER_S, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(dropped)
