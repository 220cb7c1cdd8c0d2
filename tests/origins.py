"""Where a run of Dagster's queue comes from: Dagster takes none into it that does not say."""

from __future__ import annotations

from dagster._core.remote_origin import GrpcServerCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin


def origin_of(job: str) -> RemoteJobOrigin:
    """Return the origin of a job in a code location that nobody asks."""
    location = GrpcServerCodeLocationOrigin(host="localhost", port=1, location_name="training_pipeline")
    return RemoteJobOrigin(RemoteRepositoryOrigin(location, "__repository__"), job)
