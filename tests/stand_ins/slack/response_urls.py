"""Response URLs of interactions: five uses within half an hour, without a token."""

from typing import Any

from aiohttp import web

from tests.stand_ins.slack.checker import PayloadRefused, check_message
from tests.stand_ins.slack.faults import fault_response
from tests.stand_ins.slack.messages import add_message, rewrite_message
from tests.stand_ins.slack.refusing import refuse_unless
from tests.stand_ins.slack.state import RESPONSE_URL_S, RESPONSE_URL_USES, ResponseUrl, SlackState
from tests.stand_ins.slack.workspace import SlackMessage


class ResponseUrls:
    def __init__(self, slack: SlackState) -> None:
        self._slack = slack

    def server_routes(self) -> list[web.RouteDef]:
        return [web.post("/response/{key}", self._respond)]

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        fault = self._slack.faults.next_fault("response_url")
        if fault is not None and not fault.takes_effect:
            return await fault_response(request, fault)
        address = self._slack.responses.get(request.match_info["key"])
        if address is None or address.uses >= RESPONSE_URL_USES or self._is_old(address):
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        address.uses += 1
        answer = self._apply_response(address, dict(await request.json()))
        await self._slack.notify_waiters()
        return answer if fault is None else await fault_response(request, fault)

    def _is_old(self, address: ResponseUrl) -> bool:
        return self._slack.clock() > address.created_at_s + RESPONSE_URL_S

    def _apply_response(self, address: ResponseUrl, content: dict[str, Any]) -> web.Response:
        message = None if address.message is None else address.workspace.find_message(address.channel, address.message)
        if content.pop("delete_original", False):
            if message is not None:
                address.workspace.messages.remove(message)
            return web.Response(text="ok")
        replaces = content.pop("replace_original", False)
        try:
            post_response(address, content, message if replaces else None)
        except PayloadRefused as exc:
            return web.json_response({"ok": False, "error": exc.error}, status=400)
        return web.Response(text="ok")


def post_response(address: ResponseUrl, content: dict[str, Any], replaced: SlackMessage | None = None) -> None:
    """Post or replace a message. A new message is for one person unless it is for the channel."""
    kind = content.pop("response_type", "ephemeral")
    thread_ts = content.pop("thread_ts", address.thread_ts)
    refuse_unless(kind in {"ephemeral", "in_channel"}, "invalid_arguments", "response_type")
    check_message(content)
    if replaced is not None:
        rewrite_message(replaced, content)
        return
    message = add_message(address.workspace, address.channel, thread_ts, content)
    message.visible_to = address.user if kind == "ephemeral" else None
