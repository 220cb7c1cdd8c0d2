"""`leakage`: nothing that is scored or shown was learned from. Faults block what comes after."""

import dagster as dg

from training_pipeline.assets.stage import chain_key, stage, warn
from training_pipeline.assets.tables import Cell, table
from training_pipeline.bundle.reader import Bundle
from training_pipeline.leakage import BundleLeakage, examine
from training_pipeline.ledger import runs
from training_pipeline.ledger.audit import published_in_train
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.run_directory import RunDirectory
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema

_MOST_ROWS = 50


def training_data_check(study: Study, schema: Schema) -> dg.AssetChecksDefinition:
    """Return the check of a run's training data: no item and no group stands in two splits."""

    @dg.asset_check(
        asset=chain_key(schema, "training_data"),
        name="leakage",
        blocking=True,
        description="No item and no group stands in two splits; identical texts in two splits are a warning.",
    )
    def leakage(context: dg.AssetCheckExecutionContext, ledger: dg.ResourceParam[Ledger]) -> dg.AssetCheckResult:
        with stage(context, study, ledger, schema, "training_data") as at:
            bundle = Bundle.open(RunDirectory(study.runs_dir / at.run.run_id).bundle)
            found = examine(ledger, at.run.run_id, bundle)
            if found.is_broken and not at.is_again:
                runs.finish(ledger, at.run.run_id, Status.ERROR, error=_sentence(found), error_code="leakage")
            warn(context, ledger, at.run, [_sentence(found)] if found.twins and not found.is_broken else [])
        return dg.AssetCheckResult(
            passed=not (found.is_broken or found.twins),
            severity=dg.AssetCheckSeverity.ERROR if found.is_broken else dg.AssetCheckSeverity.WARN,
            description=_sentence(found),
            metadata={
                "in two splits": table([{"what": s.what, "key": s.key} for s in found.in_two_splits[:_MOST_ROWS]]),
                "not as the ledger says": table([{"item": item} for item in found.differs_from_ledger[:_MOST_ROWS]]),
                "identical texts": table(_twin_rows(found)),
                "run": at.note,
            },
        )

    return leakage


def published_check(_study: Study, schema: Schema) -> dg.AssetChecksDefinition:
    """Return the check of what is shown: no pre-label stands on an item that a kept run trained on."""

    @dg.asset_check(
        asset=chain_key(schema, "published_predictions"),
        name="leakage",
        blocking=True,
        description="No pre-label is shown on an item that is in train of any run that the ledger keeps.",
    )
    def leakage(ledger: dg.ResourceParam[Ledger]) -> dg.AssetCheckResult:
        found = [row for row in published_in_train(ledger) if row.schema_name == schema.name]
        return dg.AssetCheckResult(
            passed=not found,
            severity=dg.AssetCheckSeverity.ERROR,
            description=(
                f"{len(found)} pre-labels are shown on train items." if found else "No train item shows a pre-label."
            ),
            metadata={"items": table([row._asdict() for row in found[:_MOST_ROWS]])},
        )

    return leakage


def _sentence(found: BundleLeakage) -> str:
    if found.in_two_splits:
        return f"{len(found.in_two_splits)} items or groups stand in two splits, so no score of this run would hold."
    if found.differs_from_ledger:
        return f"{len(found.differs_from_ledger)} items stand in another split than the ledger says."
    if found.twins:
        return (
            f"{len(found.twins)} held-out items have the same text as an item of another split; their score flatters. "
            "splits_by keeps such items together."
        )
    return "No item, group or text stands in two splits."


def _twin_rows(found: BundleLeakage) -> list[dict[str, Cell]]:
    return [
        {"item": t.instance_id[:80], "split": t.split, "same text": t.twin_id[:80], "its split": t.twin_split}
        for t in found.twins[:_MOST_ROWS]
    ]
