"""How large images are cut."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from training_pipeline.study.models import Block, NotNegative, Positive, Share, Whole, sentence
from training_pipeline.trainers.wording import shown, truth_mend

Pixels = Annotated[Whole, Field(ge=1)]


def _auto_or_truth(value: Any) -> Any:
    if value != "auto" and not isinstance(value, bool):
        raise sentence(f"Must be auto, true or false, not {shown(value)}.", truth_mend(value))
    return value


class TilingConfig(Block):
    """How an image too large for a model is cut into tiles. An unknown key changes nothing."""

    model_config = ConfigDict(extra="ignore")

    enabled: Annotated[Literal["auto"] | bool, BeforeValidator(_auto_or_truth)] = Field(
        default="auto", description="auto: images whose longer side exceeds min_size; true: all; false: none"
    )
    min_size: Pixels = Field(default=2048, description="Pixels at level 0")
    tile_size: Pixels = Field(default=1024, description="Pixels of a tile at the level read")
    overlap: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.125, description="What neighbouring tiles share, as a fraction of tile_size"
    )
    level: Annotated[Whole, Field(ge=0)] | None = Field(
        default=None, description="Pyramid level that is read; null: 0, or what mpp asks for"
    )
    mpp: Positive | None = Field(
        default=None, description="Microns per pixel wanted, in place of level: the nearest level, then rescaled"
    )
    min_visible: Share = Field(
        default=0.3, description="An object stays in a tile where at least this fraction of its area is inside"
    )
    empty_tiles: NotNegative = Field(
        default=0.1, description="Tiles without an object kept in training, as a fraction of those with one"
    )
    tissue_only: bool | None = Field(
        default=None, description="Skip background tiles when predicting; null: true for slides"
    )
    max_tiles_per_image: Annotated[Whole, Field(ge=1)] | None = Field(
        default=None, description="A run that hits it says so; null: no limit"
    )
    format: Literal["png", "jpeg"] = Field(default="png", description="How tiles are kept")
    merge_iou: Share = Field(
        default=0.5, description="Overlapping predictions of one class across tiles are merged above this"
    )
