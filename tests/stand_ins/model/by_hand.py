"""A model that is played by hand: each request becomes a file, and each answer is written as one.

`FOLDER/requests/NNNN.md` is for the reader who plays the model, `NNNN.json` is the request as it came. The answer is
`FOLDER/answers/NNNN.json`, or `NNNN.txt` for plain text; it must be written whole, as by renaming a finished file. An
answer that does not follow the schema is refused in `FOLDER/answers/NNNN.error.md`, and a corrected file is waited for.
A request that was made before gets the number, and the answer, that it had.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any as Json
from typing import cast

from jsonschema import Draft202012Validator

from tests.stand_ins.model.replies import CalledTool, HttpFault, ServerReply, TextAnswer
from tests.stand_ins.model.request_bodies import (
    AssistantBody,
    ChatBody,
    SchemaFormatBody,
    ToolResultBody,
    text_of_message,
)

_POLL_S = 0.2
_NUMBERED = re.compile(r"(\d{4,})\.json")


class RefusedAnswer(Exception):
    """An answer that a model could not have given. The message says why."""


class HandPlayedModel:
    """Answers requests from the files of a folder. `wait_s` bounds the wait for each answer."""

    def __init__(self, folder: Path, *, wait_s: float = 3600.0) -> None:
        self._requests, self._answers = folder / "requests", folder / "answers"
        self._wait_s = wait_s
        for subfolder in (self._requests, self._answers):
            subfolder.mkdir(parents=True, exist_ok=True)
        self._numbers: dict[str, str] = {}  # by the digest of the request
        for path in sorted(self._requests.iterdir()):
            if _NUMBERED.fullmatch(path.name):
                self._numbers.setdefault(_digest_of(json.loads(path.read_text(encoding="utf-8"))), path.stem)

    async def answer_request(self, body: ChatBody) -> ServerReply:
        """Returns the answer once it is there and right."""
        number = self._number_of(body)
        try:
            async with asyncio.timeout(self._wait_s):
                return await self._wait_for_answer(number, body)
        except TimeoutError:
            return HttpFault(status=504, message=f"nobody answered request {number} in {self._wait_s:g} s")

    def _number_of(self, body: ChatBody) -> str:
        request = body.model_dump(mode="json", by_alias=True, exclude_unset=True)
        digest = _digest_of(request)
        if digest not in self._numbers:
            number = f"{max((int(known) for known in self._numbers.values()), default=0) + 1:04}"
            self._numbers[digest] = number
            write_file(self._requests / f"{number}.json", json.dumps(request, ensure_ascii=False, indent=2))
            write_file(self._requests / f"{number}.md", "\n".join(_describe_request(number, body)))
        return self._numbers[digest]

    async def _wait_for_answer(self, number: str, body: ChatBody) -> ServerReply:
        refused_text: str | None = None
        error_path = self._answers / f"{number}.error.md"
        while True:
            answer = self._read_answer(number)
            if answer is not None and answer != refused_text:
                try:
                    reply = parse_answer(answer, body)
                except RefusedAnswer as exc:
                    refused_text = answer
                    write_file(error_path, f"# Answer {number} is refused\n\n{exc}\n\nWrite a corrected file.\n")
                else:
                    error_path.unlink(missing_ok=True)
                    return reply
            await asyncio.sleep(_POLL_S)

    def _read_answer(self, number: str) -> str | None:
        for ending in ("json", "txt"):
            try:
                return (self._answers / f"{number}.{ending}").read_text(encoding="utf-8")
            except FileNotFoundError:
                continue
        return None


def parse_answer(text: str, body: ChatBody) -> TextAnswer:
    """Returns the reply of an answer's file. Raises `RefusedAnswer`."""
    if body.strict_schema is not None:
        _check_schema(_parse_json(text), body.strict_schema)
        return TextAnswer(text=text.strip())
    if body.tools and text.lstrip().startswith("{"):
        calls = cast(dict[str, Json], _parse_json(text)).get("tool_calls")
        if isinstance(calls, list):
            return TextAnswer(tool_calls=tuple(_called_tools(cast(list[Json], calls), body)))
    return TextAnswer(text=text.strip())


def _parse_json(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError as exc:
        raise RefusedAnswer(f"It is not JSON: {exc}.") from exc


def _check_schema(value: Json, schema: dict[str, Json]) -> None:
    validator = Draft202012Validator(schema)
    problems = sorted(cast(Iterator[Json], validator.iter_errors(value)), key=lambda problem: str(problem.json_path))  # pyright: ignore[reportUnknownMemberType]
    if problems:
        lines = "\n".join(f"- `{problem.json_path}`: {problem.message}" for problem in problems)
        raise RefusedAnswer(f"It does not follow the schema:\n\n{lines}")


def _called_tools(calls: list[Json], body: ChatBody) -> Iterator[CalledTool]:
    parameters = {tool.function.name: tool.function.parameters or {} for tool in body.tools or ()}
    for position, call in enumerate(calls, start=1):
        if not isinstance(call, dict):
            raise RefusedAnswer("Each of `tool_calls` must be an object with `name` and `arguments`.")
        name, arguments = (cast(dict[str, Json], call).get(key) for key in ("name", "arguments"))
        if name not in parameters:
            raise RefusedAnswer(f"There is no tool `{name}`, only {', '.join(sorted(parameters))}.")
        _check_schema(arguments, parameters[name])
        yield CalledTool(id=f"call_{position}", name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _describe_request(number: str, body: ChatBody) -> Iterator[str]:
    """Yields the lines of the file for the reader: the texts as they are, then what form the answer must have."""
    yield f"# Request {number}"
    yield ""
    for message in body.messages:
        yield f"## {message.role.capitalize()}"
        yield ""
        yield text_of_message(message)
        if isinstance(message, AssistantBody):
            for call in message.tool_calls or ():
                yield f"- called `{call.function.name}` with `{call.function.arguments}` ({call.id})"
        if isinstance(message, ToolResultBody):
            yield f"(the result of {message.tool_call_id})"
        yield ""
    yield "## How to answer"
    yield ""
    if isinstance(body.response_format, SchemaFormatBody):
        yield f"Write `answers/{number}.json`: one JSON object that follows this schema."
        yield from _fenced_json(body.response_format.json_schema.schema_)
    elif body.tools:
        yield f"Write `answers/{number}.txt` with the final text, or `answers/{number}.json` with the tools to call, as"
        yield '`{"tool_calls": [{"name": "…", "arguments": {…}}]}`. The tools:'
        for tool in body.tools:
            yield ""
            yield f"`{tool.function.name}`: {tool.function.description or ''}"
            yield from _fenced_json(tool.function.parameters or {})
    else:
        yield f"Write `answers/{number}.txt`: the text of the reply."
    if body.token_limit is not None:
        yield ""
        yield f"At most {body.token_limit} tokens (about {body.token_limit * 3} characters)."


def _fenced_json(schema: dict[str, Json]) -> Iterator[str]:
    yield ""
    yield "```json"
    yield json.dumps(schema, ensure_ascii=False, indent=2)
    yield "```"


def _digest_of(request: dict[str, Json]) -> str:
    """Of what an answer depends on: not the model, nor how the reply travels."""
    parts = {name: request.get(name) for name in ("messages", "response_format", "tools")}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def write_file(path: Path, text: str) -> None:
    """Writes the file at once, so that nobody reads half of it."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
