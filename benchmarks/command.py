"""The body of `widenet bench`."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import jax

from benchmarks import chart, suite
from benchmarks.rows import number
from benchmarks.suite import Result
from widenet.console import output
from widenet.console.progress import watching
from widenet.errors import UnknownName
from widenet.plots.style import FORMATS

CHARTS = tuple(f"bench.{form}" for form in FORMATS)


def measure(names: Sequence[str]) -> list[Result]:
    """Run these workloads, or all of them, with progress on stderr.

    Raises:
      Disagreement: the peers do not arrive at the same weights.
      UnknownName: there is no such workload.
    """
    for name in names:
        if name not in suite.SUITE:
            raise UnknownName("workload", name, suite.SUITE)
    asked = [name for name in suite.SUITE if name in names or not names]
    sizes, results = suite.default_sizes(), []
    with watching(len(asked), float(len(asked))) as watch, _nothing_compiled_before():
        for name in asked:
            results.append(suite.SUITE[name](sizes, watch.begin(name)))
            whole = next(row for row in results[-1].rows if row.ratio_to_ours == 1)
            watch.end(name, f"{number(whole.us_per_step_per_run or 0)} µs per step and run")
    return results


def write(results: Sequence[Result], folder: Path) -> tuple[list[Path], list[Path]]:
    """The chart and the rows as files, all or none: (written, removed).

    Rows without a chart remove the chart of earlier rows: beside them it would look like theirs.
    """
    rows = [row for result in results for row in result.rows]
    content = json.dumps([row.as_json() for row in rows], indent=1, allow_nan=False) + "\n"
    drawn = chart.chart_files(rows)
    written = output.write_files(folder, drawn | {"bench.json": content.encode()})
    return written, output.remove_files(folder, [name for name in CHARTS if name not in drawn])


@contextmanager
def _nothing_compiled_before() -> Iterator[None]:
    """Compiled programs kept on disk would make the compile times those of a file."""
    before = jax.config.jax_enable_compilation_cache  # pyright: ignore[reportAttributeAccessIssue]
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
