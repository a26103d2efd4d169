"""The methods of the Web API: their scopes, their arguments, and the functions that implement them."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin

from tests.stand_ins.slack.state import SlackState, TokenInstallation
from tests.stand_ins.slack.workspace import SlackChannel, StandInWorkspace

TokenKind = Literal["bot", "app", "nothing"]
MethodFunction = Callable[..., dict[str, Any]]
HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
ABOUT = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}


TIERS: Final = {0: 600, 1: 1, 2: 20, 3: 50, 4: 100}
_STRUCTURED: Final = {"attachments", "blocks", "metadata"}  # JSON arguments of a message


class ApiError(Exception):
    """An error that a method answers with `ok: false`."""

    def __init__(self, error: str, *, retry_after: int = 1) -> None:
        super().__init__(error)
        self.error, self.retry_after = error, retry_after


@dataclass(frozen=True, kw_only=True)
class MethodCaller:
    """The caller of a method: the workspace, scopes and installation of its token."""

    slack: SlackState
    workspace: StandInWorkspace
    scopes: frozenset[str]
    installation: TokenInstallation

    def writable_channel(self, channel: str) -> SlackChannel:
        found = self.workspace.channels.get(channel)
        if found is None:
            raise ApiError("channel_not_found")
        if self.workspace.bot_user not in found.members:
            raise ApiError("not_in_channel")
        return found

    def readable_channel(self, channel: str, scopes: Mapping[str, str]) -> SlackChannel:
        found = self.workspace.channels.get(channel)
        if found is None or (found.kind != "channel" and self.workspace.bot_user not in found.members):
            raise ApiError("channel_not_found")
        if scopes[found.kind] not in self.scopes:
            raise ApiError("missing_scope")
        return found


@dataclass(frozen=True, kw_only=True)
class WebApiMethod:
    """A method. `scopes`: several where the kind of channel decides. A method with `reads` takes no JSON.

    `calls_per_minute`: the rate limit of one installation. `token_kind`: the bot's token, the app's, or none.
    """

    function: MethodFunction
    scopes: frozenset[str]
    reads: bool
    calls_per_minute: int
    token_kind: TokenKind

    def call_as(self, caller: MethodCaller, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call the method. Raises `ApiError` for a missing scope and for missing or unknown arguments."""
        if self.scopes and not self.scopes & caller.scopes:
            raise ApiError("missing_scope")
        try:
            inspect.signature(self.function).bind(caller, **arguments)
        except TypeError as exc:
            raise ApiError("invalid_arguments") from exc
        return self.function(caller, **arguments)

    def read_form(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Parse a form's fields by the method's signature: JSON for lists and objects, digits for numbers."""
        parameters = inspect.signature(self.function).parameters
        try:
            return {name: _read_form_field(name, parameters.get(name), value) for name, value in fields.items()}
        except ValueError as exc:
            raise ApiError("invalid_arguments") from exc


class MethodTable(dict[str, WebApiMethod]):
    """A table of methods, filled by a module. `tier` 0 stands for a special, high rate limit."""

    def register_method(
        self, name: str, *scopes: str, reads: bool = False, tier: int = 3, holds: TokenKind = "bot"
    ) -> Callable[[MethodFunction], MethodFunction]:
        def entered(does: MethodFunction) -> MethodFunction:
            self[name] = WebApiMethod(
                function=does, scopes=frozenset(scopes), reads=reads, calls_per_minute=TIERS[tier], token_kind=holds
            )
            return does

        return entered


def _read_form_field(name: str, parameter: inspect.Parameter | None, value: str) -> Any:
    """Parse one field of a form. Raises `ValueError`."""
    if parameter is None:
        return json.loads(value) if name in _STRUCTURED else value
    annotation = parameter.annotation
    kinds = {get_origin(alternative) or alternative for alternative in _annotation_alternatives(annotation)}
    if bool in kinds:
        return bool(["false", "true", "0", "1"].index(value.lower()) % 2)
    if int in kinds:
        return int(value)
    return json.loads(value) if kinds & {list, dict} else value


def _annotation_alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
