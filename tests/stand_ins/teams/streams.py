"""Streaming: messages in a personal chat that grow by `typing` activities and end with a `message`.

https://learn.microsoft.com/microsoftteams/platform/bots/streaming-ux
"""

from dataclasses import dataclass
from typing import Final, cast

from tests.stand_ins.teams.json_parts import object_of, objects_of, type_of
from tests.stand_ins.teams.refusals import (
    ConnectorRefused,
    JsonMapping,
    is_whole_number,
    refuse_call_unless,
    utf16_units,
)

STREAM_S: Final = 120.0  # seconds from the first activity to the last
INFORMATIVE: Final = 1000  # characters of an informative text


@dataclass(kw_only=True)
class StandInStream:
    """A stream. `id`: the id of its message. `ending`: why it takes nothing more, or empty while it grows."""

    id: str
    conversation: str
    started_at_s: float
    text: str = ""  # streamed so far
    informative: str = ""  # shown above the message
    sequence: int = 0
    updates: int = 0
    ignored: int = 0  # activities out of sequence, which Teams drops
    ending: str = ""

    @property
    def is_open(self) -> bool:
        return not self.ending

    def end_if_overdue(self, now: float) -> None:
        if self.is_open and now - self.started_at_s > STREAM_S:
            self.ending = "Content stream finished due to exceeded streaming time."


@dataclass(frozen=True, kw_only=True)
class StreamPart:
    """What an activity says of its stream. `sequence` is None in the last."""

    kind: str  # `informative`, `streaming`, `final`
    stream_id: str
    sequence: int | None
    text: str


def stream_part_of(activity: JsonMapping) -> StreamPart | None:
    """Returns what an activity says of its stream; None for one that belongs to none. Refuses what is not sound."""
    entities = [entity for entity in objects_of(activity, "entities") if type_of(entity).lower() == "streaminfo"]
    if not entities:
        return None
    refuse_stream_unless(len(entities) == 1, "more than one streaminfo")
    entity = entities[0]
    unknown = entity.keys() - {"type", "streamId", "streamType", "streamSequence"}
    refuse_stream_unless(not unknown, f"streaminfo: unknown {sorted(unknown)}")
    kind, sequence, stream_id = (
        entity.get("streamType", "streaming"),
        entity.get("streamSequence"),
        entity.get("streamId"),
    )
    is_last = activity.get("type") == "message"
    allowed = {"final"} if is_last else {"informative", "streaming"}
    refuse_stream_unless(kind in allowed, f"streamType {kind!r} in a {activity.get('type')}")
    if is_last:
        refuse_stream_unless("streamSequence" not in entity, "streamSequence must not be set in the final message")
    else:
        refuse_stream_unless(
            is_whole_number(sequence) and cast(int, sequence) >= 1, "streamSequence must be a positive integer"
        )
    refuse_stream_unless(stream_id is None or (isinstance(stream_id, str) and stream_id != ""), "streamId is no text")
    text = activity.get("text")
    if not is_last:
        refuse_stream_unless(
            isinstance(text, str) and bool(text.strip()), "Start streaming activities should include text"
        )
        _check_plainness(activity)
    return StreamPart(kind=kind, stream_id=stream_id or "", sequence=sequence, text=text or "")


def open_stream(part: StreamPart, message_id: str, conversation: str, now: float) -> StandInStream:
    """Returns the stream that a first activity opens. Refuses an activity that cannot be the first."""
    refuse_stream_unless(part.kind != "final", "a final message without streamId")
    refuse_stream_unless(part.sequence == 1, "the first streamSequence must be 1")
    stream = StandInStream(id=message_id, conversation=conversation, started_at_s=now)
    take_stream_part(stream, part, now)
    return stream


def take_stream_part(stream: StandInStream, part: StreamPart, now: float) -> bool:
    """Takes a further part. Returns whether it counts: one out of sequence is dropped without an error."""
    stream.end_if_overdue(now)
    if stream.ending:
        raise ConnectorRefused(403, "ContentStreamNotAllowed", stream.ending)
    if part.sequence is not None and part.sequence <= stream.sequence:
        stream.ignored += 1
        return False
    if part.kind == "informative":
        refuse_stream_unless(not stream.text, "informative updates come before the text")
        refuse_stream_unless(utf16_units(part.text) <= INFORMATIVE, f"informative text over {INFORMATIVE}")
        stream.informative = part.text
    else:
        _check_growth(stream, part)
        stream.text = part.text
    stream.sequence = part.sequence or stream.sequence
    stream.updates += 1
    if part.kind == "final":
        stream.ending = "Content stream is not allowed on an already completed streamed message"
    return True


def refuse_stream_unless(holds: bool, detail: str) -> None:
    refuse_call_unless(holds, detail, code="BadRequest")


def _check_growth(stream: StandInStream, part: StreamPart) -> None:
    """Check that the text begins with what was streamed; the final one too (Agents-for-net#251)."""
    refuse_call_unless(
        part.text.startswith(stream.text),
        "Request streamed content should contain the previously streamed content",
        status=403,
        code="ContentStreamNotAllowed",
    )


def _check_plainness(activity: JsonMapping) -> None:
    """Check that attachments, the AI label and feedback wait for the final message."""
    refuse_stream_unless(not activity.get("attachments"), "attachments only in the final message")
    channel_data = object_of(activity, "channelData")
    refuse_stream_unless(
        not ({"feedbackLoop", "feedbackLoopEnabled"} & channel_data.keys()), "feedback only at the end"
    )
    labels = [entity for entity in objects_of(activity, "entities") if entity.get("additionalType")]
    refuse_stream_unless(not labels, "the AI label only in the final message")
