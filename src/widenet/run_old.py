"""Where claims and figures meet the store: a name, a scale and a seed give an outcome, computed at most once.

Outcomes are the same whether fresh or reused: a fresh one goes through the stored form too. `row()` is what
`--json` prints: strictly valid JSON, in which a number that is not finite is one of the strings "NaN",
"Infinity" and "-Infinity".
"""

import functools
import hashlib
import importlib.metadata
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import jax
import xarray as xr

from widenet import claims, papers
from widenet.claims import Claim, Evidence, Kind, Verdict
from widenet.errors import InputError, UnknownName
from widenet.papers import Comparison, Figure, Paper
from widenet.store import CellKey, Store
from widenet.store.datasets import decode_dataset, encode_dataset
from widenet.store.keys import plain_json
from widenet.types import ClosedModel, Progress, Scale, silent

NUMERIC_LAYERS = ("types", "bits", "losses", "data", "networks", "training", "diagnostics", "claims", "papers")
"""What a stored number depends on. Errors, store, plots and surfaces may change without recomputing it."""

CLAIM_DTYPE = "float64"
NOT_FINITE = ("NaN", "Infinity", "-Infinity")

Named = TypeVar("Named")
Listed = TypeVar("Listed", Claim, Figure)


@dataclass(frozen=True)
class CheckOutcome:
    """A checked claim. `seconds` and `machine` are those of the original computation, also when it is `reused`."""

    claim: Claim
    scale: Scale
    seed: int
    evidence: Evidence
    seconds: float
    reused: bool
    machine: str = ""

    @property
    def failed(self) -> bool:
        """Whether a statement that should hold was measured to fail."""
        return self.evidence.verdict is Verdict.VIOLATED and self.claim.expected is not Verdict.VIOLATED

    def row(self) -> dict[str, Any]:
        """The outcome as one JSON object."""
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "kind": self.claim.kind.value,
            "statement": self.claim.statement,
            "where": self.claim.where,
            **_as_json(self.evidence),
            "expected": not self.failed,
            "expected_verdict": self.claim.expected.value,
            **_circumstances(self),
        }


@dataclass(frozen=True)
class FigureOutcome:
    """The numbers behind a figure, and the reported ones beside them. `seconds`, `machine` as in `CheckOutcome`."""

    figure: Figure
    scale: Scale
    seed: int
    numbers: xr.Dataset
    comparisons: list[Comparison]
    seconds: float
    reused: bool
    machine: str = ""

    def row(self) -> dict[str, Any]:
        """The outcome as one JSON object, without the numbers."""
        return {
            "id": self.figure.id,
            "paper": self.figure.paper,
            "title": self.figure.title,
            "comparisons": [_as_json(each) | {"verdict": each.verdict} for each in self.comparisons],
            "config": plain_json(self.figure.sizes[self.scale], "sizes"),
            **_circumstances(self),
        }


def check(claim: Claim, scale: Scale, seed: int, store: Store, progress: Progress = silent) -> CheckOutcome:
    """Check a claim on its default setting, or find the outcome in the store.

    Raises:
      StoreError: the store cannot be read or written; it is tried before the computation.
    """
    key = CellKey(claim.id, {"what": "check", "scale": scale}, seed, CLAIM_DTYPE, version())
    cell = store.get(key)
    if cell is not None:
        evidence = _evidence(cell.content["evidence"])
        content = cell.content
        return CheckOutcome(claim, scale, seed, evidence, content["seconds"], True, content["machine"])
    store.require_writable()
    start = time.perf_counter()
    progress(0.0, "making the data and the networks")
    found = claim.check(claim.setting(scale, seed), progress)
    seconds = time.perf_counter() - start
    content = {"evidence": _as_json(found), "seconds": seconds, "machine": machine()}
    store.put(key, {}, content)
    return CheckOutcome(claim, scale, seed, _evidence(content["evidence"]), seconds, False, content["machine"])


def compute(figure: Figure, scale: Scale, seed: int, store: Store, progress: Progress = silent) -> FigureOutcome:
    """Compute the numbers of a figure, or find them in the store; compare them with the reported ones.

    The sizes of a figure are JSON values; a "dtype" among them is the precision of its key.

    Raises:
      StoreError: the store cannot be read or written; it is tried before the computation.
    """
    sizes = dict(figure.sizes[scale])
    parameters = {"what": "figure", "scale": scale, "sizes": sizes}
    key = CellKey(figure.id, parameters, seed, sizes.get("dtype", CLAIM_DTYPE), version())
    cell = store.get(key)
    if cell is not None:
        numbers, content = decode_dataset(cell.arrays, cell.content["layout"]), cell.content
    else:
        store.require_writable()
        start = time.perf_counter()
        progress(0.0, "making the data and the networks")
        found = figure.compute(seed, progress, **sizes)
        seconds = time.perf_counter() - start
        arrays, layout = encode_dataset(found)
        content = {"layout": layout, "seconds": seconds, "machine": machine()}
        store.put(key, arrays, content)
        numbers = decode_dataset(arrays, layout)
    # The bands belong to the program, not to the numbers, so they are never stored.
    comparisons = figure.compare(numbers)
    seconds, where = content["seconds"], content["machine"]
    return FigureOutcome(figure, scale, seed, numbers, comparisons, seconds, cell is not None, where)


