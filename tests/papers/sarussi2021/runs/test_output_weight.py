"""An output weight of 0 is an output weight, and not one that was left out."""

import numpy as np

from widenet.papers.sarussi2021.runs.flows import FlowCase, FlowSetting, run_flows
from widenet.papers.sarussi2021.runs.problems import SgdSetting, draw_problem
from widenet.papers.sarussi2021.sources import TWO_POINTS
from widenet.progress import silent


def test_sgd_with_an_output_weight_of_zero():
    zero = SgdSetting(points=TWO_POINTS, half_width=3, output_weight=0.0)
    assert draw_problem(zero).output_weight == 0
    assert draw_problem(zero.model_copy(update={"output_weight": None})).output_weight == 6**-0.5


def test_gradient_flow_with_an_output_weight_of_zero():
    """Nothing moves: the gradient has a factor v."""
    case = FlowCase(points=TWO_POINTS, slope=1 / 3)
    runs = run_flows(FlowSetting(cases=(case,), half_width=3, output_weight=0.0, until=2), silent)
    assert runs.output_weight == 0
    (course,) = runs.each()
    np.testing.assert_array_equal(course.means[0], course.means[-1])
