"""The data of a sweep over choices: yours, one that `widenet list data` names, or the paper's own kind."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from widenet.claims import Claim
from widenet.data.catalogue import DATASETS
from widenet.data.own import keep
from widenet.data.tables import load_file
from widenet.errors import InputError, StoreError, UnknownName
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
N_POINTS = 40
MAKERS: dict[str, dict[str, Any]] = {
    "separable": {"dim": 10, "separator_norm": 4.0},
    "xord": {},
    "clusters": {"dim": 20},
    "xor_mixture": {},
    "shoulders": {},
}


def data_of(spec: Spec, target: Claim, given: Dataset | None) -> tuple[Dataset, str]:
    """The points, and what they are in words.

    Raises:
      InputError: a name that is neither a file nor a data set, or a file that cannot be read.
    """
    if given is not None:
        return given, f"{given.n_samples} points of yours"
    name = spec.data or KINDS.get(target.id.partition(".")[0], "separable")
    if Path(name).is_file():
        return load_file(name, label=spec.label), name
    if name not in MAKERS:
        if spec.data is not None and ("." in name or "/" in name):
            raise InputError(f"there is no file {name!r}.")
        raise UnknownName("file or data set", name, [each for each in DATASETS if each in MAKERS])
    return _drawn(name, spec.seed), f"{N_POINTS} points of {name}, seed {spec.seed}"


def _drawn(name: str, seed: int) -> Dataset:
    import jax

    key, own = jax.random.split(jax.random.key(seed))
    make, arguments = DATASETS[name].make, MAKERS[name]
    law = make(key, **arguments) if name == "separable" else make(**arguments)
    return law.sample(own, N_POINTS)


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
