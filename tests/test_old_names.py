"""Names that 0.1 had: importing one says what became of it, and what it says is there."""

import importlib
import re

import pytest

import widenet
from widenet.old_names import NOW


@pytest.mark.parametrize("name", NOW)
def test_importing_an_old_name_says_what_it_is_now(name: str) -> None:
    package, _, last = name.rpartition(".")
    sentence = f"^{re.escape(f'{name} is {NOW[name]}.')}$"
    with pytest.raises(ImportError, match=sentence):
        exec(f"from {package} import {last}")
    with pytest.raises(ImportError, match=sentence):
        importlib.import_module(name)


def test_a_name_in_an_old_module() -> None:
    with pytest.raises(ImportError, match=r"widenet\.claims\.specimen is widenet\.claims\.user_data now"):
        from widenet.claims.specimen import UserData  # pyright: ignore[reportMissingImports]  # noqa: F401


@pytest.mark.parametrize("name", NOW)
def test_what_a_sentence_names_is_there(name: str) -> None:
    for found in re.findall(r"widenet\.[\w.]*\w", NOW[name]):
        package, _, last = found.rpartition(".")
        try:
            importlib.import_module(found)
        except ImportError:
            assert hasattr(importlib.import_module(package), last), found


def test_as_an_attribute_it_is_missing_with_the_same_words() -> None:
    with pytest.raises(AttributeError, match=r"^widenet\.Specimen is widenet\.UserData now\.$"):
        _ = widenet.Specimen  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(widenet, "Silence")


def test_any_other_name_is_as_unknown_as_ever() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from widenet import Nothing  # pyright: ignore[reportAttributeAccessIssue]  # noqa: F401
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("widenet.nothing")
