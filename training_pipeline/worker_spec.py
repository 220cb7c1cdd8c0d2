"""What a run asks of its worker."""

from __future__ import annotations

from training_pipeline.ledger.records import RunRecord
from training_pipeline.run_directory import RunDirectory
from training_pipeline.run_request import resolve
from training_pipeline.study.config import Study
from training_pipeline.worker.spec import Limits, WorkerSpec


def worker_spec(study: Study, run: RunRecord) -> WorkerSpec:
    """Return the spec of a run, from its request and the study as it is now; refuses what `resolve` refuses."""
    # Resolved again now: the study may have changed while the run waited.
    request = resolve(study, run.schema_names[0], run.trainer, run.backend, run.requested_params)
    directory = RunDirectory(study.runs_dir / run.run_id)
    settings = study.training
    return WorkerSpec(
        run_id=run.run_id,
        trainer=run.trainer,
        schema=request.schema.name,
        bundle_dir=directory.bundle.relative_to(directory.path),
        artifacts_dir=directory.artifacts.relative_to(directory.path),
        params=dict(request.params),
        seed=settings.split_seed,
        limits=Limits(settings.max_wall_seconds, settings.max_ram_mb, settings.device, settings.num_threads),
        allowed_modules=settings.allowed_modules,
    )
