"""What can go wrong, as a tree.

    WidenetError
    ├── InputError       a value from the user is wrong: one sentence, exit code 2
    │   ├── ClaimError   a claim is written so that it cannot be evaluated; a ValueError too
    │   ├── DataError    a data set is unusable (labels, shapes, NaN, one class, empty)
    │   └── UnknownName  an id, paper, scale or data set that does not exist; suggests the nearest
    └── StoreError       results cannot be written or read (read-only folder, full disk)

Programming mistakes stay `ValueError` or `TypeError`.
"""

import difflib
from collections.abc import Iterable


class WidenetError(Exception):
    """Anything the command line reports as one sentence instead of a traceback."""


class InputError(WidenetError):
    """A value from the user is wrong. The message says what, which value, and what to do."""


class ClaimError(InputError, ValueError):
    """A claim whose clauses cannot be listed, or that promises under other keys than it lists."""


class DataError(InputError):
    """A data set to which no theorem here can apply."""


class UnknownName(InputError):
    """A name that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        """`kind` is the noun of the sentence ("claim", "scale"); the nearest of `known` is suggested.

        Where an id lacks its paper, those of all papers are.
        """
        known = sorted(known)
        near = [each for each in known if each.endswith(f".{name}")]
        near = near or difflib.get_close_matches(str(name), known, n=1, cutoff=0.4)
        if near:
            hint = f"did you mean {' or '.join(map(repr, near))}?"
        elif len(known) <= 16:
            hint = f"known: {', '.join(known)}."
        else:
            hint = "'widenet list' shows the papers, and 'widenet list KEY' what a paper has."
        super().__init__(f"there is no {kind} {name!r}; {hint}")


class StoreError(WidenetError):
    """Results could not be written or read."""
