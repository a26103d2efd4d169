"""The addresses that interactions bring along: five uses in half an hour, no token needed."""

from typing import Any

from aiohttp import web

from tests.stand_ins.slack.checker import Refused, check_message
from tests.stand_ins.slack.faults import failed
from tests.stand_ins.slack.messages import added, rewrite
from tests.stand_ins.slack.state import RESPONSE_URL_S, RESPONSE_URL_USES, ResponseUrl, State


class ResponseUrls:
    def __init__(self, slack: State) -> None:
        self._slack = slack

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/response/{key}", self._respond)]

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        fault = self._slack.faults.next("response_url")
        if fault is not None:
            return await failed(request, fault)
        address = self._slack.responses.get(request.match_info["key"])
        if address is None or address.uses >= RESPONSE_URL_USES or self._is_old(address):
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        address.uses += 1
        answer = self._responded(address, dict(await request.json()))
        await self._slack.tell()
        return answer

    def _is_old(self, address: ResponseUrl) -> bool:
        return self._slack.clock() > address.made + RESPONSE_URL_S

    def _responded(self, address: ResponseUrl, content: dict[str, Any]) -> web.Response:
        replaces = content.pop("replace_original", False)
        try:
            check_message(content)
        except Refused as exc:
            return web.json_response({"ok": False, "error": exc.error}, status=400)
        message = self._slack.workspace.message(address.channel, address.message)
        if replaces and message is not None:
            rewrite(message, content)
        else:
            added(self._slack.workspace, address.channel, None, content)
        return web.Response(text="ok")
