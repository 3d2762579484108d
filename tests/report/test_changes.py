"""What differs between two reports is found, and nothing else."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from widenet.report.changes import ChangedEntry, changes, results_in

BEFORE: dict[str, Any] = {
    "schema": 4,
    "checks": [
        {
            "id": "toy2020.theorem_1", "verdict": "HOLDS", "scale": "quick", "seed": 0,
            "parts": [
                {"key": "updates", "kept": True, "measured": 5.0}, {"key": "loss", "kept": None, "measured": None},
            ],
        },
        {"id": "toy2020.theorem_2", "verdict": "VIOLATED", "scale": "quick", "seed": 0, "parts": []},
    ],
    "figures": [
        {
            "id": "toy2020.figure_1", "scale": "quick", "seed": 0,
            "comparisons": [
                {"name": "error", "verdict": "AGREES", "measured": 0.25},
                {"name": "ratio", "verdict": "DIFFERS", "measured": "NaN"},
            ],
        },
    ],
}  # fmt: skip


def altered(*path: Any, to: Any) -> dict[str, Any]:
    found = copy.deepcopy(BEFORE)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return found


def test_nothing_differs() -> None:
    assert changes(BEFORE, copy.deepcopy(BEFORE)).is_empty
    assert changes(BEFORE, altered("checks", 0, "parts", 0, "measured", to=5.0 * (1 + 1e-9))).is_empty


@pytest.mark.parametrize(
    ("after", "kind", "change"),
    [
        (
            altered("checks", 1, "verdict", to="HOLDS"), "verdicts",
            ChangedEntry(id="toy2020.theorem_2", before="VIOLATED", after="HOLDS"),
        ),
        (
            altered("checks", 0, "parts", 0, "kept", to=False), "parts",
            ChangedEntry(id="toy2020.theorem_1", what="updates", before=True, after=False),
        ),
        (
            altered("checks", 0, "parts", 1, "kept", to=True), "parts",
            ChangedEntry(id="toy2020.theorem_1", what="loss", before=None, after=True),
        ),
        (
            altered("checks", 0, "parts", 0, "measured", to=5.001), "numbers",
            ChangedEntry(id="toy2020.theorem_1", what="updates", before=5.0, after=5.001),
        ),
        (
            altered("figures", 0, "comparisons", 0, "verdict", to="DIFFERS"), "verdicts",
            ChangedEntry(id="toy2020.figure_1", what="error", before="AGREES", after="DIFFERS"),
        ),
        (
            altered("figures", 0, "comparisons", 1, "measured", to="Infinity"), "numbers",
            ChangedEntry(id="toy2020.figure_1", what="ratio", before="NaN", after="Infinity"),
        ),
    ],
)  # fmt: skip
def test_one_thing_differs(after: dict[str, Any], kind: str, change: ChangedEntry) -> None:
    found = changes(BEFORE, after)
    assert not found.is_empty
    assert {name: value for name, value in dict(found).items() if value} == {kind: (change,)}


def test_new_and_gone() -> None:
    after = altered("checks", 1, "id", to="toy2020.theorem_3")
    found = changes(BEFORE, after)
    assert (found.new, found.gone) == (("toy2020.theorem_3",), ("toy2020.theorem_2",))
    assert not found.verdicts


def test_another_seed_is_not_compared() -> None:
    after = altered("checks", 1, "verdict", to="HOLDS")
    after["checks"][1]["seed"] = 1
    assert changes(BEFORE, after).is_empty


@pytest.mark.parametrize("content", ["", "{", "[]", '{"checks": 1, "figures": []}', '{"figures": []}'])
def test_what_is_no_report_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content)
    assert results_in(tmp_path / "results.json") is None
    assert results_in(tmp_path / "nothing.json") is None


def test_a_report_is_read(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(BEFORE))
    assert results_in(tmp_path / "results.json") == BEFORE
