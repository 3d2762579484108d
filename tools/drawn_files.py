"""python -m tools.drawn_files --count 10000: certificates are asked for about drawn files and arrays of all kinds.

Nothing may raise but one sentence with exit code 2, and then nothing is written; what is accepted gets a certificate
without a refuted theorem. Hypothesis draws: text of all sorts (ragged, other encodings, decimal commas, dates, quotes,
NaN, cut off), arrays and archives that lie or are damaged, Python objects, scales from 1e-300 to 1e300, duplicates,
contradictions, and choices at their edges. Every accepted input is read, prepared and looked at, and its screen and
JSON are made; every so many of them (--every) is trained on, and asked about by all theorems of all papers. Block
number n of examples is the same each time. Results are kept in build/drawn_files.jsonl, one line per block, so an
interrupted look goes on where it stopped.
"""

import argparse
import collections
import contextlib
import json
import logging
import os
import resource
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis

from tools.arguments import some
from tools.drawn_inputs import File, Values, inputs

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "drawn_files.jsonl"
BLOCK, TROUBLES = 250, 40
FOR_LOOKING, FOR_ASKING = 1e-6, 15.0
"""Seconds that a certificate may take: one that only looks at the data, and one that asks all theorems."""


DRAWING = [
    hypothesis.HealthCheck.too_slow,
    hypothesis.HealthCheck.data_too_large,
    hypothesis.HealthCheck.filter_too_much,
]
"""Inputs may be slow to draw."""


def look_at(given: File | Values, seconds: float = FOR_LOOKING) -> dict[str, Any]:
    """What comes of an input: what it was refused with, or verdicts; and everything that must not be."""
    began = time.process_time()
    train = mock.patch("widenet.certificates.making.study_widths", return_value=None)
    with (
        train if seconds == FOR_LOOKING else contextlib.nullcontext(),
        warnings.catch_warnings(action="ignore"),
        tempfile.TemporaryDirectory() as folder,
    ):
        os.environ["WIDENET_STORE"] = f"{folder}/store"
        logging.disable(logging.CRITICAL)
        try:
            row = _file(given, Path(folder), seconds) if isinstance(given, File) else _values(given, seconds)
        except Exception:
            row = {"trouble": f"raised: {traceback.format_exc()[-1200:]}"}
        finally:
            logging.disable(logging.NOTSET)
    return row | {"kind": _kind(given), "seconds": time.process_time() - began}


def _kind(given: File | Values) -> str:
    return given.name.rpartition(".")[2].lower() if isinstance(given, File) else "values"


def _values(given: Values, seconds: float) -> dict[str, Any]:
    import widenet as wn
    from widenet.errors import InputError

    try:
        found = wn.certify(given.inputs, given.labels, **({"time": seconds, "runs": 1} | given.choices))
    except InputError as refusal:
        return _sentence(str(refusal))
    return _certificate(found)


def _file(given: File, folder: Path, seconds: float) -> dict[str, Any]:
    """Through the command; what is accepted there, as far as its page, is made without the page, which takes longer."""
    from typer.testing import CliRunner

    import widenet as wn
    from widenet.certificates.reading import read
    from widenet.cli import app
    from widenet.errors import InputError

    paths = [folder / given.name]
    paths[0].write_bytes(given.content)
    if given.second is not None:
        paths.append(folder / "labels.npy")
        paths[1].write_bytes(given.second)
    label = next((each.partition("=")[2] for each in given.options if each.startswith("--label")), None)
    others = [each for each in given.options if not each.startswith("--label")]
    try:
        table = read(*paths, label=label)
        if not others:
            return _certificate(wn.certify(table, time=seconds, effort=1e-3))
    except InputError as refusal:
        said = str(refusal)
    else:
        said = ""
    told = CliRunner().invoke(
        app,
        ["certify", *map(str, paths), *given.options, f"--time={seconds}", f"--out={folder}/out"],
        prog_name="widenet",
    )
    if told.exception is not None and not isinstance(told.exception, SystemExit):
        return {"trouble": f"raised: {''.join(traceback.format_exception(told.exception))[-1200:]}"}
    if told.exit_code == 0 and not said:
        return {"certified": {}}
    left = {path.name for path in folder.iterdir()} - {path.name for path in paths}
    lines = told.stderr.splitlines()
    if told.exit_code != 2 or told.stdout or len(lines) != 1 or left:
        return {"trouble": f"exit code {told.exit_code}, stdout {told.stdout[:200]!r}, stderr {lines}, left {left}"}
    return _sentence(lines[0].removeprefix("widenet: "))


