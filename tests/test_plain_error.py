"""Errors that Dagster shows as their sentence and nothing else. The names that this rests on are private to Dagster."""

from __future__ import annotations

import dagster as dg

from training_pipeline.plain_error import plain_error


def test_a_failed_step_shows_the_sentence_alone() -> None:
    @dg.op
    def refused() -> None:
        raise plain_error("There is nothing to train on.\n\nAnnotate first.")

    @dg.job
    def job() -> None:
        refused()

    result = job.execute_in_process(instance=dg.DagsterInstance.ephemeral(), raise_on_error=False)
    (failure,) = [event for event in result.all_node_events if event.is_step_failure]
    error = failure.step_failure_data.error
    assert error is not None
    assert error.to_string() == "There is nothing to train on.\n\nAnnotate first."
    assert error.stack == []
