"""Asks a model for a whole reply in JSON, and once more where the reply is not what was asked for."""

import json
import re
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent.errors import UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.gateway.messages import ChatMessage, MessageRole, ModelRequest
from agent.reasoning_log import ReasoningLog

ReplyT = TypeVar("ReplyT", bound=BaseModel)

_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)
_MAX_CHARACTERS = 100_000  # a longer reply is none
_MAX_ERRORS = 5  # named in the second request
_MAX_REPEATED_CHARACTERS = 8_000  # of the first reply in the second request


async def request_whole_reply(
    model: LanguageModel, request: ModelRequest, log: ReasoningLog, reply_type: type[ReplyT]
) -> ReplyT:
    """Returns the checked reply. Raises `ModelUnavailable`, and `UnusableReply` if the second reply is unusable too."""
    first = await model.complete(request, log)
    try:
        return parse_reply(first.text, reply_type)
    except UnusableReply as exc:
        repair = (
            ChatMessage(role=MessageRole.ASSISTANT, content=first.text[:_MAX_REPEATED_CHARACTERS]),
            ChatMessage(role=MessageRole.USER, content=f"{exc} Reply with the JSON object alone."),
        )
        second = await model.complete(replace(request, messages=(*request.messages, *repair)), log)
        return parse_reply(second.text, reply_type)


def parse_reply(text: str, reply_type: type[ReplyT]) -> ReplyT:
    """Reads plain JSON, JSON in a fence, or the outermost braces. Raises `UnusableReply`, which says what is wrong."""
    if len(text) > _MAX_CHARACTERS:
        raise UnusableReply("The reply is too long.")
    problem = "The reply is not a JSON object."
    for candidate in _candidates_in(text):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        try:
            return reply_type.model_validate(value)
        except ValidationError as exc:
            problem = _describe_errors(exc)
    raise UnusableReply(problem)


def _candidates_in(text: str) -> list[str]:
    fence = _FENCE.search(text)
    start, end = text.find("{"), text.rfind("}")
    braces = text[start : end + 1] if 0 <= start < end else ""
    return [candidate for candidate in (text.strip(), fence[1] if fence is not None else "", braces) if candidate]


def _describe_errors(exc: ValidationError) -> str:
    errors = exc.errors(include_url=False, include_input=False)[:_MAX_ERRORS]
    named = (f"{'.'.join(map(str, error['loc'])) or 'reply'}: {error['msg']}" for error in errors)
    return f"The reply does not follow the schema ({'; '.join(named)})."
