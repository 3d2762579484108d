"""Data sets of all kinds, drawn by number: see `tools.drawn_data`.

Programs are compiled anew for every shape, so there are few of them: `SIZES` points in `DIMS` dimensions, and `WIDTHS`
neurons. Set number n is the same each time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Points = tuple[np.ndarray, np.ndarray]
Draw = np.random.Generator

SIZES = (1, 2, 4, 8)
DIMS = (1, 2, 4)

EDGES: dict[str, tuple[Any, ...]] = {
    "n_runs": (1, 2, 5),
    "slope": (1e-300, 1e-12, 0.5, 1 - 2**-53),
    "step_size": (5e-324, 1e-300, 1e-12, 1e-3, 1e3, 1e12, 1e100, 1e300),
    "required_margin": (5e-324, 1e-12, 1.0, 20.0, 1e12, 1e300),
    "diverse_only": (True,),
    "seed": (1, 2**31, 2**32 - 1),
}
WIDTHS = (2, 6, 200)
UPDATES = (1, 2, 30, 30, 30, 30, 100)
"""After which runs of SGD are cut off."""
UNBOUNDED = 0.01
"""In how many sets they go on as long as they do by default, which takes seconds."""


def size(draw: Draw, least: int = 1) -> int:
    """How many points."""
    return int(draw.choice([each for each in SIZES if each >= least]))


def dimension(draw: Draw, least: int = 1) -> int:
    """Of how many coordinates."""
    return int(draw.choice([each for each in DIMS if each >= least]))


def signs(draw: Draw, count: int) -> np.ndarray:
    """Labels by a coin."""
    return draw.choice([-1.0, 1.0], count)


def unit(points: np.ndarray) -> np.ndarray:
    """Every row divided by its norm; a row that is 0 becomes the first basis vector."""
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    first = np.eye(1, points.shape[1])
    return np.where(norms > 0, points / np.where(norms > 0, norms, 1.0), first)


def cloud(draw: Draw) -> Points:
    """Gaussian points, labelled by a coin: mostly not separable."""
    count = size(draw)
    return draw.normal(size=(count, dimension(draw))), signs(draw, count)


def at_margin(draw: Draw) -> Points:
    """Points of length 1 whose first coordinate, from 1e-14 to 1, decides the label."""
    return _at_margin(draw, size(draw))


def _at_margin(draw: Draw, count: int) -> Points:
    dim = dimension(draw, 2)
    margin = 10 ** draw.uniform(-14, 0)
    across = draw.normal(size=(count, dim - 1))
    across *= np.sqrt(1 - margin**2) / np.linalg.norm(across, axis=1, keepdims=True)
    labels = signs(draw, count)
    turn, _ = np.linalg.qr(draw.normal(size=(dim, dim)))
    return labels[:, None] * np.column_stack([np.full(count, margin), across]) @ turn, labels


def antipodal(draw: Draw) -> Points:
    """x and −x(1 + ε) under opposite labels; ε is 0, or from 1e-16 to 1e-2."""
    inputs, _ = _at_margin(draw, size(draw, 2) // 2)
    labels = np.where(inputs @ draw.normal(size=inputs.shape[1]) > 0, 1.0, -1.0)
    epsilon = draw.choice([0.0, 10 ** draw.uniform(-16, -2)])
    return np.concatenate([inputs, -inputs * (1 + epsilon)]), np.concatenate([labels, -labels])


def nearly_antipodal(draw: Draw) -> Points:
    """x and nearly −x under one label: separable by next to nothing."""
    point, across = draw.normal(size=(2, dimension(draw, 2)))
    other = -point + 10 ** draw.uniform(-16, -2) * across
    return np.stack([point, other]), np.full(2, draw.choice([-1.0, 1.0]))


def duplicates(draw: Draw) -> Points:
    """Few points, each several times; in one of four sets the labels contradict each other."""
    inputs, labels = at_margin(draw)
    again = draw.integers(0, len(labels), size(draw, 2))
    flips = np.where(draw.random(len(again)) < 0.2, -1.0, 1.0) if draw.random() < 0.25 else 1.0
    return inputs[again], labels[again] * flips


def one_point(draw: Draw) -> Points:
    """One point again and again, of one class."""
    count = size(draw)
    return np.tile(draw.normal(size=dimension(draw)), (count, 1)), np.full(count, draw.choice([-1.0, 1.0]))


def on_a_line(draw: Draw) -> Points:
    """Points of one line through 0, some of them 0."""
    count = size(draw, 2)
    places = draw.normal(size=count) * (draw.random(count) > draw.choice([0.0, 0.2]))
    labels = np.where(places > 0, 1.0, -1.0) if draw.random() < 0.7 else signs(draw, count)
    return places[:, None] * draw.normal(size=dimension(draw)), labels


def integers(draw: Draw) -> Points:
    """Small whole numbers: points on common lines, zeros, exact ties."""
    count, dim = size(draw, 2), dimension(draw)
    inputs = draw.integers(-2, 3, size=(count, dim)).astype(float)
    return inputs, np.where(inputs @ draw.integers(-2, 3, size=dim) > 0, 1.0, -1.0)


def basis(draw: Draw) -> Points:
    """Orthogonal points, where the bounds are nearly attained."""
    dim = dimension(draw)
    return np.eye(dim), signs(draw, dim)


def uneven(draw: Draw) -> Points:
    """Coordinates of very different sizes."""
    inputs, labels = at_margin(draw)
    return inputs * 10 ** draw.uniform(-60, 0, size=inputs.shape[1]), labels


def patterns(draw: Draw) -> Points:
    """Points of XORD: pairs of ±1, label +1 where (1, 1) or (−1, −1) occurs; sometimes one label is wrong."""
    count, pairs = size(draw, 2), int(draw.choice([1, 2, 4]))
    inputs = draw.choice([-1.0, 1.0], (count, pairs, 2))
    halves = draw.random(count) < 0.5
    inputs[halves, :, 1] = -inputs[halves, :, 0]
    labels = np.where((inputs[:, :, 0] == inputs[:, :, 1]).any(axis=1), 1.0, -1.0)
    if draw.random() < 0.2:
        labels[0] *= -1
    return inputs.reshape(count, -1), labels


def unit_rows(draw: Draw) -> Points:
    """Any of the kinds above, with norm 1."""
    inputs, labels = DIRECT[int(draw.integers(len(DIRECT)))](draw)
    return unit(inputs), labels


def clusters(draw: Draw) -> Points:
    """Unit vectors around four centres, two per label; their radius is 0, or from 1e-12 to 0.5."""
    count, dim = size(draw, 4), dimension(draw, 2)
    turn, _ = np.linalg.qr(draw.normal(size=(dim, dim)))
    centres = np.concatenate([turn[0], -turn[0], turn[1], -turn[1]]).reshape(4, dim)
    if draw.random() < 0.3:
        centres = unit(draw.normal(size=(4, dim)))
    radius = draw.choice([0.0, 10 ** draw.uniform(-12, -0.3)])
    which = np.arange(count) % 4 if draw.random() < 0.7 else draw.integers(0, 4, count)
    return unit(centres[which] + radius * draw.normal(size=(count, dim))), np.where(which < 2, 1.0, -1.0)


def near_pairs(draw: Draw) -> Points:
    """Unit vectors in pairs of different labels, from 0 to 0.1 apart."""
    half, dim = size(draw, 2) // 2, dimension(draw, 2)
    inputs = unit(draw.normal(size=(half, dim)))
    apart = draw.choice([0.0, 10 ** draw.uniform(-17, -1)])
    labels = signs(draw, half)
    others = unit(inputs + apart * draw.normal(size=(half, dim)))
    return np.concatenate([inputs, others]), np.concatenate([labels, -labels])


def polygon(draw: Draw) -> Points:
    """The corners of a regular polygon: labels in turn, by halves, or by a coin."""
    count = size(draw, 4)
    angles = 2 * np.pi * (np.arange(count) + draw.choice([0.0, draw.random()])) / count
    labels = [(-1.0) ** np.arange(count), np.where(np.arange(count) < count / 2, 1.0, -1.0), signs(draw, count)]
    return np.column_stack([np.cos(angles), np.sin(angles)]), labels[int(draw.integers(3))]


def several_classes(draw: Draw) -> Points:
    """Three or four classes, each a few clusters of directions, from 0 to 0.3 wide."""
    dim, n_classes, per_class = dimension(draw, 2), int(draw.choice([3, 4])), int(draw.choice([1, 2]))
    centres = unit(draw.normal(size=(n_classes * per_class, dim)))
    which = np.arange(8) % len(centres)
    wide = draw.choice([0.0, 10 ** draw.uniform(-14, -0.5)])
    return centres[which] + wide * draw.normal(size=(8, dim)), (which % n_classes).astype(float)


Kind = Callable[[Draw], Points]
DIRECT: tuple[Kind, ...] = (
    cloud, at_margin, antipodal, nearly_antipodal, duplicates, one_point, on_a_line, integers, basis,
)  # fmt: skip
AS_DRAWN: tuple[Kind, ...] = (patterns, unit_rows, clusters, near_pairs, polygon)
"""Kinds that some papers speak about only at the scale at which they are drawn."""
SHARES: dict[Kind, float] = {
    **dict.fromkeys((*DIRECT, uneven), 3.0),
    **dict.fromkeys((*AS_DRAWN, several_classes), 1.0),
}


def drawn(number: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any], str]:
    """Inputs, labels, choices and words of the data set with this number."""
    draw = np.random.default_rng([20182, number])
    kinds, shares = list(SHARES), np.array(list(SHARES.values()))
    kind = kinds[int(draw.choice(len(kinds), p=shares / shares.sum()))]
    inputs, labels = kind(draw)
    dtype = np.float32 if draw.random() < 1 / 3 else np.float64
    largest = 30 if dtype is np.float32 else 150
    stays = draw.random() < (0.9 if kind in AS_DRAWN else 0.3)
    exponent = 0.0 if stays else float(draw.uniform(-largest, largest))
    scaled = (inputs * 10.0**exponent).astype(dtype)
    choices = _choices(draw)
    words = f"{kind.__name__} {inputs.shape} {np.dtype(dtype).name} 1e{exponent:.0f} {choices}"
    return scaled, labels.astype(dtype), choices, words


def _choices(draw: Draw) -> dict[str, Any]:
    names = [name for name in EDGES if draw.random() < 0.25]
    choices = {name: EDGES[name][int(draw.integers(len(EDGES[name])))] for name in names}
    choices.setdefault("n_runs", 1)
    choices["n_neurons"] = int(draw.choice(WIDTHS, p=(0.4, 0.59, 0.01)))
    choices["max_updates"] = int(draw.choice(UPDATES))
    if draw.random() < UNBOUNDED:
        del choices["n_runs"], choices["n_neurons"], choices["max_updates"]
    return choices
