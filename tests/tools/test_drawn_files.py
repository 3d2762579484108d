"""A hundred of the drawn files and arrays; `python -m tools.drawn_files` draws ten thousand."""

import hypothesis
import pytest

from tests.packages import EMPTY, TOY
from tools.drawn_files import DRAWING, look, look_at, summary
from tools.drawn_inputs import File, Values, inputs
from widenet import papers

QUICK = hypothesis.settings(
    max_examples=100,
    derandomize=True,
    database=None,
    phases=(hypothesis.Phase.generate,),
    suppress_health_check=DRAWING,
)


@pytest.fixture(scope="module", autouse=True)
def rooms():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(papers, "PAPERS", (TOY, EMPTY))
        yield


def has_usual_types(given: File | Values) -> bool:
    """Choices of other types are refused by the type checker of the tests."""
    return isinstance(given, File) or all(isinstance(given.choices[name], str) for name in given.choices)


@QUICK
@hypothesis.given(inputs.filter(has_usual_types))
def test_a_sentence_or_a_certificate(given):
    row = look_at(given)
    if "TypeCheckError" not in row.get("trouble", ""):  # of the checker of signatures that tests run with
        assert "trouble" not in row, row["trouble"]
        assert ("refused" in row) != ("certified" in row)


def test_trouble_is_seen(monkeypatch):
    def certify(*inputs, **choices):
        raise ZeroDivisionError

    monkeypatch.setattr("widenet.certificates.making.certify", certify)
    row = look_at(Values([[1.0], [2.0]], [0, 1]))
    assert "ZeroDivisionError" in row["trouble"]


def test_what_was_found_is_counted():
    block = look(0, 5, 0)
    assert block["inputs"] == block["refused"] + block["certified"] + len(block["troubles"]) == 5
    assert "5 inputs" in summary([block])
