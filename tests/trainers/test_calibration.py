"""Temperature scaling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics import log_loss as sklearn_log_loss

from training_pipeline.trainers.calibration import calibrate, fit_temperature, log_loss, softmax

N, K = 4_000, 4


def honest(seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits whose probabilities are true: the classes are drawn from them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, K)) * 2
    cumulative = softmax(logits).cumsum(axis=1)
    codes = (rng.random((n, 1)) > cumulative).sum(axis=1).clip(max=K - 1)
    return logits, codes, rng.permutation(n) % 2 == 0


def test_softmax_and_log_loss_are_the_libraries_own() -> None:
    logits, codes, _ = honest()
    for temperature in (0.3, 1.0, 5.0):
        expected = log_softmax(logits / temperature, axis=1)
        np.testing.assert_allclose(softmax(logits, temperature), np.exp(expected), rtol=1e-12)
        assert log_loss(logits, codes, temperature) == pytest.approx(
            sklearn_log_loss(codes, np.exp(expected)), rel=1e-12
        )


@pytest.mark.parametrize("temperature", [0.25, 1.0, 4.0])
def test_a_known_temperature_is_found(temperature: float) -> None:
    logits, codes, _ = honest()
    assert fit_temperature(logits * temperature, codes) == pytest.approx(temperature, rel=0.08)


@pytest.mark.parametrize("temperature", [0.25, 4.0])
def test_confidences_that_are_off_are_mended(temperature: float) -> None:
    logits, codes, first_half = honest()
    result = calibrate(logits * temperature, codes, first_half, N)
    assert result.applied
    assert result.temperature == pytest.approx(temperature, rel=0.08)
    assert result.log_loss_before is not None
    assert result.log_loss_after is not None
    assert result.log_loss_after < result.log_loss_before
    assert result.log_loss_after == pytest.approx(log_loss(logits, codes), rel=0.01)


def test_confidences_that_are_right_are_left_alone() -> None:
    """At a true temperature of 1 the fit can only follow noise, which the other half shows about every time."""
    results = [calibrate(*honest(seed, n=200), 200) for seed in range(40)]
    left_alone = [result for result in results if not result.applied]
    assert len(left_alone) > 20
    assert all(result.temperature == 1.0 and "does not lower" in result.reason for result in left_alone)


def test_what_is_judged_was_not_fitted_on() -> None:
    """The halves want opposite temperatures, so each fitted on the other makes the loss worse."""
    logits, codes, first_half = honest()
    scaled = logits * np.where(first_half, 8.0, 0.125)[:, None]
    result = calibrate(scaled, codes, first_half, N)
    assert not result.applied
    assert log_loss(scaled, codes, fit_temperature(scaled, codes)) < log_loss(scaled, codes)


def test_the_answer_never_changes() -> None:
    logits, _, _ = honest()
    for temperature in (0.02, 0.7, 50.0):
        np.testing.assert_array_equal(softmax(logits, temperature).argmax(axis=1), logits.argmax(axis=1))


def test_right_answers_in_a_row_are_no_proof_of_certainty() -> None:
    """After 60 right answers of two classes, the 61st is right with 61 / 62 by the rule of succession."""
    logits = np.tile([1.0, 0.0], (60, 1))
    temperature = fit_temperature(logits, np.zeros(60, dtype=np.intp))
    assert softmax(logits[:1], temperature)[0, 0] == pytest.approx(61 / 62, abs=1e-4)
