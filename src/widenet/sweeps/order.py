"""A sweep as every process knows it: plain JSON, from which each makes the same points and the same packs.

An order names its data by a digest; the arrays are a cell of the store. So a worker, a task of Slurm or a computer of a
Dask cluster needs the text of the order and the folder of the store, and nothing else.
"""

import functools
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from widenet.claims import Claim, Experiment
from widenet.errors import InputError, StoreError
from widenet.papers import outside
from widenet.records import ClosedModel, Scale
from widenet.store import Store
from widenet.sweeps.data import PointSource, is_about_data, kind_for, source_of
from widenet.sweeps.spec import OF, Spec, Value
from widenet.sweeps.subjects import ClaimSubject, ExperimentSubject, SeveralClaims, Subject, find
from widenet.types import Dataset

Values = dict[str, Any]
"""The values of one point, by the names of the axes."""


class Question(ClosedModel):
    """What is computed, in plain values.

    Attributes:
      own_data: the digest of your data; None for an experiment and where points are drawn.
      kind: of the points that are drawn; "" draws the kind of the paper.
      about: the data in words.
      axes: names and values, in the order in which you gave them.
      look: clauses or quantities; all of them if empty.
      at: where quantities with axes of their own are looked at.
    """

    of: tuple[str, ...]
    own_data: str | None
    kind: str
    about: str
    fixed: dict[str, Any]
    axes: dict[str, tuple[Value, ...]]
    scale: Scale
    setting: int
    seed: int
    look: tuple[str, ...]
    at: dict[str, Value]
    tries: int

    @property
    def title(self) -> str:
        """What is asked, in words."""
        return self.of[0] if len(self.of) == 1 else f"{len(self.of)} claims"

    @property
    def text(self) -> str:
        """The JSON that travels."""
        return self.model_dump_json()

    @functools.cached_property
    def digest(self) -> str:
        """What the sweep is known by; how often a point is tried, and what is looked at, are no part of it.

        Files of this name tell points by their numbers. So the walk is part of it, and the order of the axes is not.
        """
        row = json.loads(self.model_dump_json(exclude={"tries", "look", "at", "about"})) | {"walk": self.walk}
        return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return tuple(map(len, self.axes.values()))

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return math.prod(self.shape)

    @functools.cached_property
    def walk(self) -> tuple[str, ...]:
        """The axes as points are walked along them, the slowest first.

        What is about data comes first, because much is found out about each data set. Whole numbers and words change
        the shape of what is compiled, and other numbers do not, so points of one shape follow each other. Seeds are as
        good as other numbers. Claims come before what they are asked over, and names decide the rest: the order in
        which you gave the axes has no say, so that two orders share what they find.
        """

        def rank(name: str) -> tuple[bool, bool, bool, str]:
            return not is_about_data(name), not self._is_shape(name), name != OF, name

        return tuple(sorted(self.axes, key=rank))

    def _is_shape(self, name: str) -> bool:
        return name.rpartition(".")[2] != "seed" and not any(isinstance(each, float) for each in self.axes[name])

    @property
    def n_shapes(self) -> int:
        """How many combinations of values may each be compiled for themselves."""
        return math.prod(len(values) for name, values in self.axes.items() if self._is_shape(name))

    def point(self, number: int) -> Values:
        """The values of the point of this number along the walk."""
        places = np.unravel_index(number, tuple(len(self.axes[name]) for name in self.walk)) if self.axes else ()
        found = {name: self.axes[name][int(place)] for name, place in zip(self.walk, places, strict=True)}
        return {name: found[name] for name in self.axes}

    def along_axes(self, values: np.ndarray) -> np.ndarray:
        """One entry per point along the walk as an array whose leading axes are those of the sweep."""
        walked = values.reshape((*(len(self.axes[name]) for name in self.walk), *values.shape[1:]))
        places = [self.walk.index(name) for name in self.axes]
        return walked.transpose(*places, *range(len(places), walked.ndim))


def order_of(spec: Spec, store: Store, data: Dataset | None = None) -> Question:
    """The order of a sweep; its data is written to the store.

    Raises:
      InputError: an axis or a fixed value that the claim or the experiment does not have, or takes otherwise; data
        that cannot be read.
      StoreError: the store cannot be written.
    """
    targets = [find(each) for each in spec.ids]
    if len(targets) > 1 and not all(isinstance(each, Claim) for each in targets):
        raise InputError("several claims can be swept at once, but an experiment alone; name one.")
    target = targets[0]
    fixed = dict(spec.fixed) | ({} if spec.runs is None else {"n_runs": spec.runs})
    source, about = source_of(spec, target, data, store) if isinstance(target, Claim) else (None, "")
    if source is None and (spec.data is not None or data is not None):
        raise InputError(f"{target.id} is an experiment and takes no data; sweep over its own fields, or over a claim.")
    axes, ids = spec.axes(), tuple(outside.located(each) for each in spec.ids)
    order = Question(
        of=ids,
        own_data=None if source is None else source.own,
        kind="" if source is None else source.kind,
        about=about,
        fixed=fixed,
        axes=axes | {OF: ids} if OF in axes else axes,
        scale=spec.scale,
        setting=spec.setting,
        seed=spec.seed,
        look=spec.look.names,
        at=spec.look.at,
        tries=spec.tries,
    )
    subject = subject_of(order, store)
    subject.require({name: values for name, values in order.axes.items() if name != OF})
    subject.require_look(order.look, order.at)
    return order


def publish(order: Question, store: Store) -> None:
    """Write what is asked to the store, where every process of the sweep finds it.

    Raises:
      StoreError: the store cannot be written.
    """
    place = _place(order.digest, store)
    if not place.is_file():
        store.write_once(place, order.text.encode())


@functools.lru_cache(maxsize=4)
def published(digest: str, look: tuple[str, ...], at: tuple[tuple[str, Value], ...], tries: int, root: str) -> Question:
    """What was asked under this digest, with what is looked at and how often a point is tried.

    Raises:
      StoreError: it is not in the store.
    """
    try:
        order = Question.model_validate_json(_place(digest, Store(root)).read_bytes())
    except (OSError, ValueError):
        raise StoreError(
            f"the sweep {digest[:12]}… is not in the store {root}; set WIDENET_STORE to a folder that all share."
        ) from None
    return order.model_copy(update={"look": look, "at": dict(at), "tries": tries})


def _place(digest: str, store: Store) -> Path:
    return store.root / "sweeps" / f"{digest}.order"


def subject_of(order: Question, store: Store) -> Subject:
    """What is swept, ready to be asked for the cells of points; kept from one pack to the next."""
    return _subject(order.text, str(store.root))


@functools.lru_cache(maxsize=4)
def _subject(text: str, root: str) -> Subject:
    order = Question.model_validate_json(text)
    targets = {id: find(id) for id in order.of}
    subjects = {}
    for id, target in targets.items():
        if isinstance(target, Experiment):
            return ExperimentSubject(target, order.scale, order.setting, order.seed, order.fixed)
        source = PointSource(Store(root), order.own_data, order.kind or kind_for(target), order.seed)
        subjects[id] = ClaimSubject(target, source, order.seed, order.fixed)
    return SeveralClaims(subjects, order.axes) if OF in order.axes else subjects[order.of[0]]
