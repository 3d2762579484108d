"""What an earlier report found is found again exactly, and only while nothing that it depends on has changed."""

import dataclasses
import datetime
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from tests.packages import TOY
from tests.packages.toy2020.runs.numbers import LOG
from tests.report.fake_outcomes import FIGURE, FINDING, HOLDING, MOVING, STEP, TREND, UNMET, VACUOUS, drawn
from widenet import papers
from widenet.console.wording import in_short
from widenet.figures import archive
from widenet.records import Scale
from widenet.run import Cells, FigureOutcome, InProcess, Plan, Unwatched, kept, plan, reach
from widenet.run.kept import Kept
from widenet.store import Store

TOY_FOLDER = Path(__file__).parents[1] / "packages" / "toy2020"
CLAIMS = (STEP, HOLDING, FINDING, UNMET, VACUOUS, TREND)


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch, tmp_path):
    monkeypatch.setattr(papers, "PAPERS", (TOY,))
    (tmp_path / "log").touch()
    monkeypatch.setenv(LOG, str(tmp_path / "log"))


@pytest.fixture
def worked(monkeypatch):
    """The ids of what was judged, reduced and drawn."""
    done = []
    for name in ("judge", "show"):
        original = getattr(plan, name)
        monkeypatch.setattr(plan, name, lambda item, *rest, f=original: (done.append(item.id), f(item, *rest))[1])
    for name, words in (("picture_files", "drawing of"), ("archived_files", "paper-scale drawing of")):
        original = getattr(plan.plots, name)

        def drawing(*arguments, f=original, words=words):
            done.append(f"{words} {arguments[1]}")
            return f(*arguments)

        monkeypatch.setattr(plan.plots, name, drawing)
    return done


def report(root, **options):
    cells = Cells(Store(root), InProcess(), **options)
    return Plan(CLAIMS, (FIGURE, MOVING), Scale.QUICK, 0, cells, Kept(cells)).carry_out(Unwatched(), in_short)


def without(root):
    cells = Cells(Store(root), InProcess())
    return Plan(CLAIMS, (FIGURE, MOVING), Scale.QUICK, 0, cells).carry_out(Unwatched(), in_short)


EVERYTHING = {*(each.id for each in CLAIMS), FIGURE.id, MOVING.id, f"drawing of {FIGURE.id}", f"drawing of {MOVING.id}"}


def test_the_second_report_works_nothing_and_finds_the_same(tmp_path, worked):
    report(tmp_path)
    assert set(worked) == EVERYTHING
    worked.clear()
    again = report(tmp_path)
    assert worked == []
    fresh = without(tmp_path)
    for one, other in zip(again.checks, fresh.checks, strict=True):
        assert one.claim is other.claim
        assert one.evidence == other.evidence
        timeless = dataclasses.replace(other.circumstances, seconds=one.circumstances.seconds)
        assert one.circumstances == (other.circumstances if one.claim.reads else timeless)
    for one, other in zip(again.figures, fresh.figures, strict=True):
        xr.testing.assert_identical(one.numbers, other.numbers)
        assert (one.comparisons, one.circumstances) == (other.comparisons, other.circumstances)
    assert again.files.keys() == fresh.files.keys()
    for id, files in fresh.files.items():
        assert again.files[id].keys() == files.keys()
        for name, content in files.items():
            assert again.files[id][name] == content or name.endswith(".pdf"), name


def test_reading_no_cell(tmp_path, monkeypatch):
    report(tmp_path)
    monkeypatch.setattr(Cells, "read", lambda *_: pytest.fail("a cell was read"))
    assert len(report(tmp_path).checks) == len(CLAIMS)


def test_fresh_judges_again(tmp_path, worked):
    report(tmp_path)
    worked.clear()
    report(tmp_path, fresh=True)
    assert set(worked) == EVERYTHING


def test_another_source_is_noticed(tmp_path, monkeypatch, worked):
    report(tmp_path)
    worked.clear()
    digest = kept.source_digest
    monkeypatch.setattr(
        kept, "source_digest", lambda names: digest(names) + ("edited" if ".claims." in names[0] else "")
    )
    report(tmp_path)
    assert set(worked) == {each.id for each in CLAIMS}
    worked.clear()
    monkeypatch.setattr(
        kept, "source_digest", lambda names: digest(names) + ("edited" if ".drawings.moving" in names[0] else "")
    )
    report(tmp_path)
    assert set(worked) == {*(each.id for each in CLAIMS), f"drawing of {MOVING.id}"}


def test_another_library_is_noticed(tmp_path, monkeypatch, worked):
    report(tmp_path)
    worked.clear()
    monkeypatch.setattr(kept, "_versions", lambda: ("another",))
    report(tmp_path)
    assert set(worked) == EVERYTHING