def _sentence(said: str) -> dict[str, Any]:
    if not said.isprintable() or not said.endswith((".", "?")) or len(said) > 500:
        return {"trouble": f"not a sentence: {said[:600]!r}"}
    return {"refused": said}


def _certificate(found: Any) -> dict[str, Any]:
    from widenet.claims import Verdict
    from widenet.claims.base import expected_of

    said = {row.id: row.verdict for row in found.findings.rows if row.verdict is not None}
    row: dict[str, Any] = {"certified": dict(collections.Counter(verdict.value for verdict in said.values()))}
    refuted = [id for id, verdict in said.items() if verdict is Verdict.VIOLATED and expected_of(id) is Verdict.HOLDS]
    mishaps = [row.not_applicable for row in found.findings.rows if row.is_open and "time" not in row.not_applicable]
    json.loads(found.to_json(), parse_constant=_no_json)
    odd = {sign for sign in repr(found) if not sign.isprintable()} - {"\n", "\N{NO-BREAK SPACE}"}
    if refuted or mishaps or odd:
        row["trouble"] = f"refuted {refuted}, mishaps {mishaps}, signs {odd}"
    return row


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def look(block: int, count: int, every: int) -> dict[str, Any]:
    """One block of examples."""
    rows: list[dict[str, Any]] = []
    accepted = 0

    @hypothesis.seed(block)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.generate,),
        suppress_health_check=DRAWING,
    )
    @hypothesis.given(inputs)
    def each(given: File | Values) -> None:
        nonlocal accepted
        row = look_at(given)
        if "certified" in row and isinstance(given, Values):
            accepted += 1
            if every and accepted % every == 0:
                row = look_at(given, FOR_ASKING) | {"asked": True}
        if "trouble" in row:
            row["given"] = repr(given)[:1500]
        rows.append(row)

    each()
    verdicts: collections.Counter[str] = collections.Counter()
    for row in rows:
        verdicts.update(row.get("certified", {}))
    return {
        "block": block,
        "inputs": len(rows),
        "kinds": dict(collections.Counter(row["kind"] for row in rows)),
        "refused": sum("refused" in row for row in rows),
        "certified": sum("certified" in row for row in rows),
        "asked": sum("asked" in row for row in rows),
        "verdicts": dict(verdicts),
        "sentences": sorted({row["refused"] for row in rows if "refused" in row}),
        "slowest": max(row["seconds"] for row in rows if "asked" not in row),
        "slowest_asked": max((row["seconds"] for row in rows if "asked" in row), default=0.0),
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        "troubles": [row for row in rows if "trouble" in row][:TROUBLES],
    }


def summary(blocks: list[dict[str, Any]]) -> str:
    """The counts in words."""
    total = collections.Counter()
    kinds, verdicts = collections.Counter(), collections.Counter()
    for each in blocks:
        total.update({name: each[name] for name in ("inputs", "refused", "certified", "asked")})
        kinds.update(each["kinds"])
        verdicts.update(each["verdicts"])
    troubles = [trouble for each in blocks for trouble in each["troubles"]]
    return "\n".join(
        [
            f"{total['inputs']} inputs {dict(kinds)}: {total['refused']} refused in a sentence, {total['certified']} "
            f"with a certificate ({total['asked']} of them asked about by all theorems), {len(troubles)} with trouble",
            f"verdicts: {dict(verdicts.most_common())}",
            f"seconds of an input: at most {max(each['slowest'] for each in blocks):.1f}, where theorems are asked "
            f"{max(each['slowest_asked'] for each in blocks):.1f}; "
            f"at most {max(each['mebibytes'] for each in blocks):.0f} MiB of memory",
            *(f"{trouble['trouble']}\n    {trouble['given']}" for trouble in troubles[:TROUBLES]),
        ]
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tools.drawn_files", description=__doc__)
    parser.add_argument("--count", type=some, default=10_000, help="so many inputs, in blocks of 250")
    parser.add_argument("--every", type=int, default=0, help="of the accepted arrays every so many is asked about")
    parser.add_argument("--first", type=int, default=0, help="the first block")
    asked = parser.parse_args()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    known = {row["block"]: row for row in map(json.loads, RESULTS.read_text().splitlines())} if RESULTS.exists() else {}
    wanted = range(asked.first, asked.first + -(-asked.count // BLOCK))
    with RESULTS.open("a") as lines:
        for block in wanted:
            if block not in known:
                known[block] = look(block, min(BLOCK, asked.count), asked.every)
                lines.write(json.dumps(known[block]) + "\n")
                lines.flush()
                print(summary([known[block]]), flush=True)
    print("\nall of them:\n" + summary([known[block] for block in wanted]))


if __name__ == "__main__":
    main()
