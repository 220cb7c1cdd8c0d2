"""What a publication says of itself: counts, warnings, and one summary in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from training_pipeline.ledger.predictions import Exclusion
from training_pipeline.ledger.records import WritebackReport
from training_pipeline.publishing.checks import WritebackSettings

_LEFT_OUT: Mapping[Exclusion, str] = {
    Exclusion.TRAIN_SPLIT: "on items that a run trained on",
    Exclusion.SCHEMA_NOT_ENABLED: "for schemas that write-back is not enabled for",
    Exclusion.REJECTED: "rejected by a reviewer",
    Exclusion.LOW_CONFIDENCE: "below min_confidence",
    Exclusion.MISSING_ITEM: "for items that are no longer in the data",
    Exclusion.SUPPLIED: "on items whose pre-label came with the data",
    Exclusion.NOT_SHOWABLE: "that the annotation server cannot show",
    Exclusion.EMPTY: "that found nothing to mark",
}


def write_report(
    *,
    run_id: str | None,
    settings: WritebackSettings,
    n_read: int,
    n_of_exclusion: Mapping[str, int],
    n_cleared: int,
    warnings: Sequence[str],
) -> WritebackReport:
    """Return the report of a publication that read `n_read` predictions.

    `n_of_exclusion` counts those stored by their exclusion ("" for those shown), `n_cleared` the pre-labels that came
    down, `warnings` say what the server cannot show.
    """
    counts = {exclusion: n_of_exclusion.get(exclusion, 0) for exclusion in Exclusion}
    n_written = n_of_exclusion.get("", 0)
    return WritebackReport(
        run_id=run_id,
        n_read=n_read,
        n_written=n_written,
        n_skipped_train_split=counts[Exclusion.TRAIN_SPLIT],
        n_skipped_schema_not_enabled=counts[Exclusion.SCHEMA_NOT_ENABLED],
        n_skipped_rejected=counts[Exclusion.REJECTED],
        n_skipped_low_confidence=counts[Exclusion.LOW_CONFIDENCE],
        n_skipped_missing_item=counts[Exclusion.MISSING_ITEM],
        n_skipped_supplied=counts[Exclusion.SUPPLIED],
        n_skipped_not_showable=counts[Exclusion.NOT_SHOWABLE] + counts[Exclusion.EMPTY],
        n_superseded_cleared=n_cleared,
        schemas_enabled=settings.schemas,
        warnings=(*warnings, *_older_than_stored(n_read - sum(n_of_exclusion.values()))),
        summary=". ".join([_outcome(run_id, settings, n_read, n_written, counts), *_came_down(n_cleared)]),
    )


def _outcome(
    run_id: str | None, settings: WritebackSettings, n_read: int, n_written: int, counts: Mapping[Exclusion, int]
) -> str:
    left_out = ", ".join(_reason(exclusion, n, settings) for exclusion, n in counts.items() if n)
    if n_written:
        outcome = f"Published {n_written:,} of {n_read:,} predictions ({', '.join(settings.schemas)})"
        return f"{outcome}. Left out: {left_out}" if left_out else outcome
    if not settings.schemas:
        because = "write-back is not enabled for any schema"
    elif left_out:
        because = left_out
    elif n_read:
        because = "a newer run has predicted the same items"
    else:
        because = "none are stored" if run_id is None else "the run made none"
    return f"No predictions were published: {because}"


def _reason(exclusion: Exclusion, n: int, settings: WritebackSettings) -> str:
    threshold = f" {settings.min_confidence:g}" if exclusion is Exclusion.LOW_CONFIDENCE else ""
    return f"{n:,} {_LEFT_OUT[exclusion]}{threshold}"


def _came_down(n_cleared: int) -> list[str]:
    if not n_cleared:
        return []
    return ["1 earlier pre-label came down" if n_cleared == 1 else f"{n_cleared:,} earlier pre-labels came down"]


def _older_than_stored(n: int) -> list[str]:
    if not n:
        return []
    left = "1 prediction was" if n == 1 else f"{n:,} predictions were"
    return [f"{left} not stored: a newer run has predicted the same items."]
