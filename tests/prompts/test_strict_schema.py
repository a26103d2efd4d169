"""The schemas of classes, as the strict mode of OpenAI's API accepts them."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from prompts.prompt_library import strict_schema_of
from tests.stand_ins.model.strict_schemas import find_refused_parts


class ShapeColour(StrEnum):
    """An enumeration."""

    RED = "red"
    BLUE = "blue"


class CircleShape(BaseModel):
    """One member of a union."""

    kind: Literal["circle"]
    radius: float


class SquareShape(BaseModel):
    """The other member of a union."""

    kind: Literal["square"]
    side: float = 1.0


class DrawnPicture(BaseModel):
    """Has what classes of replies have: nesting, unions, defaults, descriptions, names that are keywords."""

    title: str
    default: int = Field(default=3, description="a name that is a keyword too")
    colour: ShapeColour = Field(description="a description beside a reference")
    shape: Annotated[CircleShape | SquareShape, Field(discriminator="kind")]
    parts: list["DrawnPicture"] = Field(default=[], description="the parts")
    frame: SquareShape | None = None


def test_a_schema_is_accepted_by_the_strict_mode_and_keeps_each_property_with_its_description() -> None:
    schema = strict_schema_of(DrawnPicture)

    assert list(find_refused_parts(schema)) == []
    assert list(schema["properties"]) == ["title", "default", "colour", "shape", "parts", "frame"]
    assert schema["properties"]["colour"]["description"] == "a description beside a reference"
