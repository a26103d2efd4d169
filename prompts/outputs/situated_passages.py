"""The reply to the prompt `situate_passage`."""

from pydantic import BaseModel, ConfigDict


class SituatedPassageOutput(BaseModel):
    """What the passage with this number is about in its document."""

    model_config = ConfigDict(extra="forbid")

    number: int
    context: str  # one or two sentences


class SituatedPassagesOutput(BaseModel):
    """The contexts of the passages of one call."""

    model_config = ConfigDict(extra="forbid")

    passages: list[SituatedPassageOutput]
