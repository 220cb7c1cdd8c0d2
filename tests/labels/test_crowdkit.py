"""Our Dawid-Skene against crowd-kit's, on recorded crowds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation.classification.dawid_skene import DawidSkene

from tests.labels.votes import read_votes
from training_pipeline.labels.dawid_skene import dawid_skene
from training_pipeline.labels.votes import Votes


@pytest.mark.parametrize("crowd", ["crowd/D_Product", "crowd/D_PosSent", "crowd/RTE", "crowd/bluebird"])
def test_posteriors_and_reliabilities_are_those_of_crowdkit(crowd: str) -> None:
    answers = read_votes(crowd)
    n_items, n_annotators, n_values = len(answers.items), len(answers.annotators), len(answers.values)
    ours = dawid_skene(Votes(answers.item, answers.annotator, answers.value, n_items, n_annotators, n_values))

    table = pd.DataFrame({"task": answers.item, "worker": answers.annotator, "label": answers.value})
    theirs: Any = DawidSkene(n_iter=100, tol=1e-7).fit(table)
    posterior = theirs.probas_.loc[range(n_items), range(n_values)].to_numpy()
    assert ours.value.tolist() == posterior.argmax(axis=1).tolist()
    assert ours.posterior == pytest.approx(posterior.max(axis=1), abs=1e-9)
    reliability = np.zeros(n_annotators)
    for (annotator, label), row in theirs.errors_.iterrows():
        reliability[annotator] += theirs.priors_[label] * row[label]
    assert ours.reliability == pytest.approx(reliability, abs=1e-9)
