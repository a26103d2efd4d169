"""What a method of the Web API is here: its scopes, its arguments, and what it does to the state."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin

from tests.stand_ins.slack.state import Installation, State
from tests.stand_ins.slack.workspace import Channel, Workspace

Holds = Literal["bot", "app", "nothing"]
Does = Callable[..., dict[str, Any]]
HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
ABOUT = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}


TIERS: Final = {0: 600, 1: 1, 2: 20, 3: 50, 4: 100}
_STRUCTURED: Final = {"attachments", "blocks", "metadata"}  # of a message's content


class ApiError(Exception):
    """What a method answers with `ok: false`."""

    def __init__(self, error: str, *, retry_after: int = 1) -> None:
        super().__init__(error)
        self.error, self.retry_after = error, retry_after


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Whoever calls a method: where its token works, and what it may do there."""

    slack: State
    workspace: Workspace
    scopes: frozenset[str]
    installation: Installation

    def writable(self, channel: str) -> Channel:
        place = self.workspace.channels.get(channel)
        if place is None:
            raise ApiError("channel_not_found")
        if self.workspace.bot_user not in place.members:
            raise ApiError("not_in_channel")
        return place

    def readable(self, channel: str, scopes: Mapping[str, str]) -> Channel:
        place = self.workspace.channels.get(channel)
        if place is None or (place.kind != "channel" and self.workspace.bot_user not in place.members):
            raise ApiError("channel_not_found")
        if scopes[place.kind] not in self.scopes:
            raise ApiError("missing_scope")
        return place


@dataclass(frozen=True, kw_only=True)
class Method:
    """`scopes`: several where the kind of channel decides. One that reads takes no JSON.

    `a_minute`: calls by one installation. `holds`: whose token the caller has, the bot's, the app's, or nothing.
    """

    does: Does
    scopes: frozenset[str]
    reads: bool
    a_minute: int
    holds: Holds

    def call(self, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Refuses arguments that are missing or that the method does not have, as far as its signature tells."""
        if self.scopes and not self.scopes & caller.scopes:
            raise ApiError("missing_scope")
        try:
            inspect.signature(self.does).bind(caller, **arguments)
        except TypeError as exc:
            raise ApiError("invalid_arguments") from exc
        return self.does(caller, **arguments)

    def read(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """A form's fields, each as the method takes it: JSON for lists and objects, digits for numbers."""
        wanted = inspect.signature(self.does).parameters
        try:
            return {name: _read(name, wanted.get(name), value) for name, value in fields.items()}
        except ValueError as exc:
            raise ApiError("invalid_arguments") from exc


class Methods(dict[str, Method]):
    """A table of methods that a module fills. `tier` 0 stands for a rate of its own, which is high."""

    def method(
        self, name: str, *scopes: str, reads: bool = False, tier: int = 3, holds: Holds = "bot"
    ) -> Callable[[Does], Does]:
        def entered(does: Does) -> Does:
            self[name] = Method(does=does, scopes=frozenset(scopes), reads=reads, a_minute=TIERS[tier], holds=holds)
            return does

        return entered


def _read(name: str, parameter: inspect.Parameter | None, value: str) -> Any:
    """Raises `ValueError`."""
    if parameter is None:
        return json.loads(value) if name in _STRUCTURED else value
    annotation = parameter.annotation
    kinds = {get_origin(one) or one for one in _alternatives(annotation)}
    if bool in kinds:
        return bool(["false", "true", "0", "1"].index(value.lower()) % 2)
    if int in kinds:
        return int(value)
    return json.loads(value) if kinds & {list, dict} else value


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
