"""The optional parameters that a model's server refuses, learnt from its replies with status 400."""

import json
from collections import defaultdict
from dataclasses import replace
from enum import StrEnum

from agent.gateway.messages import ChatMessage, MessageRole, OutputSchema
from agent.gateway.model_client import CallFailed, ChatCall, FailureKind


class OptionalParameter(StrEnum):
    """A parameter that a call can do without. Servers name it in the error, in these words or in those below."""

    OUTPUT_SCHEMA = "response_format"
    TEMPERATURE = "temperature"
    USAGE = "stream_options"


_OTHER_WORDS = {
    OptionalParameter.OUTPUT_SCHEMA: (
        "json_schema",
        "json schema",
        "output_config",
        "response_schema",
        "structured output",
        "structured_output",
        "guided",
        "grammar",
    )
}


class RefusedParameters:
    """Leaves out what the server of a model refused before. A schema then appears in the system text instead."""

    def __init__(self) -> None:
        self._refused: dict[str, set[OptionalParameter]] = defaultdict(set)

    def learn_from(self, call: ChatCall, failure: CallFailed) -> bool:
        """Returns whether the failure names a parameter that the call sent, so that the call is worth repeating."""
        if failure.kind is not FailureKind.REFUSED_REQUEST:
            return False
        message = str(failure).lower()
        for parameter in _parameters_of(call):
            if any(word in message for word in (parameter.value, *_OTHER_WORDS.get(parameter, ()))):
                self._refused[call.model].add(parameter)
                return True
        return False

    def adapt_call(self, call: ChatCall) -> ChatCall:
        """Returns the call without the parameters that its model refuses."""
        refused = self._refused.get(call.model, set())
        if OptionalParameter.TEMPERATURE in refused:
            call = replace(call, temperature=None)
        if OptionalParameter.USAGE in refused:
            call = replace(call, asks_for_usage=False)
        if OptionalParameter.OUTPUT_SCHEMA in refused and call.output_schema is not None:
            messages = _add_to_system_text(call.messages, _schema_text(call.output_schema))
            call = replace(call, output_schema=None, messages=messages)
        return call


def _parameters_of(call: ChatCall) -> list[OptionalParameter]:
    present = {
        OptionalParameter.OUTPUT_SCHEMA: call.output_schema is not None,
        OptionalParameter.TEMPERATURE: call.temperature is not None,
        OptionalParameter.USAGE: call.asks_for_usage,
    }
    return [parameter for parameter, is_present in present.items() if is_present]


def _schema_text(schema: OutputSchema) -> str:
    text = json.dumps(schema.schema, ensure_ascii=False)
    return f"Reply with one JSON object and nothing else. It must follow this JSON schema:\n{text}"


def _add_to_system_text(messages: tuple[ChatMessage, ...], text: str) -> tuple[ChatMessage, ...]:
    if messages and messages[0].role is MessageRole.SYSTEM:
        return (replace(messages[0], content=f"{messages[0].content}\n\n{text}"), *messages[1:])
    return (ChatMessage(role=MessageRole.SYSTEM, content=text), *messages)
