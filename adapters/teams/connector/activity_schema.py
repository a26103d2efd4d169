"""Checks outgoing activities against the Bot Framework's schema, as `botbuilder.schema` has it.

The only module that imports botbuilder. The import takes long, so it runs in a thread at the start.
"""

import asyncio
import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

from adapters.teams.errors import InvalidActivity
from adapters.teams.payloads.json_values import JsonObject

SENT_TYPES: Final = frozenset({"message", "typing", "event", "invokeResponse"})
_MAX_REASON_CHARACTERS: Final = 200


class ActivityChecker(Protocol):
    """Checks before sending, so that a mistake is found here and not by Teams."""

    def encode_activity(self, activity: JsonObject) -> bytes:
        """The JSON to send. Raises `InvalidActivity` for an unknown field or a value of a wrong type."""
        ...


class _ActivityModel(Protocol):
    """The part of `botbuilder.schema.Activity` that is used here."""

    @classmethod
    def deserialize(cls, data: object) -> "_ActivityModel": ...

    def validate(self) -> Sequence[Exception]: ...

    def serialize(self) -> Mapping[str, object]: ...


class BotbuilderSchema:
    """Fulfils `ActivityChecker`."""

    def __init__(self, model: type[_ActivityModel], library_error: type[Exception]) -> None:
        self._model, self._library_error = model, library_error

    @classmethod
    async def load_schema(cls) -> "BotbuilderSchema":
        return await asyncio.to_thread(_import_schema)

    def encode_activity(self, activity: JsonObject) -> bytes:
        try:
            encoded = json.dumps(activity, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except (TypeError, ValueError) as exc:
            raise InvalidActivity(f"no JSON: {type(exc).__name__}") from exc
        plain = cast(dict[str, Any], json.loads(encoded))
        if plain.get("type") not in SENT_TYPES:
            raise InvalidActivity("the type of the activity is missing or unknown")
        if nulls := sorted(name for name, value in plain.items() if value is None):
            raise InvalidActivity(f"fields without a value: {', '.join(nulls)}"[:_MAX_REASON_CHARACTERS])
        self._check_fields(_outline_of(plain))
        return encoded

    def _check_fields(self, outline: Mapping[str, object]) -> None:
        """Compares what the schema's classes make of the fields with the fields themselves."""
        try:
            model = self._model.deserialize(outline)
            errors = list(model.validate())
            understood = model.serialize()
        except (self._library_error, TypeError, ValueError, AttributeError) as exc:
            raise InvalidActivity(f"not an activity: {type(exc).__name__}") from exc
        if errors:
            raise InvalidActivity(f"not an activity: {type(errors[0]).__name__}")
        if differing := sorted(name for name in outline if understood.get(name) != outline[name]):
            raise InvalidActivity(f"unknown fields or wrong types: {', '.join(differing)}"[:_MAX_REASON_CHARACTERS])


def _import_schema() -> BotbuilderSchema:
    """By name, since the packages have no types."""
    schema, exceptions = importlib.import_module("botbuilder.schema"), importlib.import_module("msrest.exceptions")
    return BotbuilderSchema(
        cast(type[_ActivityModel], schema.Activity), cast(type[Exception], exceptions.ClientException)
    )


def _outline_of(activity: Mapping[str, Any]) -> dict[str, object]:
    """The activity without the free content of its entities, its cards and its channel data, which the schema does not
    describe.
    """
    outline = dict(activity)
    if "entities" in outline:
        outline["entities"] = [_outline_of_entity(entity) for entity in _list_in(activity, "entities")]
    if "attachments" in outline:
        outline["attachments"] = [_outline_of_attachment(item) for item in _list_in(activity, "attachments")]
    for name in {"channelData", "value"} & outline.keys():
        _object_of(outline.pop(name), name)
    return outline


def _outline_of_entity(entity: object) -> dict[str, object]:
    fields = _object_of(entity, "an entity")
    if not isinstance(fields.get("type"), str):
        raise InvalidActivity("an entity has no type")
    return {"type": fields["type"]}


def _outline_of_attachment(attachment: object) -> dict[str, object]:
    fields = _object_of(attachment, "an attachment")
    if not isinstance(fields.get("contentType"), str):
        raise InvalidActivity("an attachment has no content type")
    return {name: value for name, value in fields.items() if name != "content" or not isinstance(value, dict)}


def _list_in(activity: Mapping[str, Any], name: str) -> list[object]:
    if not isinstance(activity[name], list):
        raise InvalidActivity(f"no list: {name}")
    return cast(list[object], activity[name])


def _object_of(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InvalidActivity(f"no object: {what}")
    return cast(dict[str, object], value)
