"""What the claim about the perceptron finds, and controls: each wrong statement must be noticed."""

import numpy as np
from perceptron import Data, perceptron, run, settings

from widenet.claims import Scale, Verdict

BASIS = run(Data(dim=25), None)


def unmet(evidence):
    return [each.key for each in evidence.hypotheses if not each.met]


def test_the_bound_is_attained_on_the_basis():
    evidence = perceptron([BASIS])
    assert (evidence.verdict, evidence.tightness) == (Verdict.HOLDS, 1.0)


def test_it_holds_where_the_orders_differ():
    drawn = [run(each, None) for each in settings(Scale.QUICK, 0)[1:]]
    assert any(len(set(runs.mistakes.tolist())) > 1 for runs in drawn)
    assert perceptron(drawn).verdict is Verdict.HOLDS


def test_control_a_smaller_bound_is_violated():
    assert perceptron([BASIS], bound=lambda norm: norm**2 - 0.5).verdict is Verdict.VIOLATED


def test_control_inputs_outside_the_unit_ball():
    assert unmet(perceptron([BASIS.replace(largest_input=np.full(3, 1.001))])) == ["input_norm"]


def test_control_a_margin_below_one():
    assert unmet(perceptron([BASIS.replace(smallest_margin=np.full(3, 0.999))])) == ["separable"]


def test_a_truncated_run_decides_nothing_unless_it_breaks_the_bound():
    cut = run(Data(dim=25, most_passes=1), None)
    evidence = perceptron([cut])
    assert (evidence.verdict, evidence.runs.unfinished) == (Verdict.INSUFFICIENT_EVIDENCE, 3)
    assert perceptron([cut], bound=lambda norm: norm**2 - 1).verdict is Verdict.VIOLATED
