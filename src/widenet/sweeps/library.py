"""`wn.sweep` and `wn.load`."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from widenet.data.arrays import from_arrays
from widenet.errors import DataError, InputError
from widenet.store import Store, store_of
from widenet.store.unkept import with_store
from widenet.sweeps import driver
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.order import order_of
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import read_spec, spec_of
from widenet.types import Dataset

if TYPE_CHECKING:
    import xarray as xr


def sweep(
    of: str | Sequence[str],
    data: Any = None,
    *,
    n_runs: int | None = None,
    look: str | tuple[str, ...] = (),
    at: Mapping[str, Any] | None = None,
    seed: int | Sequence[int] = 0,
    jobs: int = 1,
    on: Any = None,
    store: Store | None = None,
    **over: Any,
) -> "xr.Dataset":
    """Ask a claim over choices, or run an experiment over fields of its setting: one point per combination of values.

    Arguments:
      of: the id of a claim or of an experiment, or `file.py:name`; or several claims, which are then the first axis.
      data: one data set, the name of a file or of a data set, or a pair of arrays; the paper's own kind if left out.
        Several names of data sets are an axis.
      n_runs: networks per point.
      look: a clause of the claim or a quantity of the cells, or several; all of them if left out.
      at: of quantities with axes of their own, such as the epoch, the value that is looked at.
      jobs: worker processes.
      seed: of weights, orders and drawn data; several are an axis.
      on: a `concurrent.futures.Executor` that computes instead.
      store: where runs are kept; by default where the command line keeps them. One that cannot be written is read, and
        what is computed is then not kept, which stderr says; an executor needs one that can be written.
      over: values of each choice or field; one that has a single value is no axis.

    Raises:
      InputError: a claim, a choice or a value is wrong.
      StoreError: the store cannot be read or written.
    """
    if not isinstance(of, str | Sequence) or not of:
        raise InputError(f"name a claim or an experiment by its id, such as 'brutzkus2018.theorem_2', got {of!r}.")
    if not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs must be a whole number of at least 1, got {jobs!r}.")
    row: dict[str, Any] = {
        "of": of if isinstance(of, str) else tuple(of),
        "look": {"measured": look, "at": at or {}},
    }
    if isinstance(data, list | tuple) and data and all(isinstance(each, str) for each in data):
        over, data = {"data": data, **over}, None
    if _is_axis(seed):
        over["seed"] = seed
    else:
        row["seed"] = seed
    row["over"] = {name: each for name, each in over.items() if _is_axis(each)}
    row["set"] = {name: each for name, each in over.items() if not _is_axis(each)}
    if n_runs is not None:
        row["runs"] = n_runs
    given = None
    if isinstance(data, str | os.PathLike):
        row["data"] = os.fspath(data)
    elif data is not None:
        given = _dataset(data)
    spec = spec_of(row)

    def swept(store: Store) -> "xr.Dataset":
        found = Survey(order_of(spec, store, given), store)
        if on is not None:
            driver.by_executor(found, on, Quiet())
        elif jobs > 1:
            driver.in_processes(found, Quiet(), jobs)
        else:
            driver.here(found, Quiet())
        return dataset_of(found).load()

    return swept(store_of(store)) if on is not None else with_store(swept, usual=store)


def load(spec: str | os.PathLike | Mapping[str, Any], *, store: Store | None = None) -> "xr.Dataset":
    """What is finished of the sweep that a TOML file describes. Nothing is computed, and numbers are read when used.

    Raises:
      InputError: the file cannot be read, or describes no sweep.
    """
    if not isinstance(spec, Mapping | str | os.PathLike):
        raise InputError(f"name the file of a sweep, such as 'question.toml', got {spec!r}.")
    store = store_of(store)
    read = spec_of(spec) if isinstance(spec, Mapping) else read_spec(os.fspath(spec))
    return dataset_of(Survey(order_of(read, store), store))


def _is_axis(value: Any) -> bool:
    return isinstance(value, list | tuple | range | Mapping) or getattr(value, "ndim", 0) == 1


def _dataset(given: Any) -> Dataset:
    match given:
        case Dataset():
            return given
        case (inputs, labels):
            return from_arrays(inputs, labels)
    raise DataError(
        f"data must be a Dataset, the name of a file, or a pair (inputs, labels), got {type(given).__name__}."
    )
