"""Parts of one request tell one progress, and come back in their order."""

import threading

import pytest

from widenet.training.engine import threads
from widenet.training.engine.threads import SharedProgress, in_threads


def test_the_shares_of_all_parts_are_added():
    told = []
    shared = SharedProgress(lambda fraction, words: told.append((fraction, words)), 10)
    first, second = shared.of(0, 4), shared.of(4, 6)
    first(0.5, "training")
    second(0.5, "training")
    first(1.0, "training")
    assert [fraction for fraction, _ in told] == pytest.approx([0.2, 0.5, 0.7])
    assert told[-1][1] == "training 10 networks"
    shared.cancelled = True
    with pytest.raises(RuntimeError, match="was interrupted"):
        first(1.0, "training")


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_answers_come_in_the_order_of_their_items(workers):
    shared = SharedProgress(lambda fraction, words: None, 1)
    assert in_threads(lambda item: item * item, range(7), workers, shared) == [0, 1, 4, 9, 16, 25, 36]
    assert not shared.cancelled


def test_an_error_in_one_part_ends_the_others():
    shared = SharedProgress(lambda fraction, words: None, 1)

    def fail(item):
        raise KeyError(item)

    with pytest.raises(KeyError):
        in_threads(fail, range(3), 2, shared)
    assert shared.cancelled


def test_parts_that_have_not_begun_are_not_begun_after_an_error(monkeypatch):
    asked = []

    class Pool:
        def __init__(self, workers):
            asked.append(workers)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def map(self, train, items):
            raise KeyError

        def shutdown(self, cancel_futures=False):
            asked.append(cancel_futures)

    monkeypatch.setattr(threads, "ThreadPoolExecutor", Pool)
    with pytest.raises(KeyError):
        in_threads(lambda item: item, range(3), 2, SharedProgress(lambda fraction, words: None, 1))
    assert asked == [2, True]


def test_one_worker_is_the_thread_that_asks():
    """An interrupt reaches it while it works."""
    shared = SharedProgress(lambda fraction, words: None, 1)
    found = in_threads(lambda item: threading.get_ident(), range(3), 1, shared)
    assert set(found) == {threading.get_ident()}
