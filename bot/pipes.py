"""What the process that receives and those that answer tell each other: a line of JSON each, through two pipes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field, TypeAdapter


class Accepted(BaseModel):
    """A turn was stored."""

    kind: Literal["accepted"] = "accepted"


class Stop(BaseModel):
    """Somebody asked to stop the turn."""

    kind: Literal["stop"] = "stop"
    turn: str


class Changed(BaseModel):
    """What is kept of this is no longer true. To be answered by `Forgotten` with the same number."""

    kind: Literal["changed"] = "changed"
    number: int
    surface: str
    news: dict[str, str]


class End(BaseModel):
    """No more turns; what was begun is finished first. A pipe that closes without it: who received is dead."""

    kind: Literal["end"] = "end"


class Ready(BaseModel):
    """Turns are worked on from now on."""

    kind: Literal["ready"] = "ready"


class Forgotten(BaseModel):
    kind: Literal["forgotten"] = "forgotten"
    number: int


class Ended(BaseModel):
    """A turn has, in so many seconds."""

    kind: Literal["ended"] = "ended"
    surface: str
    outcome: str
    seconds: float


Told: TypeAlias = Accepted | Stop | Changed | End  # to those that answer
Reported: TypeAlias = Ready | Forgotten | Ended  # by them

_TOLD: Final[TypeAdapter[Told]] = TypeAdapter(Annotated[Told, Field(discriminator="kind")])
_REPORTED: Final[TypeAdapter[Reported]] = TypeAdapter(Annotated[Reported, Field(discriminator="kind")])


def line(message: Told | Reported) -> bytes:
    return message.model_dump_json().encode() + b"\n"


async def told(pipe: asyncio.StreamReader) -> AsyncIterator[Told]:
    """Until the pipe closes. Raises `ValidationError` for what is none of ours."""
    async for one in _lines(pipe):
        yield _TOLD.validate_json(one)


async def reported(pipe: asyncio.StreamReader) -> AsyncIterator[Reported]:
    """As `told`."""
    async for one in _lines(pipe):
        yield _REPORTED.validate_json(one)


async def _lines(pipe: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Whole ones: who was killed may have left half a line."""
    while (one := await pipe.readline()).endswith(b"\n"):
        yield one
