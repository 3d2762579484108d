"""In which order networks are trained: a few first, then all, and once more if there was no time at first."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import widenet as wn
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates import making, training
from widenet.certificates.ensemble import Ensemble, EnsembleSetting, errors_by_class
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.training import epochs_for, train
from widenet.certificates.training_words import by_class
from widenet.networks import TwoLayer, leaky_relu
from widenet.run.outcomes import cells_of
from widenet.types import Dataset

WANTED = EnsembleSetting(
    own_data="", n_classes=2, n_runs=64, n_neurons=20, slope=0.2, step_size=1.0, init_scale=0.1, max_epochs=100
)
POINTS = np.array([[2.0, 1.0], [1.5, 0.5], [2.5, 0.9], [-1.0, 0.3], [-2.0, -1.0], [-1.5, 0.0]])
SIDES = ["east"] * 3 + ["west"] * 3


class Fake:
    """Stands for `train_once`: remembers what was asked for, and has time for so many networks."""

    def __init__(self, *most_runs):
        self.asked, self.most = [], list(most_runs)

    def __call__(self, setting, cells, clock, progress=None):
        self.asked.append((setting.n_runs, setting.max_epochs))
        most = self.most.pop(0) if len(self.most) > 1 else self.most[0]
        return trained(setting) if setting.n_runs <= most else None


def trained(setting: EnsembleSetting) -> Ensemble:
    """Networks of one neuron that did nothing."""
    runs = setting.n_runs
    counts, numbers, curves, weights = np.zeros(runs, int), np.zeros(runs), np.zeros((runs, 1)), np.zeros((1, 1, 1))
    return Ensemble(
        setting=setting, held_out=np.zeros(1, bool), status=counts, updates=counts, steps=counts, loss=numbers,
        train_error=numbers, test_error=numbers, class_errors=np.zeros((runs, 2)), epochs=np.zeros(1),
        train_curve=curves, test_curve=curves, loss_curve=curves, flipped=np.zeros(1), least_margin=numbers,
        hidden=weights, start=weights, output=np.zeros((1, 1)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("n_runs", "most", "asked", "found"),
    [
        (64, (64,), [(8, 25), (64, 100)], 64),
        (64, (8,), [(8, 25), (64, 100)], 8),
        (64, (0,), [(8, 25)], None),
        (5, (5,), [(5, 100)], 5),
        (5, (0, 5), [(5, 100), (5, 25)], 5),
        (5, (0,), [(5, 100), (5, 25)], None),
    ],
)
def test_eight_networks_come_first_and_are_kept_if_there_is_no_time_for_more(monkeypatch, n_runs, most, asked, found):
    fake = Fake(*most)
    monkeypatch.setattr(training, "train_once", fake)
    ensemble = train(WANTED.model_copy(update={"n_runs": n_runs}), cells_of(None), TimeLimit(10.0))
    assert (ensemble and ensemble.setting.n_runs) == found
    assert fake.asked == asked


@pytest.mark.parametrize("at_first", [0, 1, 2])
def test_networks_that_found_no_time_at_first_are_tried_again_at_the_end(monkeypatch, at_first):
    """Claims are asked in between, so what is left of the time goes to the networks."""
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))
    events, real_train, real_ask = [], making.train, making.ask_all

    def first_in_vain(setting, *others):
        events.append("train")
        if events.count("train") == 1 and not at_first:
            return None
        runs = at_first if events.count("train") == 1 else setting.n_runs
        return real_train(setting.model_copy(update={"n_runs": runs}), *others)

    def noted(*arguments):
        events.append("ask")
        return real_ask(*arguments)

    monkeypatch.setattr(making, "train", first_in_vain)
    monkeypatch.setattr(making, "ask_all", noted)
    found = wn.certify(POINTS, SIDES, runs=2, time=600).findings
    assert events == ["train", "ask", "ask", *(["train"] if at_first < 2 else [])]
    assert found.training is not None
    assert found.training.runs == 2


def test_passes_over_the_data_do_not_depend_on_the_machine():
    assert epochs_for(120, 5, 30, 64, 2, 60) == epochs_for(120, 5, 30, 64, 2, 60)
    assert epochs_for(120, 5, 30, 64, 2, 60) > epochs_for(9000, 600, 30, 64, 2, 60) >= training.FEWEST_EPOCHS
    assert epochs_for(120, 5, 30, 64, 2, 60) > epochs_for(120, 5, 30, 64, 3, 60) == epochs_for(120, 5, 30, 64, 4, 60)
    assert epochs_for(2, 1, 2, 1, 2, 1e9) == training.MOST_EPOCHS


def stacked(hidden, output):
    """One network of each kind of votes, as training leaves several."""
    one = functools.partial(TwoLayer, bias=None, activation=leaky_relu(0.5))
    return jax.vmap(one)(jnp.asarray([hidden], float), jnp.asarray([output], float))


def test_errors_by_class():
    """Two neurons; of each class one point is right and one is wrong, or ties, and the third class has no point."""
    points = Dataset(jnp.asarray([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [2.0, 1.0]]), jnp.asarray([0.0, 0.0, 1.0, 1.0]))
    several = stacked([[1, 0], [0, 1]], [[1, 0], [0, 1], [-1, -1]])
    np.testing.assert_array_equal(errors_by_class(several, points, np.arange(3.0)), [[0.5, 0.5, np.nan]])
    assert np.isnan(errors_by_class(several, points[np.zeros(4, bool)], np.arange(3.0))).tolist() == [[True] * 3]
    signs = Dataset(points.inputs, jnp.asarray([-1.0, -1.0, 1.0, -1.0]))
    assert errors_by_class(stacked([[1, 0], [0, 1]], [-1, 1]), signs, np.array([-1.0, 1.0])).tolist() == [
        pytest.approx([1 / 3, 0])
    ]


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        ((0.0, 0.0, 0.0), ""),
        ((0.1, 0.1, 0.1), ""),
        ((0.1, None, 0.3), ""),
        (
            (0.25, 0.0, 0.5),
            "errs most on c (50 % of its held-out points) and a (25 %), and least on b (0 %).",
        ),
        (
            (0.25, 0.25, 0.5),
            "errs most on c (50 % of its held-out points), and least on a and b (25 %).",
        ),
        (
            (0.5, None, 0.25, 0.125),
            "a (50 % of its held-out points) and c (25 %), and least on d (12 %).",
        ),
        (
            (0.6, 0.5, 0.4, 0.3, 0.2, 0.1),
            "b (50 %), c (40 %) and d (30 %), and least on f (10 %).",
        ),
        ((0.6, 0.0, 0.0, 0.0, 0.0, 0.0), "and least on b, c, d, e and 1 more (0 %)."),
    ],
)
def test_which_classes_networks_err_on_most(errors, sentence):
    said = by_class(errors, "abcdef"[: len(errors)]).replace("\N{NO-BREAK SPACE}", " ")
    assert sentence in said if sentence else said == ""


def test_a_rare_class_that_is_missed_is_told_of_two_classes_too():
    """1 % of all points, and all points of the rare class."""
    said = by_class([0.0, 1.0], ["common", "rare"]).replace("\N{NO-BREAK SPACE}", " ")
    assert said.startswith("By class, a typical network errs most on rare (100 % of its held-out points), and least on")
    assert said.endswith("common (0 %).")
    assert by_class([0.01, 0.2], ["common", "rare"]) == ""
    assert by_class([0.5, 0.5], ["one", "two"]) == ""
