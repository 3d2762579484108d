"""`widenet sweep`: what is done with a sweep, and what is printed."""

import json
from dataclasses import dataclass

import xarray as xr

from widenet.console.exit_codes import ExitCode
from widenet.errors import InputError
from widenet.store import Store, default_root
from widenet.store.unkept import with_store
from widenet.sweeps import slurm, terminal
from widenet.sweeps.driver import Counts, Survey
from widenet.sweeps.forecast import forecast
from widenet.sweeps.status import retry, status_of


@dataclass(frozen=True)
class Wish:
    """What is asked of a sweep beside computing it.

    Attributes:
      keep: whether the store is used.
      plot, export: files to write of what is finished.
    """

    status: bool
    dry_run: bool
    retry: bool
    print_script: bool
    keep: bool
    plot: str | None
    export: str | None
    as_json: bool

    @property
    def reads_only(self) -> bool:
        """Whether it is about what is finished, or about what the rest costs."""
        return self.status or self.dry_run or self.plot is not None or self.export is not None


def carry_out(spec: str, where: terminal.Where, array: slurm.Array | None, wish: Wish) -> ExitCode:
    """Do it, and print what came out.

    Raises:
      InputError: options that exclude each other, or a wrong sweep.
      StoreError: the store cannot be read, or not written by processes that share it.
    """
    is_shared = where.share is not None or where.on != terminal.PROCESSES
    if not wish.keep and (wish.reads_only or wish.retry or is_shared):
        raise InputError("--no-store keeps nothing that another call or process could read; leave one of the two out.")
    if not (wish.reads_only or wish.retry or wish.print_script or is_shared):
        return _show(*with_store(lambda store: terminal.swept(spec, store, where), keep=wish.keep), wish.as_json)
    found = terminal.prepare(spec, Store(default_root()))
    if wish.reads_only:
        print(_about(found, where.jobs, wish))
        return ExitCode.AS_EXPECTED
    if wish.retry:
        retry(found)
    if array is not None and wish.print_script:
        print(slurm.script_of(found, spec, array).rstrip())
        return ExitCode.AS_EXPECTED
    if array is not None and not terminal.is_finished(found):
        print(slurm.submit(found, spec, array))
        return ExitCode.AS_EXPECTED
    counts = terminal.compute(found, where)
    return _show(found, terminal.dataset_of(found), counts, wish.as_json)


def _about(found: Survey, jobs: int | None, wish: Wish) -> str:
    """What is finished, or what the rest costs."""
    if wish.status:
        known = status_of(found)
        row = {"counts": known.counts, "errors": known.errors, "slurm": known.tasks}
        return json.dumps(row) if wish.as_json else "\n".join(known.lines)
    if wish.plot is not None or wish.export is not None:
        return "\n".join(f"wrote {each}" for each in terminal.write(found, wish.plot, wish.export))
    return forecast(found, jobs)


def _show(found: Survey, numbers: xr.Dataset, counts: Counts, as_json: bool) -> ExitCode:
    if as_json:
        print(json.dumps(terminal.rows_of(numbers), indent=2, allow_nan=False, ensure_ascii=False))
    else:
        print(terminal.told(found, numbers, counts))
    return terminal.code_of(numbers)
