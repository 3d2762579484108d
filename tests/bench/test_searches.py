"""The table of grid searches."""

import re

import pytest

from benchmarks import searches


@pytest.mark.parametrize("way", [searches.WAYS[0], searches.WAYS[2]])
def test_a_search_gives_a_row_of_the_table(monkeypatch, capsys, way):
    monkeypatch.setattr(searches, "STEPS", (0.5,))
    monkeypatch.setattr(searches, "FOLDS", 2)
    monkeypatch.setattr("sys.argv", ["searches", "--one", "wine", way])
    searches.main()
    row = capsys.readouterr().out
    first, _, computed = map(float, re.findall(r"([\d.]+) s", row))
    assert row.startswith(f"| wine | {way} | ")
    assert first > 0
    assert computed > 0
