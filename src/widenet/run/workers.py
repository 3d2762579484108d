"""Worker processes: a function and its arguments go in, the answer comes back, words about it in between.

A worker ends when this process does, however it ends. It ignores Ctrl-C, which reaches the whole group of a terminal:
the process that started it decides.
"""

import importlib
import importlib.util
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any

from widenet.errors import InputError, StoreError, WidenetError
from widenet.progress import Progress
from widenet.run.failures import Failure, failure_of
from widenet.store import leases

SECONDS_TO_STOP = 1.0
"""How long a worker may tidy up (a file that is being written) before it is killed."""
SECONDS_BETWEEN_WORDS = 0.1
ACCELERATORS = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin", "libtpu")
START, PROGRESS, DONE, REFUSED, FAILED = "start", "progress", "done", "refused", "failed"


def default_jobs() -> int:
    """One process per core that this process may use; one alone where there is an accelerator to share."""
    on_cpu = os.environ.get("JAX_PLATFORMS", "").strip().lower() == "cpu"
    if not on_cpu and any(importlib.util.find_spec(name) for name in ACCELERATORS):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(eq=False)
class Call:
    """Work for a worker: `function(*arguments, progress)`, which a worker imports by name.

    Attributes:
      name: what a reader sees.
      seconds: about how long it takes.
      not_before: on the clock of `time.monotonic`.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float = 1.0
    not_before: float = 0.0


@dataclass(frozen=True)
class News:
    """What is known about a call.

    It starts, it goes on (a fraction and words), it is done (its answer), or it has failed (a `Failure`).
    """

    call: Call
    kind: str
    content: Any = None


class Workers:
    """A few worker processes, started when there is work for them and kept until `close`."""

    def __init__(self, count: int, preload: Sequence[str] = ()):
        """At most `count` at once; each loads the modules of `preload` while it waits for its first call."""
        self.count, self.preload = count, tuple(preload)
        self._all: list[_Worker] = []

    def __enter__(self) -> "Workers":
        """They end with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends them."""
        self.close()

    def start(self, most: int) -> None:
        """Start up to so many now: they load their modules while this process loads its own."""
        while len(self._all) < min(self.count, most):
            self._start()

    def follow(self, queue: deque[Call], meanwhile: Iterator[Any] | None = None) -> Iterator[News]:
        """Hand the calls out in their order, and tell what becomes of them. One that fails does not end the others.

        Arguments:
          queue: the calls; there may come more while they are worked on.
          meanwhile: what this process does itself between two looks at its workers, piece by piece.

        Raises:
          InputError, StoreError: a call raised one, which concerns them all.
        """
        try:
            yield from self._follow(queue, meanwhile)
        except BaseException:
            self.close()  # they may be in the middle of something that nobody waits for
            raise

    def _follow(self, queue: deque[Call], meanwhile: Iterator[Any] | None) -> Iterator[News]:
        at_work: dict[_Worker, Call] = {}
        idle = [worker for worker in self._all if worker.is_alive]
        while queue or at_work or meanwhile is not None:
            while (idle or len(at_work) < self.count) and (call := _ready(queue)) is not None:
                worker = self._idle_one(idle) or self._start()
                at_work[worker] = call
                worker.ask(call)  # one that is gone is noticed when it is heard
                yield News(call, START)
            if meanwhile is not None and next(meanwhile, self) is self:
                meanwhile = None
            patience = _until_next(queue, len(at_work) < self.count) if meanwhile is None else 0.0
            for worker in _with_news(at_work, patience):
                kind, content = worker.hear(at_work[worker].name)
                yield News(at_work[worker], kind, content)
                if kind in (DONE, FAILED):
                    del at_work[worker]
                    if worker.is_alive:
                        idle.append(worker)
                    else:
                        self._all.remove(worker)

    def close(self) -> None:
        """End the workers; what they were at is lost."""
        for worker in self._all:
            worker.stop()
        last = time.monotonic() + SECONDS_TO_STOP
        while self._all:
            self._all.pop().join(max(0.0, last - time.monotonic()))

    def _idle_one(self, idle: list["_Worker"]) -> "_Worker | None":
        """One that waits for work; those that were killed meanwhile are forgotten."""
        while idle:
            worker = idle.pop()
            if worker.is_alive:
                return worker
            self._all.remove(worker)
        return None

    def _start(self) -> "_Worker":
        # Ctrl-C waits until the worker is known here, and the worker inherits that it does not listen to it.
        with _ctrl_c_waits():
            self._all.append(_Worker(self.preload))
        return self._all[-1]


def _ready(queue: deque[Call]) -> Call | None:
    """The first call whose time has come."""
    now = time.monotonic()
    for call in queue:
        if call.not_before <= now:
            queue.remove(call)
            return call
    return None


def _until_next(queue: deque[Call], is_room: bool) -> float | None:
    """Seconds until a call may be handed out; None where only a worker can bring news."""
    if not queue or not is_room:
        return None
    return max(0.0, min(call.not_before for call in queue) - time.monotonic())


def _with_news(at_work: dict["_Worker", Call], patience: float | None) -> list["_Worker"]:
    if not at_work:
        time.sleep(patience or 0.0)
        return []
    ready = multiprocessing.connection.wait([worker.pipe for worker in at_work], patience)
    return [worker for worker in at_work if worker.pipe in ready]


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Nothing in the block is interrupted, and a process that is started in it does not listen to Ctrl-C.

    Half a worker prints a traceback. Blocking the signal alone is not enough: any other thread may take it, and Python
    then raises the interrupt here all the same.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    resource_tracker.ensure_running()  # who starts it later unblocks the signal on the way (CPython 3.11 and 3.12)
    pressed: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number)) or signal.SIG_DFL
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)  # one that was kept waiting is heard here
        signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


class _Worker:
    """One worker process, seen from this side of its pipe."""

    def __init__(self, preload: tuple[str, ...]):
        # A forked process would inherit JAX's threads in the middle of their work.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_live, args=(other, preload), daemon=True)
        self.process.start()
        other.close()

    @property
    def is_alive(self) -> bool:
        return self.process.is_alive()

    def ask(self, call: Call) -> None:
        with suppress(OSError):
            self.pipe.send((call.name, call.function, call.arguments))

    def hear(self, name: str) -> tuple[str, Any]:
        """What it says next: words about how far it is, the answer, or that the call failed or the worker is gone.

        Raises:
          InputError, StoreError: the call was refused.
        """
        try:
            kind, content = self.pipe.recv()
        except (EOFError, OSError):
            return FAILED, self._lost(name)
        if kind == REFUSED:
            is_store, words = content
            raise StoreError(words) if is_store else InputError(words)
        return kind, content

    def stop(self) -> None:
        self.pipe.close()
        self.process.terminate()

    def join(self, seconds: float) -> None:
        self.process.join(seconds)
        if self.is_alive:
            self.process.kill()
            self.process.join()

    def _lost(self, name: str) -> Failure:
        self.process.join()
        code = self.process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        return Failure(
            f"the worker process of {name} was ended {how}, perhaps for lack of memory; --jobs 1 needs less."
        )


def _live(pipe: Any, preload: tuple[str, ...]) -> None:
    """The life of a worker: calls in, words and answers back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        for name in preload:
            importlib.import_module(name)
        while True:
            name, function, arguments = pipe.recv()
            pipe.send(_answer(name, function, arguments, pipe))
    except (EOFError, OSError, SystemExit):
        # Nobody listens any more. Threads of XLA that are at work would crash the interpreter on its way out.
        os._exit(1)


def _answer(name: str, function: Callable[..., Any], arguments: tuple[Any, ...], pipe: Any) -> tuple[str, Any]:
    try:
        return DONE, function(*arguments, _teller(pipe))
    except WidenetError as error:
        return REFUSED, (isinstance(error, StoreError), str(error))
    except Exception as error:
        return FAILED, failure_of(name, error)


def _teller(pipe: Any) -> Progress:
    last, lock = 0.0, threading.Lock()

    def tell(fraction: float, words: str) -> None:
        nonlocal last
        with lock:  # trainings report from threads of their own
            now = time.monotonic()
            if now - last > SECONDS_BETWEEN_WORDS:
                last = now
                pipe.send((PROGRESS, (float(fraction), words)))

    return tell


def _leave(_: int, frame: FrameType | None) -> None:
    # A library that drops the exception, or is interrupted while it loads, would print a traceback of its own.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise SystemExit


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers; they notice that it is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        leases.let_go()
        os._exit(1)
