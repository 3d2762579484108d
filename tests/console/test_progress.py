"""What a reader sees while work is going on."""

import io

import pytest
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from widenet.console.progress import BarWatch, LineWatch, Meter, PaperWatch
from widenet.run import WorkWatch


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_plain_lines_come_at_most_every_two_seconds() -> None:
    clock, lines = Clock(), []
    watch = LineWatch(1, lines.append, clock)
    assert isinstance(watch, WorkWatch)
    progress = watch.begin("x")
    for tenth in range(50):
        clock.now = tenth / 10
        progress(tenth / 50, "steps")
    watch.end("x", "HOLDS")
    assert lines == ["[1/1] x: started", "[1/1] x: 40 % steps", "[1/1] x: 80 % steps", "[1/1] x: HOLDS"]


def test_lines_of_pieces_that_go_on_at_once_keep_their_numbers() -> None:
    clock, lines = Clock(), []
    watch = LineWatch(3, lines.append, clock)
    one, two = watch.begin("one"), watch.begin("two")
    clock.now = 5.0
    two(0.5, "steps")
    one(0.25, "")
    watch.end("two", "1.0 s")
    watch.end("verdict", "HOLDS")
    watch.end("one", "2.0 s")
    assert lines == [
        "[1/3] one: started",
        "[2/3] two: started",
        "[2/3] two: 50 % steps",
        "[1/3] one: 25 %",
        "[2/3] two: 1.0 s",
        "[3/3] verdict: HOLDS",
        "[1/3] one: 2.0 s",
    ]


def test_time_left_follows_the_work_that_is_done() -> None:
    clock = Clock()
    meter = Meter(100.0, clock)
    meter.note("a", 40.0, 0.0, "")
    clock.now = 1.0
    assert meter.left is None, "too early to tell"
    meter.note("a", 40.0, 0.5, "steps")
    meter.note("b", 10.0, 2.0, "")
    clock.now = 6.0
    assert meter.share == 0.3
    assert meter.left == pytest.approx(14.0)
    assert meter.clocks() == "0:06, 0:14 left"
    assert meter.names() == "a 50 % steps; b 100 %"
    meter.finish("a", 40.0)
    meter.finish("b", 10.0)
    meter.finish("never begun", 50.0)
    clock.now = 3725.0
    assert (meter.share, meter.left, meter.names()) == (1.0, 0.0, "")
    assert meter.clocks() == "1:02:05, 0:00 left"


def test_one_bar_for_the_whole() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    fields = ("count", "clock", "running")
    bars = Bars(*(TextColumn(f"{{task.fields[{field}]}}") for field in fields), BarColumn(), console=console)
    watch = BarWatch(bars, 4, seconds=20.0)
    assert isinstance(watch, WorkWatch)
    (task,) = bars.tasks
    watch.begin("toy.one", 10.0)(0.5, "steps")
    watch.begin("toy.two", 5.0)
    assert task.fields["running"] == "toy.one 50 % steps; toy.two 0 %"
    assert (task.completed, task.fields["count"]) == (0.25, "0/4")
    watch.end("toy.one", "3.0 s", 10.0)
    watch.end("toy.claim", "HOLDS", 5.0)
    assert (task.completed, task.fields["count"], task.fields["running"]) == (0.75, "2/4", "toy.two 0 %")


def test_many_pieces_have_a_line_per_paper_and_one_a_minute() -> None:
    clock, lines = Clock(), []
    watch = PaperWatch({"one2020": 3, "two2021": 1}, 10.0, lines.append, clock)
    assert isinstance(watch, WorkWatch)
    watch.begin("one2020.runs (1 of 2)", 5.0)(0.5, "steps")
    watch.end("one2020.runs (1 of 2)", "1.0 s", 5.0)
    watch.end("one2020.theorem_1", "HOLDS", 1.0)
    assert lines == []
    clock.now = 60.0
    watch.end("two2021.theorem_1", "HOLDS", 1.0)
    watch.end("drawing of one2020.figure_1", "1.0 s", 3.0)
    assert lines == [
        "two2021: 1 of 1 done, 1:00, 0:26 left",
        "3 of 4 done, 1:00, 0:26 left",
        "one2020: 3 of 3 done, 1:00, 0:00 left",
    ]
