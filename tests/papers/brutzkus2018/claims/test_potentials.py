"""The steps of the proof of Theorem 2 hold at every update, and their checks fail where they must."""

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import potentials
from widenet.papers.brutzkus2018.claims.potentials import (
    Book,
    check_equation_9,
    check_equation_11,
    check_equation_11_step,
    check_equation_12,
    check_equation_12_step,
    check_theorem_2_chain,
)
from widenet.papers.brutzkus2018.runs.draws import as_trials, basis_sequence, draw_trials, plus_minus_weights
from widenet.papers.brutzkus2018.runs.ledger import Pick, keep_ledger, start_of
from widenet.papers.brutzkus2018.runs.lower_bound import basis_trials
from widenet.papers.brutzkus2018.runs.trials import Trials
from widenet.types import Dataset, Layers, RunStatus, Scale

STEPS = (
    potentials.equation_9,
    potentials.equation_11_step,
    potentials.equation_11,
    potentials.equation_12_step,
    potentials.equation_12,
    potentials.theorem_2_chain,
)


@pytest.mark.parametrize("claim", STEPS, ids=lambda claim: claim.id)
def test_it_holds_and_was_tested(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried > 100
    assert evidence.runs.unfinished == 0
    assert evidence.tightness == pytest.approx(1, rel=0.1)  # the basis sequence nearly attains every one of them


def test_all_steps_read_the_same_ledgers():
    books = [claim.setting(Scale.QUICK, 0) for claim in STEPS]
    assert all(book is books[0] for book in books)
    assert books[0].ledgers is books[0].ledgers


@pytest.mark.parametrize("layers", list(Layers))
def test_the_ledger_counts_as_the_training_engine_does(layers):
    """Same cyclic runs, once in NumPy and once in the compiled engine: the same T and the same final weights."""
    trials = _cyclic(draw_trials(5, 1, 4, 1e3)[0])
    trained = trials.train(20_000, layers=layers)
    for run in range(len(trials)):
        ledger = keep_ledger(start_of(trials, run), trials.order, 20_000, layers=layers)
        assert ledger.updates == trained.updates[run]
        assert ledger.end is RunStatus.CONVERGED
        np.testing.assert_allclose(ledger.hidden, trained.network.hidden_weights[run], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ledger.output, trained.network.output_weights[run], rtol=1e-9)


def _cyclic(trials: Trials) -> Trials:
    from widenet.training import Cyclic

    return Trials(
        trials.data, trials.separators, trials.networks, trials.step_sizes, trials.row_bounds, Cyclic(), trials.seed
    )


def test_two_makers_of_the_basis_sequence_agree():
    ours, theirs = basis_sequence(5, 3, 0.3, 0.7), basis_trials(5, 3, 0.3, 0.7)
    np.testing.assert_allclose(ours.networks.hidden_weights, theirs.networks.hidden_weights, rtol=1e-15)
    np.testing.assert_allclose(ours.networks.output_weights, theirs.networks.output_weights, rtol=1e-15)
    assert np.array_equal(ours.data.inputs, theirs.data.inputs)
    assert np.array_equal(ours.separators, theirs.separators)


def test_picks_take_active_samples_only():
    start = start_of(draw_trials(2, 1, 1, 1e3)[0], 0)
    for pick in Pick:
        ledger = keep_ledger(start, pick, 10_000)
        assert ledger.end is RunStatus.CONVERGED
        assert (ledger.margins < 1).all()


def test_a_run_that_blows_up_is_called_diverged_not_converged():
    """Both layers with a large step: margins become NaN, and a NaN is not below 1."""
    trials = basis_sequence(6, 4, 0.9, 1e6)
    ledger = keep_ledger(start_of(trials, 0), trials.order, 10_000, layers=Layers.BOTH)
    assert ledger.end in (RunStatus.CONVERGED, RunStatus.DIVERGED)
    hidden = np.full((8, 6), 1e200)
    huge = as_trials(
        np.eye(6)[None], np.ones((1, 6)), np.ones((1, 6)), hidden[None], plus_minus_weights(4, 1e200)[None],
        np.full(1, 0.9), np.full(1, 1.0), np.full(1, 1e201), trials.order, 0,
    )  # fmt: skip
    assert keep_ledger(start_of(huge, 0), trials.order, 100).end is RunStatus.DIVERGED


def test_without_a_single_update_nothing_is_decided():
    """A start that already fits the data: no update, no evidence."""
    trials = basis_sequence(4, 1, 0.5, 1.0)
    fitting = -100 * np.asarray(trials.networks.hidden_weights)
    flipped = as_trials(
        np.asarray(trials.data.inputs), np.asarray(trials.data.labels), np.asarray(trials.separators), fitting,
        np.asarray(trials.networks.output_weights), np.full(1, 0.5), np.full(1, 1.0), np.full(1, 100.0),
        trials.order, 0,
    )  # fmt: skip
    assert check_equation_12_step(Book((flipped,))).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_equation_9_with_one_copy_of_the_separator():
    book = Book((basis_sequence(25, 4, 0.5, 5.3),))
    assert check_equation_9(book).verdict is Verdict.HOLDS
    evidence = check_equation_9(book, constant=lambda start: start.separator_norm)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.tightness is not None
    assert evidence.tightness > 2


def test_control_equation_11_step_with_inputs_of_norm_3():
    """From zero weights the first step adds η²·9·2kv², here above 2η + η²."""
    trials = basis_sequence(3, 2, 0.5, 10.0, row_bound=0.0)
    scaled = Trials(
        Dataset(3 * jnp.asarray(trials.data.inputs), trials.data.labels),
        trials.separators, trials.networks, trials.step_sizes, trials.row_bounds, trials.order, 0,
    )  # fmt: skip
    assert check_equation_11_step(Book((trials,))).verdict is Verdict.HOLDS
    evidence = check_equation_11_step(Book((scaled,)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest input norm ‖x‖"]
    assert evidence.conclusion is False


def test_control_equation_11_without_the_term_2_eta():
    """C2 with d = 1, R = 0, α = .5, η = .1: G² ends at 1.64, and 2kη²v² alone would allow .16."""

    def without(start):
        return 2 * start.half_width * (start.step_size * start.output_weight) ** 2

    book = Book((basis_sequence(1, 1, 0.5, 0.1, row_bound=0.0),))
    assert check_equation_11(book).verdict is Verdict.HOLDS
    assert check_equation_11(book, constant=without).verdict is Verdict.VIOLATED
    assert check_equation_11_step(book, constant=without).verdict is Verdict.VIOLATED
    assert book.ledgers[0].norms[-1] ** 2 == pytest.approx(1.64, abs=0.01)
    assert book.ledgers[0].updates * without(book.ledgers[0].start) == pytest.approx(0.16, abs=0.01)


@pytest.mark.parametrize("check", [check_equation_12_step, check_equation_12])
def test_control_equation_12_without_the_slope(check):
    book = Book((basis_sequence(4, 2, 0.1, 0.7),))
    assert check(book).verdict is Verdict.HOLDS
    wrong = check(book, constant=lambda s: 2 * s.half_width * s.step_size * s.output_weight)
    assert wrong.verdict is Verdict.VIOLATED
    assert wrong.config["updates_broken"] > 0


def test_control_equation_12_on_contradictory_data():
    """(x, 1) and (x, −1): no w* exists, F does not grow, and the check promises nothing."""
    trials = as_trials(
        np.ones((1, 2, 1)), np.array([[1.0, -1.0]]), np.ones((1, 1)), np.zeros((1, 2, 1)),
        plus_minus_weights(1, 1.0)[None], np.full(1, 0.5), np.full(1, 0.1), np.zeros(1), basis_sequence(1, 1, 0.5, 1.0)
        .order, 0,
    )  # fmt: skip
    book = Book((trials,))
    evidence = check_equation_12_step(book)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.runs.unfinished > 0
    chain = check_theorem_2_chain(book)
    assert chain.verdict is Verdict.HYPOTHESES_NOT_MET
    assert chain.conclusion is None
    assert chain.vacuous


def test_control_a_wrong_identity_is_noticed(monkeypatch):
    """If an update did not do what the identity says, the step inequality proves nothing about the run."""
    from widenet.papers.brutzkus2018.runs import ledger

    real = ledger.update_of
    monkeypatch.setattr(ledger, "update_of", lambda *a: (1.01 * real(*a)[0], real(*a)[1]))
    evidence = check_equation_12_step(Book((basis_sequence(4, 2, 0.1, 0.7),)))
    assert evidence.verdict is Verdict.VIOLATED
    assert "identity" in evidence.note


def test_control_the_chain_without_the_initial_weights():
    """C2 with R = 50: 156 updates, and the root with R = 0 would allow 14.8."""
    book = Book((basis_sequence(4, 1, 0.9, 1.0001, 0.5**0.5, 50.0),))
    honest = check_theorem_2_chain(book)
    assert honest.verdict is Verdict.HOLDS
    assert honest.measured == 156

    def without(run):
        norm, slope, eta, weight, _, half = run.start.parameters
        return float(potentials.root_bound(norm, slope, eta, weight, 0.0, half))

    wrong = check_theorem_2_chain(book, innermost=without)
    assert wrong.verdict is Verdict.VIOLATED
    assert wrong.promised == pytest.approx(14.8, abs=0.05)
    assert check_theorem_2_chain(book, middle=lambda run: 0.9 * potentials.bound_of_start(run)).verdict is (
        Verdict.VIOLATED
    )
