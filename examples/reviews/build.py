"""Make the study that the demo trains on: real sentences, five of the twenty real raters as its annotators.

A rating above 0 is read as positive, 0 as neutral, below 0 as negative. The reviews are shuffled once, and the first
1,500 or so sentences, in whole reviews, are labelled by all five; nobody has labelled the rest. Run it again and it
writes the same files.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
N_ANNOTATORS = 5
N_LABELLED = 1500


def ratings() -> dict[str, list[int]]:
    """Return the twenty ratings of every sentence, by id."""
    lines = (HERE / "source" / "ratings.txt").read_text(encoding="utf-8-sig").splitlines()
    return {line.split("\t")[0]: ast.literal_eval(line.split("\t")[3]) for line in lines if line.strip()}


def sentiment(rating: float) -> str:
    """Read a rating (-4 to +4) as the label an annotator would have chosen."""
    return "positive" if rating > 0 else "negative" if rating < 0 else "neutral"


def sentences() -> Iterator[dict[str, str]]:
    """Yield the items, the sentences of one review side by side, the reviews in a fixed random order."""
    reviews: dict[str, list[dict[str, str]]] = {}
    for line in (HERE / "source" / "snippets.txt").read_text(encoding="utf-8-sig").splitlines():
        if line.strip():
            item_id, _, text = line.split("\t", 2)
            review = item_id.split("_")[0]
            reviews.setdefault(review, []).append({"id": item_id, "review": review, "text": text})
    order = sorted(reviews)
    random.Random(0).shuffle(order)
    for review in order:
        yield from reviews[review]


def main() -> None:
    items = list(sentences())
    (HERE / "data").mkdir(exist_ok=True)
    with (HERE / "data" / "reviews.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in items)

    last_review = items[N_LABELLED]["review"]
    labelled = [item["id"] for k, item in enumerate(items) if k < N_LABELLED or item["review"] == last_review]
    scores = ratings()
    for k in range(N_ANNOTATORS):
        name = f"rater-{k + 1:02}"
        folder = HERE / "annotation_output" / name
        folder.mkdir(parents=True, exist_ok=True)
        answers = {}
        for item_id in labelled:
            label = sentiment(scores[item_id][k])
            answers[item_id] = [[{"schema": "sentiment", "name": label}, label]]
        state = {
            "user_id": name,
            "instance_id_ordering": labelled,
            "current_phase_and_page": ["annotation", None],
            "instance_id_to_label_to_value": answers,
            "instance_id_to_span_to_value": {},
        }
        (folder / "user_state.json").write_text(json.dumps(state), encoding="utf-8")
    print(f"Built the study: {len(items)} sentences, {len(labelled)} of them labelled by {N_ANNOTATORS} annotators.")


if __name__ == "__main__":
    main()
