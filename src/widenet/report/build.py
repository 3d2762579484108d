"""Outcomes in, a folder out: `index.html`, the pictures and numbers it shows, and the same results as JSON.

The page carries its style and its pictures inside and asks nobody for anything; a content security policy in its head
says so to the browser. Links to arXiv are followed only by a reader who clicks.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from widenet.claims.base import Kind
from widenet.console import output, wording
from widenet.console.wording import Tone
from widenet.papers.base import Paper
from widenet.plots import beside_pages
from widenet.run import CheckOutcome, FigureOutcome, NotComputed, Results, version

PAGE, RESULTS, FIGURES = "index.html", "results.json", "figures"
OWN = (PAGE, RESULTS, FIGURES)
SCHEMA = 3
"""Of results.json. 2: claims have a title, and their parts a key and both sides case by case. 3: comparisons have
`reported_value`."""


@dataclass(frozen=True)
class KindGroup:
    """The checked claims of one kind. Main results stand open; a reader opens the other kinds."""

    kind: Kind
    checks: list[CheckOutcome]

    @property
    def is_open(self) -> bool:
        """Main results, and any group with something a reader must see."""
        alarming = any(wording.badge(each.claim, each.evidence).tone is Tone.ALARM for each in self.checks)
        return self.kind is Kind.MAIN or alarming


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its picture (and its animation, or "") as `data:` addresses, and the files beside the page."""

    outcome: FigureOutcome
    picture: str
    files: list[str]
    animation: str = ""


@dataclass(frozen=True)
class Section:
    """One paper on the page."""

    paper: Paper
    checks: list[CheckOutcome]
    groups: list[KindGroup]
    figures: list[DrawnFigure]

    @property
    def counts(self) -> Counter[Tone]:
        """How many verdicts of each tone."""
        return Counter(wording.badge(each.claim, each.evidence).tone for each in self.checks)


def prepare(out: Path) -> None:
    """Refuse an unusable folder before the work.

    Raises:
      InputError: it is a file, cannot be written, or holds what is not part of a report.
    """
    output.require_writable(output.check_replaceable(out, OWN).parent)


def build(found: Results, out: Path, papers: Iterable[Paper]) -> Path:
    """Write the report, whole or not at all, over an earlier one. The answer is the path of the page.

    Raises:
      InputError: the folder holds what is not part of a report.
      StoreError: the disk refuses.
    """
    drawn = [_drawn(outcome, beside_pages(found.files[outcome.figure.id])) for outcome in found.figures]
    page = render_page(found.checks, drawn, papers, found.not_computed)

    def fill(folder: Path) -> None:
        (folder / PAGE).write_text(page, encoding="utf-8")
        rows = {"schema": SCHEMA, **found.rows()}
        (folder / RESULTS).write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        (folder / FIGURES).mkdir()
        for files in found.files.values():
            for name, content in beside_pages(files).items():
                (folder / FIGURES / name).write_bytes(content)

    output.write_folder(out, OWN, fill)
    return out / PAGE


def _drawn(outcome: FigureOutcome, files: Mapping[str, bytes]) -> DrawnFigure:
    id = outcome.figure.id
    picture, moving = _inside("image/svg+xml", files[f"{id}.svg"]), files.get(f"{id}.gif")
    return DrawnFigure(outcome, picture, sorted(files), _inside("image/gif", moving) if moving else "")


def render_page(
    checks: Sequence[CheckOutcome],
    figures: Sequence[DrawnFigure],
    papers: Iterable[Paper],
    not_computed: Sequence[NotComputed] = (),
) -> str:
    """The page as text."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("widenet.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sections = [_section(paper, checks, figures) for paper in papers]
    comparisons = [each for figure in figures for each in figure.outcome.comparisons if not each.added]
    return environment.get_template("page.html.j2").render(
        sections=sections,
        checks=checks,
        figures=figures,
        tally=_tally(checks),
        causes=wording.by_cause(not_computed),
        n_not_computed=len(not_computed),
        n_comparisons=len(comparisons),
        n_agreeing=sum(each.agrees for each in comparisons),
        circumstances=_circumstances([*checks, *(figure.outcome for figure in figures)]),
        version=version(),
        words=wording,
        Tone=Tone,
        Kind=Kind,
        pretty=_pretty,
    )


def _inside(kind: str, content: bytes) -> str:
    """A file as an address that a page can carry inside."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _section(paper: Paper, checks: Iterable[CheckOutcome], figures: Iterable[DrawnFigure]) -> Section:
    own = sorted(
        (each for each in checks if each.claim.paper == paper.key), key=lambda each: wording.kind_order(each.claim)
    )
    groups = [KindGroup(kind, [each for each in own if each.claim.kind is kind]) for kind in Kind]
    return Section(
        paper=paper,
        checks=own,
        groups=[group for group in groups if group.checks],
        figures=[each for each in figures if each.outcome.figure.paper == paper.key],
    )


def _tally(checks: Iterable[CheckOutcome]) -> list[tuple[wording.Badge, int]]:
    counts = Counter(wording.badge(each.claim, each.evidence) for each in checks)
    return sorted(counts.items(), key=lambda item: list(Tone).index(item[0].tone))


def _circumstances(outcomes: Iterable[CheckOutcome | FigureOutcome]) -> str:
    """`quick scale, seed 0`; all of them when the outcomes differ."""
    found = [each.circumstances for each in outcomes]
    met = dict.fromkeys(f"{each.scale.value} scale, seed {each.seed}" for each in found)
    return "; ".join(met) or "nothing was run"


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)
