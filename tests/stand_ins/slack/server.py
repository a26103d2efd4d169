"""A strict Slack on 127.0.0.1: the Web API that Parley uses, signed deliveries to the app, and faults on demand.

It refuses what Slack refuses: wrong or missing tokens, scopes that the manifest does not name, channels the bot is not
in, JSON where Slack reads forms only, arguments a method does not have, and every message that `checker` refuses.
"""

import asyncio
import hashlib
import hmac
import inspect
import itertools
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import aiohttp
from aiohttp import web

from tests.stand_ins.slack.checker import Refused, check_message
from tests.stand_ins.slack.manifest import manifest
from tests.stand_ins.slack.workspace import APP, BOT_ID, BOT_USER, TEAM, Channel, Message, StoredFile, User, Workspace

_EVENTS = itertools.count(1)  # of all servers: one database may outlive several of them
TOKEN, SIGNING_SECRET = "xoxb-parley-token", "parley-signing-secret"
DELIVERY_S: Final = 3.0
RESPONSE_URL_USES, RESPONSE_URL_S = 5, 30 * 60

_READING: Final = {
    "auth.test",
    "conversations.history",
    "conversations.info",
    "conversations.members",
    "conversations.replies",
    "users.info",
    "files.getUploadURLExternal",
}
_HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
_ABOUT = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}

# The scopes of each method; several where the kind of channel decides.
SCOPES: Final[dict[str, frozenset[str]]] = {
    "assistant.threads.setStatus": frozenset({"chat:write"}),
    "auth.test": frozenset(),
    "chat.postEphemeral": frozenset({"chat:write"}),
    "chat.postMessage": frozenset({"chat:write"}),
    "chat.update": frozenset({"chat:write"}),
    "conversations.history": frozenset(_HISTORY.values()),
    "conversations.info": frozenset(_ABOUT.values()),
    "conversations.members": frozenset(_ABOUT.values()),
    "conversations.open": frozenset({"im:write"}),
    "conversations.replies": frozenset(_HISTORY.values()),
    "files.completeUploadExternal": frozenset({"files:write"}),
    "files.getUploadURLExternal": frozenset({"files:write"}),
    "users.info": frozenset({"users:read"}),
}
EVENT_SCOPES: Final = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
}


