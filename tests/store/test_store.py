"""What a folder of cells does when all is well, and when a file or the folder is not."""

import errno
import io
import json
import logging
import os
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from widenet.errors import StoreError
from widenet.store import CellKey, Store, cells, default_root, directory

KEY = CellKey("paper.statement", {"width": 4}, version="1")
OTHER = CellKey("paper.statement", {"width": 5}, version="1")
ARRAYS = {"loss": np.linspace(0, 1, 50), "flags": np.array([True, False]), "names": np.array(["a", "βγ"])}
CONTENT = {"seconds": 1.5, "rows": [1, None, "x"]}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def written(store) -> Path:
    store.put(KEY, ARRAYS, CONTENT)
    return store.path(KEY)


def entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forge(path: Path, parts: dict[str, bytes]) -> None:
    """A file whose zip checksums are right, whatever it holds."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def npy(array, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def manifest_of(path: Path) -> dict:
    with np.load(path, allow_pickle=False) as arrays:
        return json.loads(arrays["manifest"].tobytes())


def test_round_trip(store, written):
    cell = store.get(KEY)
    assert (cell.key, cell.content) == (KEY, CONTENT)
    assert cell.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert cell.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(cell.arrays[name], array)


dtypes = st.one_of(hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.complex_number_dtypes(), hnp.boolean_dtypes())


@settings(deadline=None)
@given(hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, min_side=0)))
def test_arrays_come_back_byte_for_byte(array):
    back = cells.decode_cell(cells.encode_cell(KEY, {"a": array}, None), KEY.digest).arrays["a"]
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_equal_cells_are_equal_bytes():
    again = {name: array.copy() for name, array in ARRAYS.items()}
    assert cells.encode_cell(KEY, ARRAYS, CONTENT) == cells.encode_cell(KEY, again, CONTENT)


def test_content_and_arrays_keep_their_order(store):
    store.put(KEY, {"b": np.ones(1), "a": np.ones(1)}, {"z": {"y": 1, "x": 2}, "w": 3})
    assert list(store.get(KEY).arrays) == ["b", "a"]
    assert json.dumps(store.get(KEY).content) == '{"z": {"y": 1, "x": 2}, "w": 3}'


def test_a_cell_is_one_file_that_numpy_reads(store, written):
    assert written == store.root / KEY.digest[:2] / f"{KEY.digest}.npz"
    assert [path for path in store.root.rglob("*") if path.is_file()] == [written]
    with np.load(written, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["arrays/loss"], ARRAYS["loss"])
    manifest = manifest_of(written)
    assert manifest["key"] == KEY.as_json()
    assert manifest["arrays"]["loss"]["shape"] == [50]
    assert manifest["arrays"]["loss"]["dtype"] == "<f8"


def test_a_missing_cell_is_none_and_not_damaged(store):
    assert store.get(KEY) is None
    assert store.damaged == {}
    assert not store.root.exists()


def test_the_first_cell_is_kept(store, written):
    before = written.read_bytes()
    assert store.put(KEY, {"loss": np.zeros(3)}, "second") is False
    assert written.read_bytes() == before


@pytest.mark.parametrize(
    ("arrays", "content", "error"),
    [
        ({"a": np.array([object()])}, None, TypeError),
        ({"a": np.zeros(2, dtype=[("x", "f8")])}, None, TypeError),
        ({"a": np.ma.masked_array([1, 2], [True, False])}, None, TypeError),
        ({"../a": np.zeros(2)}, None, ValueError),
        ({"": np.zeros(2)}, None, ValueError),
        ({"a.npy": np.zeros(2)}, None, ValueError),
        ({}, {"a": float("nan")}, ValueError),
        ({}, {"a": object()}, TypeError),
    ],
)
def test_what_is_not_plain_is_refused_before_anything_is_written(store, arrays, content, error):
    with pytest.raises(error):
        store.put(KEY, arrays, content)
    assert not store.root.exists()


def test_an_array_may_have_the_name_of_a_numpy_argument(store):
    arrays = {"file": np.ones(1), "manifest": np.zeros(2), "allow_pickle": np.ones(3)}
    store.put(KEY, arrays)
    assert store.get(KEY).arrays.keys() == arrays.keys()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip_a_byte_of_an_array(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[data.index(ARRAYS["loss"].tobytes()) + 17] ^= 1
    path.write_bytes(data)


def change_an_array(path: Path) -> None:
    forge(path, entries(path) | {"arrays/loss.npy": npy(ARRAYS["loss"] + 1e-12)})


def change_a_shape(path: Path) -> None:
    forge(path, entries(path) | {"arrays/loss.npy": npy(ARRAYS["loss"].reshape(5, 10))})


def drop_an_array(path: Path) -> None:
    forge(path, {name: data for name, data in entries(path).items() if name != "arrays/loss.npy"})


def add_an_array(path: Path) -> None:
    forge(path, entries(path) | {"arrays/more.npy": npy(np.zeros(1))})


def edit_the_content(path: Path) -> None:
    text = json.dumps(manifest_of(path) | {"content": {"seconds": 0}}).encode()
    forge(path, entries(path) | {"manifest.npy": npy(np.frombuffer(text, np.uint8))})


def no_manifest(path: Path) -> None:
    forge(path, {name: data for name, data in entries(path).items() if name != "manifest.npy"})


def manifest_of_another_cell(path: Path) -> None:
    path.write_bytes(cells.encode_cell(OTHER, ARRAYS, CONTENT))


def manifest_that_is_no_object(path: Path) -> None:
    forge(path, entries(path) | {"manifest.npy": npy(np.frombuffer(b"[1]", np.uint8))})


DAMAGES = [
    truncate,
    empty,
    flip_a_byte_of_an_array,
    change_an_array,
    change_a_shape,
    drop_an_array,
    add_an_array,
    edit_the_content,
    no_manifest,
    manifest_of_another_cell,
    manifest_that_is_no_object,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_cell_counts_as_missing_and_is_redone(store, written, damage, caplog):
    whole = written.read_bytes()
    damage(written)
    broken = written.read_bytes()
    assert broken != whole
    with caplog.at_level(logging.WARNING):
        assert store.get(KEY) is None
    assert KEY.digest in store.damaged
    assert written.read_bytes() == broken, "reading never touches the file"
    assert store.put(KEY, ARRAYS, CONTENT) is True
    assert len(caplog.records) == 1
    assert written.read_bytes() == whole
    assert Store(store.root).get(KEY) is not None


def test_every_flipped_bit_is_found_or_harmless(store):
    # Zip has fields nobody reads (times, attributes); a flip there must leave the right cell.
    store.put(KEY, {"a": np.arange(3.0)}, "content")
    path = store.path(KEY)
    whole = path.read_bytes()
    found = 0
    for position in range(len(whole)):
        data = bytearray(whole)
        data[position] ^= 1 << position % 8
        try:
            cell = cells.decode_cell(bytes(data), KEY.digest)
        except cells.Damaged:
            found += 1
        else:
            assert cell.content == "content"
            np.testing.assert_array_equal(cell.arrays["a"], np.arange(3.0))
    assert found > len(whole) / 2


class Bomb:
    exploded = False

    def __reduce__(self):
        return (setattr, (Bomb, "exploded", True))


@pytest.mark.parametrize("entry", ["arrays/loss.npy", "manifest.npy"])
def test_a_pickle_in_the_file_is_damage_and_is_never_run(store, written, entry):
    forge(written, entries(written) | {entry: npy(np.array([Bomb()], dtype=object), allow_pickle=True)})
    assert store.get(KEY) is None
    assert "allow_pickle=False" in store.damaged[KEY.digest]
    assert not Bomb.exploded


def test_control_the_bomb_is_live(written):
    forge(written, {"a.npy": npy(np.array([Bomb()], dtype=object), allow_pickle=True)})
    with np.load(written, allow_pickle=True) as arrays:
        _ = arrays["a"]
    assert Bomb.exploded
    Bomb.exploded = False


@pytest.mark.parametrize("damage", [change_an_array, change_a_shape], ids=lambda damage: damage.__name__)
def test_control_without_checksums_a_changed_array_is_believed(store, written, damage, monkeypatch):
    monkeypatch.setattr(cells, "verify", lambda *_: None)
    damage(written)
    cell = store.get(KEY)
    assert cell is not None
    assert not np.array_equal(cell.arrays["loss"], ARRAYS["loss"])


def test_a_stray_temporary_file_is_swept_after_a_day(store, written):
    old, young = written.parent / ".old.tmp", written.parent / ".young.tmp"
    for stray, hours in ((old, 25), (young, 23)):
        stray.write_bytes(b"half a cell")
        then = time.time() - hours * 3600
        os.utime(stray, (then, then))
    written.unlink()
    store.put(KEY, ARRAYS, CONTENT)
    assert (old.exists(), young.exists()) == (False, True)


def fail_with(number: int):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


def test_a_root_that_cannot_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    store = Store(tmp_path / "file" / "store")
    assert store.get(KEY) is None
    for write in (lambda: store.put(KEY, ARRAYS), store.require_writable):
        with pytest.raises(StoreError) as caught:
            write()
        assert str(caught.value) == (
            f"cannot write results to {store.root}: not a directory; "
            "set WIDENET_STORE to a folder that you can write to."
        )


@pytest.mark.parametrize(
    ("call", "number", "words"),
    [
        ((directory.os, "fsync"), errno.ENOSPC, "no space left on device; free some space there or set"),
        ((Path, "open"), errno.EROFS, "read-only file system; set WIDENET_STORE"),
        ((Path, "mkdir"), errno.EACCES, "permission denied; set WIDENET_STORE"),
        ((Path, "replace"), errno.EDQUOT, "free some space there or set WIDENET_STORE"),
    ],
)
def test_a_failing_write_is_one_sentence_and_leaves_nothing(store, monkeypatch, call, number, words):
    with monkeypatch.context() as patch:
        patch.setattr(store, "get", lambda _: None)  # it opens files too
        patch.setattr(*call, fail_with(number))
        with pytest.raises(StoreError, match=words) as caught:
            store.put(KEY, ARRAYS, CONTENT)
    assert str(store.root) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [path for path in store.root.rglob("*") if path.is_file()] == []
    assert store.put(KEY, ARRAYS, CONTENT) is True


def test_an_interrupted_write_leaves_nothing(store, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(directory.os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.put(KEY, ARRAYS)
    assert [path for path in store.root.rglob("*") if path.is_file()] == []


def test_a_file_that_cannot_be_read_is_an_error_not_a_miss(store, written, monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", fail_with(errno.EACCES))
    with pytest.raises(StoreError, match="permission denied"):
        store.get(KEY)


def test_a_file_system_that_cannot_sync_folders_will_do(store, monkeypatch):
    sync = os.fsync

    def files_only(handle):
        if Path(f"/proc/self/fd/{handle}").resolve().is_dir():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        sync(handle)

    monkeypatch.setattr(directory.os, "fsync", files_only)
    assert store.put(KEY, ARRAYS) is True
    assert store.get(KEY) is not None


def test_require_writable_leaves_nothing(store):
    store.require_writable()
    assert list(store.root.iterdir()) == []


def test_default_root(monkeypatch, tmp_path):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path))
    assert default_root() == tmp_path
    monkeypatch.setenv("WIDENET_STORE", "")
    assert default_root().parts[-2:] == ("widenet", "store")
