"""Certificates in Chromium: quiet, offline, readable on a phone, in the dark and on paper."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from sklearn import datasets

import widenet as wn
from tests.packages import BROKEN, EMPTY, TOY
from tests.page.conftest import Watched
from tests.page.test_pages import overflow, serious
from widenet import papers

NAMES = ("moons.html", "iris.html")
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two certificates: of two classes in the plane with a point that is ringed, and of three in more dimensions."""
    folder = tmp_path_factory.mktemp("certificates")
    store, toys = wn.Store(folder / "store"), pytest.MonkeyPatch()
    toys.setattr(papers, "PAPERS", (TOY, BROKEN, EMPTY))
    points, sides = datasets.make_moons(60, noise=0.2, random_state=0)
    iris: Any = datasets.load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    made = (wn.certify(points, np.array(["north", "south"])[sides], runs=2, effort=1e-3, store=store),
            wn.certify(iris.data, species, runs=2, effort=1e-3, store=store))  # fmt: skip
    for name, certificate in zip(NAMES, made, strict=True):
        certificate.save(folder / name)
    toys.undo()
    return folder


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each of the two in turn."""
    return request.param


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1280, 390])
def test_a_certificate_is_quiet_fits_the_window_and_can_be_used_by_all(
    browser: Browser, certificates: Path, name: str, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # pyright: ignore[reportArgumentType]
        is_mobile=width < 500,
    )
    found = Watched(context, certificates / name)  # only the page itself may be asked for
    page = found.page
    page.goto((certificates / name).as_uri())
    assert page.locator("h1").count() == 1
    assert overflow(page) == []
    unfold(page)
    assert overflow(page) == []
    wrong = serious(page)
    context.close()
    assert wrong == [], json.dumps(wrong, indent=1, ensure_ascii=False)
    assert found.wrong == []


READ = """() => {  // rings are hollow
  const fill = where => [...document.querySelectorAll(where)].map(each => getComputedStyle(each).fill);
  return {page: getComputedStyle(document.body).backgroundColor, ground: fill("figure.points path")[0],
          words: fill("figure.points text"), points: fill("figure.points use").filter(each => each !== "none")};
}"""


def test_the_picture_of_the_data_follows_the_page(browser: Browser, certificates: Path, name: str) -> None:
    seen = {}
    for scheme in SCHEMES:
        context = browser.new_context(color_scheme=scheme)  # pyright: ignore[reportArgumentType]
        page = context.new_page()
        page.goto((certificates / name).as_uri())
        assert page.locator("img").count() == 0
        seen[scheme] = page.evaluate(READ)
        context.close()
    light, dark = seen["light"], seen["dark"]
    assert (light["page"], dark["page"]) == ("rgb(255, 255, 255)", "rgb(18, 21, 24)")
    assert (light["ground"], dark["ground"]) == (light["page"], dark["page"])
    assert set(light["words"]) <= {"rgb(23, 25, 28)", "rgb(86, 93, 102)"}
    assert set(dark["words"]) <= {"rgb(232, 234, 236)", "rgb(166, 175, 185)"}
    assert len(light["words"]) >= 2
    assert len(light["points"]) == len(dark["points"]) >= 60
    changed = set(zip(light["points"], dark["points"], strict=True))
    assert ("rgb(0, 114, 178)", "rgb(86, 169, 224)") in changed
    assert all(before != after for before, after in changed)


def test_wide_drawings_move_on_a_phone_and_can_be_read(browser: Browser, certificates: Path, name: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True)
    page = context.new_page()
    page.goto((certificates / name).as_uri())
    size = """each => each.map(one => one.getBoundingClientRect().height)"""
    heights = page.eval_on_selector_all("figure.panel text", size)
    assert min(heights) > 9, "letters of some seven pixels and less"
    context.close()


def test_a_printed_certificate_shows_what_is_folded(browser: Browser, certificates: Path, name: str) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    found = Watched(context, certificates / name)
    page = found.page
    page.goto((certificates / name).as_uri())
    folded = """expected => [...document.querySelectorAll("details:not([open])")].map(one => one.lastElementChild)
        .map(last => last.checkVisibility({contentVisibilityAuto: true}) && last.offsetHeight > 0)
        .every(shown => shown === expected)"""
    assert page.locator("details:not([open])").count() > 0
    assert page.evaluate(folded, False)
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function(folded, arg=True)  # what was skipped on screen is laid out a frame later
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf(format="A4")) > 5_000
    context.close()
    assert found.wrong == []
