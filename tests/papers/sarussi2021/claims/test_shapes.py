import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import unmet_in
from widenet.claims.base import Verdict
from widenet.diagnostics.rays import boundary_rays
from widenet.papers.sarussi2021.claims import shapes
from widenet.papers.sarussi2021.claims.shapes import corollary_6_1, section_5_mixed_clusters, section_11_1
from widenet.papers.sarussi2021.runs.clouds import ask
from widenet.papers.sarussi2021.runs.shapes import (
    MixedClusters,
    PerfectClusters,
    TwoNeurons,
    clusters,
    clusters_of,
    mixed_clusters,
    perfect_clusters,
    two_neurons,
)
from widenet.papers.sarussi2021.sources import SignedNetwork, kappa_network

RELU = two_neurons(0.0)
CLUSTERS = perfect_clusters(0)


def test_control_a_leaky_relu_is_linear():
    found = section_11_1(two_neurons(1e-3))
    assert found.conclusion is False
    assert unmet_in(found) == ["relu"]
    assert two_neurons(0.1).rays_plus.tolist() == [45.0, 225.0]


def test_a_boundary_without_two_rays_has_no_gap():
    """One row of each sign on opposite sides of four directions: four rays, or none."""
    four = SignedNetwork(np.array([(1.0, 0.0), (-1.0, 0.0)]), np.array([(0.0, 1.0), (0.0, -1.0)]), 1.0, 0.1)
    assert len(boundary_rays(four.weights, four.output_weights, 0.1)) == 4
    assert section_5_mixed_clusters(clusters_of([four], 0.01)).conclusion is None


def test_control_a_row_turned_around():
    found = corollary_6_1(perfect_clusters(0, turned=-1.0))
    assert found.conclusion is False
    assert unmet_in(found) == ["collinear"]


@pytest.mark.parametrize("swapped", [False, True])
def test_control_a_network_that_is_not_clustered(swapped):
    loose = ask(kappa_network(0.25, 0.5, swapped=swapped), np.array([[1.0, 0.0]]))
    assert unmet_in(corollary_6_1(clusters(loose, loose, 0.0))) == ["clustered"]
    equal = ask(kappa_network(0.25, 0.5, 1, swapped=swapped), np.array([[1.0, 0.0]]))
    assert unmet_in(corollary_6_1(clusters(equal, loose, 0.0))) == []


def test_ties_are_among_the_pairs():
    assert corollary_6_1(CLUSTERS).details["ties"] > 100
    assert corollary_6_1(CLUSTERS).verdict is Verdict.HOLDS


def first_of(where):
    """The output of the first of these pairs, turned."""
    first = np.flatnonzero(where)[0]
    return {"outputs": lambda outputs: np.where(np.arange(len(outputs)) == first, -outputs, outputs)}


def one_node_relabelled(signs):
    signs = signs.copy()
    signs[0, 0] = 1.0
    return signs


APART = CLUSTERS.difference != 0
TIES = {"outputs": lambda outputs: np.where(~CLUSTERS.collinear & (outputs == 0), 1.0, outputs)}
test_control = controls(
    shapes,
    {TwoNeurons: RELU, MixedClusters: mixed_clusters, PerfectClusters: CLUSTERS},
    (section_11_1, "zeros", {}, {"signs": one_node_relabelled}),
    (section_11_1, "plus_rays", {}, {"rays_plus": RELU.rays_minus}),
    (section_11_1, "minus_rays", {}, {"rays_minus": RELU.rays_plus}),
    (section_5_mixed_clusters, "rays", {}, at(lambda: mixed_clusters(matched=True))),
    (section_5_mixed_clusters, "tight", {}, at(lambda: mixed_clusters(spread=0.5))),
    (corollary_6_1, "signs", {}, first_of(APART & ~CLUSTERS.collinear)),
    (corollary_6_1, "ties", {}, TIES),
    (corollary_6_1, "collinear_signs", {}, first_of(APART & CLUSTERS.collinear)),
)
