"""The way back from a pre-label: Dagster's materialisation and the versions it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg

_POINTER = "dagster/input_event_pointer/"


@dataclass(frozen=True)
class Version:
    """One asset as it was used: the version of its data and code, and the Dagster run that made it."""

    asset: str
    data_version: str
    code_version: str | None
    dagster_run_id: str
    depth: int


def lineage(instance: dg.DagsterInstance, key: dg.AssetKey, dagster_run_id: str) -> list[Version]:
    """Return what `dagster_run_id` made of the asset, then everything that went into it, nearest first.

    Empty where Dagster has forgotten the run.
    """
    records = instance.fetch_materializations(key, limit=1000).records
    made = next((record for record in records if record.run_id == dagster_run_id), None)
    if made is None:
        return []
    seen: set[str] = set()
    return sorted(_walk(instance, key, made.storage_id, 0, seen), key=lambda version: version.depth)


def _walk(
    instance: dg.DagsterInstance, key: dg.AssetKey, storage_id: int, depth: int, seen: set[str]
) -> Iterator[Version]:
    name = key.to_user_string()
    record = _record(instance, key, storage_id)
    if record is None or name in seen:
        return
    seen.add(name)
    tags = _tags(record)
    yield Version(
        asset=name,
        data_version=tags.get("dagster/data_version", ""),
        code_version=tags.get("dagster/code_version"),
        dagster_run_id=record.run_id,
        depth=depth,
    )
    for tag, pointer in tags.items():
        if tag.startswith(_POINTER) and pointer.isdigit():
            upstream = dg.AssetKey.from_user_string(tag.removeprefix(_POINTER))
            yield from _walk(instance, upstream, int(pointer), depth + 1, seen)


def _record(instance: dg.DagsterInstance, key: dg.AssetKey, storage_id: int) -> dg.EventLogRecord | None:
    wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=[storage_id])
    found = instance.fetch_materializations(wanted, limit=1).records
    found = found or instance.fetch_observations(wanted, limit=1).records
    return found[0] if found else None


def _tags(record: dg.EventLogRecord) -> dict[str, str]:
    made = record.asset_materialization
    if made is not None:
        return dict(made.tags or {})
    event = record.event_log_entry.dagster_event
    observed = event.asset_observation_data.asset_observation if event else None
    return dict(observed.tags) if observed else {}
