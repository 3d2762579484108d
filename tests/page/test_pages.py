"""Every kind of page in Chromium: quiet, offline, readable on a phone, in the dark, on paper and by keyboard."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.page.conftest import Watched

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
"""axe-core, run by `evaluate`: a script tag would be refused by the policy of the pages."""
KINDS = (
    "index.html",
    "findings.html",
    "open.html",
    "figures.html",
    "certificates.html",
    "toy2020/index.html",
    "empty2021/index.html",
    "toy2020/theorem_2.html",
    "toy2020/theorem_9_as_printed.html",
    "toy2020/lemma_a_1.html",
    "toy2020/figure_1.html",
    "toy2020/figure_2.html",
    "brutzkus2018/index.html",
    "brutzkus2018/footnote_4_as_printed.html",
    "li2018/equation_1.html",
)
AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}


def all_pages(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


def overflow(page: Page) -> list[str]:
    """What reaches beyond the right edge of the window."""
    return page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll("body *")].filter(each => each.getBoundingClientRect().right > innerWidth + 1)
        .slice(0, 3).map(each => each.outerHTML.slice(0, 120))"""
    )


def serious(page: Page) -> list[str]:
    """What axe-core finds that keeps people out."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, rules)", AXE_RULES)
    assert found["passes"], "axe-core checked nothing"
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:160]} {each['nodes'][0].get('failureSummary', '')[:200]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


def test_every_page_is_quiet_and_fits_a_wide_window(watched: Watched, folder: Path) -> None:
    addresses = all_pages(folder)
    assert len(addresses) > 30
    for address in addresses:
        page = watched.open(address)
        assert page.locator("h1").count() == 1, address
        assert overflow(page) == [], address
        assert page.evaluate("getComputedStyle(document.body).maxWidth !== '' && document.styleSheets.length === 1")
        assert page.evaluate("typeof PAGES") == "object", address


def test_no_page_scrolls_sideways_on_a_phone(phone: Watched, folder: Path) -> None:
    for address in all_pages(folder):
        assert overflow(phone.open(address)) == [], address


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_people_with_a_screen_reader_can_use_every_kind_of_page(
    browser: Browser, folder: Path, scheme: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # pyright: ignore[reportArgumentType]
    found = Watched(context, folder)
    wrong = {address: faults for address in KINDS if (faults := serious(found.open(address)))}
    context.close()
    assert wrong == {}, json.dumps(wrong, indent=1, ensure_ascii=False)


def test_the_font_of_the_mathematics_is_the_one_that_is_shipped(watched: Watched) -> None:
    page = watched.open("brutzkus2018/index.html")
    assert page.locator("math").count() > 0
    faces = page.evaluate(
        "document.fonts.ready.then(() => [...document.fonts].map(each => each.family + ' ' + each.status))"
    )
    assert faces == ['"Report Math" loaded'] or faces == ["Report Math loaded"]


def test_search_by_keyboard_alone(watched: Watched) -> None:
    page = watched.open("toy2020/theorem_9_as_printed.html")
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    expect(page.locator(".hits")).to_contain_text("is:false")
    page.keyboard.type("toy2020.theorem_2")
    expect(page.locator("#search-says")).to_have_text("1 found")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hits a")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/toy2020/theorem_2.html")
    page.keyboard.press("/")
    page.keyboard.type("nothing has these words")
    expect(page.locator("#search-says")).to_contain_text("Nothing found. Words, or filters: is:false")
    page.keyboard.press("Escape")
    expect(page.locator(".hits")).to_be_hidden()
    expect(page.locator("#search")).to_have_value("")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("separabel", "separable"),  # two letters exchanged
        ("seperable theorem", "separable theorem"),
        ("thoerem", "theorem"),
        ("paper:toy2021", "paper:toy2020"),
        ("is:flase", "is:false"),
    ],
)
def test_the_search_suggests_the_nearest_words(watched: Watched, text: str, meant: str) -> None:
    page = watched.open("toy2020/index.html")
    page.fill("#search", text)
    expect(page.locator("#search-says")).to_have_text("Nothing found. Did you mean")
    expect(page.locator(".hits button").first).to_have_text(meant)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#search")).to_have_value(meant)
    expect(page.locator("#search")).to_be_focused()
    expect(page.locator("#search-says")).to_contain_text("found")
    assert page.locator(".hits a").count() > 0


def test_the_search_suggests_nothing_for_words_that_are_near_to_none(watched: Watched) -> None:
    page = watched.open("toy2020/index.html")
    for text in ("qqqqzzzz", "xyz", "separabel qqqqzzzz"):
        page.fill("#search", text)
        expect(page.locator("#search-says")).to_contain_text("Nothing found. Words, or filters:")
        assert page.locator(".hits button").count() == 0


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("is:false", lambda row: "false" in row["is"]),
        ("is:holds paper:toy2020", lambda row: "holds" in row["is"] and row["paper"] == "toy2020"),
        ("kind:figure", lambda row: row["kind"] == "figure"),
        ("kind:lemma", lambda row: row["kind"] == "proof step" or "lemma" in row["place"].lower()),
        ("uses:>90%", lambda row: row["uses"] is not None and float(row["uses"]) > 0.9),
        (
            "uses:<=1% is:holds",
            lambda row: row["uses"] is not None and float(row["uses"]) <= 0.01 and "holds" in row["is"],
        ),
        ("PÁPER:toy2020", lambda row: row["paper"] == "toy2020"),
    ],
)
def test_filters(watched: Watched, folder: Path, text: str, meets: Callable[[dict[str, Any]], bool]) -> None:
    rows = json.loads((folder / "assets/search-index.js").read_text(encoding="utf-8")[len("const PAGES = ") : -2])
    expected = sorted(row["page"] for row in rows if meets(row))
    assert 0 < len(expected) < len(rows)
    page = watched.open("toy2020/index.html")
    page.fill("#search", text)
    if len(expected) > 12:
        expect(page.locator(".hits a")).to_have_count(12)
        page.get_by_role("button", name="Show").click()
    links = page.eval_on_selector_all(".hits a", "each => each.map(one => one.getAttribute('href'))")
    assert sorted(each.removeprefix("../") for each in links) == expected
    for each in links[:3]:
        assert (folder / "toy2020" / each).resolve().is_file()


def test_a_share_that_cannot_be_read_is_refused(watched: Watched) -> None:
    page = watched.open("toy2020/index.html")
    page.fill("#search", "uses:abc")
    expect(page.locator("#search-says")).to_contain_text("“uses:abc” is not understood")
    assert page.locator(".hits a").count() == 0
    page.fill("#search", "uses:>")
    expect(page.locator("#search-says")).to_contain_text("found")


def test_the_picture_can_show_findings_alone(watched: Watched) -> None:
    page = watched.open("index.html")
    page.locator(".only-false").check()
    dim = "each => each.map(one => [one.classList.contains('false'), getComputedStyle(one).opacity])"
    shown = page.eval_on_selector_all(".cell a.d", dim)
    assert {(is_false, opacity == "1") for is_false, opacity in shown} == {(True, True), (False, False)}


def dots_of(page: Page) -> tuple[Locator, Locator]:
    """A dot of the first picture, and what is told about dots."""
    return page.locator(".grid .cell a.d").nth(3), page.locator(".told")


def test_a_dot_tells_what_it_is_under_the_pointer_and_with_the_keyboard_on_it(watched: Watched) -> None:
    dot, told = dots_of(watched.open("index.html"))
    expect(told).to_be_hidden()
    dot.hover()
    expect(told).to_have_text(dot.inner_text())
    told.hover()
    expect(told).to_be_visible()
    watched.page.mouse.move(0, 0)
    expect(told).to_be_hidden()
    dot.focus()
    expect(told).to_have_text(dot.inner_text())
    watched.page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    watched.page.keyboard.press("Tab")
    expect(told).to_have_text(watched.page.locator(".grid .cell a.d").nth(4).inner_text())
    assert overflow(watched.page) == []
    watched.page.keyboard.press("Shift+Tab")
    with watched.page.expect_navigation():
        watched.page.keyboard.press("Enter")
    expect(watched.page.locator(".crumbs")).to_be_visible()


def test_the_first_tap_on_a_dot_tells_what_it_is_and_the_second_follows_it(phone: Watched) -> None:
    page = phone.open("index.html")
    dot, told = dots_of(page)
    dot.tap()
    expect(told).to_have_text(f"{dot.inner_text()}. Tap again to open its page.")
    assert page.url.endswith("index.html")
    assert overflow(page) == []
    page.locator("h1").tap()
    expect(told).to_be_hidden()
    dot.tap()
    with page.expect_navigation():
        dot.tap()
    expect(page.locator(".crumbs")).to_be_visible()


def test_the_skip_link_is_first_on_the_keyboard(watched: Watched) -> None:
    page = watched.open("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#content"


def test_light_and_dark_differ_and_can_be_read(browser: Browser, folder: Path) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)  # pyright: ignore[reportArgumentType]
        page = Watched(context, folder).open("toy2020/theorem_2.html")
        colours = (
            "(() => { const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]; })()"
        )
        seen[scheme] = page.evaluate(colours)
        context.close()
    assert seen["light"] == ["rgb(23, 25, 28)", "rgb(255, 255, 255)"]
    assert seen["dark"] == ["rgb(232, 234, 236)", "rgb(18, 21, 24)"]


def test_print_shows_what_is_folded_and_leaves_out_what_needs_a_screen(watched: Watched) -> None:
    page = watched.open("toy2020/theorem_2.html")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    )
    for hidden in (".search", ".bar nav", ".pager"):
        expect(page.locator(hidden).first).to_be_hidden()
    assert len(page.pdf(format="A4")) > 5_000


def test_the_statement_can_be_copied(browser: Browser, folder: Path) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    found = Watched(context, folder)
    page = found.open("toy2020/theorem_2.html")
    page.locator(".copying summary").click()
    page.get_by_role("button", name="Copy the paper").click()
    expect(page.locator(".copying")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("@inproceedings{toy2020,")
    context.close()
    assert found.wrong == []


def test_one_file_shows_one_page_at_a_time(browser: Browser, one_file: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    found = Watched(context, one_file.parent)
    page = found.open(one_file.name)
    expect(page.locator(".leaf:visible")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("toy2020.theorem_2")
    page.keyboard.press("Enter")
    expect(page.locator(".leaf:visible h1")).to_have_count(1)
    assert page.evaluate("location.hash") == "#toy2020/theorem_2"
    assert "Theorem 2, Author & Author 2020" in page.title()
    page.locator(".leaf:visible .crumbs a").first.click()
    assert page.evaluate("location.hash") == "#index:papers"
    expect(page.locator(".leaf:visible")).to_have_count(1)
    assert overflow(page) == []
    context.close()
    assert found.wrong == []
