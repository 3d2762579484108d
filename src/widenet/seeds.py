"""Seeds: the same one gives the same result."""

import operator
from typing import Any

from widenet.errors import InputError

LARGEST_SEED = 2**32 - 1


def seed_of(value: Any, name: str = "seed") -> int:
    """The seed that a caller gives as a whole number, or as the text of one.

    Raises:
      InputError: it is none, or outside the range of a seed.
    """
    try:
        seed = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        seed = -1
    if isinstance(value, bool) or not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"{name} must be a whole number between 0 and {LARGEST_SEED}, got {value!r}.")
    return seed
