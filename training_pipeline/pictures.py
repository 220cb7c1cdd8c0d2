"""Pictures of a run as SVG: small files that the web app serves and the metadata in Dagster links to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

_CELL = 64
_LONGEST_LABEL = 18
_CHARACTER_WIDTH = 7.2
_TITLE_HEIGHT = 56
# What XML 1.0 has no way to write, escaped or not.
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def confusion_svg(agreed: Sequence[str], predicted: Sequence[str], counts: Sequence[Sequence[int]], title: str) -> str:
    """Return a confusion matrix as an SVG document.

    `counts[r][c]` items have the agreed label `agreed[r]` and the prediction `predicted[c]`. A cell is shaded by its
    share of its row, so that a rare class shows its errors as plainly as a common one; the number is the count.
    """
    left = int(max((len(_short(name)) for name in agreed), default=1) * _CHARACTER_WIDTH) + 44
    top = _TITLE_HEIGHT + 26
    width = max(left + _CELL * len(predicted) + 16, int(len(title) * _CHARACTER_WIDTH) + 32)
    height = top + _CELL * len(agreed) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="13" role="img">',
        f"<title>{_escaped(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(16, 24, title, anchor="start", weight="600"),
        _text(left + _CELL * len(predicted) / 2, _TITLE_HEIGHT - 8, "predicted", colour="#555555"),
        f'<g transform="translate(18 {top + _CELL * len(agreed) / 2}) rotate(-90)">'
        f"{_text(0, 0, 'agreed', colour='#555555')}</g>",
    ]
    for c, name in enumerate(predicted):
        parts.append(_text(left + _CELL * (c + 0.5), top - 8, _short(name, 9), tooltip=name))
    for r, name in enumerate(agreed):
        y = top + _CELL * r
        parts.append(_text(left - 8, y + _CELL / 2 + 5, _short(name), anchor="end", tooltip=name))
        total = sum(counts[r])
        for c, count in enumerate(counts[r]):
            parts.append(_cell(left + _CELL * c, y, count, count / total if total else 0.0))
    return "\n".join([*parts, "</svg>\n"])


def _cell(x: float, y: float, count: int, share: float) -> str:
    red, green, blue = (round(255 + share * (end - 255)) for end in (23, 78, 134))
    colour = "#ffffff" if share > 0.75 else "#1a1a1a"  # both keep a contrast of 4 to 1 or more
    return (
        f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill="rgb({red},{green},{blue})" stroke="#d0d7de"/>'
        + _text(x + _CELL / 2 - 1, y + _CELL / 2, str(count), colour=colour, weight="600")
        + _text(x + _CELL / 2 - 1, y + _CELL / 2 + 17, f"{share:.0%}", colour=colour, size=11)
    )


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "middle",
    colour: str = "#1a1a1a",
    weight: str = "400",
    size: int = 13,
    tooltip: str = "",
) -> str:
    hint = f"<title>{_escaped(tooltip)}</title>" if tooltip else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}" font-size="{size}">'
        f"{hint}{_escaped(text)}</text>"
    )


def _escaped(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _short(name: str, longest: int = _LONGEST_LABEL) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
