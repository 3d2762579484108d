import dataclasses

import numpy as np

from tests.controls import breaks_hypothesis, breaks_part, every_part_of
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.diagnostics.rays import boundary_rays
from widenet.papers.sarussi2021.claims import shapes
from widenet.papers.sarussi2021.claims.shapes import (
    corollary_6_1,
    mixed_clusters,
    perfect_clusters,
    section_5_mixed_clusters,
    section_11_1,
    two_neurons,
)
from widenet.papers.sarussi2021.runs.clouds import ask
from widenet.papers.sarussi2021.settings import SignedNetwork, kappa_network

RELU = two_neurons(0.0)
CLUSTERS = perfect_clusters(0)


@breaks_part(section_11_1, "0 at a quarter of the nodes, and on the diagonal")
def test_control_one_node_relabelled():
    signs = RELU.signs.copy()
    signs[0, 0] = 1.0
    return section_11_1(RELU), section_11_1(altered(RELU, signs=signs))


@breaks_part(section_11_1, "rays at 45° and 180° if 0 is positive")
def test_control_the_other_label_of_zero():
    return section_11_1(RELU), section_11_1(altered(RELU, rays_plus=RELU.rays_minus))


@breaks_part(section_11_1, "rays at 45° and 270° if 0 is negative")
def test_control_the_first_label_of_zero():
    return section_11_1(RELU), section_11_1(altered(RELU, rays_minus=RELU.rays_plus))


@breaks_hypothesis(section_11_1, "relu")
def test_control_a_leaky_relu_is_linear():
    found = section_11_1(two_neurons(1e-3))
    assert found.conclusion is False
    assert two_neurons(0.1).rays_plus.tolist() == [45.0, 225.0]
    return found


@breaks_part(section_5_mixed_clusters, "the rays are 90° + 2·atan α apart")
def test_control_the_same_vectors_sorted_by_sign():
    return section_5_mixed_clusters(mixed_clusters()), section_5_mixed_clusters(mixed_clusters(matched=True))


def test_a_boundary_without_two_rays_has_no_gap():
    """One row of each sign on opposite sides of four directions: four rays, or none."""
    four = SignedNetwork(np.array([(1.0, 0.0), (-1.0, 0.0)]), np.array([(0.0, 1.0), (0.0, -1.0)]), 1.0, 0.1)
    assert len(boundary_rays(four.weights, four.output_weights, 0.1)) == 4
    assert section_5_mixed_clusters(altered(mixed_clusters(), networks=(four,))).conclusion is None


@breaks_hypothesis(section_5_mixed_clusters, "tight")
def test_control_loose_clusters():
    return section_5_mixed_clusters(mixed_clusters(spread=0.5))


def equal(**fields):
    return dataclasses.replace(CLUSTERS, equal=altered(CLUSTERS.equal, **fields))


@breaks_part(corollary_6_1, "sign N = sign (w − u)·x")
def test_control_one_sign_turned():
    first = np.flatnonzero(CLUSTERS.equal.difference)[0]
    outputs = CLUSTERS.equal.outputs.copy()
    outputs[first] *= -1
    return corollary_6_1(CLUSTERS), corollary_6_1(equal(outputs=outputs))


@breaks_part(corollary_6_1, "N = 0 where (w − u)·x = 0")
def test_control_a_tie_read_as_plus():
    outputs = np.where(CLUSTERS.equal.outputs == 0, 1.0, CLUSTERS.equal.outputs)
    return corollary_6_1(CLUSTERS), corollary_6_1(equal(outputs=outputs))


@breaks_part(corollary_6_1, "the same for collinear rows")
def test_control_a_collinear_sign_turned():
    first = np.flatnonzero(CLUSTERS.collinear.difference)[0]
    outputs = CLUSTERS.collinear.outputs.copy()
    outputs[first] *= -1
    changed = dataclasses.replace(CLUSTERS, collinear=altered(CLUSTERS.collinear, outputs=outputs))
    return corollary_6_1(CLUSTERS), corollary_6_1(changed)


@breaks_hypothesis(corollary_6_1, "collinear")
def test_control_a_row_turned_around():
    found = corollary_6_1(perfect_clusters(0, turned=-1.0))
    assert found.conclusion is False
    return found


@breaks_hypothesis(corollary_6_1, "clustered")
def test_control_a_network_that_is_not_clustered():
    sharp = ask(kappa_network(0.25, 0.5), np.array([[1.0, 0.0]]))
    found = corollary_6_1(dataclasses.replace(CLUSTERS, equal=type(sharp).joined([CLUSTERS.equal, sharp])))
    assert found.conclusion is False
    return found


def test_one_loose_row_of_either_sign_is_enough():
    for swapped in (False, True):
        loose = ask(kappa_network(0.25, 0.5, swapped=swapped), np.array([[1.0, 0.0]]))
        for order in ([CLUSTERS.equal, loose], [loose, CLUSTERS.equal]):
            found = corollary_6_1(dataclasses.replace(CLUSTERS, equal=type(loose).joined(order)))
            assert [h.key for h in found.hypotheses if not h.met] == ["clustered"]
    for widest, met in ((0.99e-6, True), (1.05e-6, False)):
        assert corollary_6_1(dataclasses.replace(CLUSTERS, widest=widest)).hypotheses[1].met is met


def test_ties_are_among_the_pairs():
    assert corollary_6_1(CLUSTERS).details["ties"] > 100
    assert corollary_6_1(CLUSTERS).verdict is Verdict.HOLDS


test_every_part_has_a_control = every_part_of(shapes)
