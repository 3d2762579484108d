"""The drawing of Figure 3, from numbers of the right shape."""

from tests.papers.brutzkus2018.drawings.plausible import WIDTHS, both_layers
from widenet.papers.brutzkus2018.drawings.figure_3 import draw


def test_it_shows_both_ratios_per_width() -> None:
    picture = draw(both_layers())
    ratios = picture.drawing().subfigs[2].axes[0]
    assert len(ratios.lines) == 2 * len(WIDTHS)
    assert ratios.get_yscale() == "log"
    assert "0.3 at width 10, 0.1 at width 100, 0.1 at width 1,000" in picture.note


def test_a_changed_sign_is_shown_below_zero() -> None:
    picture = draw(both_layers(lowest=-2.0))
    assert "Output weights change their signs" in [panel.title for panel in picture.panels]
    for part in picture.drawing().subfigs[2:]:
        assert part.axes[0].get_yscale() == "symlog"
        assert part.axes[0].get_ylim()[0] < -1
