"""What a search may still compute."""

import time

import pytest

from widenet.diagnostics.work import Work


def test_work_counts_down_what_was_spent():
    work = Work(10.0)
    work.spend(4.0)
    assert (work.left, work.is_spent) == (6.0, False)
    work.spend(7.0)
    assert (work.left, work.is_spent) == (-1.0, True)
    work.end()
    assert work.left == -1.0


def test_work_ends_where_more_is_needed_than_is_left():
    work = Work(10.0)
    work.end()
    assert work.is_spent


def test_no_clock_is_read_without_a_limit_in_seconds(monkeypatch):
    def read():
        raise AssertionError("a clock was read")

    monkeypatch.setattr(time, "process_time", read)
    assert not Work(1.0).is_spent
    with pytest.raises(AssertionError, match="a clock was read"):
        Work(1.0, seconds=3.0)


def test_seconds_that_you_allow_are_those_of_computing(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "process_time", lambda: now[0])
    work = Work(1.0, seconds=3.0)
    now[0] = 102.0
    assert (work.seconds, work.is_spent) == (1.0, False)
    now[0] = 103.0
    assert (work.seconds, work.is_spent) == (0.0, True)
