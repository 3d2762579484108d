import collections
from pathlib import Path

import pytest

from tests.sweeps import toy
from widenet.store import Store

FILE = str(Path(toy.__file__))
PRODUCTS, PAIRS = f"{FILE}:products", f"{FILE}:pairs"
PLAIN, NAMED = f"{FILE}:plain", f"{FILE}:named"


class Log:
    """What was computed."""

    def __init__(self, path: Path):
        self.path = path

    def counts(self, word: str = "end") -> collections.Counter[str]:
        """How often each cell was begun, or ended."""
        if not self.path.exists():
            return collections.Counter()
        lines = [line.split(maxsplit=2) for line in self.path.read_text().splitlines()]
        return collections.Counter(name for first, _, name in lines if first == word)


@pytest.fixture
def log(tmp_path, monkeypatch) -> Log:
    monkeypatch.setenv(toy.LOG, str(tmp_path / "log"))
    return Log(tmp_path / "log")


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def trouble(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "trouble"
    path.touch()
    monkeypatch.setenv(toy.TROUBLE, str(path))
    return path
