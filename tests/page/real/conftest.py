"""The report of the five papers, as `make report` left it in build/report, and its results."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.report.shown import Page, pages_of
from widenet.store import default_root

FOLDER = Path(__file__).parents[3] / "build" / "report"
STORE = default_root()
"""Of whoever made the report; tests have stores of their own."""


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder."""
    assert (FOLDER / "index.html").is_file(), "make test-report writes it first"
    return FOLDER


@pytest.fixture(scope="session")
def results(real: Path) -> dict[str, Any]:
    """What lies beside the pages as data."""
    return json.loads((real / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def pages(real: Path) -> dict[str, Page]:
    """Every page, read."""
    return pages_of(real)
