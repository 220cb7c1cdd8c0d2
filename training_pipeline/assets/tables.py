"""Tables in the metadata that people see in Dagster's UI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg

Cell = str | int | float | bool | None


def table(rows: Sequence[Mapping[str, Cell]]) -> dg.TableMetadataValue | str:
    """Return rows of like keys as a table; Dagster formats no numbers, so fractions are rounded here."""
    if not rows:
        return "none"
    return dg.MetadataValue.table([dg.TableRecord({key: _shown(cell) for key, cell in row.items()}) for row in rows])


def _shown(cell: Cell) -> str | int | float | bool | None:
    if isinstance(cell, str):
        return str(cell)  # Dagster stores plain strings only, no members of an enumeration
    return round(cell, 3) if isinstance(cell, float) else cell
