"""The two-point flow, followed for a while: one small program is compiled."""

import numpy as np

from widenet.papers.sarussi2021.runs.flows import FlowCase, FlowSetting, run_flows, wedge_setting
from widenet.papers.sarussi2021.sources import TWO_POINTS
from widenet.progress import silent


def test_two_points_end_in_perfect_agreement():
    setting = FlowSetting(cases=(FlowCase(points=TWO_POINTS, slope=1 / 3),), half_width=3, output_weight=0.4, until=20)
    runs = run_flows(setting, silent)
    assert runs.plus_signs.tolist() == [[1.0, -1.0]]
    assert runs.minus_signs.tolist() == [[-1.0, 1.0]]
    np.testing.assert_allclose(runs.value, 81 / 410, rtol=1e-12)
    np.testing.assert_allclose(runs.critical, 1.0, rtol=1e-12)
    (course,) = runs.each()
    assert course.started == 1
    assert course.settled == 1
    cosine = course.means[-1] @ course.solution / np.linalg.norm(course.means[-1]) / np.linalg.norm(course.solution)
    assert abs(1 - cosine - 1.7e-4) < 1e-5


def test_a_start_inside_a_regime():
    case = wedge_setting(0).cases[0]
    assert case.plus_signs == (1.0, 1.0, -1.0)
    assert len({each.seed for each in wedge_setting(0).cases}) == 3
