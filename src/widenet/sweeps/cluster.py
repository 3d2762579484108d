"""A sweep on a Dask cluster that is there already.

Text goes out and counts come back; results are in the store, which every worker must see. What Dask does to a worker
that is silent while JAX compiles, or that needs memory, is looked at when the sweep begins.
"""

import contextlib
import functools
import importlib.metadata
import logging
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widenet.errors import InputError, StoreError, WidenetError
from widenet.store import Store
from widenet.sweeps import driver
from widenet.sweeps.driver import Counts, Survey, SweepWatch
from widenet.sweeps.order import Question, publish, subject_of
from widenet.sweeps.packs import Pack, compute_pack, tasks_at
from widenet.sweeps.tables import PackTable

if TYPE_CHECKING:
    from distributed import Security  # pyright: ignore[reportMissingImports]

PATIENCE = 10.0
"""Seconds that a scheduler may take to answer."""
PACKS_PER_WORKER = 2
SILENT_SECONDS = 3600.0
"""A scheduler that gives workers up earlier than this may do so while one compiles."""
LIBRARIES = ("widenet", "jax", "jaxlib", "numpy", "scipy")
RECIPE = "docs/sweeps.md shows how to start a cluster"


def compute(sweep: Survey, address: str, watch: SweepWatch, warn: Any) -> Counts:
    """Have the missing packs computed there.

    Arguments:
      warn: is told, in one sentence each, what may end workers in the middle of their work.

    Raises:
      InputError: there is no such scheduler, or one of its workers cannot compute this sweep.
      StoreError: the store cannot be written, or the cluster ended.
    """
    source = source_of(sweep.order, sweep.store)
    with connected(address) as client:
        publish(sweep.order, sweep.store)
        sweep.decide()
        for words in trouble_with(client, sweep, source):
            warn(words)
        executor = client.get_executor(pure=False, retries=0)
        in_flight = max(driver.IN_FLIGHT, PACKS_PER_WORKER * len(client.nthreads()))
        there = functools.partial(compute_there, source=source)
        try:
            return driver.by_executor(
                sweep, executor, watch, in_flight, there, functools.partial(_require_open, client)
            )
        except WidenetError:
            raise
        except Exception as error:
            raise StoreError(
                f"the Dask cluster at {address} ended ({_first_line(error)}); what was finished is in the store: "
                "start the cluster and the sweep again."
            ) from error


def _require_open(client: Any) -> None:
    """Dask looks for a scheduler that is gone for a while, and then closes; its tasks would be waited for for ever."""
    if client.status == "closed":
        raise ConnectionError("its scheduler is gone")


def compute_there(text: str, source: str) -> dict[str, int]:
    """`compute_pack` on a worker, which may have come after the sweep began.

    Raises:
      StoreError: its code is another one, it does not see the store, or it has several threads.
    """
    _require_one_thread()
    pack = Pack.of(text)
    _require_same(pack.order, Store(pack.root), source)
    return compute_pack(text)


def _require_one_thread() -> None:
    """Two packs at once in one process would share the leases and the threads of JAX.

    Raises:
      StoreError: this worker has several threads.
    """
    from distributed import get_worker  # pyright: ignore[reportMissingImports]

    try:
        worker = get_worker()
    except ValueError:  # no worker at all: a test, or somebody's own use
        return
    if worker.state.nthreads != 1:
        raise StoreError(_threads(worker.address, worker.state.nthreads))


def _threads(worker: str, number: int) -> str:
    return f"the worker {worker} has {number} threads; start more workers with --nthreads 1 each."


def _require_same(order: Question, store: Store, source: str) -> None:
    """Refuse a worker that would write other cells.

    Raises:
      StoreError: its code is another one.
    """
    if source_of(order, store) != source:
        raise StoreError(
            "a worker has another widenet, or another version of your file, than this computer; "
            "install the same there, and start the workers again."
        )


def source_of(order: Question, store: Store) -> str:
    """What two computers must agree on to compute the same cells: the keys of the first point, and of its table."""
    return _source(order.text, str(store.root))


