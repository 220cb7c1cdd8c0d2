"""`support`: enough held-out items for the headline to mean something."""

import dagster as dg

from training_pipeline.assets.stage import chain_key, stage, warn
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema

ENOUGH = 30
"""At 30 items a 95 % interval of macro-F1 is some 34 points wide; below that a score says next to nothing."""


def support_check(study: Study, schema: Schema) -> dg.AssetChecksDefinition:
    """Return the check of one schema; it warns and blocks nothing."""

    @dg.asset_check(
        asset=chain_key(schema, "held_out_scores"),
        name="support",
        description=f"The headline score rests on at least {ENOUGH} held-out items.",
    )
    def support(context: dg.AssetCheckExecutionContext, ledger: dg.ResourceParam[Ledger]) -> dg.AssetCheckResult:
        with stage(context, study, ledger, schema, "held_out_scores") as at:
            headline = runs.get(ledger, at.run.run_id).headline
            n = headline.n if headline else 0
            advice = (
                "" if n >= ENOUGH else f"The score rests on {n} held-out items. Annotate more before you believe it."
            )
            warn(context, ledger, at.run, [advice] if advice else [])
        return dg.AssetCheckResult(
            passed=n >= ENOUGH,
            severity=dg.AssetCheckSeverity.WARN,
            description=advice or f"{n} held-out items.",
            metadata={"items": n, "run": at.note},
        )

    return support
