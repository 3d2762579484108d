"""The drawn comparisons of a figure's page."""

import pytest

from widenet.report.comparisons import WIDTH, labels_apart
from widenet.report.runs import Tick


@pytest.mark.parametrize(
    ("ticks", "kept"),
    [
        ([(10, "−0.001"), (40, "0"), (290, "0.01")], ["0", "0.01"]),
        ([(10, "−0.001"), (150, "0"), (290, "0.001")], ["−0.001", "0", "0.001"]),
        ([(100, "0.25"), (120, "0.3"), (200, "0.5")], ["0.25", "0.5"]),
        ([(WIDTH - 10, "1"), (WIDTH - 40, "0.99")], ["0.99"]),
        ([], []),
    ],
)
def test_no_label_lies_on_another(ticks: list[tuple[float, str]], kept: list[str]) -> None:
    assert [each.text for each in labels_apart([Tick(float(at), text) for at, text in ticks])] == kept
