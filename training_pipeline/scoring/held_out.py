"""The held-out scores of a run: its predictions on val and test items against the agreed human labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training_pipeline.scoring import continuous, multilabel, nominal, ordinal
from training_pipeline.scoring.bootstrap import DRAWS, interval
from training_pipeline.scoring.headline import HEADLINE_METRIC, Headline, headline_split
from training_pipeline.scoring.records import Evaluation, HeldOut, HeldOutScores, SplitScores
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema


def score(
    schema: Schema,
    held_out: Mapping[str, HeldOut],
    *,
    keeps_best_epoch: bool,
    seed: int,
    train_range: tuple[float, float] | None = None,
    draws: int = DRAWS,
) -> HeldOutScores:
    """Score the predictions on the held-out items, `held_out` by split (val, test).

    Only items in `held_out` count, so a score without some of them (those with a twin in train, say) is this function
    on fewer rows. `train_range` is the lowest and highest label in train, which stands in for the scale of numbers
    that have none. `seed` is the study's `split_seed`: the same predictions give the same interval.
    """
    filled = {split: items for split, items in held_out.items() if len(items)}
    if schema.kind not in HEADLINE_METRIC:
        return HeldOutScores({}, None, f"No score is defined for {schema.kind} answers.")
    splits = {
        split: SplitScores(
            support=len(items),
            coverage=sum(prediction is not None for prediction in items.predictions) / len(items),
            evaluation=_evaluate(schema, items, train_range),
        )
        for split, items in filled.items()
    }
    split = headline_split({name: len(items) for name, items in filled.items()}, keeps_best_epoch=keeps_best_epoch)
    if split is None:
        return HeldOutScores(
            splits, None, "No labelled item is in val or test: annotate more items, or give val or test a weight."
        )
    metric, evaluation, items = HEADLINE_METRIC[schema.kind], splits[split].evaluation, filled[split]
    if evaluation.resampling is None:
        return HeldOutScores(splits, None, evaluation.not_scored[metric])
    low, high = interval(evaluation.resampling, items.groups, seed, draws) or (None, None)
    n_groups = None if items.groups is None else len(set(items.groups))
    return HeldOutScores(splits, Headline(split, metric, evaluation.metrics[metric], low, high, len(items), n_groups))


def _evaluate(schema: Schema, items: HeldOut, train_range: tuple[float, float] | None) -> Evaluation:
    # The kind of the schema says which of the forms of a value its answers have.
    truths: Any = items.truths
    predictions: Any = items.predictions
    if schema.kind is Kind.CONTINUOUS:
        return continuous.evaluate(truths, predictions, schema.scale or train_range)
    if schema.kind is Kind.MULTILABEL:
        return multilabel.evaluate(truths, predictions, schema.options)
    if schema.kind is Kind.ORDINAL:
        return ordinal.evaluate(truths, predictions, schema.options)
    return nominal.evaluate(truths, predictions, schema.options)
