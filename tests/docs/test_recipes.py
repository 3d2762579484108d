"""The three recipes work as written: a copy of the repository follows them and is then used like the real one.

Starting Python with JAX takes seconds, so all `widenet` commands of the three pages share one process, and all their
test files another.
"""

import json
import os
import shutil
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from .pages import DOCS, ROOT
from .recipes import commands, follow

RECIPES = {name: DOCS / f"add-a-{name}.md" for name in ("data-set", "theorem", "figure")}
COMMANDS = {name: commands(page) for name, page in RECIPES.items()}

RUN_COMMANDS = """
import contextlib, io, json, sys
from widenet import cli
shown = {}
for command in json.load(sys.stdin):
    sys.argv = command.split()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            cli.main()
            code = 0
        except SystemExit as ended:
            code = ended.code
    shown[command] = (code or 0, printed.getvalue())
json.dump({"from": cli.__file__, "shown": shown}, sys.stdout)
"""

IMPORT_ALL = """
import importlib, json, sys
for module, name in json.load(sys.stdin):
    assert callable(getattr(importlib.import_module(module), name)), name
"""


def start(tree: Path, *arguments: str, given: str = "") -> str:
    """What Python prints with these arguments, in the copy; a warning is an error."""
    environment = os.environ | {
        "PYTHONPATH": str(tree / "src"),
        "PYTHONUTF8": "1",
        "WIDENET_STORE": str(tree / "store"),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=tree, env=environment, input=given, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository that has followed all three recipes: they do not get in each other's way."""
    tree = tmp_path_factory.mktemp("recipes") / "widenet"
    files = Path("src/widenet/data/files")
    ignored = shutil.ignore_patterns("__pycache__", "files", "docs")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=ignored)
    (tree / "examples").mkdir()
    (tree / files).symlink_to(ROOT / files)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    changed = [file for page in RECIPES.values() for file in follow(page, tree)]
    # What `make format` does, on the files of the recipes.
    names = [str(file) for file in dict.fromkeys(changed)]
    start(tree, "-m", "ruff", "check", "--fix", "--quiet", *names)
    start(tree, "-m", "ruff", "format", "--quiet", *names)
    return tree


@pytest.fixture(scope="module")
def shown(tree: Path) -> dict[str, str]:
    """What every `widenet` command of the pages prints."""
    wanted = [line for lines in COMMANDS.values() for line in lines if line.startswith("widenet ")]
    answer = json.loads(start(tree, "-c", RUN_COMMANDS, given=json.dumps(wanted)))
    assert Path(answer["from"]).is_relative_to(tree)
    assert {command: code for command, (code, _) in answer["shown"].items()} == dict.fromkeys(wanted, 0)
    return {command: text for command, (_, text) in answer["shown"].items()}


def test_a_recipe_ends_with_commands_to_try() -> None:
    for lines in COMMANDS.values():
        assert lines[0] == "make format"
        assert lines[1].startswith("widenet ")
        assert all(line.startswith(("widenet ", "python -m pytest ")) for line in lines[1:])
        assert lines[-1].startswith("python -m pytest ")


def test_the_data_set_is_listed(shown: dict[str, str], tree: Path) -> None:
    text = shown[COMMANDS["data-set"][1]]
    paths = {line.split()[0]: line.split()[1] for line in text.splitlines()[1:]}
    assert "parity" in paths
    # Every path that the list names can be imported, that of the new data set too.
    given = json.dumps([path.rpartition(".")[::2] for path in list(paths.values())[1:]])
    start(tree, "-c", IMPORT_ALL, given=given)


def test_control_a_path_that_does_not_exist_is_noticed(tree: Path) -> None:
    with pytest.raises(AssertionError, match="make_nothing"):
        start(tree, "-c", IMPORT_ALL, given=json.dumps([["widenet.data", "make_nothing"]]))


