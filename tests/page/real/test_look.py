"""The real pages in Chromium: every kind of them, and all figures, in light and dark, on a desk and on a phone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import Watched
from tests.page.test_pages import overflow, serious
from widenet.papers import PAPERS

GENERAL = ("index.html", "findings.html", "open.html", "figures.html", "certificates.html")
WINDOWS = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
TOUCHING = 2.5
"""Pixels by which the boxes of two words may meet: a box is larger than its letters."""
WORDS = """slack => {
  const found = [];
  for (const svg of document.querySelectorAll("main svg")) {
    const words = [...svg.querySelectorAll("text")].filter(each => each.textContent.trim())
      .map(each => [each.textContent.trim(), each.getBoundingClientRect(), each])
      .filter(([, box]) => box.width > 0);
    const page = svg.closest(".panel") || svg.closest("figure") || svg.parentElement;
    const edge = page.getBoundingClientRect();
    const right = Math.max(edge.right, edge.left + page.scrollWidth);
    for (const [word, box] of words) {
      if (box.left < edge.left - 12 || box.right > right + 12) found.push(`${word}: cut off`);
    }
    for (const [place, [word, box, one]] of words.entries()) {
      for (const [other, beside, two] of words.slice(place + 1)) {
        const turns = [one, two].map(each => each.getAttribute("transform") || "");
        const isTurned = turns.some(each => /rotate\\((?!-?0\\b|-?90|-?270)/.test(each));
        const across = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
        const down = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
        if (!isTurned && across > slack && down > slack) found.push(`${word} on ${other}`);
      }
    }
  }
  return found;
}"""


def address(id: str) -> str:
    return id.replace(".", "/") + ".html"


@pytest.fixture(scope="module")
def claims(results: dict[str, Any]) -> list[str]:
    """Claims of every kind: of each paper, verdict and kind of statement the first one; then the richest pages."""
    met = {
        (row["paper"], row["verdict"], row["kind"], row["vacuous"]): row["id"] for row in reversed(results["checks"])
    }
    rich = sorted(results["checks"], key=lambda row: (len(row["parts"]), len(row["hypotheses"])))[-8:]
    drawn = [row["id"] for row in results["checks"] if row["instance"]][:4]
    chosen = list(dict.fromkeys([*met.values(), *(row["id"] for row in rich), *drawn]))
    assert len(chosen) >= 30
    return [*map(address, chosen)]


@pytest.fixture(scope="module")
def figures(results: dict[str, Any]) -> list[str]:
    found = [address(row["id"]) for row in results["figures"]]
    assert len(found) == 36
    return found


@pytest.fixture(params=[f"{scheme} {window}" for scheme in ("light", "dark") for window in WINDOWS])
def window(request: pytest.FixtureRequest, browser: Browser, real: Path) -> Iterator[Watched]:
    """A window in which nothing may go wrong."""
    scheme, name = request.param.split()
    context = browser.new_context(
        viewport=WINDOWS[name],  # pyright: ignore[reportArgumentType]
        color_scheme=scheme,
        has_touch=name == "phone",
        is_mobile=name == "phone",
    )
    found = Watched(context, real)
    yield found
    context.close()
    assert found.wrong == []


def test_every_kind_of_page_and_all_figures_fit(window: Watched, claims: list[str], figures: list[str]) -> None:
    papers = [f"{paper.key}/index.html" for paper in PAPERS]
    wrong = {}
    for each in (*GENERAL, *papers, *claims, *figures):
        page = window.open(each)
        assert page.locator("h1").count() == 1, each
        faults = [*overflow(page), *page.evaluate(WORDS, TOUCHING)]
        if faults:
            wrong[each] = faults
    assert wrong == {}, json.dumps(wrong, indent=1, ensure_ascii=False)


def test_control_words_on_top_of_each_other_are_seen(browser: Browser, real: Path, figures: list[str]) -> None:
    context = browser.new_context(viewport=WINDOWS["desktop"])  # pyright: ignore[reportArgumentType]
    page = Watched(context, real).open(figures[0])
    page.evaluate(
        """() => { const word = document.querySelector("main .panel svg text"), copy = word.cloneNode(true);
        copy.textContent = "twice"; word.parentNode.append(copy); }"""
    )
    assert any("twice" in each for each in page.evaluate(WORDS, TOUCHING))
    context.close()


@pytest.mark.parametrize(("scheme", "name"), [("light", "desktop"), ("dark", "phone")])
def test_people_with_a_screen_reader_can_use_real_pages(
    browser: Browser, real: Path, claims: list[str], figures: list[str], scheme: str, name: str
) -> None:
    # axe-core asks for style sheets itself, which the policy of the pages refuses: nothing else is watched here.
    context = browser.new_context(viewport=WINDOWS[name], color_scheme=scheme)  # pyright: ignore[reportArgumentType]
    page = context.new_page()
    wrong = {}
    for each in (*GENERAL, f"{PAPERS[0].key}/index.html", *claims[:2], *figures[:2]):
        page.goto((real / each).as_uri())
        if faults := serious(page):
            wrong[each] = faults
    context.close()
    assert wrong == {}, json.dumps(wrong, indent=1, ensure_ascii=False)


def focused(page: Page, selector: str, most: int = 400) -> None:
    """Press Tab until an element of this kind has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab never reaches {selector}")


def test_the_keyboard_alone_reaches_search_filters_a_claim_and_the_way_back(browser: Browser, real: Path) -> None:
    context = browser.new_context(viewport=WINDOWS["desktop"])  # pyright: ignore[reportArgumentType]
    watched = Watched(context, real)
    page = watched.open("index.html")
    focused(page, "input.only-false")
    page.keyboard.press("Space")
    expect(page.locator(".only-false")).to_be_checked()
    focused(page, ".cell a.d.false")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*_as_printed.html")
    expect(page.locator(".verdict")).to_contain_text("False as printed")
    focused(page, "nav a[href$='index.html']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/report/index.html")
    page.keyboard.press("/")
    page.keyboard.type("is:false paper:li2018")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/li2018/*_as_printed.html")
    context.close()
    assert watched.wrong == []


def test_print_shows_what_is_folded(browser: Browser, real: Path, results: dict[str, Any]) -> None:
    context = browser.new_context(viewport=WINDOWS["desktop"])  # pyright: ignore[reportArgumentType]
    row = next(row for row in results["checks"] if row["config"])
    page = Watched(context, real).open(address(row["id"]))
    folded = page.locator("details:not([open]) table.details").first
    expect(folded).to_be_hidden()
    page.emulate_media(media="print")
    expect(folded).to_be_visible()
    assert folded.evaluate("each => each.getBoundingClientRect().height") > 20
    context.close()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SGD learns", "SGD Learns Over-parameterized Networks"),
        ("figure 6", "Figure 6 ·"),
        ("Lemma A.2", "Lemma A.2 · li2018"),
        ("learning rate", "step size"),
        ("overfitting", "test error"),
        ("overparameterized", "width"),
        ("over-parameterized", "width"),
        ("4.1 M updates", "within M updates"),
        ("kind:paper 2021", "2021"),
    ],
)
def test_the_search_finds_what_it_is_asked_for(browser: Browser, real: Path, text: str, first: str) -> None:
    page = browser.new_page()
    page.goto((real / "index.html").as_uri())
    page.fill("#search", text)
    rows = page.locator(".hits a").all_inner_texts()
    assert any(first in each for each in rows[:4]), rows
    assert "_" not in " ".join(each.splitlines()[0] for each in rows)
    page.close()
