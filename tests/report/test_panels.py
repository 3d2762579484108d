"""How the drawings of a figure stand on its page."""

import json

import pytest

from widenet.plots import PANELS
from widenet.report.panels import panels_of


@pytest.mark.parametrize(
    ("widths", "are_pairs"),
    [("n", True), ("nn", True), ("nnnn", True), ("nnnnwnn", True), ("nnn", False), ("nnnnnn", False), ("wnnn", False)],
)
def test_drawings_stand_in_pairs_where_no_row_would_lack_one(widths: str, are_pairs: bool) -> None:
    panels = [{"title": "", "wide": each == "w", "svg": "<svg></svg>"} for each in widths]
    files = {f"toy{PANELS}": json.dumps({"panels": panels}).encode()}
    assert panels_of("toy", files, inside=False).are_pairs == are_pairs
