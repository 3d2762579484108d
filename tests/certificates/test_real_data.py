"""Real data: what a certificate says about it, against what is known of it apart from this package."""

import functools
import warnings

import numpy as np
import pytest
import scipy.optimize
from sklearn import datasets
from sklearn.linear_model import LogisticRegression

import widenet as wn
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates.misplaced_points import clashing
from widenet.certificates.plane import plane_of
from widenet.certificates.portrait import Separability, portray
from widenet.certificates.preparation import Scaling, prepare
from widenet.certificates.reading import read
from widenet.certificates.screen import MOST_LINES, WIDTH, as_text
from widenet.certificates.summary import in_short
from widenet.data import from_arrays
from widenet.data.mnist import load_mnist

PAIRS = ((0, 1), (3, 5), (4, 9))


@functools.cache
def points_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and labels in words; of MNIST the first 150 images of each digit, of digits 400 images."""
    if name.startswith("mnist"):
        images, digits = load_mnist()
        rows = np.concatenate([np.flatnonzero(digits == int(digit))[:150] for digit in name.removeprefix("mnist")])
        return images[rows].astype(float), digits[rows].astype(str)
    found = getattr(datasets, f"load_{name}")()
    part = slice(400 if name == "digits" else None)
    return found.data[part], found.target_names[found.target][part].astype(str)


@functools.cache
def portrait_of(name: str):
    table = read(*points_of(name))
    prepared = prepare(table, Scaling.AUTO)
    return portray(table, prepared), prepared


def is_separable(inputs: np.ndarray, signs: np.ndarray) -> bool:
    """Whether some w and b have y(⟨w, x⟩ + b) ≥ 1 on every point, by SciPy's linear program."""
    scaled = (inputs - inputs.mean(axis=0)) / np.where(inputs.std(axis=0) > 0, inputs.std(axis=0), 1.0)
    signed = signs[:, None] * np.column_stack([scaled, np.ones(len(scaled))])
    solved = scipy.optimize.linprog(
        np.zeros(signed.shape[1]), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=(None, None), method="highs"
    )
    assert solved.status in (0, 2)
    return solved.status == 0


def found_for(name: str, kind: str) -> Separability:
    """What the portrait says about this class and the others."""
    separability = portrait_of(name)[0].separability
    if len(np.unique(points_of(name)[1])) == 2:
        return next(each for each in separability if each.between.endswith("with a bias"))
    return next(each for each in separability if each.between == f"{kind} against the rest")


SINGLED_OUT = [
    *(("iris", kind) for kind in ("setosa", "versicolor", "virginica")),
    *(("wine", f"class_{number}") for number in range(3)),
    ("breast_cancer", "benign"),
    *(("digits", kind) for kind in "08"),
    *((f"mnist{first}{second}", str(first)) for first, second in PAIRS),
]


@pytest.mark.parametrize(("name", "kind"), SINGLED_OUT)
def test_what_is_separable_is_what_a_linear_program_separates(name, kind):
    inputs, labels = points_of(name)
    signs = np.where(labels == kind, 1.0, -1.0)
    found = found_for(name, kind)
    assert found.separable is is_separable(inputs, signs)
    assert bool(found.in_the_way) is not found.separable
    if not found.separable:
        rest = np.delete(np.arange(len(labels)), np.array(found.in_the_way) - 1)
        assert is_separable(inputs[rest], signs[rest])


def test_iris_as_every_textbook_has_it():
    found = portrait_of("iris")[0]
    assert [(each.name, each.points) for each in found.classes] == [
        ("setosa", 50),
        ("versicolor", 50),
        ("virginica", 50),
    ]
    assert [each.separable for each in found.separability] == [True, False, False]
    assert found.repeats == ((143, 102),)
    (short, *_) = in_short(toy_certificate("iris").findings)
    assert "separates setosa from all others, but none separates versicolor (" in short


def test_breast_cancer_is_separable_in_all_its_columns_and_in_none_alone():
    inputs, labels = points_of("breast_cancer")
    found = portrait_of("breast_cancer")[0]
    assert {(each.name, each.points) for each in found.classes} == {("malignant", 212), ("benign", 357)}
    assert found.separable is True
    signs = np.where(labels == "benign", 1.0, -1.0)
    assert not any(is_separable(inputs[:, [column]], signs) for column in range(30))


