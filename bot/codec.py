"""JSON of what the bot keeps in the database: audiences, bodies, replies. Both ways; only this module reads it back."""

from collections.abc import Mapping
from typing import Any as Json
from typing import assert_never

from pydantic import TypeAdapter

from bot import replies
from bot.ids import ChoiceId, PersonId, TurnId
from bot.inbound import Audience, Body, Clicked, Operator, Outsiders, Private, Said, Shared
from bot.replies import Part, Reply
from storage.search.ids import Subject

Object = dict[str, Json]


def audience_to_json(audience: Audience) -> Object:
    match audience:
        case Operator():
            return {"kind": "operator"}
        case Private(person=person, guest=guest, subjects=subjects):
            return {"kind": "private", "person": person, "guest": guest, "subjects": sorted(subjects)}
        case Shared(channel=channel, outsiders=outsiders):
            return {"kind": "shared", "channel": channel, "outsiders": outsiders.value}
        case _:
            assert_never(audience)


def audience_from_json(data: Mapping[str, Json]) -> Audience:
    match data["kind"]:
        case "operator":
            return Operator()
        case "private":
            subjects = frozenset(map(Subject, data["subjects"]))
            return Private(person=PersonId(data["person"]), guest=bool(data["guest"]), subjects=subjects)
        case _:
            return Shared(channel=Subject(data["channel"]), outsiders=Outsiders(data["outsiders"]))


def body_to_json(body: Body) -> Object:
    match body:
        case Said(text=text):
            return {"said": text}
        case Clicked(choice=choice):
            return {"clicked": choice}
        case _:
            assert_never(body)


def body_from_json(data: Mapping[str, Json]) -> Body:
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
    )
}


def reply_to_json(reply: Reply) -> Object:
    parts = [
        {"part": type(part).__name__, **_PARTS[type(part).__name__].dump_python(part, mode="json")}
        for part in reply.parts
    ]
    return {"turn": reply.turn, "parts": parts}


def reply_from_json(data: Mapping[str, Json]) -> Reply:
    return Reply(turn=TurnId(data["turn"]), parts=tuple(_part(one) for one in data["parts"]))


def _part(data: Mapping[str, Json]) -> Part:
    content = {key: value for key, value in data.items() if key != "part"}
    return _PARTS[data["part"]].validate_python(content)
