"""The product alone, by size: `python -m benchmarks.scale [N_ITEMS ...]` (10,000, 100,000 and 1,000,000 items).

Every item is labelled by three annotators. Prints the seconds and the peak memory of each stage.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import run
from benchmarks.stages import stages
from benchmarks.study import SCHEMA, make_study

_SIZES = (10_000, 100_000, 1_000_000)


def measure(config: Path, n_items: int) -> None:
    """Run the product on a study and print what it took, by stage."""
    command = [sys.executable, "-m", "training_pipeline.cli", "run", str(config), "--schema", SCHEMA, "--json"]
    # Looking at gigabytes takes the kernel a while.
    finished = run(command, interval=0.1 if n_items <= 10_000 else 1.0)
    told = json.loads(finished.stdout)
    whole = finished.watch.peak()
    headline = told["headline"]
    print(
        f"{n_items:,} items: {finished.seconds:.1f} s, {finished.seconds / n_items * 1e6:.0f} µs an item; "
        f"{finished.cpu:.1f} s of processor; "
        f"{whole.largest:,.0f} MiB in the largest process, {whole.together:,.0f} MiB together; "
        f"{headline['metric']} {headline['value']:.3f}; {told['writeback']['summary']}"
    )
    print(f"{'stage':<32}{'seconds':>9}{'MiB':>9}{'together':>10}")
    for stage in stages(config, finished.start, finished.end, told["run_id"], told["dagster_run_id"]):
        peak = finished.watch.peak(stage.start, stage.end)
        print(f"{stage.name:<32}{stage.seconds:>9.2f}{peak.largest:>9,.0f}{peak.together:>10,.0f}")


def main(sizes: list[int]) -> None:
    for n_items in sizes or _SIZES:
        with tempfile.TemporaryDirectory() as folder:
            measure(make_study(Path(folder) / "study", n_items), n_items)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]])
