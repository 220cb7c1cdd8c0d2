"""From what annotators answered to one agreed label an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from training_pipeline.errors import PipelineError
from training_pipeline.labels.agreed import AgreedLabels, Reliability, Rule
from training_pipeline.labels.continuous import resolve_numbers
from training_pipeline.labels.dawid_skene import dawid_skene
from training_pipeline.labels.majority import majority
from training_pipeline.labels.multilabel import resolve_sets
from training_pipeline.labels.votes import Resolved, Resolver, Votes
from training_pipeline.study.answers import Answers, Value
from training_pipeline.study.kinds import Kind

Aggregation: TypeAlias = Literal["consensus", "majority"]

RESOLVABLE = frozenset({Kind.NOMINAL, Kind.ORDINAL, Kind.MULTILABEL, Kind.CONTINUOUS})
"""The kinds of answer that `agree` resolves."""


def agree(
    answers: Answers,
    aggregation: Aggregation,
    corrected: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> AgreedLabels:
    """Resolve the answers of all annotators to one label an item.

    `consensus` is Dawid and Skene (1979) where more than one annotator answered the schema, `majority` the most
    votes; each file of this package says how it breaks ties. Sets of labels are resolved label by label, numbers to
    their median under either. The posterior of a label is Dawid and Skene's, or its share of the votes; 1 where one
    annotator or a reviewer decided.

    `corrected` maps the study's items whose model answer a reviewer marked `correct` to those reviewers. Such an item
    takes the reviewer's own answer (several reviewers: the majority, or median, of theirs); a reviewer who did not
    annotate it leaves the label as agreed; and without any answer the item is counted in `n_corrected_unlabelled`.

    Raises PipelineError `validation_failed` for a kind of answer that is not in `RESOLVABLE`.
    """
    schema = answers.schema
    if schema.kind not in RESOLVABLE:
        raise PipelineError(
            "validation_failed",
            f"Schema {schema.name!r} collects {schema.kind} answers ({schema.annotation_type}), which cannot be "
            f"resolved to agreed labels; choose a schema whose answers are {', '.join(sorted(RESOLVABLE))}.",
        )
    ballot = _ballot(answers)
    n_answers = np.bincount(ballot.votes.item, minlength=len(ballot.items)).astype(np.int32)
    consensus = aggregation == "consensus" and len(ballot.annotators) > 1
    values, resolved = _resolve(schema.kind, ballot, dawid_skene if consensus else majority)
    label, posterior = resolved.value, resolved.posterior
    rule = _rules(schema.kind, n_answers, consensus=consensus)

    own = _ballot(_answers_of_reviewers(answers, corrected))
    own_values, own_resolved = _resolve(schema.kind, own, majority)
    among = set(own.items)
    overruled = [k for k, item in enumerate(ballot.items) if item in among]
    label[overruled] = len(values) + own_resolved.value
    rule[overruled] = _RULES.index(Rule.CORRECTED)
    if posterior is not None:
        posterior[overruled] = 1.0

    labels, label = _sorted_in_use([*values, *own_values], label)
    rules, rule_in_use = _in_use(_RULES, rule)
    return AgreedLabels(
        schema=schema,
        items=ballot.items,
        labels=labels,
        label=label,
        posterior=posterior,
        rules=rules,
        rule=rule_in_use.astype(np.int8),
        n_answers=n_answers,
        reliabilities=_reliabilities(ballot, resolved),
        n_corrected_unlabelled=len(corrected.keys() - set(ballot.items)) if corrected else 0,
    )


_RULES = list(Rule)


@dataclass(frozen=True)
class _Ballot:
    items: list[str]
    annotators: list[str]
    values: list[Any]
    votes: Votes


def _ballot(answers: Answers) -> _Ballot:
    items, item = _in_use(answers.items, answers.item)
    annotators, annotator = _in_use(answers.annotators, answers.annotator)
    values, value = _sorted_in_use(answers.values, answers.value)
    return _Ballot(items, annotators, values, Votes(item, annotator, value, len(items), len(annotators), len(values)))


def _in_use(entries: Sequence[Any], codes: NDArray[np.integer[Any]]) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the entries that a code names, in their order, and the codes into them."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(entries)))
    new_code = np.zeros(len(entries), dtype=np.int32)
    new_code[used] = np.arange(len(used))
    return [entries[k] for k in used.tolist()], new_code[codes]


def _sorted_in_use(entries: Sequence[Any], codes: NDArray[np.integer[Any]]) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the entries that a code names, each once and sorted, and the codes into them."""
    used, codes = _in_use(entries, codes)
    distinct = sorted(set(used))
    place = {entry: k for k, entry in enumerate(distinct)}
    return distinct, np.array([place[entry] for entry in used], dtype=np.int32)[codes]


def _resolve(kind: Kind, ballot: _Ballot, resolve: Resolver) -> tuple[Sequence[Value], Resolved]:
    if not ballot.items:
        return [], Resolved(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))
    if kind is Kind.CONTINUOUS:
        return resolve_numbers(ballot.votes, ballot.values)
    if kind is Kind.MULTILABEL:
        return resolve_sets(ballot.votes, ballot.values, resolve)
    return ballot.values, resolve(ballot.votes)


def _rules(kind: Kind, n_answers: NDArray[np.int32], *, consensus: bool) -> NDArray[np.int8]:
    """One code into `_RULES` an item. Dawid and Skene judge even a lone answer, by who gave it."""
    if kind is Kind.CONTINUOUS:
        several = Rule.MEDIAN
    elif consensus:
        return np.full(len(n_answers), _RULES.index(Rule.DAWID_SKENE), dtype=np.int8)
    else:
        several = Rule.MAJORITY
    return np.where(n_answers > 1, _RULES.index(several), _RULES.index(Rule.SINGLE)).astype(np.int8)


def _answers_of_reviewers(answers: Answers, corrected: Mapping[str, frozenset[str]]) -> Answers:
    """Keep the answers that a reviewer gave to an item whose model answer this reviewer marked `correct`."""
    annotator = {name: k for k, name in enumerate(answers.annotators)}
    item = {name: k for k, name in enumerate(answers.items) if name in corrected}
    wanted = [
        item[name] * len(annotator) + annotator[reviewer]
        for name, reviewers in corrected.items()
        for reviewer in reviewers
        if name in item and reviewer in annotator
    ]
    rows = np.isin(answers.item.astype(np.int64) * len(annotator) + answers.annotator, wanted)
    return replace(answers, item=answers.item[rows], annotator=answers.annotator[rows], value=answers.value[rows])


def _reliabilities(ballot: _Ballot, resolved: Resolved) -> tuple[Reliability, ...]:
    n_answers = np.bincount(ballot.votes.annotator, minlength=len(ballot.annotators))
    measured = resolved.reliability if len(ballot.annotators) > 1 else np.full(len(ballot.annotators), np.nan)
    return tuple(
        Reliability(name, int(n), None if np.isnan(share) else float(share))
        for name, n, share in zip(ballot.annotators, n_answers, measured, strict=True)
    )
