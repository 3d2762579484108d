"""python -m tools.drawn_data --count 10000: every claim is asked about drawn data sets of all kinds.

No claim may raise, refute a theorem, or take longer than its time, whatever the data: scales from 1e-150 to 1e150,
margins from 1e-14 to 1, antipodal points and nearly so, duplicates, one point again and again, float32 and float64, and
every choice at its edges. Data set number n is the same each time. Results are kept in build/drawn_data.jsonl, one line
each, so an interrupted look goes on where it stopped. See docs/mutants.md.
"""

import argparse
import collections
import concurrent.futures
import json
import logging
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "drawn_data.jsonl"
SECONDS = 60
"""Of processor time that all claims together may take on one of these small data sets."""

EDGES: dict[str, tuple[Any, ...]] = {
    "n_runs": (1, 2, 5),
    "n_neurons": (2, 4, 6, 200),
    "slope": (1e-300, 1e-12, 0.5, 1 - 2**-53),
    "step_size": (5e-324, 1e-300, 1e-12, 1e-3, 1e3, 1e12, 1e100, 1e300),
    "required_margin": (5e-324, 1e-12, 1.0, 20.0, 1e12, 1e300),
    "diverse_only": (True,),
    "seed": (1, 2**31, 2**32 - 1),
}

Points = tuple[np.ndarray, np.ndarray]


def cloud(draw: np.random.Generator) -> Points:
    """Gaussian points, labelled by a coin: mostly not separable."""
    n_samples, dim = int(draw.integers(1, 13)), int(draw.integers(1, 7))
    return draw.normal(size=(n_samples, dim)), draw.choice([-1.0, 1.0], n_samples)


def at_margin(draw: np.random.Generator) -> Points:
    """Points of length 1 whose first coordinate, from 1e-14 to 1, decides the label."""
    n_samples, dim = int(draw.integers(1, 13)), int(draw.integers(2, 7))
    margin = 10 ** draw.uniform(-14, 0)
    across = draw.normal(size=(n_samples, dim - 1))
    across *= np.sqrt(1 - margin**2) / np.linalg.norm(across, axis=1, keepdims=True)
    labels = draw.choice([-1.0, 1.0], n_samples)
    turn, _ = np.linalg.qr(draw.normal(size=(dim, dim)))
    return labels[:, None] * np.column_stack([np.full(n_samples, margin), across]) @ turn, labels


def antipodal(draw: np.random.Generator) -> Points:
    """x and −x(1 + ε) under opposite labels; ε is 0, or from 1e-16 to 1e-2."""
    inputs, _ = at_margin(draw)
    labels = np.where(inputs @ draw.normal(size=inputs.shape[1]) > 0, 1.0, -1.0)
    epsilon = draw.choice([0.0, 10 ** draw.uniform(-16, -2)])
    return np.concatenate([inputs, -inputs * (1 + epsilon)]), np.concatenate([labels, -labels])


def nearly_antipodal(draw: np.random.Generator) -> Points:
    """x and nearly −x under one label: separable by next to nothing."""
    dim = int(draw.integers(2, 5))
    point, across = draw.normal(size=(2, dim))
    other = -point + 10 ** draw.uniform(-16, -2) * across
    return np.stack([point, other]), np.full(2, draw.choice([-1.0, 1.0]))


def duplicates(draw: np.random.Generator) -> Points:
    """Few points, each several times; in one of four sets the labels contradict each other."""
    inputs, labels = at_margin(draw)
    again = draw.integers(0, len(labels), int(draw.integers(2, 16)))
    flips = np.where(draw.random(len(again)) < 0.2, -1.0, 1.0) if draw.random() < 0.25 else 1.0
    return inputs[again], labels[again] * flips


def one_point(draw: np.random.Generator) -> Points:
    """One point again and again, of one class."""
    n_samples, dim = int(draw.integers(1, 10)), int(draw.integers(1, 5))
    return np.tile(draw.normal(size=dim), (n_samples, 1)), np.full(n_samples, draw.choice([-1.0, 1.0]))


def on_a_line(draw: np.random.Generator) -> Points:
    """Points of one line through 0, some of them 0."""
    n_samples, dim = int(draw.integers(2, 10)), int(draw.integers(1, 4))
    places = draw.normal(size=n_samples) * (draw.random(n_samples) > draw.choice([0.0, 0.2]))
    labels = np.where(places > 0, 1.0, -1.0) if draw.random() < 0.7 else draw.choice([-1.0, 1.0], n_samples)
    return places[:, None] * draw.normal(size=dim), labels


def integers(draw: np.random.Generator) -> Points:
    """Small whole numbers: points on common lines, zeros, exact ties."""
    n_samples, dim = int(draw.integers(2, 12)), int(draw.integers(1, 4))
    inputs = draw.integers(-2, 3, size=(n_samples, dim)).astype(float)
    labels = np.where(inputs @ draw.integers(-2, 3, size=dim) > 0, 1.0, -1.0)
    return inputs, labels


def basis(draw: np.random.Generator) -> Points:
    """Orthogonal points, where the bounds are nearly attained."""
    dim = int(draw.integers(1, 7))
    return np.eye(dim), draw.choice([-1.0, 1.0], dim)


def patterns(draw: np.random.Generator) -> Points:
    """Points of XORD: pairs of ±1, label +1 where (1, 1) or (−1, −1) occurs; sometimes one label is wrong."""
    # Few shapes: each one is compiled anew.
    n_samples, n_pairs = int(draw.choice([2, 6, 12])), int(draw.choice([1, 3, 6]))
    inputs = draw.choice([-1.0, 1.0], (n_samples, n_pairs, 2))
    halves = draw.random(n_samples) < 0.5
    inputs[halves, :, 1] = -inputs[halves, :, 0]
    labels = np.where((inputs[:, :, 0] == inputs[:, :, 1]).any(axis=1), 1.0, -1.0)
    if draw.random() < 0.2:
        labels[0] *= -1
    return inputs.reshape(n_samples, -1), labels