def test_a_cell_with_another_content_is_noticed(tmp_path, worked):
    report(tmp_path)
    worked.clear()
    store = Store(tmp_path)
    (task,) = [task for group in plan.tasks_of(FIGURE.reads, Scale.QUICK, 0) for task in group]
    cell = store.get(task.key)
    assert cell is not None
    arrays = {name: array + 0.25 if array.dtype.kind == "f" else array for name, array in cell.arrays.items()}
    store.put(task.key, arrays, cell.content, replace=True)
    changed = report(tmp_path)
    assert set(worked) == {FIGURE.id, MOVING.id, f"drawing of {FIGURE.id}", f"drawing of {MOVING.id}"}
    worked.clear()
    assert json.dumps(report(tmp_path).rows()) == json.dumps(changed.rows())
    assert worked == []


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Writes an archive of the figure with its measured numbers moved."""
    monkeypatch.setattr(archive, "PAPERS", tmp_path / "papers")
    outcome = drawn()

    def ship(move, left_out=()):
        numbers = outcome.numbers.map(lambda each: each + move if each.dtype.kind == "f" else each, keep_attrs=True)
        circumstances = outcome.circumstances.row()
        made = archive.archive(FIGURE.id, numbers, outcome.comparisons, circumstances, datetime.date(2026, 1, 2))
        made = made.model_copy(update={"left_out": left_out})
        path = archive.place_of(FIGURE.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made.to_bytes())

    return ship


def test_a_replaced_archive_is_drawn_again_and_nothing_else(tmp_path, worked, shipped):
    at_paper_scale, panels = f"paper-scale drawing of {FIGURE.id}", f"{FIGURE.id}.paper.panels.json"
    shipped(0.0)
    first = report(tmp_path)
    assert set(worked) == EVERYTHING | {at_paper_scale}
    worked.clear()
    assert report(tmp_path).files[FIGURE.id][panels] == first.files[FIGURE.id][panels]
    assert worked == []
    shipped(0.25)
    again = report(tmp_path)
    assert worked == [at_paper_scale]
    assert again.files[FIGURE.id][panels] != first.files[FIGURE.id][panels]
    worked.clear()
    archive.place_of(FIGURE.id).unlink()
    assert panels not in report(tmp_path).files[FIGURE.id]
    assert worked == []


def test_an_archive_is_drawn_for_a_report_alone(tmp_path, worked, shipped):
    shipped(0.0)
    assert f"{FIGURE.id}.paper.panels.json" not in without(tmp_path).files[FIGURE.id]
    assert set(worked) == EVERYTHING
    shipped(0.0, left_out=("curves",))
    assert f"{FIGURE.id}.paper.panels.json" in report(tmp_path).files[FIGURE.id]


def test_damage_is_found_and_mended(tmp_path, worked):
    first = report(tmp_path)
    files = sorted(Store(tmp_path).outcomes.rglob("*.npz"))
    assert len(files) == len(CLAIMS) + 2 + 3
    for place, file in enumerate(files):
        content = file.read_bytes()
        third = len(content) // 3
        zeros = content[:third] + bytes(third) + content[2 * third :]
        file.write_bytes(zeros if place % 2 else content[:100])
    worked.clear()
    again = report(tmp_path)
    assert set(worked) == EVERYTHING
    assert [each.evidence for each in again.checks] == [each.evidence for each in first.checks]
    worked.clear()
    report(tmp_path)
    assert worked == []


def test_what_would_not_come_back_is_not_kept(tmp_path, worked, monkeypatch):
    monkeypatch.setattr(kept, "_is_same", lambda *_: False)
    report(tmp_path)
    worked.clear()
    report(tmp_path)
    assert set(worked) >= {each.id for each in CLAIMS}


def test_numbers_keep_their_types(tmp_path):
    cells = Cells(Store(tmp_path), InProcess())
    outcome = plan.show(FIGURE, Scale.QUICK, 0, cells)
    attributes = {"size": np.int64(3), "rate": np.float64(0.1), "steps": [1, 2], "bound": np.inf}
    numbers = outcome.numbers.assign_attrs(attributes)
    shown, where = dataclasses.replace(outcome, numbers=numbers), Kept(cells)
    place = where.place_of(FIGURE, Scale.QUICK, 0)
    assert place is not None
    where.keep(shown, place)
    back = where.find(FIGURE, place, Scale.QUICK, 0)
    assert isinstance(back, FigureOutcome)
    assert back.numbers.equals(numbers)
    assert dict(back.numbers.attrs) == dict(numbers.attrs)


def test_an_edited_file_has_another_digest(tmp_path, monkeypatch):
    package = tmp_path / "other2021"
    shutil.copytree(TOY_FOLDER, package)
    for path in package.rglob("*.py"):
        path.write_text(path.read_text().replace("tests.packages.toy2020", "other2021"))
    monkeypatch.syspath_prepend(str(tmp_path))
    module = ("other2021.claims.theorems",)
    digests = (reach._digest_of_sources, reach._own_folders, reach._file_digest)
    caches = (*digests, reach._imported, reach._read, reach._find)
    before = reach.source_digest(module)
    assert before == reach.source_digest(module)
    for each in caches:
        each.cache_clear()
    file = package / "claims" / "theorems.py"
    file.write_text(file.read_text() + "\n# edited\n")
    after = reach.source_digest(module)
    assert after != before
    for each in caches:
        each.cache_clear()
    below = package / "runs" / "numbers.py"
    below.write_text(below.read_text().replace("start", "begin"))
    assert reach.source_digest(module) != after
