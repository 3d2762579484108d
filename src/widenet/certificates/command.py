"""What `widenet certify` does: certify, write the page and its JSON twin, and show one screen."""

import functools
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from widenet.certificates.certificate import Certificate
from widenet.certificates.making import Wishes, make
from widenet.certificates.reading import read
from widenet.claims import Verdict
from widenet.claims.base import expected_of
from widenet.console import output
from widenet.console.exit_codes import ExitCode
from widenet.console.progress import watching
from widenet.data.archives import name_of
from widenet.errors import InputError
from widenet.progress import Progress
from widenet.run import WorkWatch

WIDEST = 100
ABOUT = 30.0
"""Seconds that a certificate usually takes."""


def carry_out(files: Sequence[str], out: Path, **choices: Any) -> tuple[Certificate, list[Path]]:
    """The certificate of a file, or of two that belong together, and what was written.

    Raises:
      InputError: the data or a choice cannot be used; nothing is written then.
      StoreError: the store or the folder cannot be written.
    """
    if not 1 <= len(files) <= 2:
        raise InputError("name one file, or the two .npy files of inputs and labels.")
    # What is wrong is refused before anything is begun.
    label, drop = choices.pop("label"), choices.pop("drop", ())
    wishes = Wishes.checked(**choices)
    output.require_writable(out)
    table = read(*files, label=label, drop=drop)
    name = name_of(Path(files[0]))
    expected = ABOUT * wishes.effort
    with watching(1, expected) as watch:
        found = make(table, wishes, progress=_from_first_report(watch, name, expected))
        watch.end(name, f"{found.findings.seconds:.1f} s", expected)
    return found, output.write_files(out, found.files(Path(files[0]).stem))


def _from_first_report(watch: WorkWatch, name: str, seconds: float) -> Progress:
    """A piece of work that begins with its first report: where the data is refused, nothing was begun."""
    begin = functools.cache(watch.begin)

    def report(fraction: float, words: str) -> None:
        begin(name, seconds)(fraction, words)

    return report


def screen(found: Certificate, written: Sequence[Path]) -> str:
    """The certificate on one screen, and where the rest of it is."""
    from widenet.certificates.screen import as_text

    width = min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else WIDEST
    return "\n".join([as_text(found.findings, width), "", *(f"wrote {path}" for path in written)])


def code_of(found: Certificate) -> ExitCode:
    """Whether a statement that should hold was measured to fail, or a check crashed.

    What was left out for lack of time, or does not apply, is no failure: the page says so.
    """
    rows = found.findings.rows
    if any(row.verdict is Verdict.VIOLATED and expected_of(row.id) is Verdict.HOLDS for row in rows):
        return ExitCode.VIOLATED
    return ExitCode.OPEN if any(row.has_crashed for row in rows) else ExitCode.AS_EXPECTED
