"""`answers`: what annotators have saved, observed where the annotation server keeps it."""

import dagster as dg

from training_pipeline.assets.stage import training_run
from training_pipeline.ledger.database import Ledger
from training_pipeline.study.answers import answer_files
from training_pipeline.study.config import Study

KEY = dg.AssetKey(["answers"])


def answers_asset(study: Study) -> dg.AssetsDefinition | dg.SourceAsset:
    """Return the asset; observing it reads the files' bytes, not their answers."""

    @dg.observable_source_asset(
        key=KEY,
        group_name="study",
        description=f"What the annotators of {study.name} have saved, in {study.output_dir.name}/<annotator>/.",
    )
    def answers(context: dg.AssetExecutionContext, ledger: dg.ResourceParam[Ledger]) -> dg.ObserveResult:
        # A run that waits for its turn learns from the answers of then, so they are looked at then.
        with training_run(context, study, ledger):
            files = answer_files(study)
        return dg.ObserveResult(
            data_version=dg.DataVersion(files.digest),
            metadata={"annotators": len(files.annotators), "bytes": files.n_bytes, "path": str(study.output_dir)},
        )

    return answers
