"""`train_<schema>`: the job that trains one schema, with a short form in the launchpad."""

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from training_pipeline.assets import answers, stable_splits
from training_pipeline.assets.stage import CHAIN, chain_key
from training_pipeline.jobs.config import Training
from training_pipeline.run_request import default_trainer, trainable
from training_pipeline.slugs import slug
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema

STUDY_TAG = "training/study"
SCHEMA_TAG = "training/schema"


def job_name(schema: Schema) -> str:
    """Return the name of the job that trains a schema."""
    return f"train_{slug(schema.name)}"


def train_job(study: Study, schema: Schema) -> UnresolvedAssetJobDefinition:
    """Return the job of one schema: its whole chain, and what it shares with the other schemas."""
    keys = [answers.KEY, stable_splits.KEY, *(chain_key(schema, asset) for asset in CHAIN)]

    @dg.config_mapping
    def short_form(val: Training) -> dg.RunConfig:
        return dg.RunConfig(ops={f"{slug(schema.name)}__fitted_model": val})

    return dg.define_asset_job(
        job_name(schema),
        dg.AssetSelection.assets(*keys),
        config=short_form,
        description=(
            f"Train on {schema.name}, score on held-out items, and publish pre-labels. Trainers that fit: "
            f"{', '.join(trainable(schema))}; default {default_trainer(study, schema)}."
        ),
        tags={STUDY_TAG: str(study.task_dir), SCHEMA_TAG: schema.name},
    )
