"""What the commands of this folder take."""

import argparse


def some(word: str) -> int:
    """A whole number, at least 1."""
    try:
        number = int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {word!r}") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number
