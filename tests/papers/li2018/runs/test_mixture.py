import pytest

from widenet.papers.li2018.runs.mixture import MixtureSetting, mixture_settings, run_mixture
from widenet.papers.li2018.sources import Gaussians
from widenet.progress import silent
from widenet.records import Scale


@pytest.mark.parametrize(("spread", "meets"), [(1.0, False), (0.1, True)])
def test_the_mixture_of_the_paper_does_not_meet_a1(spread, meets):
    """λ is about σ/√(σ₀² + σ²), and 1/16 is allowed."""
    found = run_mixture(MixtureSetting(data=Gaussians(dim=200, spread=spread, n_points=100)), silent)
    assert found.widest_allowed == 1 / 16
    assert (found.relative_diameter <= found.widest_allowed) == meets


def test_paper_scale_has_all_training_points():
    (setting,) = mixture_settings(Scale.PAPER, 0)
    assert setting.data == Gaussians()
