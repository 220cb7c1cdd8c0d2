"""A vectorizer that takes its time, so that a test can do something to a run that goes."""

from __future__ import annotations

import time
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer


class SlowVectorizer(TfidfVectorizer):  # type: ignore[misc] # scikit-learn has no types
    """TfidfVectorizer that sleeps for `seconds` before it fits."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__()
        self.seconds = seconds

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        time.sleep(self.seconds)
        return super().fit_transform(raw_documents, y)
