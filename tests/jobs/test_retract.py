"""The retract job: a run's pre-labels come down."""

from __future__ import annotations

from pathlib import Path

from tests.running import InstantBackend, review_study, run_job, train
from training_pipeline.ledger import predictions


def test_it_takes_down_what_the_run_shows(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    ran = train(config, backend=InstantBackend())
    assert len(list(predictions.shown(ran.ledger))) == 55
    retracted = run_job(config, "retract", asked={"run_id": ran.run.run_id})
    assert retracted.result.success
    assert list(predictions.shown(ran.ledger)) == []
    assert predictions.count(ran.ledger) == {}
    assert ran.run.status == "success"


def test_an_unknown_run_is_one_sentence(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    ran = train(config, backend=InstantBackend())
    refused = run_job(config, "retract", asked={"run_id": "20990101T000000-000000"})
    assert refused.failures == [
        "No such run: 20990101T000000-000000. `training-pipeline runs` lists those that the ledger still has."
    ]
    assert len(list(predictions.shown(ran.ledger))) == 55