def find_claim(id: str) -> Claim:
    """The claim with this id, or `UnknownName`."""
    _refuse_other("claim", id, f"'widenet check --paper {id}' checks all of its claims")
    return _find("claim", id, {claim.id: claim for claim in claims.CLAIMS})


def find_figure(id: str) -> Figure:
    """The figure with this id, or `UnknownName`."""
    _refuse_other("figure", id, f"'widenet list figures --paper {id}' shows what it has")
    return _find("figure", id, {figure.id: figure for figure in papers.FIGURES})


def find_paper(key: str) -> Paper:
    """The paper with this key, or `UnknownName`."""
    return _find("paper", key, {paper.key: paper for paper in papers.PAPERS})


def claims_of(paper: str | None) -> tuple[Claim, ...]:
    """The claims of a paper, or of all when None; main results first."""
    order = list(Kind)
    return tuple(sorted(_of(paper, claims.CLAIMS), key=lambda claim: order.index(claim.kind)))


def figures_of(paper: str | None) -> tuple[Figure, ...]:
    """The figures of a paper, or of all when None."""
    return tuple(_of(paper, papers.FIGURES))


def parse_scale(text: str) -> Scale:
    """The scale of this name, or `UnknownName`."""
    return _find("scale", text, {scale.value: scale for scale in Scale})


def machine() -> str:
    """What computed a result: the kind of device and the version of JAX."""
    device = jax.devices()[0]
    return f"{device.platform} ({device.device_kind}), jax {jax.__version__}"


@functools.cache
def version() -> str:
    """The package version and a hash of the numeric layers: a changed program never reuses an old cell."""
    try:
        package = importlib.metadata.version("widenet")
    except importlib.metadata.PackageNotFoundError:
        package = "0"  # run from a source tree that was not installed
    return f"{package}+{source_digest(Path(__file__).parent)[:12]}"


def source_digest(package: Path) -> str:
    """The SHA-256 over the names and the bytes of the source files of the numeric layers under `package`."""
    files = [package / f"{layer}.py" for layer in NUMERIC_LAYERS]
    files += [file for layer in NUMERIC_LAYERS for file in (package / layer).rglob("*.py")]
    total = hashlib.sha256()
    by_name = {file.relative_to(package).as_posix(): file for file in files if file.is_file()}
    for name in sorted(by_name):
        data = by_name[name].read_bytes()
        # The length keeps the end of one file apart from the name of the next.
        total.update(f"{name}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()


def _as_json(model: ClosedModel) -> dict[str, Any]:
    return json.loads(model.model_dump_json())


def _evidence(stored: dict[str, Any]) -> Evidence:
    evidence = Evidence.model_validate_json(json.dumps(stored))
    # `actual` may be a number or words, so an infinity written as a string would come back as words.
    restored = tuple(
        each.model_copy(update={"actual": float(each.actual)}) if each.actual in NOT_FINITE else each
        for each in evidence.hypotheses
    )
    return evidence.model_copy(update={"hypotheses": restored})


def _circumstances(outcome: CheckOutcome | FigureOutcome) -> dict[str, Any]:
    return {
        "scale": outcome.scale.value,
        "seed": outcome.seed,
        "seconds": outcome.seconds,
        "reused": outcome.reused,
        "machine": outcome.machine,
        "version": version(),
    }


def _refuse_other(kind: str, name: str, hint: str) -> None:
    """Tells a reader who named a paper, or a figure as a claim, or a claim as a figure, what to do instead."""
    if name in {paper.key for paper in papers.PAPERS}:
        raise InputError(f"{name!r} is a paper, not a {kind}; {hint}.")
    if kind == "claim" and name in {figure.id for figure in papers.FIGURES}:
        raise InputError(f"{name!r} is a figure, not a claim; 'widenet figure {name}' draws it.")
    if kind == "figure" and name in {claim.id for claim in claims.CLAIMS}:
        raise InputError(f"{name!r} is a claim, not a figure; 'widenet check {name}' checks it.")


def _find(kind: str, name: str, known: Mapping[str, Named]) -> Named:
    if name not in known:
        raise UnknownName(kind, name, known)
    return known[name]


def _of(paper: str | None, items: Iterable[Listed]) -> list[Listed]:
    if paper is not None:
        find_paper(paper)
    return [item for item in items if paper is None or item.paper == paper]
