"""Requests to a language model and its replies, independent of provider and library."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any as Json


class ModelRole(StrEnum):
    """What a model is used for; the settings name a model for each role."""

    MAIN = "main"  # plans, answers
    SMALL = "small"  # routes, summarises; the main model where none is set
    EMBEDDING = "embedding"
    RERANK = "rerank"


class MessageRole(StrEnum):
    """The author of a message, as in the chat completions API of OpenAI."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's request to run a tool. `arguments` is JSON as the model wrote it, not checked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool that a model may ask for. `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a model. `tool_call_id`: of the call whose result a TOOL message holds."""

    role: MessageRole
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSchema:
    """The JSON schema that the text of a reply must follow. `name`: letters, digits, `_` and `-` only."""

    name: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call. `prompt` is the prompt's name and version, as `plan_question@3`; it is stored with the call."""

    prompt: str
    role: ModelRole
    messages: tuple[ChatMessage, ...]
    output_schema: OutputSchema | None = None
    tools: tuple[ToolDefinition, ...] = ()
    max_output_tokens: int = 2000
    timeout_s: float | None = None  # for the call with all its retries and fallbacks; None: the gateway's own


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What a model answered. `model` is the one that did, which may be a fallback. `refusal`: why it would not."""

    text: str
    model: str
    tool_calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    is_truncated: bool = False  # it reached `max_output_tokens`
    refusal: str = ""
