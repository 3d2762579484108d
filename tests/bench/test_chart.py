"""The chart, from rows alone."""

from types import ModuleType

import pytest

from .made_up import CPU, GPU, row, rows


@pytest.fixture
def chart() -> ModuleType:
    """Loaded when the first test runs: matplotlib takes seconds."""
    from benchmarks import chart

    return chart


def test_axes_are_labelled_and_every_peer_is_named(chart: ModuleType) -> None:
    drawing = chart.draw(rows())
    assert drawing is not None
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["Logistic SGD", "More runs", "More steps"]
    for axes in drawing.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
    bars, runs, _ = drawing.axes
    assert [label.get_text() for label in bars.get_yticklabels()] == [
        "widenet (fused)",
        "widenet (blocked)",
        "JAX vmap of scan",
    ]
    assert "µs per step and run" in bars.get_xlabel()
    assert [list(line.get_xdata()) for line in runs.get_lines()] == [[4, 16, 64]]
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == [CPU, GPU]


def test_parts_are_shares_of_the_whole_and_many_ticks_do_not_touch(chart: ModuleType) -> None:
    from matplotlib.patches import Rectangle

    parts = [row("parts", name, CPU, us) for name, us in (("rows of data", 0.2), ("+ W x", 1.2), ("+ walk", 2.0))]
    steps = [row("linear_steps", "widenet", CPU, 2.0, steps=steps) for steps in (100, 200, 400, 800)]
    drawing = chart.draw([*parts, *steps])
    assert drawing is not None
    lines, shares = drawing.axes
    assert [patch.get_width() for patch in shares.patches if isinstance(patch, Rectangle)] == pytest.approx(
        [0.1, 0.5, 0.4]
    )
    assert [label.get_text() for label in shares.get_yticklabels()] == ["rows of data", "W x", "walk"]
    assert lines.get_xticks().tolist() == [100, 400]


def test_every_width_has_a_panel_of_its_own(chart: ModuleType) -> None:
    found = [row("softmax_64", "widenet (plain)", CPU, us, neurons=width) for width, us in ((4000, 9.0), (1000, 2.0))]
    drawing = chart.draw([*found, row("softmax_64", "torch loop", CPU, 3.0, neurons=1000)])
    assert drawing is not None
    narrow, wide = drawing.axes
    assert narrow.get_title(loc="left") == "Softmax, batch 64, 1,000 neurons"
    assert [label.get_text() for label in narrow.get_yticklabels()] == ["widenet (plain)", "torch loop"]
    assert [label.get_text() for label in wide.get_yticklabels()] == ["widenet (plain)"]


def test_files(chart: ModuleType) -> None:
    files = chart.chart_files(rows())
    assert list(files) == ["bench.svg", "bench.pdf", "bench.png"]
    assert "torch loop" not in files["bench.svg"].decode()
    assert files["bench.png"].startswith(b"\x89PNG")


def test_nothing_to_draw(chart: ModuleType) -> None:
    assert chart.chart_files([each for each in rows() if each.workload == "figure_1"]) == {}
