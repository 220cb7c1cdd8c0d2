"""The one place where everything meets: a study's assets, checks, jobs and resources."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from training_pipeline.assets.agreed_labels import agreed_labels_asset
from training_pipeline.assets.answers import answers_asset
from training_pipeline.assets.fitted_model import fitted_model_asset
from training_pipeline.assets.held_out_scores import held_out_scores_asset
from training_pipeline.assets.published_predictions import published_predictions_asset
from training_pipeline.assets.stable_splits import stable_splits_asset
from training_pipeline.assets.training_data import training_data_asset
from training_pipeline.checks.leakage import published_check, training_data_check
from training_pipeline.checks.support import support_check
from training_pipeline.jobs.retract import retract_job
from training_pipeline.jobs.train import train_job
from training_pipeline.ledger.database import Ledger
from training_pipeline.resources.items import StudyItems
from training_pipeline.resources.local import LocalBackend
from training_pipeline.run_request import trainable
from training_pipeline.study.config import Study

_CHAIN = (
    agreed_labels_asset,
    training_data_asset,
    fitted_model_asset,
    held_out_scores_asset,
    published_predictions_asset,
)
_CHECKS = (training_data_check, support_check, published_check)


def build_definitions(study: Study, **overrides: object) -> dg.Definitions:
    """Return everything that Dagster shows and runs for a study.

    `overrides` replace resources by name (`ledger`, `items`, `backend`). Where the study has not enabled training
    there is nothing but what its annotators saved.
    """
    schemas = [schema for schema in study.schemas if study.training.enabled and trainable(schema)]
    resources: Mapping[str, object] = {
        "ledger": Ledger(study.database, study.name),
        "items": StudyItems(study),
        "backend": LocalBackend(),
        **overrides,
    }
    return dg.Definitions(
        assets=[
            answers_asset(study),
            *([stable_splits_asset(study)] if study.training.enabled else []),
            *(asset(study, schema) for schema in schemas for asset in _CHAIN),
        ],
        asset_checks=[check(study, schema) for schema in schemas for check in _CHECKS],
        jobs=[*(train_job(study, schema) for schema in schemas), *([retract_job()] if schemas else [])],
        resources=resources,
        executor=dg.in_process_executor,
    )
