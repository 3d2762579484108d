"""Outcomes in, a folder of pages out: `index.html` and the pages it links to, what they show, and the results as JSON.

The pages ask nobody for anything; a content security policy in the head of each says so to the browser. Links to arXiv
are followed only by a reader who clicks.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from widenet.console import output
from widenet.papers import PAPERS
from widenet.papers.base import Paper
from widenet.plots import beside_pages
from widenet.report import addresses
from widenet.report.addresses import ASSETS, FIGURES, INDEX, RESULTS
from widenet.report.changes import SinceLast
from widenet.report.pages import Site
from widenet.report.search_index import search_index
from widenet.run import Results

ONE_FILE = "report.html"
LICENCE = "STIX-LICENSE.txt"
"""Of the font of the mathematics."""
OWN = (
    INDEX,
    addresses.FINDINGS,
    addresses.OPEN,
    addresses.ALL_FIGURES,
    addresses.CERTIFICATES,
    ASSETS,
    FIGURES,
    RESULTS,
    ONE_FILE,
)
SCHEMA = 4
"""Of results.json. 2: claims have a title, and their parts a key and both sides case by case. 3: comparisons have
`reported_value`. Later, without a change to what was there: `papers`. 4: claims have `form`, `finding`, `symbols` and
what they belong to."""


def prepare(out: Path, papers: Iterable[Paper] = PAPERS) -> None:
    """Refuse an unusable folder before the work.

    Raises:
      InputError: it is a file, cannot be written, or holds what is not part of a report.
    """
    output.require_writable(output.check_replaceable(out, _own(out, papers)).parent)


def build(
    found: Results,
    out: Path,
    papers: Iterable[Paper],
    single_file: bool = False,
    changed: SinceLast | None = None,
    rows: Mapping[str, Any] | None = None,
) -> Path:
    """Write the report, whole or not at all, over an earlier one. The answer is the path of its first page.

    Arguments:
      single_file: all pages in one file, without the files of figures.
      changed: what came out differently than in the last report, for the first page.
      rows: those of `found`, where they are at hand.

    Raises:
      InputError: the folder holds what is not part of a report.
      StoreError: the disk refuses.
    """
    papers = list(papers)
    site = Site(found, papers, single_file, changed)
    texts = {ONE_FILE: _in_one_file(site)} if single_file else _in_folder(site)

    def fill(folder: Path) -> None:
        for address, text in texts.items():
            (folder / address).parent.mkdir(parents=True, exist_ok=True)
            (folder / address).write_bytes(text.encode())
        if single_file:
            return
        content = {"schema": SCHEMA, "papers": [_row(paper) for paper in papers], **(rows or found.rows())}
        (folder / RESULTS).write_text(_in_lines(content), encoding="utf-8")
        (folder / FIGURES).mkdir()
        for pictures in found.files.values():
            for name, content in beside_pages(pictures).items():
                (folder / FIGURES / name).write_bytes(content)

    output.write_folder(out, _own(out, papers), fill)
    return out / (ONE_FILE if single_file else INDEX)


def _in_lines(content: Mapping[str, Any]) -> str:
    """A JSON object of lists, with a line per item: indentation would make it four times as slow to write."""
    fields = []
    for name, value in content.items():
        items = [json.dumps(each, allow_nan=False) for each in (value if isinstance(value, list) else ())]
        written = "[\n" + ",\n".join(items) + "\n]" if items else json.dumps(value, allow_nan=False)
        fields.append(f"{json.dumps(name)}: {written}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _own(out: Path, papers: Iterable[Paper]) -> set[str]:
    """The names that a report may have written: with the papers of today, and those of the report that is there."""
    return {*OWN, *(paper.key for paper in papers), *_earlier_papers(out / RESULTS)}


def _earlier_papers(results: Path) -> set[str]:
    try:
        rows = json.loads(results.read_text(encoding="utf-8"))
        return {row["key"] for row in rows["papers"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _row(paper: Paper) -> dict[str, str]:
    return {name: getattr(paper, name) for name in ("key", "title", "authors", "venue", "arxiv", "in_one_line")}


def _in_folder(site: Site) -> dict[str, str]:
    texts = {page.address: site.document(page) for page in site.pages()}
    texts[f"{ASSETS}/style.css"] = _style()
    texts[f"{ASSETS}/search.js"] = _asset("search.js")
    texts[f"{ASSETS}/search-index.js"] = _index(site)
    texts[f"{ASSETS}/{LICENCE}"] = _asset(LICENCE)
    return texts


def _in_one_file(site: Site) -> str:
    """All pages as sections; a policy that names the two scripts by their digests lets no other script run."""
    scripts = [Markup(_index(site)), Markup(_asset("search.js"))]
    return site.shell(
        "one_file.html.j2",
        pages=list(site.pages()),
        style=Markup(_style()),
        scripts=scripts,
        digests=[_digest(each) for each in scripts],
        licence=_asset(LICENCE),
        links=site.links,
        to=site.links(INDEX),
    )


def _index(site: Site) -> str:
    return search_index(site.library.statements, [each.outcome for each in site.figures], site.papers)


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'"


def _style() -> str:
    """The style sheet, with the font of the mathematics inside: browsers load no font file beside a local page."""
    font = base64.b64encode(files("widenet.report").joinpath("assets", "math.woff2").read_bytes()).decode("ascii")
    face = f'@font-face {{ font-family: "Report Math"; src: url(data:font/woff2;base64,{font}) format("woff2"); }}\n'
    return face + _asset("style.css")


def _asset(name: str) -> str:
    return files("widenet.report").joinpath("assets", name).read_text(encoding="utf-8")
