"""`retract`: the job that takes a run's pre-labels down."""

import dagster as dg
from pydantic import Field

from training_pipeline.errors import PipelineError
from training_pipeline.ledger.database import Ledger
from training_pipeline.plain_error import plain_error
from training_pipeline.publishing.writeback import retract as retract_run


class Retraction(dg.Config):
    """Which run's pre-labels come down."""

    run_id: str = Field(description="The run's id, as `training-pipeline runs` and the assets' metadata show it.")


def retract_job() -> dg.JobDefinition:
    """Return the job."""

    @dg.op(description="Remove a run's stored predictions and take its pre-labels down.")
    def retract_predictions(
        context: dg.OpExecutionContext, config: Retraction, ledger: dg.ResourceParam[Ledger]
    ) -> None:
        try:
            retraction = retract_run(ledger, config.run_id)
        except PipelineError as error:
            raise plain_error(str(error)) from None
        context.log.info(
            f"Removed {retraction.n_retracted} predictions of run {config.run_id}; "
            f"{retraction.n_taken_down} of them were shown to annotators."
        )

    @dg.config_mapping
    def short_form(val: Retraction) -> dg.RunConfig:
        return dg.RunConfig(ops={"retract_predictions": val})

    @dg.job(config=short_form, description="Take a run's pre-labels down and forget its predictions.")
    def retract() -> None:
        retract_predictions()

    return retract
