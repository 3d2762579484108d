"""A cell's key covers the code that made it: what really ran is in reach of what was read from the source."""

import json
import subprocess
import sys
from pathlib import Path

from tests.run.ran import SECONDS, experiments
from tests.run.toy_sizes import TOYS, toy
from widenet.records import Scale

ROOT = Path(__file__).parents[2]


def found(*arguments: str) -> dict[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.ran", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_module_that_ran_is_in_reach() -> None:
    wrong = {id: modules for id, modules in found().items() if modules}
    assert wrong == {}, "\n".join(f"{id}: {', '.join(modules)}" for id, modules in wrong.items())


def test_control_a_hidden_import_is_found() -> None:
    assert found("hidden") == {"toy.sneaky": ["widenet.claims.statistics"]}


def test_the_table_of_toys_names_experiments_that_there_are() -> None:
    known = experiments()
    assert set(TOYS) <= set(known)
    for experiment in known.values():
        assert isinstance(toy(experiment), type(experiment.settings(Scale.QUICK, 0)[0]))
