"""The command line as real processes: what it loads, terminals, signals."""

import os
import pty
import subprocess
import sys
from typing import Any

import pytest

HEAVY = {"jax", "equinox", "matplotlib", "xarray", "sklearn", "scipy", "numpy", "pandas", "jinja2"}


# A shell in the background starts its children with SIGINT ignored; a test must not depend on that.
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def widenet(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "widenet.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


REFUSED = (["check"], ["check", "--seed"], ["chek"], ["check", "x", "--seed", "abc"])


LISTS = (
    ["list"],
    ["list", "brutzkus2018"],
    ["list", "claims", "--json"],
    ["list", "data"],
    ["show", "brutzkus2018.theorem_2"],
    ["show", "li2018.figure_5"],
)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check", "--help"], *LISTS, *REFUSED])
def test_help_lists_and_usage_errors_load_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from widenet.cli import main
sys.argv = ["widenet", *{arguments!r}]
try:
    main()
finally:
    print("heavy:", sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert "heavy: []" in done.stderr, done.stderr
    assert done.returncode == (2 if arguments in REFUSED else 0)
    assert "Traceback" not in done.stderr


def test_a_real_process_answers_bad_input_with_one_sentence() -> None:
    done = widenet("check")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("widenet: nothing to check;")
    assert len(done.stderr.splitlines()) == 1


def test_a_real_process_survives_a_terminal_without_unicode() -> None:
    done = widenet("list", "claims", env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


def test_a_terminal_gets_colours_and_keeps_its_width() -> None:
    primary, secondary = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "70"}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "widenet.cli", "list", "papers"]
    with subprocess.Popen(command, stdout=secondary, stderr=secondary, env=environment) as process:
        os.close(secondary)
        text = b""
        while True:
            try:
                chunk = os.read(primary, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not chunk:
                break
            text += chunk
    os.close(primary)
    assert process.returncode == 0
    assert b"\x1b[1m" in text
    assert b"brutzkus2018" in text


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"{INTERRUPTIBLE}\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


STORED = "what was finished is in the store."
NOT_STORED = "nothing was written, and times are not kept in the store."


@pytest.mark.parametrize(
    ("command", "delay", "words"),
    [(["check", "--all"], 0.02, STORED), (["check", "--all"], 0.3, STORED), (["bench"], 0.1, NOT_STORED)],
)
def test_ctrl_c_while_libraries_load_is_one_sentence(command: list[str], delay: float, words: str) -> None:
    """JAX prints a traceback of its own if it is interrupted while it loads numpy."""
    code = f"""
import os, signal, sys, threading
from widenet.cli import main
sys.argv = ["widenet", *{command!r}]
class Alarm:
    def find_spec(self, name, path=None, target=None):
        if name == "jax":
            threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGINT)).start()
sys.meta_path.insert(0, Alarm())
main()
"""
    done = python(code)
    assert done.stdout == ""
    assert done.stderr == f"widenet: interrupted; {words}\n"
    assert done.returncode == 130


@pytest.mark.parametrize("watched", [True, False])
def test_ctrl_c_in_a_callback_of_the_garbage_collector_is_not_lost(watched: bool) -> None:
    """The control is Python alone, which goes on as if nothing had happened."""
    code = f"""
import gc, os, signal, time
from widenet.console import interrupts
if {watched}:
    interrupts.watch()
def callback(phase, info):
    gc.callbacks.remove(callback)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
gc.callbacks.append(callback)
try:
    gc.collect()
    last = time.monotonic() + {60 if watched else 1}
    while time.monotonic() < last:
        time.sleep(0.01)
    print("lost")
except KeyboardInterrupt:
    print("raised")
"""
    done = python(code)
    assert done.stdout == ("raised\n" if watched else "lost\n")
    assert ("Traceback" in done.stderr) == (not watched)


def test_ctrl_c_while_a_library_is_at_work_for_long_is_one_sentence() -> None:
    """A compiler does not let Python hear of the signal; nor does this function, which takes hours."""
    code = """
import hashlib, os, signal, threading
from widenet.console import interrupts
interrupts.watch()
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
hashlib.pbkdf2_hmac("sha256", b"a", b"b", 2**31 - 1)
"""
    done = python(code)
    assert (done.stdout, done.stderr) == ("", f"widenet: interrupted; {STORED}\n")
    assert done.returncode == 130
