"""Tables with classes, drawn by number: see `tools.drawn_facts`. Table number n is the same each time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Draw = np.random.Generator
LARGE_EVERY = 100
"""One table of so many has 20,001 to 60,000 rows."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A table.

    Attributes:
      inputs, labels: its points, and their classes in words.
      scaling: "auto", "ball" or "none".
      words: what it is.
    """

    inputs: np.ndarray
    labels: np.ndarray
    scaling: str
    words: str


def size(draw: Draw, is_large: bool) -> tuple[int, int]:
    """How many rows and columns."""
    if is_large:
        return int(draw.integers(20_001, 60_001)), int(draw.integers(2, 8))
    return int(np.exp(draw.uniform(np.log(2), np.log(600)))), int(draw.integers(1, 9))


def apart(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on two sides of a plane that may pass through the origin, with a gap around it."""
    inputs, normal = draw.normal(size=(rows, columns)), draw.normal(size=columns)
    normal /= np.linalg.norm(normal)
    offset, gap = draw.choice([0.0, 0.3, 2.0, 30.0]), 10 ** draw.uniform(-3, 0)
    places = inputs @ normal
    signs = np.where(places > 0, 1.0, -1.0)
    return inputs + np.outer(signs * gap - offset, normal), signs > 0


def one_flipped(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The same with one wrong label."""
    inputs, labels = apart(draw, rows, columns)
    labels = labels.copy()
    row = draw.integers(rows)
    labels[row] = not labels[row]
    return inputs, labels


def mixed(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that overlap."""
    labels = draw.random(rows) < 0.5
    return draw.normal(size=(rows, columns)) + np.where(labels, draw.uniform(0, 3), 0.0)[:, None], labels


def rare(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Ninety-nine to one, apart or not."""
    labels = draw.random(rows) < 0.01
    return draw.normal(size=(rows, columns)) + np.where(labels, draw.choice([1.0, 9.0]), 0.0)[:, None], labels


def repeated(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Few points, each several times."""
    inputs, labels = apart(draw, max(2, rows // 4), columns)
    again = draw.integers(len(labels), size=rows)
    return inputs[again], labels[again]


def contradicting(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The same, where some have both labels."""
    inputs, labels = repeated(draw, rows, columns)
    return inputs, np.where(draw.random(rows) < draw.choice([0.02, 0.3]), ~labels, labels)


def wide(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """More columns than rows."""
    rows = min(rows, 40)
    return draw.normal(size=(rows, rows + 5 * columns)), draw.random(rows) < 0.5


def whole_numbers(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Small whole numbers: exact ties, points on the boundary, equal points."""
    inputs = draw.integers(-2, 3, size=(rows, columns)).astype(float)
    return inputs, inputs @ draw.integers(-2, 3, size=columns) + draw.choice([0, 0.5, 3]) > 0


def on_a_line(draw: Draw, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on one line, apart or not."""
    places = draw.normal(size=rows)
    return np.outer(places, draw.normal(size=columns)) + draw.choice([0.0, 1.0]), places > draw.choice([0.0, 0.7])


KINDS: tuple[Callable[[Draw, int, int], tuple[np.ndarray, np.ndarray]], ...] = (
    apart, one_flipped, mixed, rare, repeated, contradicting, wide, whole_numbers, on_a_line,
)  # fmt: skip


def drawn(number: int) -> Drawn:
    """Table number n."""
    draw = np.random.default_rng([number, 25])
    is_large = number % LARGE_EVERY == LARGE_EVERY - 1
    kind = KINDS[number % len(KINDS)]
    inputs, second = kind(draw, *size(draw, is_large))
    kinds = 2
    if len(inputs) >= 8 and not is_large and draw.random() < 0.2:
        kinds = int(draw.integers(3, 5))
    names = np.where(second, "b", "a")
    names = np.where(draw.random(len(names)) < 0.25, "abcd"[kinds - 1], names) if kinds > 2 else names
    names[:kinds] = list("abcd"[:kinds])  # every class occurs
    said = [kind.__name__, f"{kinds} classes"]
    if draw.random() < 0.3:
        inputs = inputs * 10 ** draw.uniform(-3, 3, size=inputs.shape[1])
        said.append("columns of different units")
    if draw.random() < 0.2:
        inputs = np.column_stack([inputs, np.full((len(inputs), int(draw.integers(1, 3))), 0.1)])
        said.append("constant columns")
    if draw.random() < 0.3:
        inputs = inputs * 10 ** draw.uniform(-6, 6)
        said.append("another scale")
    scaling = str(draw.choice(["auto", "auto", "ball", "none"]))
    shape = " × ".join(map(str, inputs.shape))
    return Drawn(inputs, names, scaling, f"{shape}, {', '.join(said)}, scaling {scaling}")
