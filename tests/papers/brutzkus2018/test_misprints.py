"""The instances in the table of misprints of docs/findings.md, in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from widenet.papers.brutzkus2018.formulas import update_bound_terms
from widenet.papers.brutzkus2018.runs.exact_sgd import ExactProblem, fractions, relu_on_basis


def leaky(labels, half_width, slope, points=((1,),), weight=Fraction(1)):
    votes = [weight] * half_width + [-weight] * half_width
    return ExactProblem(fractions(points), fractions(labels), fractions(votes), Fraction(slope), Fraction(1))


def test_the_first_term_depends_on_the_slope():
    assert [float(update_bound_terms(1.0, slope, 1.0, 1.0, 0.0, 1)[0]) for slope in (0.5, 0.25)] == [4, 16]


def test_no_compression_scheme_for_the_whole_class():
    """The member of H_k is +1 at both points; from W_0 = 0 no run with these labels gets both right."""
    both = leaky([1, 1], 2, "1/2", ((1,), (-1,)))
    member = leaky([1], 2, "1/2").train(fractions([[10], [-10], [0], [0]]), Fraction(1))
    assert (member.updates.tolist(), both.outputs(member.weights).tolist()) == ([0], [5, 5])
    end = both.train(fractions([[0]] * 4), Fraction(1), most_passes=200)
    assert not end.ended
    (plus, also_plus), (minus, also_minus) = end.weights[:2, 0], end.weights[2:, 0]
    assert (plus, minus) == (also_plus, also_minus)
    assert min(end.outputs) <= 0
    # σ grows, so tied rows have N(1) > 0 iff w > u, and N(−1) > 0 iff w < u.
    for w, u in ((1, 0), (0, 1), (1, 1), (-1, -2), (-2, -1)):
        assert min(both.outputs(fractions([[w], [w], [u], [u]]))) <= 0


def test_not_all_neurons_need_to_be_off():
    end = relu_on_basis(1, 1).train(fractions([[-1], ["1/2"]]), Fraction(1, 4))
    assert (end.solved, end.ended, end.updates.tolist()) == (False, True, [2])


def gradient_along(problem, weights, row):
    """⟨∂L/∂w_r, ±w*⟩ on the first point, w* = 1, + for the first half: −y|v|σ'(⟨w_r, x⟩)⟨w*, x⟩ where yN < 1."""
    z = problem.inputs[0] @ weights.T
    assert problem.labels[0] * problem.outputs(weights)[0] < 1
    sign = 1 if row < problem.half_width else -1
    return -problem.labels[0] * sign * problem.votes[row] * problem.derivative(z)[row]


def test_the_displays_of_the_proof_of_proposition_1():
    """Printed in both cases: at most −σ'(⟨w, x⟩) = −1."""
    assert gradient_along(leaky([1], 1, "1/5", weight=Fraction(1, 4)), fractions([[1], [1]]), 0) == Fraction(-1, 4)
    assert gradient_along(leaky([1], 1, "1/5"), fractions([["1/10"], ["-1/10"]]), 1) == Fraction(-1, 5)


def test_the_square_of_C_before_equation_11():
    """Output weights ±2 from ±1: w = u = 1 has N = 0, and the update gives w = 3, u = −1."""
    problem = leaky([1], 1, "1/2", weight=Fraction(2))
    weights = fractions([[1], [1]])
    pulls = problem.votes * problem.derivative(weights[:, 0])
    grown = ((weights[:, 0] + pulls) ** 2).sum() - (weights**2).sum()
    assert problem.outputs(weights)[0] == 0
    assert (grown, 2 + 2, 2 + 2 * 2**2) == (8, 4, 10)


def test_a_saddle_point_with_one_zero_row():
    problem = relu_on_basis(1, 2)
    saddle, beside = fractions([[0], [-1], [-1], [-1]]), fractions([["1/1000"], [-1], [-1], [-1]])
    assert problem.train(saddle, Fraction(1)).updates.tolist() == [0]
    assert problem.outputs(saddle)[0] < problem.outputs(beside)[0] < 1


def test_the_minus_neuron_stops_at_zero():
    end = relu_on_basis(1, 1).train(fractions([["1/20"], ["1/4"]]), Fraction(3, 10))
    assert (end.updates.tolist(), end.weights[1, 0]) == ([4], Fraction(-1, 20))
    assert end.weights[1, 0] > 1 - 4 * Fraction(3, 10)


def test_the_total_count_without_d():
    end = relu_on_basis(2, 1).train(fractions([["1/4", "1/4"], ["-1/4", "-1/4"]]), Fraction(1))
    assert end.updates.sum() == 2 > max(2 * Fraction(1, 4), 1)


@pytest.mark.parametrize("half_width", [1, 3])
def test_one_point_is_stuck_with_probability_two_to_the_minus_k(half_width):
    """All signs of ⟨w, e_1⟩: ½ at k = 1, where j ∈ [k] would be promised with 0.95."""
    signs = np.array(np.meshgrid(*[[-1, 1]] * half_width)).reshape(half_width, -1)
    assert (signs < 0).all(axis=0).mean() == 2.0**-half_width
