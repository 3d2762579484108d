"""Names in the texts of pages lead to what they name."""

import pytest

from widenet.report.addresses import InFolder
from widenet.report.named_pages import pages_by_name, with_links

PAGES = pages_by_name(["toy2020.theorem_2", "toy2020.figure_1", "other2021.theorem_2"], "toy2020")
LINK = '<a href="../toy2020/theorem_2.html">'


@pytest.mark.parametrize(
    ("body", "linked"),
    [
        ("see <code>theorem_2</code>", f"see <code>{LINK}theorem_2</a></code>"),
        ("toy2020.theorem_2 shows", f"{LINK}toy2020.theorem_2</a> shows"),
        ("<pre>widenet check toy2020.theorem_2</pre>", "<pre>widenet check toy2020.theorem_2</pre>"),
        ('<a href="x">theorem_2</a>', '<a href="x">theorem_2</a>'),
        ('<i id="theorem_2">a</i>', '<i id="theorem_2">a</i>'),
        ("theorem_3 and theorem_2b", "theorem_3 and theorem_2b"),
        ("figure_1, this page", "figure_1, this page"),
    ],
)
def test_a_name_is_a_link_outside_tags_and_links(body: str, linked: str) -> None:
    own = "toy2020/figure_1.html"
    assert with_links(body, PAGES, InFolder(own), own) == linked
