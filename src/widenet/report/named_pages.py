"""Names of statements and figures in the texts of pages: each leads to the page of what it names."""

import re
from collections.abc import Iterable, Mapping

from markupsafe import Markup

from widenet.report.addresses import Links, page_of

PIECE = re.compile(
    r"<(a|pre|svg|math|button)\b.*?</\1>|<[^>]+>|(?P<name>\b(?:[a-z]+\d{4}\.\w+|[a-z]+\w*_\w+)\b)", re.DOTALL
)
"""What is left as it stands, a tag, or what may be a name."""


def pages_by_name(ids: Iterable[str], paper: str = "") -> dict[str, str]:
    """The pages of these statements and figures, by id, and those of one paper by name too."""
    pages = {id: page_of(id) for id in ids}
    return pages | {id.removeprefix(f"{paper}."): page for id, page in pages.items() if id.startswith(f"{paper}.")}


def with_links(body: str, pages: Mapping[str, str], to: Links, own: str) -> Markup:
    """The body of a page with links at the names of other pages; `own` is its address."""

    def linked(found: re.Match[str]) -> str:
        page = pages.get(found["name"] or "", own)
        return found[0] if page == own else f'<a href="{to(page)}">{found[0]}</a>'

    return Markup(PIECE.sub(linked, body))
