"""What the pages say is true: their code runs and prints what they show, their links lead somewhere."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest

import widenet
from tests.test_layers import LAYERS, LONGEST, MAY_NOT_MEET, PARTS
from widenet import papers
from widenet.claims.base import Evidence, Kind, Verdict
from widenet.training import Recipe
from widenet.training.kernels import KERNELS
from widenet.types import RunStatus, Trajectory

from .pages import DOCS, PAGES, ROOT, Block, blocks, code_words, prose, section, table

README = ROOT / "README.md"
RUNNING = [
    README,
    *(
        DOCS / f"{name}.md"
        for name in (
            "quickstart",
            "certify",
            "claims",
            "experiments",
            "questions",
            "scikit-learn",
            "sweeps",
            "training",
        )
    ),
]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def names(path: Path) -> str:
    return path.name


def with_output(page: Path) -> Iterator[tuple[Block, str | None]]:
    """The Python blocks of a page, each with the text block right after it, if there is one."""
    every = blocks(page)
    for block, after in zip(every, [*every[1:], None], strict=True):
        if block.language == "python":
            shows = after is not None and after.language == "text" and after.before == ""
            yield block, after.text if after is not None and shows else None


def same_output(shown: str, printed: str) -> bool:
    """Equal words and whole numbers; others within a tenth: a matrix product may round differently elsewhere."""
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split():
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(
        left == right if is_whole(left) else float(left) == pytest.approx(float(right), rel=0.1)
        for left, right in pairs
    )


def is_whole(number: str) -> bool:
    return number.removeprefix("-").isdigit()


@pytest.mark.parametrize("page", RUNNING, ids=names)
def test_code_runs_and_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.docs.running", str(page)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = [output for _, output in with_output(page)]
    printed = json.loads(done.stdout)
    for shows, prints in zip(shown, printed, strict=True):
        assert same_output(shows or "", prints), f"{page.name} shows:\n{shows}\nand prints:\n{prints}"
    assert any(shown)


def test_control_another_output_is_noticed() -> None:
    assert same_output("HOLDS at 1.00e-7", "HOLDS at 1.01e-7")
    assert not same_output("HOLDS at 1.00e-7", "HOLDS at 1.50e-7")
    assert not same_output("HOLDS after 100 steps", "HOLDS after 101 steps")
    assert not same_output("HOLDS after 100 steps", "VIOLATED after 100 steps")
    assert not same_output("", "anything")


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if urlparse(target).scheme:
            assert urlparse(target).hostname == "creativecommons.org", target
        else:
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_no_paths_of_a_machine(page: Path) -> None:
    machine = r"/(home|root|work|tmp|Users)/|localhost|https?://[^\s)]*(pypi|proxy|mirror)"
    assert not re.search(machine, page.read_text(encoding="utf-8"))


def test_the_index_has_every_page() -> None:
    listed = re.findall(r"\]\(([\w-]+\.md)\)", section(DOCS / "README.md", "Documentation"))
    assert set(listed) == {page.name for page in DOCS.glob("*.md")} - {"README.md"}


def test_the_readme_says_what_there_is() -> None:
    rows = table(section(README, "What is there so far"))
    assert [row[0].strip("`") for row in rows] == [paper.key for paper in papers.PAPERS]
    for row, paper in zip(rows, papers.PAPERS, strict=True):
        assert paper.title in row[1]
        empty = ["nothing yet" in cell for cell in row[2:]]
        assert empty == [not paper.claims, not paper.figures], f"README.md: the row of {paper.key}"


def test_the_tree_of_the_readme_exists() -> None:
    (tree,) = [block.text for block in blocks(README) if block.text.startswith("src/widenet/\n")]
    folders = {0: ROOT}
    for line in tree.splitlines():
        depth = len(line) - len(line.lstrip())
        names = line[:31].split()
        for name in names:
            assert (folders[depth] / name).exists(), name
        folders[depth + 2] = folders[depth] / names[0]


def test_theorem_6_3_is_where_the_readme_says() -> None:
    (paragraph,) = [each for each in README.read_text(encoding="utf-8").split("\n\n") if "Where is Theorem 6.3" in each]
    room, where, judged, trained, tested = code_words(" ".join(paragraph.split()))
    paper = papers.find_paper(room)
    assert where in paper.claims
    claim = papers.find_claim(f"{room}.{where.split('.')[1]}")
    places = [getattr(each, "__module__", "") for each in (claim.judge, claim.reads[0].run)]
    for place, shown in zip(places, (judged, trained), strict=True):
        assert place == f"{paper.package}.{shown.removesuffix('.py').replace('/', '.')}"
    assert (ROOT / tested).exists()


def test_layers_page_agrees_with_the_enforced_layers() -> None:
    page = DOCS / "layers.md"
    text = page.read_text(encoding="utf-8").split("Some modules must not")
    assert {row[1].strip("`"): int(row[0]) for row in table(text[0])} == LAYERS
    assert {tuple(cell.strip("`") for cell in row) for row in table(text[1])} == MAY_NOT_MEET
    assert [row[0].strip("`") for row in table(section(page, "Inside a paper package"))] == list(PARTS)
    assert f"more than {LONGEST} lines" in text[1]
    for _, found in table(section(page, "Where is it?")):
        for words in code_words(found):
            path = words.replace("<paper>", "brutzkus2018").replace("<figure>", "figure_1")
            module, _, attribute = path.partition(".")
            assert (ROOT / "src/widenet" / path).exists() or hasattr(getattr(widenet, attribute), "__doc__"), module


GRAVITY = re.compile(
    r"- \*\*Gravity\*\*: (theorem|lemma|display|misprint)\. \*\*The conclusion survives\*\*: (yes|no|in part); \S"
)
MISPRINT = ["place", "as printed", "fails for", "meant", "checked by"]


def test_findings_are_the_statements_that_are_false_as_printed() -> None:
    page = DOCS / "findings.md"
    headings = [each for each in re.findall(r"^### (\S+)$", page.read_text(encoding="utf-8"), re.M) if "." in each]
    assert sorted(headings) == sorted(id for id in papers.claim_ids() if id.endswith("_as_printed"))
    for id in headings:
        lines = section(page, id)
        assert [lines.count(f"- **{word}**") for word in ("As printed", "Fails", "Holds")] == [1, 1, 1], id
        repaired = {each for each in named_ids(lines.split("**Holds**")[1]) if not each.endswith("_as_printed")}
        assert repaired & set(papers.claim_ids()), f"{id}: no claim that holds is named"
        first = next(line for line in lines.splitlines() if line.startswith("-"))
        assert GRAVITY.match(first), f"{id}: {first}"


def test_misprints_name_the_claim_that_checks_the_right_form() -> None:
    text = (DOCS / "findings.md").read_text(encoding="utf-8")
    sections = text.split("\n### Misprints\n")[1:]
    assert sections
    for each in sections:
        head, _, *rows = [line for line in each.partition("\n#")[0].splitlines() if line.startswith("|")]
        assert [cell.strip() for cell in head.strip("|").split("|")] == MISPRINT
        assert rows
        for row in rows:
            assert named_ids(row.rpartition("|")[0].rpartition(" | ")[2]), row


def named_ids(text: str) -> set[str]:
    """Every word between back quotes, or after a command, that looks like the id of a claim or a figure."""
    keys = "|".join(paper.key for paper in papers.PAPERS)
    return set(re.findall(rf"\b((?:{keys})\.[a-z0-9_]+)\b(?!\.?[/\w])", text))


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=names)
def test_every_id_on_a_page_is_one_of_the_program(page: Path) -> None:
    experiments = {each.id for item in (*papers.claims_of(), *papers.figures_of()) for each in item.reads}
    known = {*papers.claim_ids(), *papers.figure_ids(), *experiments}
    modules = {"formulas", "runs", "claims", "figures", "drawings", "sources", "settings"}
    text = re.sub(r"\(images/[^)]*\)", "", page.read_text(encoding="utf-8"))
    unknown = {id for id in named_ids(text) - known if id.split(".")[1] not in modules}
    assert {id for id in unknown if not id.split(".")[1].startswith("example_")} == set()


def test_control_an_old_id_is_noticed() -> None:
    assert named_ids("`widenet check brutzkus2018.theorem_4_eta_inf`") == {"brutzkus2018.theorem_4_eta_inf"}
    assert named_ids("in `papers/brutzkus2018/claims` and `brutzkus2018.py`") <= {"brutzkus2018.py"}


def test_new_names_of_the_changelog_exist() -> None:
    rows = table(section(ROOT / "CHANGELOG.md", "Unreleased"))
    assert rows
    for old, new in ((row[0].strip("`"), row[1].strip("`")) for row in rows):
        known = (*papers.claim_ids(), *papers.figure_ids())
        assert f"{old.split('.')[0]}.{new}" in known, new
        assert old not in known, old


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_lines_of_prose_wrap(page: Path) -> None:
    lines = [line for line in prose(page).splitlines() if not line.startswith(("|", "![", "<!--"))]
    assert [line for line in lines if len(line) > 130] == []


def test_verdicts_and_kinds_in_their_words() -> None:
    page = DOCS / "claims.md"
    assert {row[0].strip("`"): row[1] for row in table(section(page, "Verdicts"))} == {
        verdict.value: verdict.sentence for verdict in Verdict
    }
    assert [row[0].strip("`") for row in table(section(page, "Kinds"))] == [kind.value for kind in Kind]
    fields = [word for row in table(section(page, "Evidence")) for word in code_words(row[0])]
    assert sorted(fields) == sorted((*Evidence.model_fields, *Evidence.model_computed_fields))


def test_training_page_names_every_field_and_status() -> None:
    page = DOCS / "training.md"
    kernels = [row[0].strip("`") for row in table(section(page, "Kernels and their oracle"))]
    assert kernels[0] == "plain"
    assert set(kernels) <= KERNELS.keys()
    assert [row[0].strip("`") for row in table(section(page, "Recipe"))] == list(Recipe.__dataclass_fields__)
    fields = [row[0].strip("`") for row in table(section(page, "Record and Watch"))]
    assert fields == list(Trajectory.__dataclass_fields__)
    assert {row[0].strip("`"): row[1] for row in table(section(page, "RunStatus"))} == {
        status.name: status.sentence for status in RunStatus
    }


def test_every_control_the_claims_page_speaks_of_exists() -> None:
    text = (ROOT / "tests/papers/brutzkus2018/claims/test_convergence.py").read_text(encoding="utf-8")
    assert len(re.findall(r"^def test_control_", text, re.MULTILINE)) >= 6


def known_words() -> set[str]:
    """Every name and every whole word of the package's source."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    return set(re.findall(r"\w+", source))


def test_the_words_of_the_glossary_are_in_the_code() -> None:
    known = known_words()
    parts = re.split(r"^## ", (DOCS / "glossary.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert {part.splitlines()[0] for part in parts} >= {paper.key for paper in papers.PAPERS}
    for part in parts:
        rows = table(part)
        assert rows
        for _, word, _ in rows:
            for name in code_words(word):
                assert set(re.findall(r"\w+", name)) <= known, name
