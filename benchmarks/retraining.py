"""What it costs to ask whether a run should start by itself: `python -m benchmarks.retraining [ANSWERS] [ANNOTATORS]`.

Writes a study to a temporary folder, as the annotation server would, and asks again and again.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from training_pipeline.ledger import owners, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.retraining import decide, note_answers
from training_pipeline.study.answers import read_answers
from training_pipeline.study.config import Study, load_study

REPEATS = 20


def make_study(directory: Path, n_items: int) -> Study:
    config = {
        "annotation_task_name": "Retraining benchmark",
        "task_dir": ".",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output",
        "annotation_schemes": [{"annotation_type": "radio", "name": "mood", "description": "?", "labels": ["a", "b"]}],
        "model_training": {
            "enabled": True,
            "auto_retrain": {"enabled": True, "trainer": "sklearn-text", "schemas": ["mood"], "min_interval_s": 0},
        },
    }
    (directory / "config.yaml").write_text(yaml.safe_dump(config))
    (directory / "items.jsonl").write_text("".join(f'{{"id": "item-{k}", "text": "?"}}\n' for k in range(n_items)))
    return load_study(directory)


def save(study: Study, annotator: str, items: range) -> None:
    labels = {f"item-{k}": [[{"schema": "mood", "name": "a"}, "a"]] for k in items}
    folder = study.output_dir / annotator
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "user_state.json").write_text(json.dumps({"instance_id_to_label_to_value": labels}))


def milliseconds(step: Callable[[], object], repeats: int = 1, before: Callable[[], object] = lambda: None) -> str:
    """Return the medians of a step's time and of its processor time, which a busy machine changes less."""
    took, worked = [], []
    for _ in range(repeats):
        before()
        started, work_started = time.perf_counter(), time.process_time()
        step()
        took.append(1_000 * (time.perf_counter() - started))
        worked.append(1_000 * (time.process_time() - work_started))
    return f"{statistics.median(took):8.1f} ms ({statistics.median(worked):6.1f} of processor)"


def main(n_answers: int = 100_000, n_annotators: int = 100) -> None:
    per_annotator = n_answers // n_annotators
    with tempfile.TemporaryDirectory() as folder:
        study = make_study(Path(folder), per_annotator + 10_000)
        schema, ledger = study.schema("mood"), Ledger(study.database, study.name)
        for k in range(n_annotators):
            save(study, f"annotator{k}", range(per_annotator))

        def ask() -> None:
            decide(study, schema, ledger, lambda _: [])

        def annotate() -> None:
            nonlocal n_saved
            n_saved += 1
            save(study, "annotator0", range(per_annotator + n_saved))

        n_saved = 0
        print(f"{n_answers:,} answers of {n_annotators} annotators")
        print(f"{milliseconds(ask)}  the first time: every file is read")
        print(f"{milliseconds(ask, REPEATS)}  nothing new")
        print(f"{milliseconds(ask, REPEATS, annotate)}  one annotator has saved: {per_annotator:,} answers are read")
        answers, left_out = read_answers(study, schema, frozenset(f"item-{k}" for k in range(per_annotator + 10_000)))
        run = runs.request(
            ledger,
            trainer="sklearn-text",
            schema_names=["mood"],
            backend="local",
            trigger="auto",
            owner=owners.this_process(),
            queue_max=0,
        )
        runs.take_turn(ledger, run.run_id, owners.this_process())
        print(f"{milliseconds(lambda: note_answers(ledger, run.run_id, answers, left_out))}  a run notes what it has")
        runs.finish(ledger, run.run_id, Status.CANCELLED)
        print(f"{milliseconds(ask)}  the first time after it")
        print(f"{milliseconds(ask, REPEATS)}  nothing new")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
