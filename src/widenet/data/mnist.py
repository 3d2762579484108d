"""MNIST, from the four original files that ship with the package.

The MNIST database of handwritten digits is the work of Yann LeCun, Corinna Cortes and Christopher J. C. Burges,
and is shared under CC BY-SA 3.0.
"""

import functools
import gzip
import hashlib
import importlib.resources
import struct
import zlib
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt8

from widenet.data.arrays import norm_allowance
from widenet.data.base import draw_rows
from widenet.errors import DataError
from widenet.types import Dataset, RunKey

Split = Literal["train", "test"]

# Of the uncompressed bytes: gzip files of the same content may differ.
RAW_SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
FILE_PREFIX = {"train": "train", "test": "t10k"}
UNSIGNED_BYTE = 0x08


class Digits(eqx.Module):
    """The images of two digits, the first one labelled +1, to draw from without replacement.

    Pixels stay bytes (a run draws a few thousand of ten thousand images), and `levels` says which number each byte
    stands for. Looking a number up gives the same bits on every device; dividing again might not.
    """

    images: UInt8[Array, "sample dim"]
    labels: Float[Array, " sample"]
    levels: Float[Array, " 256"]

    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n of the images, in random order, none of them twice."""
        return self.take(draw_rows(key, self.labels.shape[0], n_samples))

    def take(self, rows) -> Dataset:
        """The images of these rows."""
        return Dataset(self.levels[self.images[rows]], self.labels[rows])


def load_mnist(split: Split = "train") -> tuple[UInt8[np.ndarray, "sample 784"], UInt8[np.ndarray, " sample"]]:
    """All images (one row of 28 × 28 bytes each) and their digits.

    Raises:
      DataError: a file is missing or damaged.
    """
    if split not in FILE_PREFIX:
        raise DataError(f"MNIST has no split {split!r}; ask for 'train' or 'test'.")
    prefix = FILE_PREFIX[split]
    images = _read_idx(f"{prefix}-images-idx3-ubyte")
    labels = _read_idx(f"{prefix}-labels-idx1-ubyte")
    if len(images) != len(labels):
        raise DataError(f"MNIST's {split} split holds {len(images)} images and {len(labels)} labels.")
    return images.reshape(len(images), -1), labels


def load_digits(digits: tuple[int, int] = (3, 5), split: Split = "train") -> Digits:
    """All images of two digits, scaled so that every image of the pair in the training split has norm at most 1.

    The factor always comes from the training split, so train and test points live on the same scale.
    """
    first, second = digits
    if first == second or not {first, second} <= set(range(10)):
        raise DataError(f"digits must be two different numbers from 0 to 9, got {digits}.")
    images, labels = load_mnist(split)
    wanted = (labels == first) | (labels == second)
    signs = np.where(labels[wanted] == first, 1.0, -1.0)
    levels = np.arange(256) / (255 * _largest_norm((first, second)))
    return Digits(jnp.asarray(images[wanted]), jnp.asarray(signs), jnp.asarray(levels))


def load_mnist_pair(digits: tuple[int, int] = (3, 5), split: Split = "train") -> Dataset:
    """All images of two digits in the order of the file, the first digit labelled +1; see `load_digits`."""
    if not isinstance(digits, tuple | list) or len(digits) != 2:
        raise DataError(f"digits must be a pair such as (3, 5), got {digits!r}.")
    return load_digits((digits[0], digits[1]), split).take(slice(None))


def load_mnist35(n_train: int = 3000, n_test: int = 1000, seed: int = 0) -> tuple[Dataset, Dataset]:
    """3 against 5 as in brutzkus2018: both parts from the training files, 3 labelled +1, no image twice.

    The paper gives the sizes only. Which images: the first ones of a permutation by `numpy.random.default_rng(seed)`;
    classes come in the proportion in which they were drawn.
    """
    digits = load_digits((3, 5), "train")
    available = digits.labels.shape[0]
    if n_train < 1 or n_test < 1 or n_train + n_test > available:
        raise DataError(
            f"n_train = {n_train} and n_test = {n_test} must be at least 1 and together at most {available}, "
            "the number of threes and fives."
        )
    order = np.random.default_rng(seed).permutation(available)
    return digits.take(order[:n_train]), digits.take(order[n_train : n_train + n_test])


@functools.cache
def _largest_norm(digits: tuple[int, int]) -> float:
    """The largest norm among the training images of these digits, pixels from 0 to 1, rounded up."""
    images, labels = load_mnist("train")
    squares = np.square(images[np.isin(labels, digits)], dtype=np.int64).sum(axis=1)
    return float(np.sqrt(squares.max())) / 255 * norm_allowance(images.shape[1], np.float64)


@functools.cache
def _read_idx(name: str) -> UInt8[np.ndarray, "..."]:
    """One file of the format IDX: two zero bytes, the type, the number of axes, their lengths, the values."""
    raw = _read_raw(name)
    axes = raw[3]
    lengths = struct.unpack(f">{axes}I", raw[4 : 4 + 4 * axes])
    values = np.frombuffer(raw, np.uint8, offset=4 + 4 * axes)
    if raw[:3] != bytes([0, 0, UNSIGNED_BYTE]) or values.size != np.prod(lengths):
        raise DataError(f"the MNIST file {name}.gz has an unexpected header; install widenet again.")
    # What is cached is shared: frombuffer on bytes is read-only, so no caller can change it for the others.
    return values.reshape(lengths)


def _read_raw(name: str) -> bytes:
    path = importlib.resources.files("widenet.data").joinpath("files", f"{name}.gz")
    try:
        raw = gzip.decompress(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"the MNIST file {name}.gz is missing; install widenet again.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the MNIST file {name}.gz is damaged ({error}); install widenet again.") from error
    digest = hashlib.sha256(raw).hexdigest()
    if digest != RAW_SHA256[name]:
        raise DataError(
            f"the MNIST file {name}.gz is damaged: its SHA-256 is {digest[:12]}…, not {RAW_SHA256[name][:12]}…; "
            "install widenet again."
        )
    return raw
