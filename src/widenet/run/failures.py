"""Work that failed: one sentence for the user, and the traceback for whoever mends it.

A failed cell or picture ends nothing else. What needs it is *not computed*, and everything else is reported.
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from widenet.errors import WidenetError

T = TypeVar("T")


@dataclass(frozen=True)
class Failure:
    """Why a piece of work has no result.

    Attributes:
      sentence: the piece and the error, in one line.
      traceback: of the exception; "" where a worker process was lost.
    """

    sentence: str
    traceback: str = ""


class CellFailed(WidenetError):
    """A cell that was to be read could not be computed."""

    def __init__(self, failure: Failure):
        """The sentence of the failure is the message."""
        super().__init__(failure.sentence)
        self.failure = failure


def failure_of(name: str, error: BaseException) -> Failure:
    """What became of the piece of this name."""
    words = " ".join(str(error).split())
    kind = type(error).__name__
    return Failure(
        f"{name} failed: {f'{kind}: {words}' if words else kind}", "".join(traceback.format_exception(error))
    )


def tried(name: str, work: Callable[[], T]) -> T | Failure:
    """The result of a piece of work, or why there is none.

    What concerns all pieces is raised: bad input, a store that cannot be written, and Ctrl-C.
    """
    try:
        return work()
    except CellFailed as error:
        return error.failure
    except WidenetError:
        raise
    except Exception as error:
        if is_interrupt(error):
            raise
        return failure_of(name, error)


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is the consequence of Ctrl-C: some libraries turn the interrupt into an error of their own."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
