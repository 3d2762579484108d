import gzip
import importlib.resources

import numpy as np
import pytest

from widenet.data import load_digits, load_mnist, load_mnist35, load_mnist_pair, mnist
from widenet.errors import DataError


def test_the_files_are_the_original_ones():
    images, labels = load_mnist("train")
    assert images.shape == (60_000, 784)
    assert labels[:5].tolist() == [5, 0, 4, 1, 9]
    images, labels = load_mnist("test")
    assert images.shape == (10_000, 784)
    assert labels[:5].tolist() == [7, 2, 1, 0, 4]


def test_what_is_cached_cannot_be_changed():
    images, _ = load_mnist("test")
    with pytest.raises(ValueError, match="read-only"):
        images[0, 0] = 1


def test_a_pair_is_scaled_by_its_longest_training_image():
    images, labels = load_mnist("train")
    wanted = np.isin(labels, (3, 5))
    largest = np.linalg.norm(images[wanted] / 255.0, axis=1).max()
    pair = load_mnist_pair((3, 5))
    np.testing.assert_allclose(pair.inputs[:50], images[wanted][:50] / 255.0 / largest, rtol=1e-12)
    assert np.linalg.norm(pair.inputs, axis=1).max() == pytest.approx(1, abs=1e-12)
    np.testing.assert_array_equal(pair.labels, np.where(labels[wanted] == 3, 1, -1))


def test_the_order_of_the_digits_is_the_sign():
    np.testing.assert_array_equal(load_mnist_pair((3, 5), "test").labels, -load_mnist_pair((5, 3), "test").labels)


def test_mnist35_is_the_split_of_the_recipe():
    train, test = load_mnist35()
    assert (train.inputs.shape, test.inputs.shape) == ((3000, 784), (1000, 784))
    order = np.random.default_rng(0).permutation(11_552)
    pair = load_mnist_pair((3, 5))
    np.testing.assert_array_equal(train.inputs[:9], pair.inputs[order[:9]])
    np.testing.assert_array_equal(test.labels, pair.labels[order[3000:4000]])
    assert np.mean(np.asarray(train.labels) > 0) == pytest.approx(0.53, abs=0.02)


def test_control_another_seed_is_another_split():
    one, other = load_mnist35(50, 10, seed=0)[0], load_mnist35(50, 10, seed=1)[0]
    assert not np.array_equal(one.inputs, other.inputs)


@pytest.fixture
def other_files(monkeypatch, tmp_path):
    """An installation whose files are the test's own."""
    (tmp_path / "files").mkdir()
    mnist._read_idx.cache_clear()
    monkeypatch.setattr(importlib.resources, "files", lambda package: tmp_path)
    yield tmp_path / "files"
    mnist._read_idx.cache_clear()


def test_a_changed_file_is_refused(other_files):
    (other_files / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(100)))
    with pytest.raises(DataError, match=r"t10k-images-idx3-ubyte.gz is damaged: its SHA-256 is .* install widenet"):
        load_mnist("test")


def test_a_truncated_file_is_refused(other_files):
    (other_files / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(100))[:20])
    with pytest.raises(DataError, match="is damaged"):
        load_mnist("test")


def test_a_file_that_is_no_archive_is_refused(other_files):
    (other_files / "t10k-images-idx3-ubyte.gz").write_bytes(b"<html>not found</html>")
    with pytest.raises(DataError, match="is damaged"):
        load_mnist("test")


def test_a_missing_file_is_named(other_files):
    with pytest.raises(DataError, match=r"t10k-images-idx3-ubyte.gz is missing"):
        load_mnist("test")


def test_a_wrong_header_is_refused(other_files, monkeypatch):
    monkeypatch.setattr(mnist, "_read_raw", lambda name: bytes([0, 0, 8, 1]) + (5).to_bytes(4, "big") + bytes(3))
    with pytest.raises(DataError, match="unexpected header"):
        load_mnist("test")


@pytest.mark.parametrize("digits", [(3, 3), (3, 10), (-1, 2)])
def test_impossible_digits_are_refused(digits):
    with pytest.raises(DataError, match="two different numbers from 0 to 9"):
        load_digits(digits)


@pytest.mark.parametrize("sizes", [(0, 10), (10, 0), (11_000, 1000)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(DataError, match="together at most 11552"):
        load_mnist35(*sizes)
