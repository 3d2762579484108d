"""What workers are asked to do in tests; they import it by name."""

import os
import signal
import sys
import time

from widenet.errors import DataError, StoreError, UnknownName
from widenet.progress import Progress


def double(number: int, progress: Progress) -> int:
    for step in range(5):
        progress(step / 5, "steps")
    return 2 * number


def who(seconds: float, progress: Progress) -> int:
    time.sleep(seconds)
    return os.getpid()


def loaded(progress: Progress) -> list[str]:
    return sorted({name.split(".")[0] for name in sys.modules} & {"jax", "matplotlib", "xarray"})


def refuse(kind: str, progress: Progress) -> None:
    if kind == "store":
        raise StoreError("the disk is full")
    if kind == "data":
        raise DataError("row 7 is wrong")
    raise UnknownName("claim", "x", ["y"])


def fail(progress: Progress) -> None:
    raise ZeroDivisionError("a mistake")


def die(progress: Progress) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang(progress: Progress) -> None:
    progress(0.0, "hanging")
    time.sleep(600)


def listens(progress: Progress) -> bool:
    """Whether Ctrl-C reached this worker before it ignored it: while it was started, the signal was not blocked."""
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
