"""A certificate: what theory guarantees about your data, and what training really does there."""

import functools
import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from widenet.certificates.allowances import Allowance
from widenet.certificates.certainty import Certainty
from widenet.certificates.fixes import Change
from widenet.certificates.plane import Plane
from widenet.certificates.portrait import Portrait
from widenet.certificates.preparation import Prepared
from widenet.certificates.promises import ListedPromise
from widenet.certificates.reading import Table
from widenet.certificates.rows import ClaimRow
from widenet.certificates.width_study import WidthStudy
from widenet.certificates.widths import StudiedWidth
from widenet.claims import Kind
from widenet.claims.user_data import Choices
from widenet.console.output import require_writable, write_files
from widenet.records import ClosedModel


class Findings(ClosedModel):
    """Everything that was found, as plain values: what the JSON twin of a certificate holds.

    Attributes:
      portrait: what the data is.
      choices: width, step, slope and seed, as you chose them, or by default.
      rows: what each claim of each paper says, the most telling first.
      promises: what the theorems promise, in plain words.
      changes: what would make main results apply that do not, verified.
      study: networks of many widths, and what they are compared with; None where a time limit allowed none.
      allowances: what theorems allow at these widths.
      certainty: whether the precision of networks matters; None where a time limit left no time to see.
      has_boundary: whether the picture of the data shows a linear boundary that separates all points of two classes.
      seconds, computed: how long it all took, on a watch and in time of the processors.
      time: the time limit that you set; None without one.
      unasked: how many claims were not asked, or not to the end, for want of time.
      version, versions: of this package and of the libraries that numbers come from.
    """

    portrait: Portrait
    choices: Choices
    rows: tuple[ClaimRow, ...]
    promises: tuple[ListedPromise, ...]
    changes: tuple[Change, ...]
    study: WidthStudy | None
    allowances: tuple[Allowance, ...]
    certainty: Certainty | None
    has_boundary: bool
    seconds: float
    computed: float
    time: float | None
    unasked: int
    version: str
    versions: dict[str, str]

    @property
    def applicable(self) -> list[ClaimRow]:
        """The claims that apply."""
        return [row for row in self.rows if row.evidence is not None]

    @property
    def not_applicable(self) -> list[ClaimRow]:
        """The claims that do not apply, each with its reason."""
        return [row for row in self.rows if row.evidence is None]

    @property
    def main(self) -> list[ClaimRow]:
        """The main results that apply."""
        return [row for row in self.applicable if row.kind is Kind.MAIN]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What `widenet.certify` returns: print it, show it in a notebook, or save it.

    Attributes:
      findings: everything, as plain values.
      table, prepared: the data as it was read, and as theorems were asked about it.
      runs: the networks, by width.
      plane: what the picture of the data shows.
    """

    findings: Findings
    table: Table
    prepared: Prepared
    runs: Mapping[int, StudiedWidth]
    plane: Plane

    def __repr__(self) -> str:
        """One screen."""
        from widenet.certificates.screen import as_text

        return as_text(self.findings)

    def to_json(self) -> str:
        """Everything, as strictly valid JSON."""
        return json.dumps(json.loads(self.findings.model_dump_json()), indent=1, allow_nan=False, ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's own types."""
        return json.loads(self.findings.model_dump_json())

    def files(self, stem: str) -> dict[str, bytes]:
        """The files of the certificate, by their names."""
        return {f"{stem}.html": self.to_html().encode(), f"{stem}.json": (self.to_json() + "\n").encode()}

    @functools.cached_property
    def pictures(self) -> dict[str, bytes]:
        """The pictures of the page, by what they show."""
        from widenet.certificates.page import draw

        return draw(self)

    def to_html(self) -> str:
        """One page that needs no network and no other file."""
        from widenet.certificates.page import render

        return render(self.findings, self.pictures)

    def _repr_html_(self) -> str:
        """In a notebook, the page in a frame of its own."""
        inside = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{inside}" sandbox style="width: 100%; height: 46rem; border: 0"></iframe>'

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write the certificate, whole or not at all: a .html or .json file, or with another name a folder of both.

        Raises:
          InputError: the folder cannot be written.
          StoreError: the disk refuses.
        """
        place = Path(os.fspath(path))
        written = self.files(place.stem if place.suffix in (".html", ".json") else "certificate")
        if place.suffix in (".html", ".json"):
            return write_files(place.parent, {place.name: written[place.name]})
        require_writable(place)
        return write_files(place, written)