class ApiError(Exception):
    """What a method answers with `ok: false`."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Instead of an answer. `status` 0 cuts the connection; with `done` only the answer is lost, the work is not."""

    status: int = 0
    retry_after: int | None = None
    done: bool = False
    hang: bool = False  # no answer at all


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a method, as it came in."""

    method: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """What the app answered, one status an attempt; None where it did not within three seconds."""

    statuses: list[int | None]
    body: str = ""


@dataclass(kw_only=True)
class _ResponseUrl:
    channel: str
    message: str
    made: float
    uses: int = 0


@dataclass
class SlackServer:
    """`async with SlackServer() as slack:`; `slack.app_url` is where deliveries go."""

    scopes: frozenset[str] = field(default_factory=lambda: manifest().scopes)
    events: frozenset[str] = field(default_factory=lambda: manifest().events)
    app_url: str = ""
    one_a_second: bool = False
    clock: Callable[[], float] = time.time
    workspace: Workspace = field(default_factory=Workspace)
    calls: list[Call] = field(default_factory=list[Call])

    async def __aenter__(self) -> "SlackServer":
        self._faults: dict[str, list[Fault]] = defaultdict(list)
        self._responses: dict[str, _ResponseUrl] = {}
        self._last_post: dict[str, float] = {}
        self._ids = 0
        self._changed = asyncio.Condition()
        self._runner = web.AppRunner(self._application(), handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        self._site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await self._site.start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=DELIVERY_S))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._runner.cleanup()

    @property
    def api_url(self) -> str:
        return f"{self.origin}/api/"

    def fail(self, method: str, *faults: Fault) -> None:
        """The next calls of the method end so, one each. `upload` and `response_url` are methods, too."""
        self._faults[method] += faults

    def called(self, method: str) -> list[Mapping[str, Any]]:
        return [call.arguments for call in self.calls if call.method == method]

    async def until(self, holds: Callable[[], bool], within_s: float = 10) -> None:
        """Waits until a change of the workspace makes it hold. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self._changed:
            await self._changed.wait_for(holds)

    # What people do

    async def say(
        self,
        user: User,
        channel: Channel,
        text: str,
        *,
        thread_ts: str | None = None,
        deliveries: int = 1,
        **extra: Any,
    ) -> tuple[Message, list[Delivered]]:
        """A message of a person's, stored and delivered as often as asked, each time under a new event id."""
        message = Message(ts=self.workspace.next_ts(), channel=channel.id, user=user.id, text=text, thread_ts=thread_ts)
        self.workspace.messages.append(message)
        delivered: list[Delivered] = []
        for _ in range(deliveries):
            for event in self._events_of(user, channel, message, extra):
                delivered.append(await self.deliver_event(event))
        return message, delivered

    async def click(self, user: User, message: Message, label: str) -> Delivered:
        """The button whose text begins with `label`, as the message is now. Slack does not repeat a failed click."""
        button = next(one for one in message.buttons() if one["text"]["text"].startswith(label))
        return await self.deliver_action(user, message, button)

    async def deliver_action(self, user: User, message: Message, button: Mapping[str, Any]) -> Delivered:
        channel = self.workspace.channels[message.channel]
        payload = self._interaction(user, channel, message, button)
        body = urlencode({"payload": json.dumps(payload)}).encode()
        return await self._posted(body, {"Content-Type": "application/x-www-form-urlencoded"}, retries=0)

    async def deliver_event(self, event: Mapping[str, Any], **envelope: Any) -> Delivered:
        body = {
            "token": "unused",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{next(_EVENTS):08d}",
            "event_time": int(self.clock()),
            "authorizations": [{"team_id": TEAM, "user_id": BOT_USER, "is_bot": True}],
            "is_ext_shared_channel": self.workspace.channels[event["channel"]].is_ext_shared,
            **envelope,
        }
        return await self._posted(json.dumps(body).encode(), {"Content-Type": "application/json"}, retries=3)

    async def send(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        """Any request to the app, signed or not."""
        async with self._session.post(self.app_url, data=body, headers=headers) as response:
            return response.status, await response.text()

    def signed(self, body: bytes, *, age_s: float = 0, secret: str = SIGNING_SECRET) -> dict[str, str]:
        timestamp = str(int(self.clock() - age_s))
        digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    async def _posted(self, body: bytes, headers: Mapping[str, str], *, retries: int) -> Delivered:
        """Again after each failure, as Slack does, but without its pauses of minutes."""
        statuses: list[int | None] = []
        reason, answer = "", ""
        for number in range(retries + 1):
            repeated = {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason} if number else {}
            try:
                status, answer = await self.send(body, {**headers, **self.signed(body), **repeated})
            except TimeoutError:
                status, reason = None, "http_timeout"
            statuses.append(status)
            if status is not None and 200 <= status < 300:
                break
            reason = reason if status is None else "http_error"
        return Delivered(statuses=statuses, body=answer)

    def _events_of(
        self, user: User, channel: Channel, message: Message, extra: Mapping[str, Any]
    ) -> Iterable[dict[str, Any]]:
        """A mention in a channel comes twice to an app that is subscribed to both events."""
        event: dict[str, Any] = {
            "user": user.id,
            "team": user.team,
            "text": message.text,
            "ts": message.ts,
            "event_ts": message.ts,
            "channel": channel.id,
            **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
            **extra,
        }
        mentioned = re.search(rf"<@{BOT_USER}(\|[^>]*)?>", message.text) and BOT_USER in channel.members
        if channel.kind != "im" and mentioned and "app_mention" in self.events:
            yield {"type": "app_mention", **event}
        kinds = {"im": ("message.im", "im"), "channel": ("message.channels", "channel"),
                 "group": ("message.groups", "group"), "mpim": ("message.mpim", "mpim")}  # fmt: skip
        subscription, kind = kinds[channel.kind]
        if subscription in self.events and BOT_USER in channel.members:
            yield {"type": "message", "channel_type": kind, **event}

    def _interaction(self, user: User, channel: Channel, message: Message, button: Mapping[str, Any]) -> dict[str, Any]:
        container = {"type": "message", "message_ts": message.ts, "channel_id": channel.id, "is_ephemeral": False}
        thread = {"thread_ts": message.thread_ts} if message.thread_ts else {}
        return {
            "type": "block_actions",
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team},
            "api_app_id": APP,
            "token": "unused",
            "container": {**container, **thread},
            "trigger_id": f"{self._next_id()}.trigger",
            "team": {"id": TEAM, "domain": "parley"},
            "enterprise": None,
            "is_enterprise_install": False,
            "channel": {"id": channel.id, "name": "directmessage" if channel.kind == "im" else channel.id.lower()},
            "message": {"type": "message", "ts": message.ts, "user": BOT_USER, "text": message.text, **thread},
            "response_url": self.response_url(message),
            "actions": [{**button, "action_ts": self.workspace.next_ts()}],
        }

    def response_url(self, message: Message) -> str:
        key = self._next_id()
        self._responses[key] = _ResponseUrl(channel=message.channel, message=message.ts, made=self.clock())
        return f"{self.origin}/response/{key}"

    def _next_id(self) -> str:
        self._ids += 1
        return f"{self._ids:06d}"

    # What the app asks

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/api/{method}", self._api)
        app.router.add_post("/upload/v1/{file}", self._upload)
        app.router.add_post("/response/{key}", self._respond)
        return app

    async def _api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        fault = self._next_fault(method)
        if fault is not None and not fault.done:
            return await self._hung() if fault.hang else self._failed(request, fault)
        answer = await self._answered(request, method)
        if isinstance(answer, web.Response):
            return answer
        async with self._changed:
            self._changed.notify_all()
        return web.json_response(answer) if fault is None else self._failed(request, fault)

    async def _answered(self, request: web.Request, method: str) -> dict[str, Any] | web.Response:
        try:
            arguments = await self._arguments(request, method)
            self.calls.append(Call(method=method, arguments=arguments))
            return {"ok": True, **self._do(method, arguments)}
        except ApiError as exc:
            if exc.error == "ratelimited":
                headers = {"Retry-After": "1"}
                return web.json_response({"ok": False, "error": exc.error}, status=429, headers=headers)
            return {"ok": False, "error": exc.error}
        except Refused as exc:
            return {"ok": False, "error": exc.error, "response_metadata": {"messages": [exc.detail]}}

    async def _hung(self) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    def _next_fault(self, method: str) -> Fault | None:
        return self._faults[method].pop(0) if self._faults[method] else None

    def _failed(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.status == 0:
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        if fault.status == 429:
            return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
        return web.Response(
            status=fault.status, text="<html>upstream</html>", content_type="text/html", headers=headers
        )

    async def _arguments(self, request: web.Request, method: str) -> dict[str, Any]:
        if method not in SCOPES:
            raise ApiError("unknown_method")
        arguments = await self._body(request, method)
        token = arguments.pop("token", None) or request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not token:
            raise ApiError("not_authed")
        if token != TOKEN:
            raise ApiError("invalid_auth")
        if SCOPES[method] and not SCOPES[method] & self.scopes:
            raise ApiError("missing_scope")
        return arguments

    async def _body(self, request: web.Request, method: str) -> dict[str, Any]:
        if request.content_type == "application/json":
            if method in _READING:
                raise ApiError("invalid_form_data")
            return dict(json.loads(await request.text()))
        fields = {**request.query, **dict(parse_qsl(await request.text(), keep_blank_values=True))}
        return {name: _unpacked(name, value) for name, value in fields.items()}

    def _do(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        does = getattr(self, "_" + method.replace(".", "_"))
        return does(**_checked(does, arguments))

    def _auth_test(self) -> dict[str, Any]:
        found = {"team_id": TEAM, "team": "Parley", "user_id": BOT_USER, "bot_id": BOT_ID, "url": self.origin}
        return {**found, "enterprise_id": self.workspace.enterprise, "is_enterprise_install": False}

    def _chat_postMessage(  # noqa: N802 - Slack's name
        self,
        channel: str,
        thread_ts: str | None = None,
        unfurl_links: bool = True,
        unfurl_media: bool = True,
        **content: Any,
    ) -> dict[str, Any]:
        place = self._writable(channel)
        if thread_ts is not None and not self.workspace.thread(channel, thread_ts):
            raise ApiError("thread_not_found")
        if unfurl_links or unfurl_media:
            raise ApiError("unfurls_not_switched_off")  # Parley's own rule
        check_message(content)
        self._pace(channel)
        message = self._add(place, thread_ts, content)
        return {"channel": channel, "ts": message.ts}

    def _chat_postEphemeral(  # noqa: N802
        self, channel: str, user: str, thread_ts: str | None = None, **content: Any
    ) -> dict[str, Any]:
        place = self._writable(channel)
        if user not in place.members:
            raise ApiError("user_not_in_channel")
        check_message(content)
        message = self._add(place, thread_ts, content)
        message.only_for = user
        return {"message_ts": message.ts}

    def _chat_update(self, channel: str, ts: str, **content: Any) -> dict[str, Any]:
        self._writable(channel)
        message = self.workspace.message(channel, ts)
        if message is None or message.only_for is not None:
            raise ApiError("message_not_found")
        if message.user != BOT_USER:
            raise ApiError("cant_update_message")
        check_message(content)
        self._rewrite(message, content)
        return {"channel": channel, "ts": ts}

    def _conversations_open(self, users: str) -> dict[str, Any]:
        if users not in self.workspace.users:
            raise ApiError("user_not_found")
        return {"channel": {"id": self.workspace.direct(users).id}}

    def _conversations_info(self, channel: str, include_locale: bool = False) -> dict[str, Any]:
        place = self._readable(channel, _ABOUT)
        return {"channel": {"id": channel, f"is_{place.kind}": True, "is_ext_shared": place.is_ext_shared}}

    def _conversations_members(self, channel: str, limit: int = 100, cursor: str = "0") -> dict[str, Any]:
        members, start = self._readable(channel, _ABOUT).members, int(cursor)
        after = str(start + limit) if start + limit < len(members) else ""
        return {"members": members[start : start + limit], "response_metadata": {"next_cursor": after}}

    def _conversations_replies(
        self,
        channel: str,
        ts: str,
        oldest: str = "0",
        inclusive: bool = False,
        include_all_metadata: bool = False,
        limit: int = 100,
        cursor: str = "0",
    ) -> dict[str, Any]:
        self._readable(channel, _HISTORY)
        thread = self.workspace.thread(channel, ts)
        if not thread:
            raise ApiError("thread_not_found")
        found = [one for one in thread if one.ts > oldest or (inclusive and one.ts == oldest)]
        return self._page(found, int(cursor), limit, with_metadata=include_all_metadata)

    def _conversations_history(
        self, channel: str, include_all_metadata: bool = False, limit: int = 100, cursor: str = "0"
    ) -> dict[str, Any]:
        self._readable(channel, _HISTORY)
        found = [one for one in reversed(self.workspace.messages) if one.channel == channel and one.thread_ts is None]
        return self._page(found, int(cursor), limit, with_metadata=include_all_metadata)

    def _page(self, found: list[Message], start: int, limit: int, *, with_metadata: bool) -> dict[str, Any]:
        after = str(start + limit) if start + limit < len(found) else ""
        shown = [self._shown(one, with_metadata=with_metadata) for one in found[start : start + limit]]
        return {"messages": shown, "response_metadata": {"next_cursor": after}}

    def _users_info(self, user: str, include_locale: bool = False) -> dict[str, Any]:
        known = self.workspace.users.get(user)
        if user == BOT_USER:
            known = User(id=BOT_USER, name="parley", enterprise=self.workspace.enterprise)
        if known is None:
            raise ApiError("user_not_found")
        found: dict[str, Any] = {
            "id": user,
            "team_id": known.team,
            "name": known.name,
            "tz": known.time_zone,
            "is_bot": user == BOT_USER,
            "deleted": known.deleted,
            "is_restricted": known.is_guest,
            "is_ultra_restricted": False,
            "is_stranger": known.is_stranger,
            "profile": {"display_name": known.name, "real_name": known.name},
        }
        locale = {"locale": known.locale} if include_locale else {}
        grid = {"enterprise_user": {"id": user, "enterprise_id": known.enterprise}} if known.enterprise else {}
        return {"user": {**found, **locale, **grid}}

    def _files_getUploadURLExternal(self, filename: str, length: int) -> dict[str, Any]:  # noqa: N802
        if length <= 0 or not filename:
            raise ApiError("invalid_arguments")
        file = StoredFile(id=f"F{self._next_id()}", name=filename, length=length)
        self.workspace.files[file.id] = file
        return {"file_id": file.id, "upload_url": f"{self.origin}/upload/v1/{file.id}"}

    def _files_completeUploadExternal(  # noqa: N802
        self, files: list[dict[str, str]], channel_id: str, thread_ts: str | None = None
    ) -> dict[str, Any]:
        place = self._writable(channel_id)
        stored = [self.workspace.files.get(file["id"]) for file in files]
        if any(file is None or file.content is None for file in stored):
            raise ApiError("file_not_found")
        for given, file in zip(files, stored, strict=True):
            if file is not None and not file.shared:
                file.title, file.shared = given.get("title", file.name), True
                message = self._add(place, thread_ts, {"text": ""})
                message.files.append(file.id)
        return {"files": files}

    def _assistant_threads_setStatus(self, channel_id: str, thread_ts: str, status: str) -> dict[str, Any]:  # noqa: N802
        self._writable(channel_id)
        self.workspace.statuses.append((channel_id, thread_ts, status))
        return {}

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        fault = self._next_fault("upload")
        if fault is not None:
            return self._failed(request, fault)
        file = self.workspace.files.get(request.match_info["file"])
        content = await request.read()
        if file is None or len(content) != file.length:
            return web.Response(status=400, text="wrong length")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        fault = self._next_fault("response_url")
        if fault is not None:
            return self._failed(request, fault)
        address = self._responses.get(request.match_info["key"])
        if address is None or address.uses >= RESPONSE_URL_USES or self.clock() > address.made + RESPONSE_URL_S:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        address.uses += 1
        return self._responded(address, dict(await request.json()))

    def _responded(self, address: _ResponseUrl, content: dict[str, Any]) -> web.Response:
        replaces = content.pop("replace_original", False)
        try:
            check_message(content)
        except Refused as exc:
            return web.json_response({"ok": False, "error": exc.error}, status=400)
        message = self.workspace.message(address.channel, address.message)
        if replaces and message is not None:
            self._rewrite(message, content)
        else:
            self._add(self.workspace.channels[address.channel], None, content)
        return web.Response(text="ok")

    # State

    def _writable(self, channel: str) -> Channel:
        place = self.workspace.channels.get(channel)
        if place is None:
            raise ApiError("channel_not_found")
        if BOT_USER not in place.members:
            raise ApiError("not_in_channel")
        return place

    def _readable(self, channel: str, scopes: Mapping[str, str]) -> Channel:
        place = self.workspace.channels.get(channel)
        if place is None or (place.kind != "channel" and BOT_USER not in place.members):
            raise ApiError("channel_not_found")
        if scopes[place.kind] not in self.scopes:
            raise ApiError("missing_scope")
        return place

    def _pace(self, channel: str) -> None:
        now = self.clock()
        if self.one_a_second and now - self._last_post.get(channel, 0) < 1:
            raise ApiError("ratelimited")
        self._last_post[channel] = now

    def _add(self, place: Channel, thread_ts: str | None, content: Mapping[str, Any]) -> Message:
        ts = self.workspace.next_ts()
        message = Message(ts=ts, channel=place.id, user=BOT_USER, text="", thread_ts=thread_ts)
        self._rewrite(message, content)
        message.edits = 0
        self.workspace.messages.append(message)
        return message

    def _rewrite(self, message: Message, content: Mapping[str, Any]) -> None:
        """Metadata that is not given stays as it was."""
        unknown = content.keys() - {"text", "blocks", "metadata", "link_names", "parse", "mrkdwn"}
        if unknown:
            raise ApiError(f"invalid_arguments: {sorted(unknown)}")
        message.text, message.blocks = content["text"], list(content.get("blocks") or [])
        message.metadata = content.get("metadata", message.metadata)
        message.edits += 1

    def _shown(self, message: Message, *, with_metadata: bool) -> dict[str, Any]:
        shown: dict[str, Any] = {"type": "message", "ts": message.ts, "user": message.user, "text": message.text}
        if message.thread_ts:
            shown["thread_ts"] = message.thread_ts
        if message.files:
            shown["files"] = [{"id": one, "name": self.workspace.files[one].name} for one in message.files]
        if with_metadata and message.metadata:
            shown["metadata"] = message.metadata
        return shown


def _unpacked(name: str, value: str) -> Any:
    """Forms carry JSON for lists and numbers in digits; ids and timestamps are text."""
    if name in {"limit", "length"}:
        return int(value)
    if value in {"true", "1", "false", "0"} and name.startswith(("in", "unfurl")):
        return value in {"true", "1"}
    return json.loads(value) if name in {"blocks", "files", "metadata"} else value


def _checked(method: Callable[..., object], arguments: dict[str, Any]) -> dict[str, Any]:
    """Refuses arguments that are missing or that the method does not have, as far as its signature tells."""
    try:
        inspect.signature(method).bind(**arguments)
    except TypeError as exc:
        raise ApiError("invalid_arguments") from exc
    return arguments
