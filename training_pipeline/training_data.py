"""Training data built from the study: every labelled item with its text in its split, the rest to be predicted only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from training_pipeline.bundle.errors import BundleError
from training_pipeline.bundle.manifest import UNLABELED, ForcedTrain, Manifest, SchemaSpec, Stats
from training_pipeline.bundle.row import Row
from training_pipeline.bundle.writer import BundleWriter
from training_pipeline.errors import PipelineError
from training_pipeline.labels.agreed import AgreedLabels
from training_pipeline.splits import Membership, StableSplits
from training_pipeline.study.config import Study
from training_pipeline.study.items import Item, iter_items
from training_pipeline.study.schemas import Schema

_NOBODY_ANNOTATED = (
    "No resolved annotations to train on: no item of the study has an agreed label for {schema!r}. Another schema is "
    "being annotated, or nobody has annotated yet."
)


def build_training_data(
    study: Study, schema: Schema, agreed: AgreedLabels, splits: StableSplits, directory: Path
) -> Manifest:
    """Write the bundle of a run into `directory` and return its manifest.

    Items are streamed: memory grows with their ids, not with their texts. Items that nobody has labelled are added,
    to be predicted only, where the study shows such predictions (`writeback.include_unlabeled`).

    Raises `PipelineError`: `bundle_failed` when no item has an agreed label, `stale_splits` when an item has come
    since the splits were made.
    """
    place = {item: k for k, item in enumerate(agreed.items)}
    settings = study.training
    with_unlabeled = settings.writeback.include_unlabeled and schema.name in settings.writeback.schemas
    spec = SchemaSpec(schema.name, schema.annotation_type, schema.kind, schema.options, schema.scale)
    forced: Counter[str] = Counter()
    n_items = n_annotated = n_moved = 0
    try:
        with BundleWriter(directory, [spec]) as writer:
            for item, membership in _placed(study, splits):
                n_items += 1
                k = place.get(item.id)
                if k is not None:
                    n_annotated += 1
                    n_moved += membership.is_moved
                    forced[membership.cause] += 1
                    targets = {schema.name: agreed.labels[agreed.label[k]]}
                    writer.add(membership.split, Row(item.id, item.text, targets, membership.group))
                elif with_unlabeled:
                    writer.add(UNLABELED, Row(item.id, item.text, None, membership.group))
            if not n_annotated:
                raise PipelineError("bundle_failed", _NOBODY_ANNOTATED.format(schema=schema.name))
            return writer.finish(
                text_key=study.text_key,
                split_seed=settings.split_seed,
                aggregation=settings.aggregation,
                stats=Stats(
                    n_items=n_items,
                    n_annotated=n_annotated,
                    n_corrected_unlabelled=agreed.n_corrected_unlabelled,
                    forced_train=ForcedTrain(corrected=forced["corrected"], pinned=forced["pinned"]),
                    n_moved=n_moved,
                    warnings=tuple(_warnings(n_moved, agreed.n_corrected_unlabelled)),
                ),
            )
    except BundleError as error:
        raise PipelineError("bundle_failed", str(error)) from error


def _placed(study: Study, splits: StableSplits) -> Iterator[tuple[Item, Membership]]:
    for item in iter_items(study):
        try:
            yield item, splits.membership(item.id)
        except KeyError:
            raise PipelineError(
                "stale_splits",
                f"Item {item.id!r:.200} came after the stable splits were made. Materialize stable_splits again, or "
                "start the whole chain.",
            ) from None


def _warnings(n_moved: int, n_corrected_unlabelled: int) -> Iterator[str]:
    if n_moved:
        yield (
            f"{n_moved} held-out items were moved into train, because a reviewer corrected them or somebody pinned "
            "them. The held-out score is computed without them and is not directly comparable with earlier ones."
        )
    if n_corrected_unlabelled:
        yield f"{n_corrected_unlabelled} corrected items have no label of any person and are not trained on."
