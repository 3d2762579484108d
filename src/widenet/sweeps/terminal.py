"""`widenet sweep` and `widenet run`."""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from widenet.console.exit_codes import ExitCode
from widenet.errors import InputError
from widenet.run.workers import default_jobs
from widenet.store import Store
from widenet.sweeps import driver, slurm
from widenet.sweeps.driver import Counts, Survey
from widenet.sweeps.order import order_of
from widenet.sweeps.packs import COMPUTED, FOUND
from widenet.sweeps.progress import in_words, tallied
from widenet.sweeps.result import RUN, STATE, WHY, dataset_of
from widenet.sweeps.rows import INCONCLUSIVE, UNMET, VACUOUS, VERDICT, WARNING
from widenet.sweeps.spec import Value, read_spec, spec_of
from widenet.sweeps.tables import FAILED, NOT_APPLICABLE

PROCESSES, SLURM = "processes", "slurm"
MOST_ROWS = 40
"""A sweep with more points than this is told in counts on a terminal."""


@dataclass(frozen=True)
class Where:
    """Who computes.

    Attributes:
      on: "processes", or the address of a Dask scheduler.
      share: (i, n), counted from 1: this process is one of n, and has one process unless `jobs` says otherwise.
    """

    on: str = PROCESSES
    jobs: int | None = None
    share: tuple[int, int] | None = None


def prepare(path: str | Path, store: Store) -> Survey:
    """The sweep of a TOML file."""
    return Survey(order_of(read_spec(path), store), store)


def compute(sweep: Survey, where: Where) -> Counts:
    """Compute what is missing.

    Raises:
      InputError: there is no such place to compute.
      StoreError: the store cannot be read or written.
    """
    jobs = where.jobs or default_jobs()
    spans = sweep.missing()
    if spans:
        sweep.store.require_writable()
    with tallied(sum(map(len, spans))) as tally:
        if where.share is not None:
            if where.jobs is None or where.jobs == 1:
                return driver.here(sweep, tally, where.share)
            return driver.in_processes(sweep, tally, where.jobs, where.share)
        if where.on not in (PROCESSES, SLURM):
            from widenet.sweeps import cluster

            return cluster.compute(sweep, where.on, tally, _warn)
        if jobs == 1 or len(spans) < 2 or sweep.seconds(spans) < driver.WORTH_A_PROCESS:
            return driver.here(sweep, tally)
        return driver.in_processes(sweep, tally, jobs)


def write(sweep: Survey, plot: str | None, export: str | None) -> list[Path]:
    """The picture and the file of what is finished; nothing is computed.

    Raises:
      InputError: a file of no known kind, or nothing is finished.
    """
    from widenet.sweeps import drawing
    from widenet.sweeps import export as exports

    picture = None if plot is None else drawing.require_form(Path(plot))
    file = None if export is None else exports.require_form(Path(export))
    numbers = dataset_of(sweep).load()
    written = [] if picture is None else [drawing.write_picture(numbers, sweep.order.title, picture)]
    return written if file is None else [*written, exports.write_numbers(numbers, file)]


def swept(path: str | Path, store: Store, where: Where) -> tuple[Survey, xr.Dataset, Counts]:
    """Compute the sweep of a TOML file, and read it."""
    sweep = prepare(path, store)
    counts = compute(sweep, where)
    return sweep, dataset_of(sweep).load(), counts


def told(sweep: Survey, numbers: xr.Dataset, counts: Counts) -> str:
    """A sweep in a few lines: what was done, and a row per point where there are few."""
    done = {COMPUTED: counts[COMPUTED] + sweep.n_piloted, FAILED: counts[FAILED]}
    done[NOT_APPLICABLE] = int((numbers[STATE] == NOT_APPLICABLE).sum())
    found = {FOUND: sweep.order.n_points - sum(done.values())}  # packs that were finished before are not counted
    lines = [f"{sweep.order.title}: {sweep.order.n_points:,} points, {in_words(done | found)}"]
    if sweep.order.about:
        lines.append(f"data: {sweep.order.about}")
    if sweep.order.n_points <= MOST_ROWS:
        lines += ["", *_table([_short(row, sweep.order.axes) for row in rows_of(numbers)])]
    else:
        lines += [f"{number:>9,} {word}" for name in (STATE, VERDICT) for word, number in _words(numbers, name).items()]
    unmet = Counter({names: number for names, number in _words(numbers, UNMET).items() if names})
    lines += [f"{number:,} × hypotheses that are not met: {names}" for names, number in unmet.most_common(5)]
    warnings = _words(numbers, WARNING)
    inconclusive: Counter[str] = Counter()
    for words, number in warnings.items():
        if words.startswith(INCONCLUSIVE):
            inconclusive[words.partition(". ")[0].rstrip(".")] += number
    lines += [f"{number:,} × {words[0].lower()}{words[1:]}" for words, number in inconclusive.most_common(5)]
    if far := warnings.total() - inconclusive.total():
        words = "tested far from the edge: the closest case uses less than a thousandth of what is promised"
        lines.append(f"{far:,} × {words}")
    errors = _words(numbers, WHY)
    return "\n".join([*lines, *(f"{number:,} × {why}" for why, number in errors.most_common(5))])


