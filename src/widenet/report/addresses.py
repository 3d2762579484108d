"""Where each page is: the id with a slash, `brutzkus2018/theorem_2.html`, and how one page links to another."""

import re
from dataclasses import dataclass

INDEX, FINDINGS, OPEN, ALL_FIGURES = "index.html", "findings.html", "open.html", "figures.html"
CERTIFICATES = "certificates.html"
ASSETS, FIGURES, RESULTS = "assets", "figures", "results.json"


def page_of(id: str) -> str:
    """The page of a claim or a figure."""
    paper, _, name = id.partition(".")
    return f"{_plain(paper)}/{_plain(name)}.html"


def page_of_paper(key: str) -> str:
    """The page of a paper."""
    return f"{_plain(key)}/{INDEX}"


@dataclass(frozen=True)
class InFolder:
    """The links of one page of a folder of pages."""

    page: str
    is_one_file = False

    @property
    def root(self) -> str:
        """The way from the page up to the folder."""
        return "../" * self.page.count("/")

    def __call__(self, address: str, part: str = "") -> str:
        """What stands in `href`."""
        return f"{self.root}{address}#{part}" if part else f"{self.root}{address}"

    def name(self, part: str) -> str:
        """The `id` of a part of this page."""
        return part


@dataclass(frozen=True)
class InOneFile:
    """The links of one page among all pages in a single file. What lies beside a report is not there."""

    page: str
    is_one_file = True
    root = ""

    def __call__(self, address: str, part: str = "") -> str:
        """What stands in `href`."""
        place = address.removesuffix(".html").removesuffix("/index")
        return f"#{place}:{part}" if part else f"#{place}"

    def name(self, part: str = "") -> str:
        """The `id` of this page, or of a part of it."""
        return self(self.page, part)[1:]


Links = InFolder | InOneFile


def _plain(name: str) -> str:
    """Without characters that mean something in a path or an address; ids have none."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)
