"""Every claim of every paper, asked about a battery of data sets: evidence or `NotApplicable`, and no mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.battery import BATTERY
from widenet import papers
from widenet.claims import Verdict

ROOT = Path(__file__).parents[2]

SPEAKERS = {
    "separable": "brutzkus2018.theorem_2",
    "points of XORD": "brutzkus2019.theorem_6_3",
    "three classes": "li2018.theorem_4_1",
    "unit vectors": "chatterji2021.theorem_1",
}
"""Claims that must not be silent."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    own = {"XLA_FLAGS": os.environ["MACHINE_XLA_FLAGS"], "WIDENET_STORE": str(tmp_path_factory.mktemp("store"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.battery"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | own,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", BATTERY)
def test_evidence_or_a_silence(name: str, asked: dict[str, dict]) -> None:
    said = asked[name]
    assert list(said) == list(papers.claim_ids())
    assert {id: answer["words"] for id, answer in said.items() if answer["kind"] == "Mishap"} == {}
    for id, answer in said.items():
        assert answer["kind"] in ("Evidence", "NotApplicable")
        if answer["kind"] == "NotApplicable":
            assert answer["words"].endswith("."), f"{id}: {answer['words']}"
        else:
            assert answer["words"] != str(Verdict.VIOLATED) or id.endswith("_as_printed"), id
    if name in SPEAKERS:
        assert said[SPEAKERS[name]]["kind"] == "Evidence"


def test_control_the_verdicts_are_read_as_they_are_written(asked: dict[str, dict]) -> None:
    answers = [answer for case in asked.values() for answer in case.values()]
    words = {answer["words"] for answer in answers if answer["kind"] == "Evidence"}
    assert str(Verdict.HOLDS) in words
    assert words <= {str(verdict) for verdict in Verdict}