def test_the_theorems_hold_and_are_the_examples_of_the_repository(shown: dict[str, str], tree: Path) -> None:
    first, second = (shown[command] for command in COMMANDS["theorem"] if command.startswith("widenet "))
    assert "✓ holds" in first
    assert ["tightness", "1"] in [line.split() for line in first.splitlines()]
    assert "2 claims: 1 holds, 1 false as printed" in second
    for name in ("perceptron", "test_perceptron", "descent", "test_descent"):
        written = (tree / f"examples/{name}.py").read_text(encoding="utf-8")
        assert written == (ROOT / f"examples/{name}.py").read_text(encoding="utf-8"), name


def test_the_figure_is_drawn_and_agrees(shown: dict[str, str], tree: Path) -> None:
    assert shown[COMMANDS["figure"][1]].count("✓ agrees") == 2
    for form in ("svg", "pdf", "png", "json", "step_size.csv"):
        assert (tree / "figures" / f"brutzkus2018.example_step_size.{form}").stat().st_size > 0


def test_the_tests_of_the_recipes_pass(tree: Path) -> None:
    battery, figure = (COMMANDS[name][-1].split() for name in ("data-set", "figure"))
    assert battery[-2:] == ["-k", "parity"]
    theorems = [line.split()[3] for line in COMMANDS["theorem"] if line.startswith("python -m pytest ")]
    text = start(
        tree, "-m", "pytest", battery[3], *theorems, figure[3], "-k", "parity or example", "-p", "no:cacheprovider"
    )
    assert "26 passed" in text


def test_the_tests_of_a_theorem_pass_alone(tree: Path) -> None:
    """As the page calls them: no conftest.py of tests/ is read then."""
    _, *arguments = COMMANDS["theorem"][-1].split()
    assert "8 passed" in start(tree, *arguments, "-p", "no:cacheprovider")


@pytest.mark.parametrize(
    ("honest", "careless", "caught_by"),
    [
        ("at_most(runs.mistakes, limit,", "at_most(limit, limit,", "test_control_a_smaller_bound_is_violated"),
        ("given=[separable, input_norm]", "given=[separable]", "test_control_inputs_outside_the_unit_ball"),
        ("given=[separable, input_norm]", "given=[input_norm]", "test_control_a_margin_below_one"),
    ],
    ids=["a promise that always holds", "without the norm", "without the separator"],
)
def test_control_a_careless_claim_is_caught_by_its_own_control(
    honest: str, careless: str, caught_by: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (tree / "examples/perceptron.py").read_text(encoding="utf-8")
    assert source.count(honest) == 1
    module = types.ModuleType("perceptron")
    monkeypatch.setitem(sys.modules, "perceptron", module)
    exec(source.replace(honest, careless), module.__dict__)
    tests: dict = {}
    exec((tree / "examples/test_perceptron.py").read_text(encoding="utf-8"), tests)
    controls = {title: each for title, each in tests.items() if title.startswith("test_control_")}
    assert len(controls) == 3
    assert [title for title, control in controls.items() if fails(control)] == [caught_by]


def fails(test: Callable[[], None]) -> bool:
    try:
        test()
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize(
    "sentence",
    [
        "Somewhere in the package, add:",
        "In `src/widenet/data/__init__.py`, after the line that begins with `no such line`, add:",
        "In `src/widenet/data/__init__.py`, after the line that begins with `from widenet`, add:",
        "In `src/widenet/data/__init__.py`, right after `widenet`, add:",
        "Write the new file `src/widenet/data/base.py`:",
    ],
)
def test_control_an_instruction_nobody_could_follow_is_refused(sentence: str, tmp_path: Path) -> None:
    package = tmp_path / "src/widenet/data"
    package.mkdir(parents=True)
    for name in ("__init__.py", "base.py"):
        shutil.copy(ROOT / "src/widenet/data" / name, package)
    page = tmp_path / "page.md"
    page.write_text(f"{sentence}\n\n```python\nx = 1\n```\n", encoding="utf-8")
    with pytest.raises((AssertionError, ValueError)):
        follow(page, tmp_path)
