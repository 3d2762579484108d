"""What the search looks through: a row per paper, statement and figure, as a script that works without a server."""

import json
import math
from collections.abc import Iterable
from typing import Any

from widenet.claims.base import plain
from widenet.claims.meaning import Topic
from widenet.papers.base import Paper
from widenet.report.addresses import page_of, page_of_paper
from widenet.report.shares import NO_SHARE, column_of, short_name
from widenet.report.statements import Statement
from widenet.run import FigureOutcome

Row = dict[str, Any]
SYNONYMS = {
    "step size": "learning rate",
    "generaliz": "overfitting",
    "over-fit": "overfitting",
    "width": "overparameterized overparameterization over-parameterized",
    "wide": "overparameterized overparameterization over-parameterized",
}
"""Words of other authors for words of these papers."""


def search_index(
    statements: Iterable[Statement], figures: Iterable[FigureOutcome], papers: Iterable[Paper] = ()
) -> str:
    """The rows as a script; `search.js` reads them."""
    rows = [*map(_of_paper, papers), *map(_of_statement, statements), *map(_of_figure, figures)]
    for row in rows:
        said = f"{row['title']} {row['text']} {row['more']}".lower()
        also = dict.fromkeys(other for word, other in SYNONYMS.items() if word in said)
        row["more"] = " ".join([row["more"], *also]).strip()
    # A script ends at the first "</script>", and may stand inside a page.
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"const PAGES = {text};\n"


def _of_paper(paper: Paper) -> Row:
    return {
        "id": paper.key,
        "page": page_of_paper(paper.key),
        "title": paper.title,
        "place": paper.authors,
        "paper": paper.key,
        "kind": "paper",
        "is": "",
        "mark": "paper",
        "uses": None,
        "text": paper.in_one_line,
        "more": f"{paper.venue} {short_name(paper)}",
    }


def _of_statement(each: Statement) -> Row:
    tightness = None if column_of(each) == NO_SHARE else each.evidence.tightness
    share = None if tightness is None else "Infinity" if math.isinf(tightness) else tightness
    return {
        "id": each.id,
        "page": each.page,
        "title": each.plain_title,
        "place": each.place,
        "paper": each.paper.key,
        "kind": each.claim.kind.value,
        "is": each.verdict,
        "mark": each.mark,
        "uses": share,
        "text": plain(each.claim.statement),
        "more": f"{short_name(each.paper)} {_topic(each)}",
    }


def _topic(each: Statement) -> str:
    """What it is about, in the words of certificates, and the field's word where that is another."""
    meaning = each.claim.meaning
    if meaning is None:
        return ""
    return f"{meaning.topic.value} generalization" if meaning.topic is Topic.TEST_ERROR else meaning.topic.value


def _of_figure(each: FigureOutcome) -> Row:
    figure = each.figure
    stated = [one for one in each.comparisons if not one.added]
    return {
        "id": figure.id,
        "page": page_of(figure.id),
        "title": plain(figure.title),
        "place": figure.name.replace("_", " ").capitalize(),
        "paper": figure.paper,
        "kind": "figure",
        "is": "agrees" if all(one.agrees for one in stated) else "differs",
        "mark": "figure",
        "uses": None,
        "text": plain(figure.caption),
        "more": "",
    }
