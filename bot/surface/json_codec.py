"""The codec of the bot's stored data, both ways: audiences, bodies and replies as JSON, an inbound as a row."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any as Json
from typing import Final, assert_never, cast

from pydantic import TypeAdapter

from bot.errors import UnreadableTurn
from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, TurnId
from bot.surface import replies
from bot.surface.inbound import (
    AttachedFile,
    Audience,
    ButtonClick,
    ChannelAudience,
    FullTextRequest,
    Inbound,
    InboundBody,
    MessageDeletion,
    OperatorAudience,
    OutsiderPresence,
    PrivateAudience,
    SavedSearchRun,
    SearchSaveRequest,
    TextMessage,
)
from bot.surface.replies import Reply, ReplyPart
from storage.search.ids import Subject
from storage.sql.stores.turns import NewTurn

JsonObject = dict[str, Json]
_MAX_SHORT_CHARS: Final = 250  # code points of a text that is read in some ten milliseconds


def audience_to_json(audience: Audience) -> JsonObject:
    match audience:
        case OperatorAudience():
            return {"kind": "operator"}
        case PrivateAudience(person=person, is_guest=is_guest, subjects=subjects, is_deactivated=is_deactivated):
            gone = {"gone": True} if is_deactivated else {}
            return {"kind": "private", "person": person, "guest": is_guest, "subjects": sorted(subjects), **gone}
        case ChannelAudience(channel=channel, outsiders=outsiders, also_known_as=also_known_as):
            aliases = {"aliases": sorted(also_known_as)} if also_known_as else {}
            return {"kind": "shared", "channel": channel, "outsiders": outsiders.value, **aliases}
        case _:
            assert_never(audience)


def audience_from_json(data: Mapping[str, Json]) -> Audience:
    match data["kind"]:
        case "operator":
            return OperatorAudience()
        case "private":
            return PrivateAudience(
                person=PersonId(data["person"]),
                is_guest=bool(data["guest"]),
                subjects=frozenset(map(Subject, data["subjects"])),
                is_deactivated=bool(data.get("gone", False)),
            )
        case _:
            return ChannelAudience(
                channel=Subject(data["channel"]),
                outsiders=OutsiderPresence(data["outsiders"]),
                also_known_as=frozenset(map(Subject, data.get("aliases", ()))),
            )


def body_to_json(body: InboundBody) -> JsonObject:
    match body:
        case TextMessage(text=text):
            return {"said": text}
        case ButtonClick(choice=choice):
            return {"clicked": choice}
        case MessageDeletion():
            return {"withdrawn": True}
        case FullTextRequest(turn=turn):
            return {"all_of": turn}
        case SearchSaveRequest(turn=turn):
            return {"save_search_of": turn}
        case SavedSearchRun(search=search, due_at=due_at, missed_count=missed_count, was_held=was_held):
            return {
                "saved_search": search,
                "due_at": due_at.isoformat(),
                "missed": missed_count,
                **({"held": True} if was_held else {}),
            }
        case _:
            assert_never(body)


def body_from_json(data: Mapping[str, Json]) -> InboundBody:
    if "withdrawn" in data:
        return MessageDeletion()
    if "all_of" in data:
        return FullTextRequest(TurnId(data["all_of"]))
    if "save_search_of" in data:
        return SearchSaveRequest(TurnId(data["save_search_of"]))
    if "saved_search" in data:
        return SavedSearchRun(
            search=int(data["saved_search"]),
            due_at=datetime.fromisoformat(data["due_at"]),
            missed_count=int(data["missed"]),
            was_held=bool(data.get("held", False)),
        )
    return ButtonClick(ChoiceId(data["clicked"])) if "clicked" in data else TextMessage(str(data["said"]))


# The tags are stored data. They stay the same when a class is renamed.
_TAG_BY_TYPE: Mapping[type[ReplyPart], str] = {
    replies.TextPart: "Text",
    replies.TablePart: "Table",
    replies.PicturePart: "Picture",
    replies.ChoicesPart: "Choices",
    replies.ChosenPart: "Chosen",
    replies.FilePart: "File",
    replies.ProgressPart: "Progress",
    replies.NoticePart: "Notice",
    replies.TurnActionsPart: "Handles",
}
_FULL_TEXT_TAG = "Whole"
_PART_ADAPTERS: Mapping[str, TypeAdapter[ReplyPart]] = {tag: TypeAdapter(kind) for kind, tag in _TAG_BY_TYPE.items()}


def reply_to_json(reply: Reply) -> JsonObject:
    return {"turn": reply.turn, "parts": [_part_to_json(part) for part in reply.parts]}


def _part_to_json(part: ReplyPart) -> JsonObject:
    if isinstance(part, replies.FullTextPart):
        return {"part": _FULL_TEXT_TAG, "name": part.name, "said": reply_to_json(part.reply)}
    tag = _TAG_BY_TYPE[type(part)]
    return {"part": tag, **_PART_ADAPTERS[tag].dump_python(part, mode="json")}


def reply_from_json(data: Mapping[str, Json]) -> Reply:
    return Reply(turn=TurnId(data["turn"]), parts=tuple(_part_from_json(part) for part in data["parts"]))


def _part_from_json(data: Mapping[str, Json]) -> ReplyPart:
    if data["part"] == _FULL_TEXT_TAG:
        return replies.FullTextPart(name=data["name"], reply=reply_from_json(data["said"]))
    content = {key: value for key, value in data.items() if key != "part"}
    return _PART_ADAPTERS[data["part"]].validate_python(content)


def inbound_to_row(inbound: Inbound) -> NewTurn:
    """The inbound as a row of the inbox."""
    return NewTurn(
        surface=inbound.surface,
        event_id=inbound.event_id,
        conversation=inbound.conversation,
        message_id=inbound.message_id,
        person=inbound.person,
        audience=audience_to_json(inbound.audience),
        body={
            **body_to_json(inbound.body),
            "name": inbound.person_name,
            "address": dict(inbound.address),
            "buckets": list(inbound.buckets),
            **({"files": [asdict(file) for file in inbound.files]} if inbound.files else {}),
            **({"unread": list(inbound.skipped_files)} if inbound.skipped_files else {}),
            **({"automatic": True} if inbound.is_automatic else {}),
            **({"unplaced": True} if inbound.needs_thread else {}),
        },
        locale=inbound.locale,
        time_zone=inbound.time_zone,
        received_at=inbound.received_at,
        is_question=isinstance(inbound.body, TextMessage),
        revises=inbound.revises,
        is_long=isinstance(inbound.body, TextMessage) and len(inbound.body.text) > _MAX_SHORT_CHARS,
    )


def inbound_to_json(inbound: Inbound) -> JsonObject:
    row = asdict(inbound_to_row(inbound))
    del row["is_long"]  # follows from the text; a process of an older version does not know it
    return {**row, "received_at": inbound.received_at.isoformat()}


def inbound_from_json(data: Mapping[str, Json]) -> Inbound:
    row: JsonObject = {**data, "received_at": datetime.fromisoformat(data["received_at"])}
    return inbound_from_row(NewTurn(**row))


def inbound_from_row(turn: NewTurn) -> Inbound:
    """Raises `UnreadableTurn`."""
    with translate_read_errors():
        return _build_inbound(turn)


def salvage_unreadable_inbound(turn: NewTurn) -> Inbound:
    """The readable fields of a row that cannot be read as a whole: enough to post a failure, or no address."""
    address: object = turn.body.get("address")
    person = PersonId(turn.person)
    return Inbound(
        surface=turn.surface,
        event_id=turn.event_id,
        conversation=ConversationId(turn.conversation),
        message_id=MessageId(turn.message_id),
        person=person,
        person_name="",
        audience=PrivateAudience(person=person, is_guest=True),
        body=TextMessage(""),
        received_at=turn.received_at,
        address=dict(cast(Mapping[str, str], address)) if _is_address(address) else {},
    )


@contextmanager
def translate_read_errors() -> Generator[None]:
    """Raises `UnreadableTurn` where the block finds a missing or unexpected value."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as exc:
        raise UnreadableTurn() from exc


def _is_address(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in cast(dict[object, object], value).values())


def _build_inbound(turn: NewTurn) -> Inbound:
    if not _is_address(turn.body["address"]):
        raise ValueError("no address")
    return Inbound(
        surface=turn.surface,
        event_id=turn.event_id,
        conversation=ConversationId(turn.conversation),
        message_id=MessageId(turn.message_id),
        person=PersonId(turn.person),
        person_name=turn.body["name"],
        audience=audience_from_json(turn.audience),
        body=body_from_json(turn.body),
        received_at=turn.received_at,
        locale=turn.locale,
        time_zone=turn.time_zone,
        address=turn.body["address"],
        buckets=tuple(turn.body["buckets"]),
        revises=None if turn.revises is None else MessageId(turn.revises),
        files=tuple(AttachedFile(**file) for file in turn.body.get("files", ())),
        skipped_files=tuple(turn.body.get("unread", ())),
        is_automatic=bool(turn.body.get("automatic", False)),
        needs_thread=bool(turn.body.get("unplaced", False)),
    )