def test_points_in_the_way_are_few_where_a_linear_model_errs_little():
    """A linear boundary of scikit-learn cannot be much better than the best that was found."""
    inputs, labels = points_of("iris")
    signs = np.where(labels == "virginica", 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=1e6, max_iter=1000).fit(inputs, signs)
    wrong = int((model.predict(inputs) != signs).sum())
    assert 0 < len(found_for("iris", "virginica").in_the_way) <= wrong


def test_large_data_is_asked_by_regression(monkeypatch):
    """As it is of full MNIST; on small data both ways leave a separable rest."""
    monkeypatch.setattr("widenet.certificates.misplaced_points.MOST_NUMBERS", 0)
    inputs, labels = points_of("iris")
    columns = np.column_stack([inputs, np.ones(len(inputs))]) / 10
    signs = np.where(labels == "virginica", 1.0, -1.0)
    drop = clashing(from_arrays(columns, signs)).rows
    rest = np.delete(np.arange(len(labels)), drop)
    assert 0 < len(drop) < 10
    assert is_separable(inputs[rest], signs[rest])


@pytest.mark.parametrize("name", ["breast_cancer", *(f"mnist{first}{second}" for first, second in PAIRS)])
def test_two_classes_that_are_apart_are_apart_in_the_picture(name):
    prepared = portrait_of(name)[1]
    plane = plane_of(prepared)
    assert plane.boundary is not None
    labels, places = np.asarray(prepared.data.labels)[plane.rows], plane.points[:, 0]
    sides = [set(np.sign(places[labels == kind] - plane.boundary)) for kind in (-1, 1)]
    assert sides in ([{-1.0}, {1.0}], [{1.0}, {-1.0}])
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-9)


@functools.cache
def toy_certificate(name: str):
    """With rooms whose claims take no time, and a twentieth of the work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(papers, "PAPERS", (TOY, EMPTY))
        return wn.certify(*points_of(name), effort=0.05)


@pytest.mark.parametrize("name", ["iris", "mnist01"])
def test_a_certificate_fits_one_screen(name):
    lines = as_text(toy_certificate(name).findings).splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    narrow = as_text(toy_certificate(name).findings, width=72).splitlines()
    assert max(map(len, narrow)) <= 72


def test_errors_by_class_add_up_to_the_error():
    """The three species have as many flowers each."""
    study = toy_certificate("iris").findings.study
    assert study is not None
    for each in study.results:
        assert np.mean([error or 0.0 for error in each.score.class_errors]) == pytest.approx(each.score.error)
    assert "Error by class: setosa: 0" in repr(toy_certificate("iris"))


def test_what_stands_in_the_way_of_theory_is_said():
    """A margin of a hair on breast cancer; no boundary at all between versicolor and virginica."""
    findings = toy_certificate("iris").findings.model_copy(update={"promises": ()})
    shape, obstacle = in_short(findings.model_copy(update={"portrait": portrait_of("breast_cancer")[0]}))
    assert "separates benign and malignant, though only just (margin 1/" in shape
    assert obstacle.startswith("Theory promises little about training here")
    inputs, labels = points_of("iris")
    table = read(inputs[50:], labels[50:])
    found = portray(table, prepare(table, Scaling.AUTO))
    assert not is_separable(inputs[50:], np.where(labels[50:] == "virginica", 1.0, -1.0))
    shape, obstacle = in_short(findings.model_copy(update={"portrait": found}))
    assert shape.startswith("No linear boundary (one straight cut through the data) separates versicolor and virginica")
    assert obstacle.startswith("No theorem that was evaluated promises that training succeeds here")
    assert [each.between for each in found.separability] == ["versicolor and virginica, with a bias"]


def test_networks_learn_what_anything_learns():
    """MNIST 0 against 1 is easy: nearest-neighbour errs on less than 1 % of it, and so does every linear boundary."""
    study = toy_certificate("mnist01").findings.study
    assert study is not None
    assert study.best.score.error < 0.05
    assert study.held_out == 300
