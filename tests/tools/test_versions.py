"""The suite on other versions runs with the options of this one."""

import sys
import tomllib
from pathlib import Path

import pytest

from tools import versions

OPTIONS = tomllib.loads((versions.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]

PLUGIN = """
import sys

def pytest_configure(config):
    print("addopts:", config.getini("addopts"))
    print("asked:", config.option.ignore, config.option.dist, config.option.importmode, config.option.strict_config)
"""


@pytest.fixture
def one(tmp_path, monkeypatch):
    """A try with the Python that runs this test."""
    monkeypatch.setattr(versions.Try, "own_python", Path(sys.executable))
    monkeypatch.setattr(versions, "BUILD", tmp_path)
    found = versions.Try(Path(sys.executable), "constraints")
    found.folder.mkdir()
    return found


def test_the_suite_runs_with_the_options_of_pyproject(one, tmp_path, monkeypatch, capfd):
    (tmp_path / "told_options.py").write_text(PLUGIN, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTEST_PLUGINS", "told_options")
    assert one.test(["tests/tools/test_waiting.py", "-k", "lines_are_counted"], 1) == "1 passed"
    said = capfd.readouterr().out
    assert f"addopts: {OPTIONS['addopts'].split()}" in said
    assert "asked: ['tests/page', 'tests/cluster'] loadfile importlib True" in said


def test_a_suite_that_passes_and_one_that_fails_are_told(one, tmp_path):
    assert one.test(["tests/tools/test_waiting.py::test_that_is_not_there"], 1).startswith("FAILED: ")
