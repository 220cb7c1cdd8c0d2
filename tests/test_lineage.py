"""The way back from a pre-label to the answers that it rests on."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from tests.running import InstantBackend, Ran, materialize, review_study, train
from tests.studies import write_answers
from training_pipeline.lineage import lineage
from training_pipeline.study.answers import answers_version

KEY = dg.AssetKey(["sentiment", "published_predictions"])


def walked(instance: dg.DagsterInstance, ran: Ran) -> dict[str, tuple[str, int]]:
    versions = lineage(instance, KEY, ran.result.dagster_run.run_id)
    assert len({version.asset for version in versions}) == len(versions)
    return {version.asset: (version.data_version, version.depth) for version in versions}


def test_it_walks_from_the_publication_to_the_answers(tmp_path: Path) -> None:
    instance = dg.DagsterInstance.ephemeral()
    ran = train(review_study(tmp_path), instance=instance, backend=InstantBackend())
    found = walked(instance, ran)
    assert found == {
        "sentiment/published_predictions": (f"{ran.run.run_id}:55", 0),
        "sentiment/fitted_model": (ran.run.model_version, 1),
        "sentiment/held_out_scores": (f"{ran.run.run_id}:{ran.run.bundle_digest}", 1),
        "sentiment/training_data": (ran.run.bundle_digest, 2),
        "sentiment/agreed_labels": (ran.version("sentiment/agreed_labels"), 3),
        "stable_splits": (ran.version("stable_splits"), 3),
        "answers": (answers_version(ran.study), 4),
    }


def test_each_run_leads_to_the_answers_of_its_own_time(tmp_path: Path) -> None:
    instance = dg.DagsterInstance.ephemeral()
    config = review_study(tmp_path)
    first = train(config, instance=instance, backend=InstantBackend())
    before = walked(instance, first)
    write_answers(tmp_path / "annotation_output", "cas", {"r100": {"sentiment": "positive"}})
    second = train(config, instance=instance, backend=InstantBackend())
    materialize(config, "sentiment/published_predictions", instance=instance)
    assert walked(instance, first) == before
    after = walked(instance, second)
    assert after["answers"][0] == answers_version(second.study) != before["answers"][0]
    assert after["sentiment/training_data"][0] == second.run.bundle_digest != first.run.bundle_digest
    assert after["stable_splits"] == before["stable_splits"]


def test_a_run_that_dagster_does_not_know_has_none() -> None:
    assert lineage(dg.DagsterInstance.ephemeral(), KEY, "no such run") == []
