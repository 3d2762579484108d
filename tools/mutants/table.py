"""The outcome as a page: how many mutants were caught, and which were not."""

import tomllib
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from tools.mutants.hunt import CAUGHT, STRICTER, SURVIVED, Hunt
from tools.mutants.mutation import Mutant
from tools.mutants.targets import EQUIVALENT, INDEX, OTHERS, find, papers


def equivalents() -> dict[str, str]:
    """Mutants that change nothing, by description, with the reason."""
    return tomllib.loads(EQUIVALENT.read_text())["equivalent"]


def pruned(text: str, existing: Collection[str]) -> str:
    """The list without the single mutants that do not exist; its other lines stay as they are."""
    head, mark, entries = text.partition("[equivalent]\n")
    kept = [line for line in entries.splitlines(keepends=True) if not _names(line) - set(existing)]
    return head + mark + "".join(kept)


def _names(line: str) -> set[str]:
    return set(tomllib.loads(line))


def prune() -> int:
    """Strike what no longer exists from the file; how many entries that were."""
    text = EQUIVALENT.read_text(encoding="utf-8")
    existing = {each.description for name in (*papers(), *OTHERS) for each in find(name).mutants()}
    kept = pruned(text, existing)
    EQUIVALENT.write_text(kept, encoding="utf-8")
    return len(text.splitlines()) - len(kept.splitlines())


def outcomes(hunt: Hunt, mutants: Sequence[Mutant]) -> list[dict[str, Any]]:
    """One row per first step that was tried: its result, and whether a larger step was caught."""
    known, rows = equivalents(), []
    larger = {each.milder: each for each in mutants if each.milder}
    for each in mutants:
        row = None if each.milder else hunt.result(each)
        if row is None:
            continue
        result = row["result"]
        if result == SURVIVED and each.description in known:
            result = "equivalent"
        beyond = larger.get(each.description)
        found = hunt.result(beyond) if beyond is not None else None
        if result == SURVIVED and found is not None and found["result"] == CAUGHT:
            result = "coarse"
        rows.append({"mutant": each, "result": result, "by": row["by"]})
    return rows


def page(name: str, rows: Sequence[dict[str, Any]], failing: Sequence[str]) -> str:
    """The table and the lists, in Markdown."""
    lines = [f"# Mutants of {name}", "", summary(rows), ""]
    lines += [
        "| module | tried | caught | coarse | survived | equivalent | stricter |",
        "|---|---|---|---|---|---|---|",
    ]
    by_module: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_module[row["mutant"].module].append(row)
    kinds = (CAUGHT, "coarse", SURVIVED, "equivalent", STRICTER)
    for module, some in sorted(by_module.items()):
        counts = [sum(row["result"] == kind for row in some) for kind in kinds]
        lines.append(f"| {module} | {len(some)} | {' | '.join(str(count) for count in counts)} |")
    for kind, title in ((SURVIVED, "Survived"), ("coarse", "Survived a small step, caught at a larger one")):
        some = [row for row in rows if row["result"] == kind]
        lines += ["", f"## {title}: {len(some)}", ""]
        lines += [_line(row) for row in some]
    known = [row["mutant"].description for row in rows if row["result"] == "equivalent"]
    lines += ["", f"## Equivalent: {len(known)}", "", *(f"- `{each}`: {equivalents()[each]}" for each in known)]
    told = [row for row in rows if row["mutant"].meaning and row["result"] == CAUGHT]
    if told:
        lines += ["", f"## Caught: {len(told)}", "", *map(_line, told)]
    if failing:
        lines += ["", "## Tests that fail anyway, and notice nothing", "", *(f"- {node}" for node in failing)]
    return "\n".join(lines) + "\n"


def _line(row: dict[str, Any]) -> str:
    mutant = row["mutant"]
    meaning = f" {mutant.meaning}" if mutant.meaning else ""
    return f"- line {mutant.line}: `{mutant.description}` ({row['by']}){meaning}"


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """`120 of 150 caught (80 %), 5 more at a larger step; …`."""
    counts = defaultdict(int)
    for row in rows:
        counts[row["result"]] += 1
    scored = counts[CAUGHT] + counts["coarse"] + counts[SURVIVED]
    share = f" ({counts[CAUGHT] / scored:.1%})" if scored else ""
    by_index = sum(row["result"] == CAUGHT and INDEX.name in row["by"] for row in rows)
    return (
        f"{counts[CAUGHT]} of {scored} caught{share}, {counts['coarse']} only at a larger step, {counts[SURVIVED]} "
        f"survived. Of those caught, {by_index} by the index alone. "
        f"Not counted: {counts['equivalent']} equivalent, {counts[STRICTER]} that ask for more."
    )
