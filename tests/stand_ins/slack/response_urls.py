"""The addresses that interactions bring along: five uses in half an hour, no token needed."""

from typing import Any

from aiohttp import web

from tests.stand_ins.slack.checker import Refused, check_message
from tests.stand_ins.slack.faults import failed
from tests.stand_ins.slack.messages import added, rewrite
from tests.stand_ins.slack.refusing import need
from tests.stand_ins.slack.state import RESPONSE_URL_S, RESPONSE_URL_USES, ResponseUrl, State
from tests.stand_ins.slack.workspace import Message


class ResponseUrls:
    def __init__(self, slack: State) -> None:
        self._slack = slack

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/response/{key}", self._respond)]

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        fault = self._slack.faults.next("response_url")
        if fault is not None and not fault.done:
            return await failed(request, fault)
        address = self._slack.responses.get(request.match_info["key"])
        if address is None or address.uses >= RESPONSE_URL_USES or self._is_old(address):
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        address.uses += 1
        answer = self._responded(address, dict(await request.json()))
        await self._slack.tell()
        return answer if fault is None else await failed(request, fault)

    def _is_old(self, address: ResponseUrl) -> bool:
        return self._slack.clock() > address.made + RESPONSE_URL_S

    def _responded(self, address: ResponseUrl, content: dict[str, Any]) -> web.Response:
        message = None if address.message is None else address.place.message(address.channel, address.message)
        if content.pop("delete_original", False):
            if message is not None:
                address.place.messages.remove(message)
            return web.Response(text="ok")
        replaces = content.pop("replace_original", False)
        try:
            said(address, content, message if replaces else None)
        except Refused as exc:
            return web.json_response({"ok": False, "error": exc.error}, status=400)
        return web.Response(text="ok")


def said(address: ResponseUrl, content: dict[str, Any], replaced: Message | None = None) -> None:
    """Unless it replaces a message or is for the channel, one person sees it."""
    kind = content.pop("response_type", "ephemeral")
    thread_ts = content.pop("thread_ts", address.thread_ts)
    need(kind in {"ephemeral", "in_channel"}, "invalid_arguments", "response_type")
    check_message(content)
    if replaced is not None:
        rewrite(replaced, content)
        return
    message = added(address.place, address.channel, thread_ts, content)
    message.only_for = address.user if kind == "ephemeral" else None