def uneven(draw: np.random.Generator) -> Points:
    """Coordinates of very different sizes."""
    inputs, labels = at_margin(draw)
    return inputs * 10 ** draw.uniform(-60, 0, size=inputs.shape[1]), labels


KINDS: tuple[Callable[[np.random.Generator], Points], ...] = (
    cloud, at_margin, antipodal, nearly_antipodal, duplicates, one_point, on_a_line, integers, basis, uneven, patterns,
)  # fmt: skip
SHARES = np.array([2.0] * (len(KINDS) - 1) + [1.0])
"""Networks on XORD are trained by compiled programs, which take as long as all the rest."""


def drawn(number: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any], str]:
    """Inputs, labels, choices and words of the data set with this number."""
    draw = np.random.default_rng([20181, number])
    kind = KINDS[int(draw.choice(len(KINDS), p=SHARES / SHARES.sum()))]
    inputs, labels = kind(draw)
    dtype = np.float32 if draw.random() < 1 / 3 else np.float64
    largest = 30 if dtype is np.float32 else 150
    exponent = 0.0 if kind is patterns or draw.random() < 0.4 else float(draw.uniform(-largest, largest))
    names = [name for name in EDGES if draw.random() < 0.25]
    choices = {name: EDGES[name][int(draw.integers(len(EDGES[name])))] for name in names}
    choices.setdefault("n_runs", 1)
    if choices.get("n_runs") == 1 and draw.random() < 0.1:
        del choices["n_runs"]
    scaled = (inputs * 10.0**exponent).astype(dtype)
    words = f"{kind.__name__} {inputs.shape} {np.dtype(dtype).name} 1e{exponent:.0f} {choices}"
    return scaled, labels.astype(dtype), choices, words


class TooLongError(BaseException):
    """All the time was spent; no `except Exception` holds it."""


def ask(number: int) -> dict[str, Any]:
    """What the claims say about the data set with this number: counts, and everything that must not be."""
    import jax.numpy as jnp

    from widenet.claims import Evidence, Verdict
    from widenet.errors import InputError
    from widenet.run import Mishap, check_on
    from widenet.store import Store
    from widenet.types import Dataset

    inputs, labels, choices, words = drawn(number)
    row: dict[str, Any] = {"number": number, "words": words}
    signal.signal(signal.SIGPROF, _stop)
    began = time.process_time()
    logging.disable(logging.CRITICAL)
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            answers = check_on(Dataset(jnp.asarray(inputs), jnp.asarray(labels)), store=Store(folder), **choices)
            signal.setitimer(signal.ITIMER_PROF, 0)
    except TooLongError:
        place = "".join(traceback.format_exc().splitlines(keepends=True)[-9:])
        return row | {"seconds": SECONDS, "trouble": {"too long": place}}
    except InputError as refusal:
        return row | {"seconds": time.process_time() - began, "refused": str(refusal)}
    except Exception:
        return row | {"seconds": time.process_time() - began, "trouble": {"raised": traceback.format_exc()[-900:]}}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        logging.disable(logging.NOTSET)
    said = {id: answer for id, answer in answers.items() if isinstance(answer, Evidence)}
    violated = [id for id, each in said.items() if each.verdict is Verdict.VIOLATED and not id.endswith("_as_printed")]
    trouble = {id: str(each) for id, each in answers.items() if isinstance(each, Mishap)}
    trouble |= {id: f"VIOLATED {said[id].headline}" for id in violated}
    counts = collections.Counter(each.verdict.value for each in said.values())
    return row | {"seconds": time.process_time() - began, "verdicts": dict(counts), "trouble": trouble}


def _stop(*_: Any) -> None:
    raise TooLongError


def known() -> dict[int, dict[str, Any]]:
    """What was found earlier."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {row["number"]: row for row in map(json.loads, lines)}


def look(numbers: Iterator[int], jobs: int) -> Iterator[dict[str, Any]]:
    """Rows as they come."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, context, max_tasks_per_child=500) as pool:
        yield from pool.map(ask, numbers, chunksize=1)


def summary(rows: list[dict[str, Any]]) -> str:
    """The counts in words."""
    verdicts: collections.Counter[str] = collections.Counter()
    for row in rows:
        verdicts.update(row.get("verdicts", {}))
    troubled = [row for row in rows if row.get("trouble")]
    seconds = np.array([row["seconds"] for row in rows] or [0.0])
    return "\n".join(
        [
            f"{len(rows)} data sets: {len(troubled)} with a refutation, an error or too long a run",
            f"{sum('refused' in row for row in rows)} refused; verdicts: {dict(verdicts.most_common())}",
            f"seconds per data set: median {np.median(seconds):.2f}, largest {seconds.max():.1f}",
            *(f"{row['number']}: {row['words']}\n    {row['trouble']}" for row in troubled[:40]),
        ]
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tools.drawn_data", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="data sets number 0 to COUNT − 1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="ask once more about those that gave trouble")
    asked = parser.parse_args()
    found = known()
    if asked.again:
        found = {number: row for number, row in found.items() if not row.get("trouble")}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a") as lines:
        for row in look((number for number in range(asked.count) if number not in found), asked.jobs):
            found[row["number"]] = row
            lines.write(json.dumps(row) + "\n")
            lines.flush()
            if row.get("trouble"):
                print(f"{row['number']}: {row['words']}\n    {row['trouble']}", flush=True)
    print(summary([row for number, row in sorted(found.items()) if number < asked.count]))


if __name__ == "__main__":
    main()
