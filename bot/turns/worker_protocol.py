"""The messages between the receiving process and its worker processes: one line of JSON each, through two pipes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field, TypeAdapter

from bot.language_model.measured_call import MeasuredCall
from bot.metrics.operation_measurements import OperationMeasurement
from bot.turns.measurements import TurnMeasurement

MAX_CONCURRENT_TURNS: Final = 8  # that one process works on


class TurnStoredCommand(BaseModel):
    """A turn was stored."""

    kind: Literal["turn_stored"] = "turn_stored"


class StopTurnCommand(BaseModel):
    """A person asked to stop the turn."""

    kind: Literal["stop"] = "stop"
    turn: str


class ApplyChangeCommand(BaseModel):
    """A cached entry is no longer true. The worker answers with `ChangeAppliedReport` and the same number."""

    kind: Literal["apply_change"] = "apply_change"
    number: int
    surface: str
    change: dict[str, str]


class BackgroundTurnsCommand(BaseModel):
    """Whether another process takes the background turns from now on (`TurnShare`)."""

    kind: Literal["background_turns"] = "background_turns"
    are_taken: bool


class EndWorkerCommand(BaseModel):
    """Take no more turns, and finish the current ones. If a pipe closes without this command, the receiving process is
    dead.
    """

    kind: Literal["end"] = "end"


class WorkerReadyReport(BaseModel):
    """The worker takes turns from now on."""

    kind: Literal["ready"] = "ready"


class ChangeAppliedReport(BaseModel):
    kind: Literal["change_applied"] = "change_applied"
    number: int


class TurnEndedReport(BaseModel):
    kind: Literal["ended"] = "ended"
    measurement: TurnMeasurement


class ModelCallsReport(BaseModel):
    """A turn, or work after it, made these calls."""

    kind: Literal["model_calls"] = "model_calls"
    calls: tuple[MeasuredCall, ...]


class OperationReport(BaseModel):
    """The worker has made a request to the index, called a chat product, written a file or synced a source."""

    kind: Literal["operation"] = "operation"
    operation: OperationMeasurement


WorkerCommand: TypeAlias = (  # to the workers
    TurnStoredCommand | StopTurnCommand | ApplyChangeCommand | BackgroundTurnsCommand | EndWorkerCommand
)
WorkerReport: TypeAlias = (  # from the workers
    WorkerReadyReport | ChangeAppliedReport | TurnEndedReport | ModelCallsReport | OperationReport
)

_COMMAND_ADAPTER: Final[TypeAdapter[WorkerCommand]] = TypeAdapter(Annotated[WorkerCommand, Field(discriminator="kind")])
_REPORT_ADAPTER: Final[TypeAdapter[WorkerReport]] = TypeAdapter(Annotated[WorkerReport, Field(discriminator="kind")])


def encode_message(message: WorkerCommand | WorkerReport) -> bytes:
    return message.model_dump_json().encode() + b"\n"


async def read_commands(pipe: asyncio.StreamReader) -> AsyncIterator[WorkerCommand]:
    """The commands, until the pipe closes. Raises `ValidationError` for a line that is not a command."""
    async for line in _read_lines(pipe):
        yield _COMMAND_ADAPTER.validate_json(line)


async def read_reports(pipe: asyncio.StreamReader) -> AsyncIterator[WorkerReport]:
    """The reports, until the pipe closes. Raises `ValidationError` for a line that is not a report."""
    async for line in _read_lines(pipe):
        yield _REPORT_ADAPTER.validate_json(line)


async def _read_lines(pipe: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Complete lines only: a process that was killed may have left half a line."""
    while (line := await pipe.readline()).endswith(b"\n"):
        yield line
