"""python -m tools.waiting LABEL [--count PATTERN --of N] -- COMMAND: a long command that shows that it goes on.

On a terminal one line is written over and over, in a pipe a new one every few seconds: the label, the time, and how
many lines of the command's output match the pattern, with what its group caught last. The output itself is printed if
the command fails, or with --show at the end. It needs nothing but Python: `make` installs the package with it.
"""

import argparse
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

SECONDS_ON_A_TERMINAL, SECONDS_IN_A_PIPE = 0.2, 10.0


class Line:
    """The line that shows how far a command is."""

    def __init__(self, label: str, total: int | None, is_terminal: bool):
        """`total` is the number of things that are counted, or None where nothing is."""
        self.label, self.total, self.is_terminal = label, total, is_terminal
        self.count, self.last, self.start = 0, "", time.monotonic()

    def words(self) -> str:
        """How far it is now."""
        seconds = time.monotonic() - self.start
        counted = "" if self.total is None else f", {min(self.count, self.total)} of {self.total} {self.last}".rstrip()
        return f"{self.label}: {int(seconds) // 60}:{int(seconds) % 60:02}{counted}"

    def show(self) -> None:
        """Writes it."""
        if self.is_terminal:
            print(f"\r\x1b[2K{self.words()}", end="", file=sys.stderr, flush=True)
        else:
            print(self.words(), file=sys.stderr, flush=True)

    def end(self) -> None:
        """The last one stays."""
        self.show()
        if self.is_terminal:
            print(file=sys.stderr, flush=True)


def run(command: Sequence[str], line: Line, pattern: str | None) -> tuple[int, str]:
    """Runs a command, and shows the line while it does; the answer is its exit code and what it printed."""
    over = threading.Event()
    pause = SECONDS_ON_A_TERMINAL if line.is_terminal else SECONDS_IN_A_PIPE

    def keep_showing() -> None:
        while not over.wait(pause):
            line.show()

    shower = threading.Thread(target=keep_showing, daemon=True)
    line.show()
    shower.start()
    printed: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for text in process.stdout or ():
            printed.append(text)
            if pattern is not None and (found := re.search(pattern, text)):
                line.count, line.last = line.count + 1, found.group(1)
        code = process.wait()
    over.set()
    shower.join()
    line.end()
    return code, "".join(printed)


def main(arguments: Sequence[str] | None = None) -> int:
    """The answer is the exit code of the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.waiting")
    parser.add_argument("label")
    parser.add_argument("--count", metavar="PATTERN")
    parser.add_argument("--of", type=int, metavar="N")
    parser.add_argument("--show", action="store_true")
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "--" not in given:
        parser.error("the command comes behind --")
    place = given.index("--")
    chosen = parser.parse_args(given[:place])
    code, printed = run(given[place + 1 :], Line(chosen.label, chosen.of, sys.stderr.isatty()), chosen.count)
    if code or chosen.show:
        print(printed, end="", flush=True)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
