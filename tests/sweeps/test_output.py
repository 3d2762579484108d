"""`--plot` and `--export`: what is finished as a picture and as files of other programs."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

import widenet as wn
from tests.sweeps.conftest import PRODUCTS
from widenet.cli import app
from widenet.errors import InputError, StoreError
from widenet.store import Store
from widenet.sweeps import export
from widenet.sweeps.drawing import picture_of

SIX = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]


def words_on(numbers: xr.Dataset) -> str:
    """All text of a picture."""
    from matplotlib.text import Text

    sheet = picture_of(numbers, "toy").drawing()
    sheet.draw_without_rendering()
    return "\n".join(each.get_text() for each in sheet.findobj(Text))


def meshes_on(numbers: xr.Dataset) -> list:
    from matplotlib.collections import QuadMesh

    found: list[Any] = picture_of(numbers, "toy").drawing().findobj(QuadMesh)
    return [each for each in found if each.get_array().ndim == 2]


def test_one_axis_is_a_curve(store):
    found = wn.sweep(PRODUCTS, store=store, factor=SIX)
    assert "toy: product" in words_on(found)
    assert "the median of 3 runs" in words_on(found)


def test_two_axes_are_a_family_or_a_map(store):
    family = wn.sweep(PRODUCTS, store=store, factor=SIX, size=[2, 3])
    assert "product, a line per size" in words_on(family)
    found = wn.sweep(PRODUCTS, store=store, factor=SIX, size=[2, 3, 4, 5, 6, 7])
    (mesh, *_) = meshes_on(found)
    assert mesh.get_array().shape == (6, 6)
    expected = found["product"].transpose("factor", "size", "run").median("run")
    assert {expected.shape} == {(6, 6)}
    assert sorted(mesh.get_array().ravel().tolist()) == sorted(expected.values.ravel().tolist())


def test_points_that_failed_are_marked(store, trouble):
    trouble.write_text("4.0 99\n")
    found = wn.sweep(PRODUCTS, store=store, factor=SIX)
    assert "Grey crosses: 1 failed points" in words_on(found)
    found = wn.sweep(PRODUCTS, store=store, factor=SIX, size=[2, 3, 4, 5, 6, 7])
    assert "Hatched: 6 failed points" in words_on(found)
    assert meshes_on(found)[0].get_array().mask.sum() == 6


def test_verdicts_and_promises_are_told(store):
    found = wn.sweep("brutzkus2018.theorem_2", store=store, n_neurons=[4, 8], n_runs=2, look="updates")
    words = words_on(found)
    assert "The claim: ● it holds (2). Black line: what is promised." in words
    assert "tightness" in words


def claimed(axes: dict[str, list], **columns) -> xr.Dataset:
    """A sweep of a claim whose points are finished, with these numbers at all of them."""
    shape, names = tuple(map(len, axes.values())), list(axes)
    words = {"state": "finished", "why": "", "verdict": "HOLDS", "unmet": "", "warning": ""}
    fixed = {name: (names, np.full(shape, word, object)) for name, word in words.items()}
    given = {name: (names, np.broadcast_to(np.array(values, float), shape).copy()) for name, values in columns.items()}
    return xr.Dataset({**fixed, "vacuous": (names, np.zeros(shape)), **given}, axes)


@pytest.mark.parametrize(
    ("measured", "kept", "said"),
    [
        ([3, 2, 9], [1, 1, 0], "loss; promised: at most the black line"),
        ([7, 5, 2], [1, 1, 0], "loss; promised: at least the black line"),
        ([5, 5, 2], [1, 1, 0], "loss"),
    ],
    ids=["at most", "at least", "not known"],
)
def test_the_side_of_the_line_on_which_a_promise_is_kept_is_told(measured, kept, said):
    found = claimed({"n": [1, 2, 3]}, loss=measured, loss_promised=5, loss_kept=kept)
    assert said in words_on(found).split("\n")


def test_points_without_a_number_are_told_beside_those_that_are_missing():
    side = list(range(1, 7))
    holes = np.where(np.eye(6, dtype=bool), np.nan, 1.0)
    found = claimed({"n": side, "k": side}, loss=holes)
    assert "Hatched: finished points without this number." in words_on(found)
    found.state[0, 1] = "missing"
    assert "Hatched: 1 missing points, finished points without this number." in words_on(found)
    assert "Hatched" not in words_on(claimed({"n": side, "k": side}, loss=1))


def test_nothing_to_draw_is_one_sentence(store):
    with pytest.raises(InputError, match="nothing of this sweep is finished yet"):
        picture_of(wn.load({"of": PRODUCTS, "over": {"factor": [1.0]}}, store=store), "toy")
    with pytest.raises(InputError, match="a sweep of one point"):
        picture_of(wn.sweep(PRODUCTS, store=store), "toy")


def test_files_have_the_numbers(store, tmp_path):
    found = wn.sweep(PRODUCTS, store=store, factor=[0.5, 1.0], size=[2, 3])
    table = pd.read_csv(export.write_numbers(found, tmp_path / "a.csv"))
    assert list(table.columns[:3]) == ["factor", "size", "run"]
    assert len(table) == 12
    row = table.query("factor == 0.5 and size == 3 and run == 2").iloc[0]
    assert row["product"] == found["product"].sel(factor=0.5, size=3).values[2]
    read = xr.load_dataset(export.write_numbers(found, tmp_path / "a.nc"), engine="scipy")
    assert read["product"].equals(found["product"])
    assert (read.state == "finished").all()


def test_the_command_draws_and_exports_what_is_finished(tmp_path, monkeypatch, log):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    spec = tmp_path / "a.toml"
    spec.write_text(f'of = "{PRODUCTS}"\n[over]\nfactor = {SIX}\nsize = [2, 3, 4]\n')

    def invoke(*arguments):
        return CliRunner().invoke(app, ["sweep", str(spec), *map(str, arguments)], prog_name="widenet")

    assert "nothing of this sweep is finished yet" in invoke("--plot", tmp_path / "a.png").stderr
    invoke("--dry-run")
    begun = len(log.counts())
    answer = invoke("--plot", tmp_path / "a.png", "--export", tmp_path / "a.csv")
    assert answer.exit_code == 0, answer.output
    assert len(log.counts()) == begun < 18
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert set(pd.read_csv(tmp_path / "a.csv").state) == {"finished", "missing"}
    assert "--plot draws .svg, .pdf, .png, got" in invoke("--plot", "a.jpg").stderr
    assert "--export writes .nc, .parquet or .csv" in invoke("--export", "a.xlsx").stderr


def test_parquet_without_pyarrow_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="needs pyarrow; run pip install pyarrow"):
        export.require_form(tmp_path / "a.parquet")


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path, store: Store):
    found = wn.sweep(PRODUCTS, store=store, factor=[0.5])
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write to"):
        export.write_numbers(found, tmp_path / "file" / "a.csv")


def test_whole_numbers_over_32_bits_are_floats_in_netcdf_and_text_beyond_those(tmp_path):
    large = xr.Dataset({"x": ("seed", [1.0, 2.0])}, {"seed": [1, 2**40 + 1]})
    path = export.write_numbers(large, tmp_path / "a.nc")
    with xr.open_dataset(path, engine="scipy") as found:
        assert found.seed.values.tolist() == [1.0, 2.0**40 + 1]
    huge = large.assign_coords(seed=[1, 2**62 + 1])
    path = export.write_numbers(huge, tmp_path / "b.nc")
    with xr.open_dataset(path, engine="scipy") as found:
        assert [str(each) for each in found.seed.values.astype(str)] == ["1", str(2**62 + 1)]


def test_parquet_has_a_row_per_run(tmp_path, store: Store):
    parquet = pytest.importorskip("pyarrow.parquet", reason="an optional dependency")
    found = wn.sweep(PRODUCTS, store=store, factor=[0.5, 1.0], n_runs=2)
    path = export.write_numbers(found, export.require_form(tmp_path / "a.parquet"))
    rows = parquet.read_table(path).to_pandas()
    assert rows[["factor", "run"]].to_numpy().tolist() == [[0.5, 0], [0.5, 1], [1.0, 0], [1.0, 1]]
    np.testing.assert_array_equal(rows["product"], found["product"].values.ravel())
    assert rows["state"].tolist() == ["finished"] * 4


def hatched_on(numbers: xr.Dataset) -> int:
    """How many coloured cells of a map are hatched."""
    from matplotlib.collections import PatchCollection

    found: list[Any] = picture_of(numbers, "toy").drawing().findobj(PatchCollection)
    return sum(len(each.get_paths()) for each in found if each.get_hatch())


def test_a_cell_of_a_map_is_hatched_where_one_of_its_points_is_missing():
    side = list(range(1, 7))
    found = claimed({"n": side, "k": side, "seed": [0, 1]}, loss=1)
    assert hatched_on(found) == 0
    found.state[0, 1, 1] = found.state[2, 3, 0] = "missing"
    found.loss[0, 1, 1] = found.loss[2, 3, 0] = np.nan
    found.loss[4, 4] = np.nan
    assert hatched_on(found) == 2, "the third has no colour"
    assert meshes_on(found)[0].get_array().mask.sum() == 1
    assert "Hatched: 2 missing points, finished points without this number." in words_on(found)


def test_curves_tell_points_without_a_number_and_absent_lines():
    found = claimed({"of": ["a", "b"], "n": [1, 2, 3]}, loss=[[1, np.nan, 3], [np.nan] * 3])
    found.verdict[0, 1] = found.verdict[1] = "INSUFFICIENT_EVIDENCE"
    words = words_on(found)
    assert "Grey crosses: finished points without this number. No line of loss: b." in words
    assert "No line" not in words_on(claimed({"of": ["a", "b"], "n": [1, 2, 3]}, loss=1))
