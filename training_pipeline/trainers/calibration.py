"""Temperature scaling, applied only where it helps on data that it was not fitted on.

Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks (ICML 2017): all logits are divided by one
number, the temperature, that minimises the log loss of predictions on items the model did not see. The order of the
classes stays as it is, so the answer never changes, only how sure the model says it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

Logits = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]

MIN_ITEMS = 50
_COLDEST, _HOTTEST = 1e-4, 1e4


@dataclass(frozen=True)
class Calibration:
    """What became of a model's confidences.

    `temperature` is 1 where it was not applied; `reason` says why it was or was not. The log losses are per decision,
    on items the model did not see: as the model says it, and with a temperature fitted on the other half of them.
    `n` counts those items.
    """

    applied: bool
    reason: str
    temperature: float = 1.0
    log_loss_before: float | None = None
    log_loss_after: float | None = None
    n: int = 0
    method: str = "temperature"

    @property
    def judged(self) -> bool:
        """Whether the confidences were looked at on unseen items."""
        return self.log_loss_before is not None


def softmax(logits: Logits, temperature: float = 1.0) -> Logits:
    """Return the probabilities of (n, K) logits at a temperature: (n, K), each row summing to 1."""
    scaled = logits / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    np.exp(scaled, out=scaled)
    scaled /= scaled.sum(axis=1, keepdims=True)
    return scaled


def log_loss(logits: Logits, codes: Codes, temperature: float = 1.0, doubt: float = 0.0) -> float:
    """Return the mean negative log probability (nats) that (n, K) logits give the true classes `codes` (n,).

    With a `doubt` above 0 the truth counts 1 - doubt and the other classes share the rest.
    """
    scaled = logits / temperature
    top = scaled.max(axis=1)
    of_truth = scaled[np.arange(len(codes)), codes]
    of_others = (scaled.sum(axis=1) - of_truth) / (scaled.shape[1] - 1)
    log_total = np.log(np.exp(scaled - top[:, None]).sum(axis=1)) + top
    return float(np.mean(log_total - (1 - doubt) * of_truth - doubt * of_others))


def fit_temperature(logits: Logits, codes: Codes) -> float:
    """Return the temperature, between 0.0001 and 10,000, that minimises the log loss of (n, K) logits.

    Each truth is doubted by 1 / (n + 2), as Platt (1999) does: n right answers in a row are no proof of certainty, and
    without doubt they would make every confidence 1.
    """
    doubt = 1 / (len(codes) + 2)
    found = minimize_scalar(
        lambda log_temperature: log_loss(logits, codes, float(np.exp(log_temperature)), doubt),
        bounds=(np.log(_COLDEST), np.log(_HOTTEST)),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return float(np.exp(found.x))


def calibrate(logits: Logits, codes: Codes, first_half: Mask, n_items: int) -> Calibration:
    """Return the calibration of a model whose logits (n, K) on unseen decisions have the true classes `codes` (n,).

    `first_half` (n,) parts the decisions: a temperature fitted on one part is judged on the other, and the reverse.
    Only if both together lower the log loss is a temperature, refitted on all, applied. `n_items` is recorded.
    """
    before = log_loss(logits, codes)
    after = 0.0
    for judged in (first_half, ~first_half):
        temperature = fit_temperature(logits[~judged], codes[~judged])
        after += log_loss(logits[judged], codes[judged], temperature) * (judged.sum() / len(codes))
    helps = bool(after < before)
    return Calibration(
        applied=helps,
        reason=f"a temperature {'lowers' if helps else 'does not lower'} the log loss on items it was not fitted on",
        temperature=fit_temperature(logits, codes) if helps else 1.0,
        log_loss_before=before,
        log_loss_after=float(after),
        n=n_items,
    )
