"""Whole certificates: what they print is what was computed, on a quiet machine and on a busy one."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import widenet as wn
from tests.certificates.studies import certificate, clouds, output_of, plain, said_by
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates import words
from widenet.certificates.width_words import about_study, does_size_help, verdict_of


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def test_what_is_printed_is_what_was_computed():
    """Every error on page, screen and in the JSON is a count of wrong answers of networks that never saw the point."""
    found = certificate()
    inputs, labels = clouds(60)
    page, screen = found.to_html(), repr(found)
    kept = json.loads(found.to_json())["study"]
    for row in kept["results"]:
        runs = found.runs[row["n_neurons"]]
        own = runs.parts == 0
        np.testing.assert_array_equal(said_by(runs, inputs[own]), runs.predicted[own])
        np.testing.assert_allclose(output_of(runs, inputs[own])[:, 0], runs.scores[own], rtol=1e-9, atol=1e-12)
        areas = [roc_auc_score(labels[runs.parts == part], runs.scores[runs.parts == part]) for part in range(5)]
        assert row["score"]["auc"] == pytest.approx(np.mean(areas), abs=1e-12)
        balanced = 1 - balanced_accuracy_score(labels, runs.predicted)
        assert row["score"]["balanced_error"] == pytest.approx(balanced, abs=1e-12)
        assert f'<td class="number">{words.percent(balanced)}</td>' in page
        assert f'<td class="number">{np.mean(areas):.2f}</td>' in page
        wrong = int((runs.predicted != labels).sum())
        assert (row["score"]["wrong"], row["score"]["points"]) == (wrong, 60)
        assert row["score"]["limits"] == pytest.approx(
            tuple(scipy.stats.binomtest(wrong, 60).proportion_ci(0.95, "exact"))
        )
        assert f'<td class="number">{words.percent(wrong / 60)}</td>' in page
        assert row["train_errors"] == pytest.approx(runs.train_error.tolist())
        assert row["fitted"] == (runs.train_error == 0).sum()
        assert any(
            f"{row['n_neurons']:,} neurons" in line and f" {words.percent(wrong / 60)} " in line
            for line in screen.split("\n")
        )
    for each in kept["rivals"]:
        assert words.percent(each["score"]["wrong"] / 60) in page
    for question in ("Does a larger network help?", "Will it generalize?", "How long does training take?"):
        assert question in page
        assert question in screen


def test_choices_are_used():
    base = certificate()
    assert base.findings.study is not None
    chosen = certificate(width=10, slope=0.4, runs=3, seed=7)
    assert chosen.findings.study is not None
    assert 10 in [each.n_neurons for each in chosen.findings.study.results]
    runs = chosen.runs[10]
    assert (runs.setting.slope, runs.setting.n_networks, runs.setting.seed, runs.setting.n_neurons) == (0.4, 3, 7, 10)
    assert runs.hidden.shape == (10, 3)
    assert chosen.findings.choices.n_neurons == 10
    own = certificate(step_size=0.3, init_scale=0.7).findings.choices
    assert (own.step_size, own.init_scale) == (0.3, 0.7)
    more = certificate(effort=4e-3)
    assert more.findings.study is not None
    assert more.findings.study.passes >= base.findings.study.passes
    assert base.runs[4].setting.scales != certificate(scaling="ball").runs[4].setting.scales


def statements(found) -> str:
    """Everything that is said, apart from how long it took."""
    facts = found.to_dict()
    for name in ("seconds", "computed"):
        facts.pop(name)
    for row in (*facts["rows"], *facts["study"]["results"]):
        row.pop("seconds")
    said = [verdict_of(found.findings), *does_size_help(found.findings.study), *about_study(found.findings.study)]
    return json.dumps([facts, said], ensure_ascii=False)


def test_a_busy_machine_says_the_same_as_a_quiet_one(tmp_path, monkeypatch):
    """Another process takes the processor, and clocks jump; only the seconds of training differ."""
    quiet = statements(certificate(tmp_path / "quiet"))
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        ticks = iter(range(0, 10**9, 500))
        for name in ("monotonic", "perf_counter", "process_time"):
            monkeypatch.setattr(time, name, lambda: float(next(ticks)))
        loud = statements(certificate(tmp_path / "busy"))
    finally:
        busy.kill()
        busy.wait()
    assert loud == quiet


def test_a_time_limit_that_is_spent_is_said_and_concludes_nothing():
    found = certificate(time=1e-6)
    assert found.findings.study is None
    assert plain(does_size_help(found.findings.study)).startswith("Not known: the time limit was reached")
    assert verdict_of(found.findings) == "Whether a larger network helps is not known."
    assert "No network was trained: the time limit was reached." in found.to_html()


def test_too_few_points_to_hold_any_out():
    found = wn.certify([[0.0, 1.0], [1.0, 0.0]], ["a", "b"], effort=1e-3)
    assert found.findings.study is not None
    assert found.findings.study.enough is None
    assert plain(does_size_help(found.findings.study)).startswith("Not known: no class has two different points")
    assert "not known" in verdict_of(found.findings)
    found.to_html()


def test_labels_at_random_are_separable_where_columns_are_many():
    draw = np.random.default_rng(0)
    many = wn.certify(draw.normal(size=(20, 30)), np.arange(20) % 2, time=1e-6).findings.portrait.relabelled
    assert many is not None
    assert (many.tried, many.separable, many.is_any) == (20, 20, True)
    found = wn.certify(draw.normal(size=(20, 30)), np.arange(20) % 2, time=1e-6)
    assert "With labels drawn at random 20 of 20 times a linear boundary separates them too" in found.to_html()
    assert "says nothing about these labels" in found.to_html()
    assert "reward" not in plain(words.about_data(found.findings.portrait))
    inputs = draw.normal(size=(60, 2)) + 9 * (np.arange(60) % 2)[:, None]
    assert wn.certify(inputs, np.arange(60) % 2, time=1e-6).findings.portrait.relabelled is None
    some = wn.certify(inputs[:12], np.arange(12) % 2, time=1e-6).findings.portrait.relabelled
    assert some is not None
    assert some.separable < 20
