"""The drawn comparisons of a figure's page."""

import pytest

from widenet.report.axes import axis_of
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


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((1.9 - 1e-9, 1.9 + 1e-9), ["−10⁻⁹", "−5·10⁻¹⁰", "1.9", "+5·10⁻¹⁰", "+10⁻⁹"]),
        ((1.9 - 1e-9, 1.9), ["−10⁻⁹", "−5·10⁻¹⁰", "1.9"]),
        ((1 / 19 - 5e-11, 1 / 19 + 5e-11), ["−5·10⁻¹¹", "0.0526", "+5·10⁻¹¹"]),
        ((1.8, 2.0), ["1.8", "1.85", "1.9", "1.95", "2"]),
    ],
)
def test_labels_tell_values_apart(values: tuple[float, float], labels: list[str]) -> None:
    """Of an axis that spans a tolerance alone, three digits would say 1.9 everywhere."""
    ticks = axis_of(values, 0.0, 100.0).ticks()
    assert [label for _, label in ticks] == labels
    assert ("1.9" in labels) == (1.9 in [value for value, _ in ticks])
