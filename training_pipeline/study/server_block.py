"""What config.yaml must say of training where a file of its own says what we do.

The annotation server reads config.yaml alone. It shows our pre-labels if its block is on and lets them through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training_pipeline.study.document import Document
from training_pipeline.study.problems import BLOCK, Findings
from training_pipeline.study.training import WritebackConfig
from training_pipeline.trainers.wording import shown


def check_server_block(config: Document, ours: WritebackConfig, ours_in: str, findings: Findings) -> None:
    """Note where the server would not show what we publish; `ours_in` is the name of the file of our block."""
    block = _mapping(config.values.get(BLOCK))
    theirs = _mapping(block.get("writeback"))

    def add(path: tuple[str, ...], message: str, hint: str) -> None:
        findings.add((BLOCK, *path), message, hint, document=config)

    if _mapping(block.get("auto_retrain")).get("enabled") is True:
        findings.warn(
            (BLOCK, "auto_retrain", "enabled"),
            f"The server would train too, beside what {ours_in} says.",
            "Set it to false.",
            document=config,
        )
    if not ours.schemas:
        return
    if block.get("enabled") is not True:
        add(("enabled",), "Must be true, or the server shows no pre-labels.", f"{ours_in} says what we do.")
    shown_there = theirs.get("schemas")
    missing = [name for name in ours.schemas if not isinstance(shown_there, list) or name not in shown_there]
    if missing:
        names = ", ".join(missing)
        add(("writeback", "schemas"), f"Lacks {names}, which {ours_in} publishes.", f"Add {names}.")
    field = theirs.get("field", WritebackConfig().field)
    if field != ours.field:
        add(("writeback", "field"), f"Is {shown(field)}, but {shown(ours.field)} in {ours_in}.", "Make both the same.")
    lowest = theirs.get("min_confidence", WritebackConfig().min_confidence)
    if isinstance(lowest, int | float) and lowest > ours.min_confidence:
        message = (
            f"Is {lowest:g}, above the {ours.min_confidence:g} of {ours_in}: the server would hide what lies between."
        )
        add(("writeback", "min_confidence"), message, f"Make it {ours.min_confidence:g} or less.")


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}
