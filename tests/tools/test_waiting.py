"""A long command that shows that it goes on."""

import subprocess
import sys
from pathlib import Path

from tools import waiting

ROOT = Path(__file__).parents[2]
PRINTS = "print('Collecting jax'); print('WARNING: of no use'); print('Collecting numpy'); import sys; sys.exit({})"


def called(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-m", "tools.waiting", *arguments]  # as bare as an interpreter without packages
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_lines_are_counted_and_nothing_else_is_printed():
    options = ("installing", "--count", r"^Collecting (\S+)", "--of", "5")
    done = called(*options, "--", sys.executable, "-c", PRINTS.format(0))
    assert (done.returncode, done.stdout) == (0, "")
    first, *_, last = done.stderr.splitlines()
    assert first == "installing: 0:00, 0 of 5"
    assert last.startswith("installing: 0:")
    assert last.endswith(", 2 of 5 numpy")


def test_what_failed_is_printed_and_its_exit_code_is_kept():
    done = called("installing", "--", sys.executable, "-c", PRINTS.format(7))
    assert done.returncode == 7
    assert "WARNING: of no use" in done.stdout


def test_output_is_shown_on_request():
    done = called("types", "--show", "--", sys.executable, "-c", "print('0 errors')")
    assert (done.returncode, done.stdout) == (0, "0 errors\n")


def test_the_command_stands_apart():
    assert called("label").returncode == 2


UNTIL_SEEN = """
import sys, time
from pathlib import Path
last = time.monotonic() + 60
while not Path(sys.argv[1]).exists():
    if time.monotonic() > last:
        sys.exit("the line was not refreshed")
    time.sleep(0.01)
"""


def test_a_terminal_sees_one_line_that_is_refreshed(capfd, tmp_path):
    """The command ends when the line was written for the third time."""

    class Counting(waiting.Line):
        times = 0

        def show(self) -> None:
            super().show()
            self.times += 1
            if self.times == 3:
                (tmp_path / "seen").touch()

    line = Counting("types", None, is_terminal=True)
    assert waiting.run([sys.executable, "-c", UNTIL_SEEN, str(tmp_path / "seen")], line, None) == (0, "")
    shown = capfd.readouterr().err
    assert shown.count("\n") == 1
    assert shown.count("\r\x1b[2K") == line.times > 3
