"""A browser, and a report with every kind of page."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.report.fake_outcomes import (
    EMPTY_PAPER,
    FINDING,
    HOLDING,
    MOVING,
    PAPER,
    STEP,
    TREND,
    UNMET,
    VACUOUS,
    checked,
    drawn,
    results,
)
from widenet import papers, report
from widenet.claims import Claim
from widenet.records import Scale
from widenet.report.build import ONE_FILE
from widenet.run import CheckOutcome, Results
from widenet.run.outcomes import cells_of, judge

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def real_claims() -> list[Claim]:
    """A few claims of each paper that generate their own cases, with findings among them."""
    chosen: list[Claim] = []
    for paper in papers.PAPERS:
        mine = [each for each in papers.claims_of(paper.key) if each.draws is not None]
        false = [each for each in mine if each.id.endswith("_as_printed")]
        chosen += dict.fromkeys([*mine[:3], *false[:2]])
    return chosen


def outcomes() -> Results:
    """What the toy papers and a few claims of the real ones give."""
    toys = [checked(each) for each in (STEP, HOLDING, FINDING, UNMET, VACUOUS, TREND)]
    real: list[CheckOutcome] = [judge(each, Scale.QUICK, 0, cells_of(None)) for each in real_claims()]
    return results([*toys, *real], drawn(), drawn(MOVING))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report as a folder, and beside it as one file."""
    place = tmp_path_factory.mktemp("pages")
    found, of = outcomes(), (PAPER, EMPTY_PAPER, *papers.PAPERS)
    report.build(found, place / "report", of)
    report.build(found, place / "one", of, single_file=True)
    return place / "report"


@pytest.fixture(scope="session")
def one_file(folder: Path) -> Path:
    """The report as one file."""
    return folder.parent / "one" / ONE_FILE


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield found
        found.close()


class Watched:
    """A page of the browser that keeps what goes wrong: messages of the console, and requests outside a folder."""

    def __init__(self, context: BrowserContext, root: Path) -> None:
        self.page: Page = context.new_page()
        self.root = root
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", lambda request: self._check(request.url))
        self.page.on("requestfailed", lambda request: self.wrong.append(f"failed: {request.url}"))

    def _check(self, url: str) -> None:
        if not url.startswith(("data:", self.root.as_uri())):
            self.wrong.append(f"request: {url}")

    def open(self, address: str) -> Page:
        """Go to a page of the folder."""
        self.page.goto(f"{self.root.as_uri()}/{address}")
        return self.page


@pytest.fixture
def watched(browser: Browser, folder: Path) -> Iterator[Watched]:
    """A wide window, in which nothing may go wrong."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = Watched(context, folder)
    yield found
    context.close()
    assert found.wrong == []


@pytest.fixture
def phone(browser: Browser, folder: Path) -> Iterator[Watched]:
    """A phone."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    found = Watched(context, folder)
    yield found
    context.close()
    assert found.wrong == []
