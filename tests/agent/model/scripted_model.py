"""A language model that replies what a test has written, and keeps what it was asked."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any as Json

from agent.gateway.messages import ModelReply, ModelRequest
from agent.reasoning_log import ModelCallRecord, ReasoningLog


class ScriptedModel:
    """Replies in order: a mapping as JSON, a text as it is; an exception is raised. Without a reply left, it fails."""

    def __init__(self, *replies: Mapping[str, Json] | str | Exception) -> None:
        self._replies = list(replies)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        self.requests.append(request)
        reply = self._replies.pop(0)
        error = str(reply) if isinstance(reply, Exception) else ""
        log.calls.append(
            ModelCallRecord(
                prompt=request.prompt, model="scripted", ms=1.0, input_tokens=100, output_tokens=10, error=error
            )
        )
        if isinstance(reply, Exception):
            raise reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return ModelReply(text=text, model="scripted", input_tokens=100, output_tokens=10)

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        text = (await self.complete(request, log)).text
        for start in range(0, len(text), 7):
            yield text[start : start + 7]
