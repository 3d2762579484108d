"""The page of a certificate: one file, safe, with everything in it."""

import functools
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import widenet as wn
from tests.certificates import studies
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates import words
from widenet.certificates.page import render, typed, whole
from widenet.certificates.pictures import errors, portrait
from widenet.certificates.plane import plane_of
from widenet.certificates.preparation import Scaling, prepare
from widenet.certificates.promises import ListedPromise, Standing, bars_of, promises_of
from widenet.certificates.reading import read
from widenet.certificates.rivals import MAJORITY
from widenet.certificates.rows import ClaimRow
from widenet.certificates.summary import COUNTED, about_count, best_kept, in_short
from widenet.certificates.width_study import MoreWork
from widenet.certificates.width_words import about_material, about_study, answers, verdict_of
from widenet.claims import Kind, at_most
from widenet.claims.conclusion import evidence
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Sides
from widenet.errors import InputError

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
NASTY = '<script>alert("x")</script>'


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


@functools.cache
def certificate(dim: int = 2):
    """Two clouds, one of them with a name that is no name."""
    draw = np.random.default_rng(dim)
    points = draw.normal(size=(24, dim)) + 3 * np.repeat([[1.0], [-1.0]], 12, axis=0)
    return wn.certify(points, [NASTY] * 12 + ["left"] * 12, effort=1e-3)


class Elements(HTMLParser):
    """Which elements a page has, and what they refer to."""

    def __init__(self, page: str):
        super().__init__()
        self.open, self.seen, self.addresses, self.ids = [], set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        found = dict(attrs)
        self.addresses += [found[name] for name in ("src", "href") if name in found]
        self.ids += [found["id"]] if "id" in found else []
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("dim", [2, 5])
def test_the_page_is_whole_and_asks_nobody(dim):
    page = certificate(dim).to_html()
    found = Elements(page)
    assert not found.open
    assert "script" not in found.seen
    assert all(address.startswith(("#", "data:image/")) for address in found.addresses)
    assert {address[1:] for address in found.addresses if address.startswith("#")} <= set(found.ids)
    assert "default-src 'none'" in page
    assert NASTY not in page
    for title in ("The data", "What networks do, by width", "What theory promises here", "How sure is this"):
        assert title in page


def test_the_card_of_a_theorem_says_the_same_as_its_promise():
    """Its number is that of the part that the sentence is about, and there is none where it does not apply."""
    met, missed = (at_most(norm, 1.0).hypothesis("norm", "norm") for norm in (1.0, 2.0))
    parts = {"many": Sides(3.0, 1e15), "few": Sides(0.05, 0.1, undecided=True)}
    rows = [
        ClaimRow(id=f"toy2020.{name}", kind=Kind.MAIN, where="", statement="", evidence=evidence(parts, (hypothesis,)),
            meaning=Meaning(topic=Topic.UPDATES, promise=f"{name}: at most {{promised}} steps."))
        for name, hypothesis in (("here", met), ("elsewhere", missed))
    ]  # fmt: skip
    findings = certificate().findings.model_copy(update={"rows": tuple(rows), "promises": tuple(promises_of(rows))})
    page = render(findings, {})
    assert "<strong>here: at most 1,000 trillion steps.</strong>" in page
    assert "It would promise, if its assumptions held: elsewhere: at most … steps." in page
    assert "at most 0.1 steps" not in page


def test_what_a_theorem_says_is_set_in_type():
    """Its indices, powers of ten and minus signs; names of your classes and columns are shown as they are."""
    missed = at_most(0.0, -3e-17).hypothesis("odd", "L_1 − C_4")
    small = evidence({"small": Sides(5.8e-20, 7.9e-15)}, (missed,), note="no C_4, and -60,975 points")
    row = ClaimRow(id="toy2020.here", kind=Kind.MAIN, where="", statement="", meaning=None, evidence=small)
    page = render(certificate().findings.model_copy(update={"rows": (row,), "promises": ()}), {})
    for said in (
        "<td>L<sub>1</sub> − C<sub>4</sub></td><td>≤ −3·10⁻¹⁷</td>",
        "5.8·10⁻²⁰ ≤ 7.9·10⁻¹⁵",
        "no C<sub>4</sub>, and −60,975 points",
    ):
        assert said in page
    assert typed("x_1 at 1.5-2 and t - 3") == "x<sub>1</sub> at 1.5-2 and t - 3"
    assert whole("class x_1 has 2.5e-07, not -3") == "class x_1 has 2.5·10⁻⁷, not -3"


