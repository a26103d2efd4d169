"""The bodies of requests, with everything refused that OpenAI's API refuses."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, TypeAlias, TypeVar
from typing import Any as Json

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tests.stand_ins.model.strict_schemas import find_refused_parts

_NAME = r"^[a-zA-Z0-9_-]{1,64}$"


class RefusedBody(Exception):
    """A body that the API answers with status 400. `parameter` names the part at fault, where one is."""

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class StrictBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


BodyType = TypeVar("BodyType", bound=StrictBody)


class FunctionCallBody(StrictBody):
    name: str
    arguments: str


class ToolCallBody(StrictBody):
    id: Annotated[str, Field(min_length=1)]
    type: Literal["function"]
    function: FunctionCallBody


class TextPartBody(StrictBody):
    type: Literal["text"]
    text: str


Content: TypeAlias = str | list[TextPartBody]


class InstructionBody(StrictBody):
    role: Literal["system", "developer"]
    content: Content
    name: str | None = None


class UserBody(StrictBody):
    role: Literal["user"]
    content: Content
    name: str | None = None


class AssistantBody(StrictBody):
    role: Literal["assistant"]
    content: Content | None = None
    refusal: str | None = None
    name: str | None = None
    tool_calls: Annotated[list[ToolCallBody], Field(min_length=1)] | None = None


class ToolResultBody(StrictBody):
    role: Literal["tool"]
    content: Content
    tool_call_id: str


MessageBody = Annotated[InstructionBody | UserBody | AssistantBody | ToolResultBody, Field(discriminator="role")]


class FunctionBody(StrictBody):
    name: Annotated[str, Field(pattern=_NAME)]
    description: str | None = None
    parameters: dict[str, Json] | None = None
    strict: bool | None = None


class ToolBody(StrictBody):
    type: Literal["function"]
    function: FunctionBody


class NamedSchemaBody(StrictBody):
    name: Annotated[str, Field(pattern=_NAME)]
    description: str | None = None
    schema_: Annotated[dict[str, Json], Field(alias="schema")]
    strict: bool | None = None


class SchemaFormatBody(StrictBody):
    type: Literal["json_schema"]
    json_schema: NamedSchemaBody


class PlainFormatBody(StrictBody):
    type: Literal["text", "json_object"]


class StreamOptionsBody(StrictBody):
    include_usage: bool = False


class ChatBody(StrictBody):
    """`POST /v1/chat/completions`; of the parameters, those that concern text."""

    model: str
    messages: Annotated[list[MessageBody], Field(min_length=1)]
    tools: Annotated[list[ToolBody], Field(min_length=1, max_length=128)] | None = None
    tool_choice: str | dict[str, Json] | None = None
    parallel_tool_calls: bool | None = None
    response_format: Annotated[SchemaFormatBody | PlainFormatBody, Field(discriminator="type")] | None = None
    stream: bool | None = None
    stream_options: StreamOptionsBody | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    n: Literal[1] | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    user: str | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning_effort: str | None = None

    @property
    def strict_schema(self) -> dict[str, Json] | None:
        """The schema that the answer must follow."""
        if not isinstance(self.response_format, SchemaFormatBody) or not self.response_format.json_schema.strict:
            return None
        return self.response_format.json_schema.schema_

    @property
    def token_limit(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens

    def text_of(self, *roles: str) -> str:
        """The texts of the messages of these roles, each on lines of its own."""
        return "\n".join(text_of_message(message) for message in self.messages if message.role in roles)


class EmbeddingBody(StrictBody):
    """`POST /v1/embeddings`."""

    model: str
    input: Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1)] | None = None
    user: str | None = None

    @property
    def texts(self) -> Sequence[str]:
        return [self.input] if isinstance(self.input, str) else self.input


class RerankBody(StrictBody):
    """`POST /v1/rerank`, as vLLM has it."""

    model: str
    query: str
    documents: Annotated[list[str], Field(min_length=1)]
    top_n: Annotated[int, Field(ge=0)] | None = None
    return_documents: bool | None = None


def text_of_message(message: InstructionBody | UserBody | AssistantBody | ToolResultBody) -> str:
    content = message.content or ""
    return content if isinstance(content, str) else "\n".join(part.text for part in content)


def parse_chat_body(data: bytes) -> ChatBody:
    """Raises `RefusedBody`."""
    body = _parse_body(ChatBody, data)
    _check_tool_messages(body.messages)
    if body.stream_options is not None and not body.stream:
        raise RefusedBody("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    if body.max_tokens is not None and body.max_completion_tokens is not None:
        raise RefusedBody("'max_tokens' and 'max_completion_tokens' cannot be combined.", "max_tokens")
    if body.tool_choice is not None and body.tools is None:
        raise RefusedBody("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice")
    for place, name, schema in _strict_schemas(body):
        for problem in find_refused_parts(schema):
            raise RefusedBody(f"Invalid schema for {name}: {problem}.", place)
    return body


def parse_embedding_body(data: bytes) -> EmbeddingBody:
    """Raises `RefusedBody`."""
    body = _parse_body(EmbeddingBody, data)
    if not all(body.texts):
        raise RefusedBody("'$.input' is invalid. An empty string cannot be embedded.", "input")
    return body


def parse_rerank_body(data: bytes) -> RerankBody:
    """Raises `RefusedBody`."""
    return _parse_body(RerankBody, data)


def _parse_body(kind: type[BodyType], data: bytes) -> BodyType:
    try:
        return kind.model_validate_json(data)
    except ValidationError as exc:
        error = exc.errors()[0]
        place = ".".join(str(part) for part in error["loc"])
        if error["type"] == "extra_forbidden":
            raise RefusedBody(f"Unrecognized request argument supplied: {place}", place) from exc
        if error["type"] == "missing":
            raise RefusedBody(f"Missing required parameter: '{place}'.", place) from exc
        raise RefusedBody(f"Invalid '{place}': {error['msg']}.", place) from exc


def _strict_schemas(body: ChatBody) -> Iterator[tuple[str, str, Json]]:
    """The place, the name and the schema of what asks for strict mode."""
    if isinstance(body.response_format, SchemaFormatBody) and body.response_format.json_schema.strict:
        named = body.response_format.json_schema
        yield "response_format", f"response_format '{named.name}'", named.schema_
    for tool in body.tools or ():
        if tool.function.strict:
            yield "tools", f"function '{tool.function.name}'", tool.function.parameters


def _check_tool_messages(messages: Sequence[object]) -> None:
    """Each tool message answers a call of the last assistant message, and each call is answered."""
    open_calls: set[str] = set()
    for position, message in enumerate(messages):
        if isinstance(message, ToolResultBody):
            if message.tool_call_id not in open_calls:
                raise RefusedBody(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceding message with "
                    "'tool_calls'.",
                    f"messages.[{position}].role",
                )
            open_calls.remove(message.tool_call_id)
            continue
        if open_calls:
            break
        if isinstance(message, AssistantBody):
            if message.content is None and not message.tool_calls:
                raise RefusedBody("An assistant message needs content or tool_calls.", f"messages.[{position}].content")
            open_calls = {call.id for call in message.tool_calls or ()}
    if open_calls:
        raise RefusedBody(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_calls)}",
            "messages",
        )
