import numpy as np
import pytest
import xarray as xr

from widenet.store import CellKey, Store
from widenet.store.datasets import decode_dataset, encode_dataset

KEY = CellKey("paper.figure", {}, version="1")

FULL = xr.Dataset(
    {
        "error": (("width", "run"), np.array([[0.1, np.nan, -0.0], [np.inf, 2.0, 3.0]]), {"unit": "none"}),
        "steps": ("width", np.array([3, 4], dtype=np.int32)),
        "slope": np.float32(0.1),
        "done": ("run", np.array([True, False, True])),
        "status": ("run", np.array(["converged", "βγ", ""])),
    },
    coords={
        "width": ("width", [4, 8], {"long_name": "neurons"}),
        "optimizer": ("run", np.array(["sgd", "adam", "sgd"])),
        "scheme": "uniform",
    },
    attrs={"sizes": [1, 2], "note": "a note", "nothing": None, "nested": {"rate": 0.5}},
)


def assert_same(found: xr.Dataset, expected: xr.Dataset) -> None:
    xr.testing.assert_identical(found, expected)
    assert list(found.data_vars) == list(expected.data_vars)
    assert set(found.coords) == set(expected.coords)
    assert set(found.xindexes) == set(expected.xindexes)
    for name in expected.variables:
        assert found[name].dtype == expected[name].dtype
        assert found[name].values.tobytes() == expected[name].values.tobytes()


@pytest.mark.parametrize(
    "dataset",
    [FULL, xr.Dataset(), FULL.isel(run=slice(0, 0)), FULL.transpose("run", "width"), FULL.isel(width=0)],
    ids=["full", "nothing", "no runs", "transposed", "scalar coordinate"],
)
def test_a_data_set_comes_back_exactly(tmp_path, dataset):
    arrays, layout = encode_dataset(dataset)
    store = Store(tmp_path)
    store.put(KEY, arrays, layout)
    cell = store.get(KEY)
    assert cell is not None
    assert_same(decode_dataset(cell.arrays, cell.content), dataset)


def test_text_kept_as_objects_comes_back_as_text():
    arrays, layout = encode_dataset(xr.Dataset({"name": ("x", np.array(["a", "bc"], dtype=object))}))
    back = decode_dataset(arrays, layout)
    assert back["name"].dtype.kind == "U"
    assert back["name"].values.tolist() == ["a", "bc"]


def test_a_tuple_attribute_comes_back_as_a_list():
    back = decode_dataset(*encode_dataset(xr.Dataset(attrs={"widths": (4, 8)})))
    assert back.attrs == {"widths": [4, 8]}


@pytest.mark.parametrize(
    ("dataset", "error", "words"),
    [
        (xr.Dataset({"a": ("x", np.array([{}], dtype=object))}), TypeError, "'a' must hold booleans"),
        (xr.Dataset({1: ("x", [1.0])}), TypeError, "name must be a string"),
        (xr.Dataset(attrs={"n": np.int64(3)}), TypeError, "attrs.n must be a JSON value"),
        (xr.Dataset(attrs={"limit": float("inf")}), ValueError, "attrs.limit must be finite"),
    ],
)
def test_what_would_not_come_back_is_refused(dataset, error, words):
    with pytest.raises(error, match=words):
        encode_dataset(dataset)
