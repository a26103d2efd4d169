"""Replies that must follow a class: asked for by a strict JSON schema, parsed with patience, repaired at most once."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.gateway.messages import ChatMessage, MessageRole, ModelReply, ModelRequest, ModelRole, OutputSchema
from agent.reasoning_log import ReasoningLog
from prompts.prompt_library import RenderedPrompt, strict_schema_of

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)  # some local models send them in the reply
_MAX_SHOWN_CHARS = 8000  # of the reply that a repair shows to the model
_MAX_SHOWN_ERRORS = 10
_MIN_REPAIR_S = 1.0  # with less time left, a repair is not tried

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredReply(Generic[T]):
    """A reply that follows its class. `complaints` are what the check still has against it, also after a repair."""

    value: T
    complaints: tuple[str, ...] = ()
    was_repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnreadableText:
    """Why a text does not follow the class, in sentences for the model."""

    errors: tuple[str, ...]


def accept_all(_: BaseModel) -> Sequence[str]:
    """A check without complaints."""
    return ()


async def request_structured(
    model: LanguageModel,
    prompt: RenderedPrompt,
    output_type: type[T],
    log: ReasoningLog,
    *,
    check: Callable[[T], Sequence[str]] = accept_all,
    max_output_tokens: int = 2000,
    timeout_s: float | None = None,
    allows_repair: bool = True,
) -> StructuredReply[T]:
    """Returns the reply as an instance of the class.

    `check` says in plain sentences what is wrong with a value that follows the class: "field `foo` does not exist". If
    the reply does not follow the class, or has complaints, the model is told so once and answers again, within
    `timeout_s` for both calls; None: each call has the time of the gateway. Raises `UnusableReply` if then no reply
    follows the class, and at once if the model refuses to answer; `ModelUnavailable` if no model answers the first
    call.
    """
    loop = asyncio.get_running_loop()
    started_s = loop.time()
    request = build_structured_request(prompt, output_type, max_output_tokens=max_output_tokens, timeout_s=timeout_s)
    reply = await model.complete(request, log)
    first = _read_reply(reply, output_type, check)
    time_left_s = None if timeout_s is None else timeout_s - (loop.time() - started_s)
    if _is_flawless(first) or not allows_repair or (time_left_s is not None and time_left_s < _MIN_REPAIR_S):
        return _value_of(first)
    try:
        repaired_reply = await model.complete(_repair_request(request, reply, first, time_left_s), log)
        repaired = _read_reply(repaired_reply, output_type, check, is_repaired=True)
    except (ModelUnavailable, UnusableReply):
        return _value_of(first)
    return _value_of(_better_reading(first, repaired))


async def request_repair(
    model: LanguageModel, request: ModelRequest, unusable_text: str, output_type: type[T], log: ReasoningLog
) -> T:
    """Returns the reply after the model was told what is wrong with a text that was streamed.

    Raises `UnusableReply` if it still does not follow the class, `ModelUnavailable` if no model answers.
    """
    reading = _parse_text(unusable_text, output_type)
    if not isinstance(reading, _UnreadableText):
        return reading
    told = _repair_request(request, ModelReply(text=unusable_text, model=""), reading, request.timeout_s)
    return _value_of(_read_reply(await model.complete(told, log), output_type, accept_all, is_repaired=True)).value


def parse_structured(text: str, output_type: type[T]) -> T:
    """Returns the first object in the text that follows the class: the whole text, the content of a fence, or what is
    between the outermost braces. Raises `UnusableReply`.
    """
    reading = _parse_text(text, output_type)
    if isinstance(reading, _UnreadableText):
        raise UnusableReply("; ".join(reading.errors))
    return reading


def build_structured_request(
    prompt: RenderedPrompt, output_type: type[BaseModel], *, max_output_tokens: int, timeout_s: float | None
) -> ModelRequest:
    """Returns the request for a reply that follows the class, for a caller that streams the reply."""
    texts = ((MessageRole.SYSTEM, prompt.system), (MessageRole.USER, prompt.user))
    return ModelRequest(
        prompt=prompt.label,
        role=ModelRole(prompt.role),
        messages=tuple(ChatMessage(role=role, content=text) for role, text in texts if text),
        output_schema=_output_schema_of(output_type),
        max_output_tokens=max_output_tokens,
        timeout_s=timeout_s,
    )


@cache
def _output_schema_of(output_type: type[BaseModel]) -> OutputSchema:
    return OutputSchema(name=output_type.__name__, schema=strict_schema_of(output_type))


def _read_reply(
    reply: ModelReply, output_type: type[T], check: Callable[[T], Sequence[str]], *, is_repaired: bool = False
) -> StructuredReply[T] | _UnreadableText:
    if reply.refusal:
        raise UnusableReply("the model refuses to answer")
    reading = _parse_text(reply.text, output_type)
    if not isinstance(reading, _UnreadableText):
        return StructuredReply(value=reading, complaints=tuple(check(reading)), was_repaired=is_repaired)
    if reply.is_truncated:
        return _UnreadableText(errors=("The reply was too long and was cut off; make it shorter.",))
    return reading


def _parse_text(text: str, output_type: type[T]) -> T | _UnreadableText:
    """The errors are those of the first candidate that is JSON at all."""
    unreadable: _UnreadableText | None = None
    for candidate in _candidates_in(text):
        try:
            data = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        try:
            return output_type.model_validate(data)
        except ValidationError as exc:
            unreadable = unreadable or _UnreadableText(errors=tuple(_describe_errors(exc)))
    return unreadable or _UnreadableText(errors=("The reply is not one JSON object.",))


def _candidates_in(text: str) -> Iterator[str]:
    text = _THOUGHTS.sub("", text)
    yield text
    yield from (match[1] for match in _FENCE.finditer(text))
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]


def _describe_errors(error: ValidationError) -> Iterator[str]:
    for detail in error.errors(include_url=False)[:_MAX_SHOWN_ERRORS]:
        place = ".".join(str(part) for part in detail["loc"]) or "the whole reply"
        yield f"`{place}`: {detail['msg']}."


def _is_flawless(reading: StructuredReply[T] | _UnreadableText) -> bool:
    return isinstance(reading, StructuredReply) and not reading.complaints


def _repair_request(
    request: ModelRequest, reply: ModelReply, reading: StructuredReply[T] | _UnreadableText, timeout_s: float | None
) -> ModelRequest:
    errors = reading.complaints if isinstance(reading, StructuredReply) else reading.errors
    lines = "\n".join(f"- {error}" for error in errors[:_MAX_SHOWN_ERRORS])
    demand = f"This reply cannot be used:\n{lines}\nReply again with the corrected JSON object and nothing else."
    shown_reply = reply.text[:_MAX_SHOWN_CHARS] or "(an empty reply)"
    return ModelRequest(
        prompt=request.prompt,
        role=request.role,
        messages=(
            *request.messages,
            ChatMessage(role=MessageRole.ASSISTANT, content=shown_reply),
            ChatMessage(role=MessageRole.USER, content=demand),
        ),
        output_schema=request.output_schema,
        max_output_tokens=request.max_output_tokens,
        timeout_s=timeout_s,
    )


def _better_reading(
    first: StructuredReply[T] | _UnreadableText, repaired: StructuredReply[T] | _UnreadableText
) -> StructuredReply[T] | _UnreadableText:
    """The repaired reply, unless it is unreadable or has more against it than the first one."""
    if isinstance(repaired, _UnreadableText):
        return first
    if isinstance(first, StructuredReply) and len(first.complaints) < len(repaired.complaints):
        return first
    return repaired


def _value_of(reading: StructuredReply[T] | _UnreadableText) -> StructuredReply[T]:
    if isinstance(reading, _UnreadableText):
        raise UnusableReply("; ".join(reading.errors))
    return reading
