"""The training loop on real data, from the command line, as a study's owner would run it.

Builds the study, trains on it, and then does what no real study can: asks all twenty raters, fifteen of whom the model
never saw, how good the published pre-labels are.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import build

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-m", "training_pipeline.cli"]


def pipeline(*arguments: str) -> None:
    """Show a command and run it; a failure ends the demo with the command's own words."""
    print(f"\n$ training-pipeline {' '.join(arguments)}", flush=True)
    status = subprocess.run([*COMMAND, *arguments], cwd=HERE.parent.parent, check=False).returncode
    if status:
        sys.exit(status)


def published() -> dict[str, str]:
    """Return the pre-labels that annotators now see, by item."""
    with closing(sqlite3.connect(f"file:{HERE / 'project.sqlite'}?mode=ro", uri=True)) as ledger:
        rows = ledger.execute("SELECT instance_id, payload FROM training_predictions WHERE schema_name = 'sentiment'")
        return {item_id: json.loads(payload)["label"] for item_id, payload in rows}


def majority(ratings: list[int]) -> str | None:
    """Return what most raters say of a sentence; None when two answers are equally frequent."""
    first, *others = Counter(build.sentiment(rating) for rating in ratings).most_common(2)
    return None if others and others[0][1] == first[1] else first[0]


def compare_with_all_raters(labels: dict[str, str]) -> None:
    """Print how often the pre-labels, and single people, agree with the majority of the twenty raters."""
    scores = build.ratings()
    decided = {item_id: truth for item_id in labels if (truth := majority(scores[item_id]))}
    if not decided:
        print("\nNo pre-label was published, so there is nothing to compare with the twenty raters.")
        return
    right = sum(labels[item_id] == truth for item_id, truth in decided.items())
    people = sum(build.sentiment(rating) == truth for item_id, truth in decided.items() for rating in scores[item_id])
    print(
        f"\nAll twenty raters on the {len(decided)} published pre-labels that have a majority among them:\n"
        f"  a pre-label agrees with that majority in {right / len(decided):.1%} of cases,\n"
        f"  one rater, on the same sentences, in {people / len(decided) / 20:.1%}."
    )


def main() -> None:
    build.main()
    study = str(HERE.relative_to(HERE.parent.parent))
    pipeline("validate", study)
    pipeline("run", study, "--schema", "sentiment")
    compare_with_all_raters(published())
    print("\nSee the graph, the run and its pictures in Dagster's UI:\n\n  make ui\n")


if __name__ == "__main__":
    main()