def test_of_large_data_a_promise_about_a_part_is_told_if_there_is_no_other():
    """Fifty points are too few to be told of."""
    found = evidence({"many": Sides(3.0, 9.0)}, (at_most(1.0, 1.0).hypothesis("norm", "norm"),))
    meaning = Meaning(topic=Topic.UPDATES, promise="At most {promised} steps.")
    row = ClaimRow(id="toy2020.theorem_2", kind=Kind.MAIN, where="", statement="", evidence=found, meaning=meaning)
    (whole,) = promises_of([row])
    part, few = (whole.model_copy(update={"about": f"{count} points drawn at random"}) for count in ("1,135", "50"))
    findings = certificate().findings
    given = ((few, part, whole), (few, part), (few,))
    assert [best_kept(findings.model_copy(update={"promises": each})) for each in given] == [whole, part, None]
    short = in_short(findings.model_copy(update={"promises": (few, part)}))[1]
    assert short == "Guaranteed for 1,135 points drawn at random, and seen to hold: at most 9 steps."


def test_pictures_are_drawn():
    assert set(certificate().pictures) == {"portrait.svg", "errors.svg", "tightness.svg"}


def test_without_networks_the_picture_speaks_of_none():
    findings = certificate().findings.model_copy(update={"study": None})
    assert words.about_picture(findings) == "The points."
    assert "No network was trained" in render(findings, {})
    found = certificate()
    alone = portrait(plane_of(found.prepared), np.asarray(found.prepared.data.labels), ("a", "b"), {}, ("x", "y"))
    assert [axes.get_xlabel() for axes in alone.axes] == ["x"]


def test_a_notebook_gets_a_frame():
    assert re.match(r'<iframe srcdoc="[^"]+" sandbox style="[^"]+"></iframe>$', certificate()._repr_html_())


def test_saving(tmp_path):
    found = certificate()
    (page,) = found.save(tmp_path / "a.html")
    (twin,) = found.save(tmp_path / "b.json")
    assert page.read_text() == found.to_html()
    assert json.loads(twin.read_text()) == found.to_dict()
    assert [path.name for path in found.save(tmp_path / "both")] == ["certificate.html", "certificate.json"]
    with pytest.raises(InputError, match="is a file"):
        found.save(page / "inside")


def test_the_plane_tells_classes_apart():
    draw = np.random.default_rng(0)
    points = draw.normal(size=(60, 4))
    points[:, 2] += np.repeat([0.0, 9.0], 30)
    plane = plane_of(prepare(read(points, [0] * 30 + [1] * 30), Scaling.AUTO))
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)
    first = plane.points[:, 0] * np.sign(plane.axes[0, 2])
    assert first[:30].max() < first[30:].min()
    assert not plane.is_own


def test_as_few_points_as_classes_are_drawn_too():
    plane = plane_of(prepare(read(np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0]]), ["a", "b"]), Scaling.AUTO))
    assert plane.boundary is not None
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-9)


def test_points_in_the_way_have_rings():
    """Four corners, of which neighbours differ: one of them is in the way of every linear boundary."""
    found = wn.certify(CORNERS, ["a", "b", "b", "a"], time=1e-6)
    rows = words.ringed_rows(found.findings.portrait)
    assert len(rows) == 1
    assert "Rings: points on the wrong side" in words.about_picture(found.findings)
    drawing = portrait(plane_of(found.prepared), np.asarray(found.prepared.data.labels), ("a", "b"), {}, (), [0])
    assert np.shape(drawing.axes[0].collections[-1].get_offsets()) == (1, 2)
    assert not words.ringed_rows(certificate().findings.portrait)


def test_a_boundary_that_is_hardly_better_than_none_accuses_no_point():
    """3 of 60 points of class b, each on top of one of class a: always answering a is as good."""
    draw = np.random.default_rng(0)
    points = draw.normal(size=(57, 2))
    inputs, labels = np.r_[points, points[:3]], ["a"] * 57 + ["b"] * 3
    findings = wn.certify(inputs, labels, time=1e-6).findings
    (best,) = [each for each in findings.portrait.separability if not each.through_origin]
    assert len(best.in_the_way) >= 3
    said = "No linear boundary that was found does much better than always answering a: the best has "
    assert said in " ".join(words.about_data(findings.portrait))
    assert said in in_short(findings)[0]
    assert "mislabelled" not in " ".join(words.about_data(findings.portrait))
    assert not words.ringed_rows(findings.portrait)
    corners = wn.certify(CORNERS, ["a", "b", "b", "a"], time=1e-6).findings.portrait
    assert "mislabelled" in " ".join(words.about_data(corners))


def test_options_with_their_values_are_not_broken():
    for given, shown in (
        ("--effort 0.5 allows", '<span class="whole">--effort 0.5</span> allows'),
        ("with --drop a_id.", 'with <span class="whole">--drop a_id</span>.'),
        ("with --drop 'a <b>'.", 'with <span class="whole">--drop &#39;a &lt;b&gt;&#39;</span>.'),
    ):
        assert whole(given) == shown
    found = certificate().findings
    assert found.study is not None
    offer = MoreWork(effort=2, passes=9, widest=64)
    open_study = found.study.model_copy(update={"left_out": (64,), "for_widths": offer, "for_passes": offer})
    page = render(found.model_copy(update={"study": open_study}), {})
    assert page.count('<span class="whole">--effort 2</span>') == 2
    assert page.count("--effort") == 2


