"""Seeds: the same one gives the same result."""

import operator
from typing import Any

from widenet.errors import InputError

LARGEST_SEED = 2**32 - 1


def seed_of(value: Any, name: str = "seed") -> int:
    """The seed that a caller gives as a whole number.

    Raises:
      InputError: it is none, or outside the range of a seed.
    """
    try:
        seed = operator.index(value)
    except TypeError:
        seed = -1
    if isinstance(value, bool) or not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"{name} must be a whole number between 0 and {LARGEST_SEED}, got {value!r}.")
    return seed


def seed_from(text: str | int) -> int:
    """The seed that `--seed` names: a command line has words alone.

    Raises:
      InputError: it is no whole number, or outside the range of a seed.
    """
    try:
        return seed_of(int(text), "--seed")
    except (ValueError, InputError):
        raise InputError(f"--seed must be a whole number between 0 and {LARGEST_SEED}, got {text!r}.") from None
