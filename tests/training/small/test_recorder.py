"""What was written is handed out run by run."""

import numpy as np

from widenet.training.small import Recorder


def test_columns_are_cut_by_run_in_their_order():
    recorder = Recorder()
    recorder.add(np.array([0, 2]), value=np.array([1.0, 10.0]), pair=np.array([[1, 2], [3, 4]]))
    recorder.add(np.array([2]), value=np.array([20.0]), pair=np.array([[5, 6]]))
    assert [rows.tolist() for rows in recorder.by_run("value", 4)] == [[1.0], [], [10.0, 20.0], []]
    assert recorder.by_run("pair", 4)[2].tolist() == [[3, 4], [5, 6]]


def test_it_says_when_it_is_full():
    recorder = Recorder(limit=3)
    assert not recorder.add(np.arange(2), value=np.zeros(2))
    assert recorder.add(np.arange(2), value=np.zeros(2))
    exactly = Recorder(limit=2)
    assert exactly.add(np.arange(2), value=np.zeros(2))


def test_nothing_written_is_nothing_read():
    assert [len(rows) for rows in Recorder().by_run("value", 2)] == [0, 0]


def test_two_million_entries_unless_told_otherwise():
    recorder = Recorder()
    assert recorder.limit == 2_097_152
    assert recorder.size == 0
    recorder.add(np.arange(3), value=np.zeros(3))
    assert recorder.size == 3
