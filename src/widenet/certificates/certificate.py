"""A certificate: what theory guarantees about a reader's data, and what training really does there."""

import json
from dataclasses import dataclass
from typing import Any

from widenet.certificates.portrait import Portrait
from widenet.certificates.preparation import Prepared
from widenet.certificates.reading import Table
from widenet.certificates.rows import Row
from widenet.certificates.training import Training
from widenet.claims import Kind
from widenet.claims.specimen import Choices
from widenet.records import ClosedModel


class Findings(ClosedModel):
    """Everything that was found, as plain values: what the JSON twin of a certificate holds.

    Attributes:
      portrait: what the data is.
      choices: width, step, slope and seed, as chosen by the reader or for her.
      rows: what each claim of each paper says, the most telling first.
      training: what networks did; None where there was no time to train them.
      seconds: how long it all took, and `time`, how long it was allowed to take.
      unasked: how many claims were not asked, or not to the end, for want of time.
      version, versions: of this package and of the libraries that numbers come from.
    """

    portrait: Portrait
    choices: Choices
    rows: tuple[Row, ...]
    training: Training | None
    seconds: float
    time: float
    unasked: int
    version: str
    versions: dict[str, str]

    @property
    def speaking(self) -> list[Row]:
        """The claims that say something."""
        return [row for row in self.rows if row.evidence is not None]

    @property
    def silent(self) -> list[Row]:
        """The claims that do not, and say why."""
        return [row for row in self.rows if row.evidence is None]

    @property
    def main(self) -> list[Row]:
        """The main results that speak."""
        return [row for row in self.speaking if row.kind is Kind.MAIN]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What `widenet.certify` returns: print it, show it in a notebook, or save it.

    Attributes:
      findings: everything, as plain values.
      table, prepared: the data as it was read, and as theorems were asked about it.
    """

    findings: Findings
    table: Table
    prepared: Prepared

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
        return {f"{stem}.json": (self.to_json() + "\n").encode()}
