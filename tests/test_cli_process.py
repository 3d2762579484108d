"""The command line as real processes: what it loads, terminals, signals."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

HEAVY = {"jax", "equinox", "matplotlib", "xarray", "sklearn", "scipy", "numpy", "pandas", "jinja2"}


def widenet(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "widenet.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check", "--help"], ["check"]])
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from widenet.cli import main
sys.argv = ["widenet", *{arguments!r}]
try:
    main()
finally:
    print("heavy:", sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "heavy: []" in done.stderr
    assert done.returncode == (2 if arguments == ["check"] else 0)
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


def test_a_real_ctrl_c_exits_130_without_a_traceback(tmp_path: Path) -> None:
    # A shell in the background starts its children with SIGINT ignored; the test must not depend on that.
    code = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from widenet import run
def slow(*arguments):
    print("ready", flush=True)
    time.sleep(60)
run.check = slow
from widenet.cli import main
sys.argv = ["widenet", "check", "--all"]
main()
"""
    environment = os.environ | {"WIDENET_STORE": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors
