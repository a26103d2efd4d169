"""A language model that replies what a test has written, and keeps what it was asked."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any as Json

from agent.errors import StreamCut
from agent.gateway.messages import ModelReply, ModelRequest
from agent.reasoning_log import ModelCallRecord, ReasoningLog


@dataclass(frozen=True, slots=True, kw_only=True)
class CutText:
    """The text that comes before a reply is cut."""

    text: str


class ScriptedModel:
    """Replies in order: a mapping as JSON, a text or a reply as it is; an exception is raised. Without a reply left, it
    fails. A `CutText` ends in `StreamCut`. `streamed` says of each request whether its reply was to be streamed.
    """

    def __init__(
        self, *replies: Mapping[str, Json] | str | ModelReply | CutText | Exception, piece_characters: int = 7
    ) -> None:
        self._replies, self._piece_characters = list(replies), piece_characters
        self.requests: list[ModelRequest] = []
        self.streamed: list[bool] = []

    def user_text(self, call: int) -> str:
        """The data of a call."""
        return self.requests[call].messages[1].content

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        return self._take_reply(request, log, is_streamed=False)

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        reply = self._replies[0] if self._replies else ""
        is_cut = isinstance(reply, CutText)
        text = self._take_reply(request, log, is_streamed=True).text
        for start in range(0, len(text), self._piece_characters):
            yield text[start : start + self._piece_characters]
        if is_cut:
            raise StreamCut("the model stopped")

    def _take_reply(self, request: ModelRequest, log: ReasoningLog, *, is_streamed: bool) -> ModelReply:
        self.requests.append(request)
        self.streamed.append(is_streamed)
        reply = self._replies.pop(0)
        if isinstance(reply, CutText):
            reply = reply.text if is_streamed else StreamCut("the model stopped")
        error = str(reply) if isinstance(reply, Exception) else ""
        log.calls.append(
            ModelCallRecord(
                prompt=request.prompt, model="scripted", ms=1.0, input_tokens=100, output_tokens=10, error=error
            )
        )
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ModelReply):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return ModelReply(text=text, model="scripted", input_tokens=100, output_tokens=10)
