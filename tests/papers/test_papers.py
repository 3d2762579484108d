"""Finding claims and figures by name, and what a list says about them without importing them."""

import dataclasses
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.packages import BROKEN, EMPTY, TOY
from widenet import papers
from widenet.claims import Kind
from widenet.claims.sides import Sense, Sides
from widenet.errors import InputError, UnknownName
from widenet.papers import index
from widenet.records import Scale
from widenet.run import tasks_of


@pytest.fixture
def toy_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY, BROKEN))


@pytest.mark.usefixtures("toy_papers")
class TestFinding:
    def test_by_name(self) -> None:
        assert papers.find_claim("toy2020.theorem_2").kind is Kind.MAIN
        assert papers.find_figure("toy2020.figure_1").paper == "toy2020"
        assert papers.find_paper("empty2021").key == "empty2021"

    def test_of_a_paper_or_of_all(self) -> None:
        assert papers.claim_ids("broken2022") == ("broken2022.theorem_1", "broken2022.theorem_8")
        assert [claim.id for claim in papers.claims_of()] == list(papers.claim_ids())
        assert papers.figure_ids("empty2021") == ()
        assert [figure.id for figure in papers.figures_of()] == ["toy2020.figure_1", "toy2020.figure_2"]

    @pytest.mark.parametrize(
        ("find", "name", "near"),
        [
            (papers.find_claim, "toy2020.theorm_2", "toy2020.theorem_2"),
            (papers.find_figure, "toy2020.fig_1", "toy2020.figure_1"),
            (papers.find_paper, "toy2002", "toy2020"),
            (papers.claims_of, "emty2021", "empty2021"),
            (papers.figure_ids, "emty2021", "empty2021"),
        ],
    )
    def test_an_unknown_name_suggests_the_nearest(self, find, name: str, near: str) -> None:
        with pytest.raises(UnknownName, match=f"did you mean '{near}'"):
            find(name)

    @pytest.mark.parametrize(
        ("find", "name", "words"),
        [
            (papers.find_claim, "toy2020", "is a paper, not a claim; 'widenet check --paper toy2020' checks all"),
            (papers.find_figure, "toy2020", "is a paper, not a figure; 'widenet list figures --paper toy2020' shows"),
            (papers.find_claim, "toy2020.figure_1", "is a figure, not a claim; 'widenet figure toy2020.figure_1'"),
            (papers.find_figure, "toy2020.theorem_2", "is a claim, not a figure; 'widenet check toy2020.theorem_2'"),
        ],
    )
    def test_a_name_of_another_kind_says_what_to_do(self, find, name: str, words: str) -> None:
        with pytest.raises(InputError, match=words):
            find(name)


def test_the_index_is_what_the_claims_and_figures_say() -> None:
    """`python -m tools.index` writes it anew; look at the diff, which shows every turned sense and wider tolerance."""
    assert index.FILE.read_text(encoding="utf-8") == index.text(papers.claims_of(), papers.figures_of())


def test_control_a_wider_tolerance_and_a_turned_sense_change_one_line_each() -> None:
    claim = papers.find_claim("brutzkus2018.equation_12_step")
    before = index.text([claim], []).splitlines()

    def lines_changed(key: str, change: Callable[[Sides], Sides]) -> int:
        weaker = [
            dataclasses.replace(each, measure=lambda runs, own=each: change(own.measure(runs)))
            if each.key == key
            else each
            for each in claim.given
        ]
        after = index.text([dataclasses.replace(claim, given=tuple(weaker))], []).splitlines()
        return sum(old != new for old, new in zip(before, after, strict=True))

    def wider(sides: Sides) -> Sides:
        return Sides(sides.given, 1, Sense.AT_LEAST, within=1e-6)

    def turned(sides: Sides) -> Sides:
        return Sides(sides.given, 0, Sense.AT_MOST)

    assert lines_changed("separable", lambda sides: sides) == 0
    assert lines_changed("separable", wider) == 1
    assert lines_changed("step_size", turned) == 1


def test_what_the_index_does_not_have_is_imported() -> None:
    assert "toy2020.theorem_2" not in index.FILE.read_text(encoding="utf-8")
    rows = {row["id"]: row for row in index.claim_rows([TOY])}
    assert rows["toy2020.theorem_2"]["kind"] == "main result"
    assert [row["id"] for row in index.figure_rows([TOY])] == ["toy2020.figure_1", "toy2020.figure_2"]


def test_an_id_of_cells_has_one_program_and_one_class_of_settings() -> None:
    """The keys of papers tell neither, so that they stay what they are when code moves."""
    reads = {each for item in (*papers.claims_of(), *papers.figures_of()) for each in item.reads}
    found: dict[str, set[object]] = {}
    for each in reads:
        for scale in Scale:
            kinds = {type(task.setting) for task in tasks_of([each], scale, 0)[0]}
            found.setdefault(each.id, set()).update((each.run, kind) for kind in kinds)
    assert len(found) > 50
    assert {id for id, programs in found.items() if len(programs) > 1} == set()


def test_every_figure_names_statements_that_it_illustrates() -> None:
    for paper in papers.PAPERS:
        names = {id.partition(".")[2] for id in paper.claim_ids}
        for id in paper.figure_ids:
            figure = paper.load_figure(id)
            assert figure.claims, id
            assert set(figure.claims) <= names, id
            assert len(set(figure.claims)) == len(figure.claims), id
            assert figure.setting or "figure_" not in id or id.endswith("_laws"), (
                f"{id}: what the paper prints about it"
            )
            assert figure.setting.count("“") == figure.setting.count("”"), id


def test_a_claim_has_the_figures_that_show_it() -> None:
    found = index.related("brutzkus2019.theorem_6_3", papers.PAPERS)["figures"]
    assert "brutzkus2019.figure_1" in found
    assert "brutzkus2019.figure_2" not in found


def test_the_blank_table_of_a_claim_has_keys_and_texts() -> None:
    for claim in papers.claims_of():
        for clause in claim.clauses.values():
            assert re.fullmatch("[a-z][a-z0-9_]*", clause.key), f"{claim.id}: {clause.key}"
            assert clause.text.count("$") % 2 == 0, f"{claim.id}: {clause.text}"
        assert len(claim.title) <= 60, claim.id


def test_ids_are_unique_and_statements_say_something() -> None:
    ids = [*papers.claim_ids(), *papers.figure_ids()]
    assert len(set(ids)) == len(ids)
    for row in index.claim_rows(papers.PAPERS):
        assert len(row["statement"]) > 20, row["id"]
        assert row["where"], row["id"]


def test_remarks_speak_to_readers_and_name_claims() -> None:
    """What concerns arguments of a judge stands in a paragraph that begins with "In code:"."""
    rows = index.claim_rows(papers.PAPERS)
    assert sum(bool(row["remark"]) for row in rows) > 100
    for row in rows:
        names = re.findall("`([^`]+)`(?! in the details)", row["remark"])
        known = {*papers.claim_ids(), *papers.figure_ids()}
        assert {f"{row['paper']}.{name}" for name in names} <= known, row["id"]
        assert "In code" not in row["remark"], row["id"]
        assert "a control" not in row["remark"].lower(), row["id"]


def test_loading_every_room_starts_no_device() -> None:
    """Who only judges what is stored needs none, and a GPU would give its memory to a process that waits."""
    code = """
import sys
from widenet import papers
papers.claims_of(), papers.figures_of()
from jax._src import xla_bridge
sys.exit(len(xla_bridge._backends))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
