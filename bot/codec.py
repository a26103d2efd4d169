"""What the bot keeps in the database, both ways: audiences, bodies, replies as JSON, an inbound as a row."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any as Json
from typing import assert_never, cast

from pydantic import TypeAdapter

from bot import replies
from bot.errors import UnreadableTurn
from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, TurnId
from bot.inbound import (
    AllOf,
    AttachedFile,
    Audience,
    Body,
    Clicked,
    Inbound,
    Operator,
    Outsiders,
    Private,
    Said,
    Shared,
    Withdrawn,
)
from bot.replies import Part, Reply
from storage.search.ids import Subject
from storage.sql.accepting import NewTurn

Object = dict[str, Json]


def audience_to_json(audience: Audience) -> Object:
    match audience:
        case Operator():
            return {"kind": "operator"}
        case Private(person=person, guest=guest, subjects=subjects, gone=gone):
            left = {"gone": True} if gone else {}
            return {"kind": "private", "person": person, "guest": guest, "subjects": sorted(subjects), **left}
        case Shared(channel=channel, outsiders=outsiders):
            return {"kind": "shared", "channel": channel, "outsiders": outsiders.value}
        case _:
            assert_never(audience)


def audience_from_json(data: Mapping[str, Json]) -> Audience:
    match data["kind"]:
        case "operator":
            return Operator()
        case "private":
            return Private(
                person=PersonId(data["person"]),
                guest=bool(data["guest"]),
                subjects=frozenset(map(Subject, data["subjects"])),
                gone=bool(data.get("gone", False)),
            )
        case _:
            return Shared(channel=Subject(data["channel"]), outsiders=Outsiders(data["outsiders"]))


def body_to_json(body: Body) -> Object:
    match body:
        case Said(text=text):
            return {"said": text}
        case Clicked(choice=choice):
            return {"clicked": choice}
        case Withdrawn():
            return {"withdrawn": True}
        case AllOf(turn=turn):
            return {"all_of": turn}
        case _:
            assert_never(body)


def body_from_json(data: Mapping[str, Json]) -> Body:
    if "withdrawn" in data:
        return Withdrawn()
    if "all_of" in data:
        return AllOf(TurnId(data["all_of"]))
    return Clicked(ChoiceId(data["clicked"])) if "clicked" in data else Said(str(data["said"]))


_PARTS: Mapping[str, TypeAdapter[Part]] = {
    kind.__name__: TypeAdapter(kind)
    for kind in (
        replies.Text,
        replies.Table,
        replies.Choices,
        replies.Chosen,
        replies.File,
        replies.Progress,
        replies.Notice,
        replies.Handles,
    )
}


def reply_to_json(reply: Reply) -> Object:
    return {"turn": reply.turn, "parts": [_part_to_json(part) for part in reply.parts]}


def _part_to_json(part: Part) -> Object:
    kind = type(part).__name__
    if isinstance(part, replies.Whole):
        return {"part": kind, "name": part.name, "said": reply_to_json(part.said)}
    return {"part": kind, **_PARTS[kind].dump_python(part, mode="json")}


def reply_from_json(data: Mapping[str, Json]) -> Reply:
    return Reply(turn=TurnId(data["turn"]), parts=tuple(_part(one) for one in data["parts"]))


def _part(data: Mapping[str, Json]) -> Part:
    if data["part"] == replies.Whole.__name__:
        return replies.Whole(name=data["name"], said=reply_from_json(data["said"]))
    content = {key: value for key, value in data.items() if key != "part"}
    return _PARTS[data["part"]].validate_python(content)


def inbound_to_row(inbound: Inbound) -> NewTurn:
    """As the inbox keeps it."""
    return NewTurn(
        surface=inbound.surface,
        event_id=inbound.event_id,
        conversation=inbound.conversation,
        message_id=inbound.message_id,
        person=inbound.person,
        audience=audience_to_json(inbound.audience),
        body={
            **body_to_json(inbound.body),
            "name": inbound.name,
            "address": dict(inbound.address),
            "buckets": list(inbound.buckets),
            **({"files": [asdict(one) for one in inbound.files]} if inbound.files else {}),
            **({"unread": list(inbound.unread)} if inbound.unread else {}),
            **({"automatic": True} if inbound.automatic else {}),
            **({"unplaced": True} if inbound.unplaced else {}),
        },
        locale=inbound.locale,
        time_zone=inbound.time_zone,
        received_at=inbound.received,
        is_question=isinstance(inbound.body, Said),
        revises=inbound.revises,
    )


def inbound_to_json(inbound: Inbound) -> Object:
    row = asdict(inbound_to_row(inbound))
    return {**row, "received_at": inbound.received.isoformat()}


def inbound_from_json(data: Mapping[str, Json]) -> Inbound:
    row: Object = {**data, "received_at": datetime.fromisoformat(data["received_at"])}
    return inbound_from_row(NewTurn(**row))


def inbound_from_row(turn: NewTurn) -> Inbound:
    """Raises `UnreadableTurn`."""
    with readable():
        return _inbound(turn)


def left_of(turn: NewTurn) -> Inbound:
    """Of a row that cannot be read, as much as it takes to say so: where that is, or no address."""
    address: object = turn.body.get("address")
    person = PersonId(turn.person)
    return Inbound(
        surface=turn.surface,
        event_id=turn.event_id,
        conversation=ConversationId(turn.conversation),
        message_id=MessageId(turn.message_id),
        person=person,
        name="",
        audience=Private(person=person, guest=True),
        body=Said(""),
        received=turn.received_at,
        address=dict(cast(Mapping[str, str], address)) if _is_address(address) else {},
    )


@contextmanager
def readable() -> Generator[None]:
    """What in the block finds that something is missing, or is something else, raises `UnreadableTurn`."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as exc:
        raise UnreadableTurn() from exc


def _is_address(found: object) -> bool:
    return isinstance(found, dict) and all(isinstance(one, str) for one in cast(dict[object, object], found).values())


def _inbound(turn: NewTurn) -> Inbound:
    if not _is_address(turn.body["address"]):
        raise ValueError("no address")
    return Inbound(
        surface=turn.surface,
        event_id=turn.event_id,
        conversation=ConversationId(turn.conversation),
        message_id=MessageId(turn.message_id),
        person=PersonId(turn.person),
        name=turn.body["name"],
        audience=audience_from_json(turn.audience),
        body=body_from_json(turn.body),
        received=turn.received_at,
        locale=turn.locale,
        time_zone=turn.time_zone,
        address=turn.body["address"],
        buckets=tuple(turn.body["buckets"]),
        revises=None if turn.revises is None else MessageId(turn.revises),
        files=tuple(AttachedFile(**one) for one in turn.body.get("files", ())),
        unread=tuple(turn.body.get("unread", ())),
        automatic=bool(turn.body.get("automatic", False)),
        unplaced=bool(turn.body.get("unplaced", False)),
    )