def test_odd_names_are_shown_as_they_are():
    found = certificate()
    drawing = portrait(plane_of(found.prepared), np.asarray(found.prepared.data.labels), ("_x", "$y$"), {})
    texts = [text.get_text() for legend in drawing.legends for text in legend.get_texts()]
    assert texts == [" _x", r"\$y\$"]


def test_sentences_are_sentences():
    findings = certificate().findings
    for sentence in (
        *words.about_data(findings.portrait),
        *words.about_structure(findings.portrait),
        *about_material(findings),
        *(about_study(findings.study) if findings.study else ()),
        verdict_of(findings),
        *(answer for _, answer in answers(findings)),
        *words.about_certainty(findings),
        words.about_rows(findings),
        words.about_picture(findings),
        words.about_choices(findings),
        *in_short(findings),
    ):
        assert re.match(r"[A-Z0-9w].*\.$", sentence), sentence


def test_a_sample_is_trained_again_in_float64():
    found = certificate().findings.certainty
    assert found is not None
    assert (found.repeated, found.points) == (5, 24)
    assert found.changed < 4


@pytest.mark.parametrize(("common", "top", "said"), [(250, 12, ": 50\N{NO-BREAK SPACE}%, far above"), (100, 22, "")])
def test_the_most_common_class_presses_no_curve_to_the_bottom(common, top, said):
    """Networks err on 8 and 6 %, others on 10 %, up to 10.7 % by their limits."""
    found = studies.study(studies.runs_of(4, 40), studies.runs_of(16, 30), majority=common, linear=50, bending=50)
    (axes,) = errors(found).axes
    assert top - 1 < axes.get_ylim()[1] < top
    assert f"{MAJORITY}{said}" in [line.get_label() for line in axes.lines]


def test_the_width_that_is_enough_is_the_one_upright_line():
    found = studies.study(studies.runs_of(4, 40), studies.runs_of(16, 40), majority=250)
    (axes,) = errors(found).axes
    (upright,) = [line for line in axes.lines if list(np.asarray(line.get_xdata())) == [4, 4]]
    assert upright.get_label() == "the smallest width that is enough"
    assert not any(line.get_visible() for line in axes.get_xgridlines())


def test_promises_with_the_same_numbers_have_one_bar():
    """Also where they differ by rounding."""
    each = ListedPromise(id="x.y", about="", topic=Topic.UPDATES, standing=Standing.GUARANTEED, words="", remark="",
        sense="≤", promised=30525.3, measured=502.0)  # fmt: skip
    assert len(bars_of([each, each.model_copy(update={"promised": 30525.3 - 4e-12})])) == 1
    assert len(bars_of([each, each.model_copy(update={"promised": 30600.0})])) == 2


def test_what_became_of_every_promise_is_counted():
    def promised(standing, about="", topic=Topic.UPDATES):
        return ListedPromise(id="x.y", about=about, topic=topic, standing=standing, words="", remark="")

    asked = [promised(Standing.GUARANTEED)] * 3 + [promised(Standing.NOT_HERE)] * 2 + [promised(Standing.UNSEEN)]
    left = [promised(Standing.GUARANTEED, about="50 points drawn at random")]
    said = "Promises about all the data (6): 3 seen to be kept, 2 for other data and 1 too small to see."
    assert about_count([*asked, *left]).startswith(said)
    assert about_count(left) == ""
    assert COUNTED.keys() == set(Standing)


def test_promises_that_were_kept_are_not_said_to_be_missing():
    """Next to the count of promises that are kept, which are about all the data and not about training."""
    findings = wn.certify(CORNERS, ["a", "b", "b", "a"], effort=1e-3).findings
    for count, said in (
        (0, "No promise about all the data was seen to hold here."),
        (1, "1 promise about all the data was seen to be kept; it is not about how training goes."),
        (2, "2 promises about all the data were seen to be kept; none of them is about how training goes."),
    ):
        kept = [
            ListedPromise(id="x.y", about="", topic=topic, standing=standing, words="", remark="")
            for topic, standing in (
                *[(Topic.LIMIT, Standing.GUARANTEED)] * count, (Topic.UPDATES, Standing.UNCONFIRMED)
            )
        ]  # fmt: skip
        assert in_short(findings.model_copy(update={"promises": tuple(kept)}))[1] == said


@pytest.mark.parametrize(
    ("actual", "shown"),
    [(1.0, "0"), (1 - 1e-12, "0"), (1 - 8e-12, "0"), (1 - 1e-10, "1.01e-10"), (0.75, "0.25"), (1 + 5e-12, "-4e-12")],
)
def test_a_slack_of_rounding_is_shown_as_none(actual, shown):
    assert words.slack(at_most(actual, 1, within=1e-12).hypothesis("input_norm", "largest ‖x‖")) == shown
