"""Networks of several widths: small ones that are trained, and ones whose answers are known."""

from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np

import widenet as wn
from widenet.certificates import rivals
from widenet.certificates.width_study import MoreWork, StudySetting, compared
from widenet.certificates.width_words import does_size_help, how_long, verdict_of, will_it_generalize
from widenet.certificates.widths import Ending, StudiedWidth, StudiedWidthSetting
from widenet.data.own import keep
from widenet.store import Store
from widenet.types import Dataset

SETTING = StudiedWidthSetting(own_data="", n_classes=2, n_neurons=6, n_networks=3, passes=4, slope=0.2, scales=True)


def clouds(points: int = 30, classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Clouds that overlap, with columns of different units."""
    draw = np.random.default_rng(seed)
    labels = np.arange(points) % classes
    inputs = draw.normal(size=(points, 3)) * [1.0, 50.0, 0.1]
    inputs[:, 0] += 1.5 * labels
    return inputs, labels


def of(inputs, labels, **changes) -> StudiedWidthSetting:
    own = keep(Dataset(jnp.asarray(inputs, jnp.float64), jnp.asarray(labels, jnp.float64)))
    return SETTING.model_copy(update={"own_data": own, "n_classes": len(np.unique(labels)), **changes})


def output_of(found: StudiedWidth, points: np.ndarray) -> np.ndarray:
    before = ((points - found.centre) / found.unit) @ found.hidden.T + found.bias
    return np.where(before > 0, before, found.setting.slope * before) @ found.output.T


def said_by(found: StudiedWidth, points: np.ndarray) -> np.ndarray:
    """What the first network says, in a few lines of NumPy."""
    outputs = output_of(found, points)
    return (outputs[:, 0] > 0).astype(int) if outputs.shape[1] == 1 else outputs.argmax(axis=1)


NAMES = ("left", "right")


ASKED = StudySetting(np.zeros((500, 2)), np.arange(500) % 2, NAMES, 500, None, 5, 1.0, 0.2, True, 0)


MORE = (MoreWork(effort=4, passes=160, widest=64), MoreWork(effort=16, passes=40, widest=256))


def answering(wrong: int, offset: int = 0) -> np.ndarray:
    """Answers of which so many are wrong, from a place on."""
    found = ASKED.labels.copy()
    places = (np.arange(wrong) + offset) % 500
    found[places] = 1 - found[places]
    return found


def says(predicted: np.ndarray) -> rivals.ModelAnswers:
    """Answers whose ranking is their classes."""
    return rivals.ModelAnswers(predicted, predicted.astype(float))


def runs_of(
    width: int, wrong: int, train: float = 0.0, falling: bool = False, offset: int = 0, ending=Ending.SPENT
) -> StudiedWidth:
    losses = np.tile(np.geomspace(1, 1e-2, 40) if falling else np.full(40, 0.1), (5, 1))
    return StudiedWidth(
        setting=SETTING.model_copy(update={"n_neurons": width, "n_networks": 5, "passes": 40}),
        parts=np.arange(500) // 100, predicted=answering(wrong, offset),
        scores=answering(wrong, offset).astype(float), train_error=np.full(5, train),
        passes=np.full(5, 40 if ending is Ending.SPENT else 4), losses=losses, endings=np.full(5, ending),
        seconds=np.full(5, 0.25), trained_on=np.full(5, 400), by_column=np.zeros(5, bool), n_constant=np.zeros(5, int),
        hidden=np.zeros((width, 2)), bias=np.zeros(width), output=np.zeros((1, width)), centre=np.zeros(2),
        unit=np.ones(2),
    )  # fmt: skip


def study(*given: StudiedWidth, majority=250, linear=200, bending=200, cut=(), left_out=(), more=MORE, asked=ASKED):
    given_by = {rivals.MAJORITY: majority, rivals.LINEAR: linear, rivals.NEIGHBOURS: bending}
    others = {name: says(answering(count)) for name, count in given_by.items()}
    runs = {each.setting.n_neurons: each for each in given}
    return compared(asked, runs, others, tuple(left_out), tuple(cut), more)


def plain(sentences) -> str:
    return " ".join([sentences] if isinstance(sentences, str) else sentences).replace("\N{NO-BREAK SPACE}", " ")


def findings_of(found) -> Any:
    """Findings of which only the study matters."""
    return SimpleNamespace(study=found)


def everything(found) -> str:
    """The headline and the answers."""
    return plain([verdict_of(findings_of(found)), *does_size_help(found), *will_it_generalize(found), *how_long(found)])


def certificate(tmp_path=None, **choices):
    inputs, labels = clouds(60)
    store = None if tmp_path is None else Store(tmp_path)
    return wn.certify(inputs, np.array(NAMES)[labels], **{"effort": 1e-3, "store": store, **choices})
