"""What every part of the model_training block has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

Whole = Annotated[int, Field(le=2**63 - 1)]
"""A whole number that a database keeps."""

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Text, ...], Field(strict=False)]


class Block(BaseModel):
    """A mapping of the config. Numbers are strict: a boolean or a text is no number, nor is NaN."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


def _left_out_if_empty(value: Any) -> Any:
    return {} if value is None else value


EmptyIsLeftOut = BeforeValidator(_left_out_if_empty)
"""A section whose keys are all commented out is a key without a value: as if it were left out."""


def sentence(message: str, hint: str = "") -> PydanticCustomError:
    """Return the error of a validator of ours: what is wrong, and how to mend it."""
    context: Mapping[str, Any] = {"sentence": message, "hint": hint}
    return PydanticCustomError("sentence", "{sentence} {hint}", dict(context))
