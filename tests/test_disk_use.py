from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from training_pipeline.disk_use import bytes_below, in_words


def test_it_is_what_du_says(tmp_path: Path) -> None:
    (tmp_path / "run" / "model").mkdir(parents=True)
    (tmp_path / "run" / "model" / "weights.bin").write_bytes(b"x" * 300_000)
    (tmp_path / "run" / "small.json").write_text("{}")
    said = subprocess.run(["find", str(tmp_path), "-type", "f", "-printf", "%b\n"], check=True, stdout=subprocess.PIPE)
    assert bytes_below(tmp_path) == 512 * sum(int(blocks) for blocks in said.stdout.split())
    assert bytes_below(tmp_path) >= 300_000
    assert bytes_below(tmp_path / "absent") == 0


@pytest.mark.parametrize(
    ("n_bytes", "words"), [(0, "0 bytes"), (999, "999 bytes"), (812_000, "812 kB"), (1_440_000_000, "1.4 GB")]
)
def test_in_words(n_bytes: int, words: str) -> None:
    assert in_words(n_bytes) == words
