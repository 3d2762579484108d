"""The data of a sweep over choices: yours, or points that are drawn, whose kind and numbers may be axes."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from widenet.claims import Claim
from widenet.data.catalogue import DATASETS
from widenet.data.own import keep
from widenet.data.tables import load_file
from widenet.errors import InputError, StoreError, UnknownName
from widenet.run.reach import source_digest
from widenet.store import CellKey, Store
from widenet.sweeps.spec import Spec
from widenet.types import Dataset

KINDS = {
    "brutzkus2018": "separable",
    "li2018": "clusters",
    "brutzkus2019": "xord",
    "chatterji2021": "clusters",
    "sarussi2021": "separable",
}
"""What each paper is about; a claim in a file of yours gets separable points."""
MAKERS: dict[str, dict[str, Any]] = {
    "separable": {"n_samples": 40, "dim": 10, "separator_norm": 4.0},
    "xord": {"n_samples": 40},
    "clusters": {"n_samples": 40, "dim": 20},
    "xor_mixture": {"n_samples": 40},
    "shoulders": {"n_samples": 40},
}
KIND, PREFIX, SEED = "data", "data.", "seed"


def is_about_data(name: str) -> bool:
    """Whether an axis of this name draws other points: `data` is their kind, and `data.dim` a number of it."""
    return name == KIND or name.startswith(PREFIX)


@dataclass(frozen=True)
class PointSource:
    """Where the points come from: one data set, by its digest, or a kind of points that are drawn."""

    store: Store
    own: str | None
    kind: str
    seed: int

    def at(self, values: Mapping[str, Any]) -> Dataset:
        """The points for these values of `data` and `data.…`.

        Raises:
          InputError: there are no such points.
          StoreError: your own are not in the store.
        """
        if self.own is not None:
            if values:
                raise InputError(f"{next(iter(values))} is for points that are drawn, and data names your own.")
            return recall_from(self.store, self.own)
        kind = values.get(KIND, self.kind)
        if kind not in MAKERS:
            raise UnknownName("kind of points", str(kind), MAKERS)
        arguments = MAKERS[kind] | {SEED: self.seed}
        own = inspect.signature(DATASETS[kind].make).parameters
        known = [SEED, "n_samples", *(name for name in own if name != "key")]
        for name, value in values.items():
            if name != KIND:
                if name.removeprefix(PREFIX) not in known:
                    raise UnknownName(f"number of {kind},", name, [f"{PREFIX}{each}" for each in known])
                arguments[name.removeprefix(PREFIX)] = value
        return self._kept(kind, arguments)

    def _kept(self, kind: str, arguments: dict[str, Any]) -> Dataset:
        """The first who draws them keeps them, so that all computers have the same, bit for bit."""
        version = source_digest((f"widenet.data.{DATASETS[kind].maker.partition('.')[0]}",))
        key = CellKey("drawn data", {"kind": kind, **arguments}, version)
        cell = self.store.get(key)
        if cell is None:
            data = _drawn(kind, **arguments)
            self.store.put(key, {"inputs": np.asarray(data.inputs), "labels": np.asarray(data.labels)}, {})
            cell = self.store.get(key)
            if cell is None:
                return data
        return Dataset(jnp.asarray(cell.arrays["inputs"]), jnp.asarray(cell.arrays["labels"]))


def source_of(spec: Spec, target: Claim, given: Dataset | None, store: Store) -> tuple[PointSource, str]:
    """The source, and what it is in words.

    Raises:
      InputError: a name that is neither a file nor a kind of points, or a file that cannot be read.
    """
    if given is not None:
        return PointSource(store, keep_in(store, given), "", spec.seed), f"{given.n_samples} points of yours"
    name = spec.data or kind_for(target)
    if Path(name).is_file():
        return PointSource(store, keep_in(store, load_file(name, label=spec.label)), "", spec.seed), name
    if name not in MAKERS:
        if spec.data is not None and ("." in name or "/" in name):
            raise InputError(f"there is no file {name!r}.")
        raise UnknownName("file or data set", name, [each for each in DATASETS if each in MAKERS])
    if KIND in spec.over or (len(spec.ids) > 1 and spec.data is None):
        return PointSource(store, None, "", spec.seed), f"points that are drawn, seed {spec.seed}"
    n = "" if f"{PREFIX}n_samples" in (*spec.over, *spec.fixed) else f"{MAKERS[name]['n_samples']} "
    return PointSource(store, None, name, spec.seed), f"{n}points of {name}, seed {spec.seed}"


def kind_for(claim: Claim) -> str:
    """The kind of points that the paper of a claim is about."""
    return KINDS.get(claim.id.partition(".")[0], "separable")


def _drawn(kind: str, n_samples: Any, seed: Any, **arguments: Any) -> Dataset:
    import jax

    for name, value, least in (("n_samples", n_samples, 1), (SEED, seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{PREFIX}{name} must be a whole number from {least} on, got {value!r}.")
    key, own = jax.random.split(jax.random.key(seed))
    make = DATASETS[kind].make
    try:
        law = make(key, **arguments) if "key" in inspect.signature(make).parameters else make(**arguments)
        return law.sample(own, n_samples)
    except (TypeError, ValueError) as error:
        raise InputError(f"there are no such points of {kind}: {error}.") from None


def keep_in(store: Store, data: Dataset) -> str:
    """Write the points to the store, where every process of the sweep finds them by their digest."""
    digest = keep(data)
    store.put(_key(digest), {"inputs": np.asarray(data.inputs), "labels": np.asarray(data.labels)}, {})
    return digest


def recall_from(store: Store, digest: str) -> Dataset:
    """The points of this digest.

    Raises:
      StoreError: they are not in the store.
    """
    cell = store.get(_key(digest))
    if cell is None:
        raise StoreError(f"the data {digest[:12]}… of the sweep is not in {store.root}; start the sweep again.")
    data = Dataset(jnp.asarray(cell.arrays["inputs"]), jnp.asarray(cell.arrays["labels"]))
    keep(data)
    return data


def _key(digest: str) -> CellKey:
    return CellKey("data", {"digest": digest}, "1")