@functools.lru_cache(maxsize=4)
def _source(text: str, root: str) -> str:
    order = Question.model_validate_json(text)
    subject = subject_of(order, Store(root))
    tasks = tasks_at(order, subject, 0)
    keys = [task.key.digest for task in tasks] if isinstance(tasks, list) else []
    return " ".join([*keys, PackTable.of(order, subject.modules, range(1)).key.digest])


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler there.

    Raises:
      InputError: Dask is not installed, or there is no such scheduler.
      StoreError: the cluster ended.
    """
    try:
        from distributed import Client  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(f"--on {address} needs Dask: pip install 'widenet[dask]'.") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is told in sentences
    security = _security(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions that differ are told below
            client = Client(address, timeout=PATIENCE, security=security, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise InputError(f"no Dask scheduler answers at {address} ({_first_line(error)}); {RECIPE}.") from None
    try:
        yield client
    finally:
        # What is not begun is cancelled there; a worker that is at a pack finishes it, and keeps it.
        with contextlib.suppress(Exception):
            client.close(timeout=PATIENCE)


def _security(address: str) -> "Security | None":
    """What `tls://` needs, as Dask is told it by its own configuration.

    Raises:
      InputError: nobody told it.
    """
    if not address.startswith("tls://"):
        return None
    from distributed import Security  # pyright: ignore[reportMissingImports]

    try:
        security = Security(require_encryption=True)
    except (ImportError, ValueError) as error:
        raise InputError(f"tls:// cannot be used here: {_first_line(error)}.") from None
    files = {"ca-file": security.tls_ca_file, "client.cert": security.tls_client_cert}
    for name, file in files.items():
        if file is None:
            raise InputError(f"tls:// needs distributed.comm.tls.{name} in Dask's configuration; {RECIPE}.")
        if "\n" not in file and not Path(file).is_file():
            raise InputError(f"distributed.comm.tls.{name} names {file!r}, and there is no such file.")
    return security


def trouble_with(client: Any, sweep: Survey, source: str) -> Iterator[str]:
    """What may end workers in the middle of their work, a sentence each.

    Raises:
      InputError: a worker cannot compute this sweep.
    """
    import dask.config  # pyright: ignore[reportMissingImports]
    import dask.utils  # pyright: ignore[reportMissingImports]

    workers: Mapping[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        yield "there is no worker yet; the sweep begins when one comes."
    for name, worker in workers.items():
        if worker["nthreads"] != 1:
            raise InputError(_threads(name, worker["nthreads"]))
    _require_able(client, sweep, source)
    yield from _versions(client)
    ttl = dask.utils.parse_timedelta(client.run_on_scheduler(dask.config.get, "distributed.scheduler.worker-ttl"))
    if ttl is not None and ttl < SILENT_SECONDS:
        yield (
            f"this scheduler gives up a worker that is silent for {ttl:.0f} s, as it may be while JAX compiles; "
            "start it with DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL=null."
        )
    limited = [worker["memory_limit"] for worker in workers.values() if worker["memory_limit"] and worker.get("nanny")]
    if limited:
        yield (
            f"{len(limited)} of {len(workers)} workers are paused or killed near their memory limit of "
            f"{min(limited) / 1e9:.1f} GB; start them with --memory-limit 0."
        )


def _require_able(client: Any, sweep: Survey, source: str) -> None:
    (_, text, _), *_ = sweep.texts([range(1)])
    answers = client.run(_able, text, source, on_error="return")
    for name, answer in answers.items():
        if isinstance(answer, ModuleNotFoundError):
            raise InputError(f"the worker {name} has no {answer.name}; install the same widenet there.")
        if answer:
            raise InputError(f"the worker {name} cannot compute this sweep: {answer}")


def _able(text: str, source: str) -> str:
    """Runs on a worker: why it cannot compute the sweep; "" if it can."""
    try:
        pack = Pack.of(text)
        _require_same(pack.order, Store(pack.root), source)
        Store(pack.root).require_writable()
    except (InputError, StoreError) as error:
        return str(error)
    return ""


def _versions(client: Any) -> Iterator[str]:
    """Libraries that differ: the last bits of a number may then depend on who computed it."""
    found: Mapping[str, Any] = client.get_versions(packages=list(LIBRARIES))
    ours = {name: importlib.metadata.version(name) for name in (*LIBRARIES, "distributed")}
    for worker, versions in found["workers"].items():
        theirs = versions["packages"]
        other = [
            f"{name} {theirs.get(name)} (here {version})"
            for name, version in ours.items()
            if theirs.get(name) != version
        ]
        if other:
            yield f"the worker {worker} has {', '.join(other)}; the last bits of numbers may differ."


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
