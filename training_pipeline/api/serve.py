"""The process that serves the web app: `python -m training_pipeline.api.serve CONFIG WORKSPACE PORT`."""

from __future__ import annotations

import sys

import uvicorn
from dagster import DagsterInstance
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget

from training_pipeline.api.app import create_app
from training_pipeline.study.config import load_study


def main(config: str, workspace_file: str, port: str) -> None:
    """Serve the study of `config` on the loopback address until told to stop."""
    with DagsterInstance.get() as instance:
        instance.optimize_for_webserver(statement_timeout=5000, pool_recycle=3600, max_overflow=20)
        with WorkspaceProcessContext(instance, WorkspaceFileTarget([workspace_file])) as workspace:
            app = create_app(load_study(config), workspace)
            uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", timeout_graceful_shutdown=3)


if __name__ == "__main__":
    main(*sys.argv[1:])
