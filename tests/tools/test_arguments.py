"""A number that no command can use gets one sentence."""

import argparse

import pytest

from tools.arguments import some


def test_a_whole_number_of_at_least_one():
    assert [some(word) for word in ("1", "150")] == [1, 150]


@pytest.mark.parametrize(("word", "sentence"), [("0", "at least 1, got 0"), ("-1", "got -1"), ("ten", "got 'ten'")])
def test_anything_else_is_refused_in_words(word, sentence):
    with pytest.raises(argparse.ArgumentTypeError, match=sentence):
        some(word)
