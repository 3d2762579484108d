"""The exit codes of `widenet`, one table for all commands (docs/command-line.md prints it)."""

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from widenet.run import Results


class ExitCode(enum.IntEnum):
    """What the shell is told."""

    AS_EXPECTED = 0
    VIOLATED = 1
    BAD_INPUT = 2
    OPEN = 3
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """In one sentence."""
        return {
            ExitCode.AS_EXPECTED: "Every verdict is the expected one.",
            ExitCode.VIOLATED: "A claim is VIOLATED and was not expected to be.",
            ExitCode.BAD_INPUT: "Bad input, or a folder that cannot be written; one sentence on stderr says more.",
            ExitCode.OPEN: "Something was not computed or is inconclusive, or a false statement did not fail.",
            ExitCode.INTERRUPTED: "Interrupted by Ctrl-C; finished results are in the store.",
        }[self]


def code_of(results: "Results") -> ExitCode:
    """The gravest that is true of these results: an unexpected violation, then what is open."""
    if any(outcome.failed for outcome in results.checks):
        return ExitCode.VIOLATED
    if results.not_computed or not all(outcome.is_expected for outcome in results.checks):
        return ExitCode.OPEN
    return ExitCode.AS_EXPECTED
