"""What networks are compared with, against scikit-learn."""

import numpy as np
import scipy.stats
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.certificates.studies import clouds
from widenet.certificates import rivals
from widenet.certificates.widths import held_out_parts


def test_rivals_are_what_scikit_learn_makes_of_the_same_points():
    inputs, labels = clouds(60)
    parts = held_out_parts(inputs, labels, 3, 0)
    parts[:2] = -1  # in no part: trained on always, and not answered
    found = dict(rivals.predictions(inputs, labels, parts, scales=True))
    assert all((each.predicted[:2] == -1).all() for each in found.values())
    assert all(np.isnan(each.scores[:2]).all() for each in found.values())
    for part in range(3):
        rows, kept = parts == part, parts != part
        scaled = StandardScaler().fit(inputs[kept])
        points, others = scaled.transform(inputs[kept]), scaled.transform(inputs[rows])
        linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(inputs[kept], labels[kept])
        assert (found[rivals.LINEAR].predicted[rows] == linear.predict(inputs[rows])).all()
        np.testing.assert_allclose(found[rivals.LINEAR].scores[rows], linear.decision_function(inputs[rows]), rtol=1e-3)
        # These two see equal columns up to one scale, which changes neither.
        near, radial = KNeighborsClassifier(5).fit(points, labels[kept]), SVC(C=10.0).fit(points, labels[kept])
        assert (found[rivals.NEIGHBOURS].predicted[rows] == near.predict(others)).all()
        np.testing.assert_allclose(found[rivals.NEIGHBOURS].scores[rows], near.predict_proba(others)[:, 1])
        assert (found[rivals.RADIAL].predicted[rows] == radial.predict(others)).all()
        np.testing.assert_allclose(found[rivals.RADIAL].scores[rows], radial.decision_function(others), atol=1e-2)
        assert (found[rivals.MAJORITY].predicted[rows] == scipy.stats.mode(labels[kept]).mode).all()


def test_a_column_that_only_rounding_makes_vary_does_not_move_the_linear_classifier():
    draw = np.random.default_rng(5)
    labels = np.arange(40) % 2
    column = 4.0 * labels + draw.normal(size=40)
    nearly = np.where(labels, 0.1, np.nextafter(0.1, 1.0))
    nearly[labels.argmax()] = 0.2
    parts = np.arange(40) // 8
    alone, both = (
        dict(rivals.predictions(inputs, labels, parts, scales=True))[rivals.LINEAR].predicted[:8]
        for inputs in (column[:, None], np.column_stack([column, nearly]))
    )
    assert alone.tolist() == both.tolist()
