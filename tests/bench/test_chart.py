"""The chart, from rows alone."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from widenet.bench.chart import chart_files, draw
from widenet.bench.rows import Row

CPU, GPU = "a processor, 2 cores", "a GPU"


def row(workload: str, peer: str, device: str, us: float | None, **sizes: int) -> Row:
    ratio = None if us is None else us / 2
    return Row(workload, peer, device, "float32", {"runs": 16, "steps": 256} | sizes, us, ratio, 0.5, 1.5, "a note")


ROWS = [
    row("logistic_sgd", "widenet (blocked)", CPU, 2.0),
    row("logistic_sgd", "JAX vmap of scan", CPU, 20.0),
    row("logistic_sgd", "torch loop", CPU, None),
    row("logistic_sgd", "limit: products", CPU, 1.5),
    row("logistic_sgd", "widenet (fused)", GPU, 0.01),
    row("logistic_sgd", "JAX vmap of scan", GPU, 0.2),
    row("figure_1", "widenet (pattern sets)", CPU, 2.0),
    *(row("linear_runs", "widenet (blocked)", CPU, 2.0 + 0.01 * (runs - 4), runs=runs) for runs in (4, 16, 64)),
    *(row("linear_steps", "widenet (blocked)", CPU, 2.0, steps=steps) for steps in (256, 1024, 4096)),
]


def test_axes_are_labelled_and_every_peer_is_named() -> None:
    drawing = draw(ROWS)
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
    assert [np.asarray(line.get_xdata()).tolist() for line in runs.get_lines()] == [[4, 16, 64]]
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == [CPU, GPU]


def test_parts_are_shares_of_the_whole_and_many_ticks_do_not_touch() -> None:
    parts = [row("parts", name, CPU, us) for name, us in (("rows of data", 0.2), ("+ W x", 1.2), ("+ walk", 2.0))]
    steps = [row("linear_steps", "widenet", CPU, 2.0, steps=steps) for steps in (100, 200, 400, 800)]
    drawing = draw([*parts, *steps])
    assert drawing is not None
    lines, shares = drawing.axes
    assert [patch.get_width() for patch in shares.patches if isinstance(patch, Rectangle)] == pytest.approx(
        [0.1, 0.5, 0.4]
    )
    assert [label.get_text() for label in shares.get_yticklabels()] == ["rows of data", "W x", "walk"]
    assert lines.get_xticks().tolist() == [100, 400]


def test_every_width_has_a_panel_of_its_own() -> None:
    rows = [row("softmax_64", "widenet (plain)", CPU, us, neurons=width) for width, us in ((4000, 9.0), (1000, 2.0))]
    drawing = draw([*rows, row("softmax_64", "torch loop", CPU, 3.0, neurons=1000)])
    assert drawing is not None
    narrow, wide = drawing.axes
    assert narrow.get_title(loc="left") == "Softmax, batch 64, 1,000 neurons"
    assert [label.get_text() for label in narrow.get_yticklabels()] == ["widenet (plain)", "torch loop"]
    assert [label.get_text() for label in wide.get_yticklabels()] == ["widenet (plain)"]


def test_files() -> None:
    files = chart_files(ROWS)
    assert list(files) == ["bench.svg", "bench.pdf", "bench.png"]
    assert "torch loop" not in files["bench.svg"].decode()
    assert files["bench.png"].startswith(b"\x89PNG")


def test_nothing_to_draw() -> None:
    assert chart_files([each for each in ROWS if each.workload == "figure_1"]) == {}