def _words(numbers: xr.Dataset, name: str) -> Counter[str]:
    """How often each word occurs."""
    values = numbers[name].values.ravel().tolist() if name in numbers else []
    return Counter(each for each in values if each)


def rows_of(numbers: xr.Dataset) -> list[dict[str, Any]]:
    """One JSON object per point."""
    axes = [str(name) for name in numbers.sizes if name != RUN]
    flat = numbers.stack(point=axes) if axes else numbers.expand_dims("point")
    columns = {str(name): flat[name].transpose("point", ...).values for name in (*flat.data_vars,)}
    values = {name: flat[name].values for name in axes}
    return [
        {name: _plain(each[place]) for name, each in values.items()}
        | {name: _plain(column[place]) for name, column in columns.items()}
        for place in range(flat.sizes["point"])
    ]


def code_of(numbers: xr.Dataset) -> ExitCode:
    """Whether everything was computed."""
    return ExitCode.OPEN if (numbers[STATE] == FAILED).any() else ExitCode.AS_EXPECTED


def one_run(of: str, chosen: Sequence[str], data: str | None, seed: int, runs: int | None, store: Store) -> xr.Dataset:
    """A sweep of one point.

    Raises:
      InputError: a value is not NAME=VALUE, or is wrong.
    """
    row: dict[str, Any] = {"of": of, "seed": seed, "set": dict(_pair(each) for each in chosen)}
    row |= {name: each for name, each in {"data": data, "runs": runs}.items() if each is not None}
    sweep = Survey(order_of(spec_of(row), store), store)
    driver.here(sweep, driver.Quiet())
    return dataset_of(sweep)


def share_of(text: str) -> tuple[int, int]:
    """I/N as two numbers.

    Raises:
      InputError: it is something else.
    """
    first, _, second = text.partition("/")
    if not (first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second)):
        raise InputError(f"--share I/N takes a share from 1 to N, such as 3/8, got {text!r}.")
    return int(first), int(second)


def require_place(on: str, share: str | None) -> None:
    """Refuse a place that there is not.

    Raises:
      InputError: `--on` is something else, or has a share too.
    """
    if on not in (PROCESSES, SLURM) and not re.fullmatch(r"(tcp|tls)://[^/\s]+:\d+", on):
        raise InputError(f"--on is processes, slurm, tcp://HOST:PORT or tls://HOST:PORT, got {on!r}.")
    if on != PROCESSES and share is not None:
        raise InputError(f"--share is for processes that you start yourself; leave it out with --on {on}.")


def array_of(on: str, asked: Mapping[str, Any]) -> slurm.Array | None:
    """What is asked of Slurm, by the names of options; None where it computes elsewhere.

    Raises:
      InputError: an option is wrong, or is for another place.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    if on == SLURM:
        given.pop("print", None)
        return slurm.Array(**given)
    if given:
        raise InputError(f"--{next(iter(given))} is for --on slurm.")
    return None


def is_finished(sweep: Survey) -> bool:
    """Whether nothing is left to compute, as far as the tables of packs tell."""
    return sweep.is_decided and not sweep.missing()


def _warn(words: str) -> None:
    print(f"widenet: {words}", file=sys.stderr)


def _pair(text: str) -> tuple[str, Value]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InputError(f"--set takes NAME=VALUE, such as n_neurons=8, got {text!r}.")
    try:
        read = json.loads(value)
    except ValueError:
        read = value
    return name.strip(), read if isinstance(read, bool | int | float | str) else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value]
    found = value.item() if isinstance(value, np.generic) else value
    if isinstance(found, float) and not np.isfinite(found):
        return None if np.isnan(found) else str(found).replace("inf", "Infinity")
    return found


def _short(row: Mapping[str, Any], axes: Mapping[str, Any]) -> dict[str, str]:
    """The row of a point on a terminal: of runs their median, and of single numbers themselves."""
    shown = {name: f"{row[name]:g}" if isinstance(row[name], float) else str(row[name]) for name in axes}
    shown["state"] = str(row.get(VERDICT) or row[STATE]) + (", vacuous" if row.get(VACUOUS) else "")
    for name, value in row.items():
        if (
            name in shown
            or name in (STATE, WHY, VERDICT, UNMET, VACUOUS, WARNING)
            or name.endswith(("_kept", "_promised", "_tightness"))
        ):
            continue
        several = [each for each in value if isinstance(each, float)] if isinstance(value, list) else [value]
        numbers = [each for each in several if isinstance(each, int | float)]
        shown[name if not isinstance(value, list) else f"median {name}"] = (
            f"{np.median(numbers):.4g}" if numbers else ""
        )
    return shown


def _table(rows: Sequence[Mapping[str, str]]) -> list[str]:
    names = list(rows[0])
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in names}
    lines = ["  ".join(f"{name:>{widths[name]}}" for name in names)]
    return lines + ["  ".join(f"{row[name]:>{widths[name]}}" for name in names) for row in rows]
