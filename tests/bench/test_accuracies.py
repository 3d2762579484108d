"""The table of accuracies: every cell is measured, and the spiral is what it says."""

from typing import Any

import numpy as np
import pytest

from benchmarks import accuracies


def test_a_pair_is_measured() -> None:
    found = accuracies.measure("wine", "`WideClassifier()`", folds=2)
    assert set(found) == {"first", "second", "accuracy"}
    assert found["accuracy"] > 0.9
    assert min(found.values()) > 0


def test_every_cell_of_the_table_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    class Done:
        stdout = '{"first": 1.234, "second": 0.1, "accuracy": 0.98765}'

    def run(call: list[str], **kwargs: Any) -> Done:
        asked.append(call[3:])
        return Done()

    monkeypatch.setattr(accuracies.subprocess, "run", run)
    monkeypatch.setattr("sys.argv", ["accuracies"])
    accuracies.main()
    assert asked == [[data, model] for data in accuracies.DATA for model in accuracies.MODELS]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(asked)
    assert lines[2].endswith("| 0.988 | 1.23 s | 0.10 s |")


def test_the_spiral_has_two_even_arms_inside_the_unit_ball() -> None:
    points, arm = accuracies.spiral(400, noise=0.0)
    assert np.bincount(arm).tolist() == [200, 200]
    assert np.linalg.norm(points, axis=1).max() <= 1 + 1e-12
    turns = np.angle(points[:, 0] + 1j * points[:, 1]) - np.pi * arm - 3 * np.pi * np.linalg.norm(points, axis=1)
    np.testing.assert_allclose(np.cos(turns), 1, atol=1e-9)
