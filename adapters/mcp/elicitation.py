"""The choices of a clarification as a form, for clients that can show one to their person.

Since protocol 2026-07-28 a server does not call the client: the call ends with a request for input, and the client
repeats it with the answer. The request's state is the id of the turn that asked back; whose turn it is, is checked.
"""

from collections.abc import Mapping, Sequence
from typing import Any as Json
from typing import Final

from mcp.server.context import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from bot.surface.markdown import strip_markup
from bot.turns.turn_processor import FinishedTurn

CHOICE_FIELD: Final = "choice"
_REQUEST_KEY: Final = "choice"
_TITLED_VERSIONS: Final = ("2025-11-25", *MODERN_PROTOCOL_VERSIONS)  # know `oneOf` with titles
_ASKING_OUTCOMES: Final = ("overload", "ambiguous", "no_results")


def can_show_form(context: ServerRequestContext[Json, Json]) -> bool:
    """Whether the client has declared forms, and can be asked on this connection."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return False
    elicitation = capabilities.elicitation
    if elicitation.form is None and elicitation.url is not None:
        return False
    return uses_repeated_calls(context) or context.session.can_send_request


def uses_repeated_calls(context: ServerRequestContext[Json, Json]) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def asks_back(finished: FinishedTurn) -> bool:
    result = finished.result
    return finished.error is None and result["outcome"] in _ASKING_OUTCOMES and bool(result["choices"])


def input_request_for(finished: FinishedTurn, protocol_version: str) -> InputRequiredResult:
    form = ElicitRequestFormParams(
        message=form_message_of(finished), requested_schema=form_schema_of(finished, protocol_version)
    )
    return InputRequiredResult(input_requests={_REQUEST_KEY: ElicitRequest(params=form)}, request_state=finished.turn)


async def ask_client(context: ServerRequestContext[Json, Json], finished: FinishedTurn) -> str | None:
    """The id of the choice that the client's person took; None if they took none. Raises `MCPError`."""
    answer = await context.session.elicit_form(
        form_message_of(finished),
        form_schema_of(finished, context.protocol_version),
        related_request_id=context.request_id,
    )
    return chosen_id_of(answer, finished)


def answer_in(params: CallToolRequestParams) -> ElicitResult | None:
    """The answer to the form, in a repeated call."""
    answer = (params.input_responses or {}).get(_REQUEST_KEY)
    return answer if isinstance(answer, ElicitResult) else None


def chosen_id_of(answer: ElicitResult | None, finished: FinishedTurn) -> str | None:
    """The id of the choice that the answer takes; None unless the turn offers it."""
    if answer is None or answer.action != "accept" or answer.content is None:
        return None
    chosen = answer.content.get(CHOICE_FIELD)
    return chosen if isinstance(chosen, str) and chosen in _ids_of(finished.result["choices"]) else None


def form_message_of(finished: FinishedTurn) -> str:
    return strip_markup(finished.result["text"])


def form_schema_of(finished: FinishedTurn, protocol_version: str) -> dict[str, Json]:
    """A form with one field: one of the choices, each with its count."""
    choices: Sequence[Mapping[str, Json]] = finished.result["choices"]
    titles = list(map(_title_of, choices))
    field: dict[str, Json] = {"type": "string", "title": "Choice"}
    if protocol_version in _TITLED_VERSIONS:
        field["oneOf"] = [
            {"const": choice_id, "title": title} for choice_id, title in zip(_ids_of(choices), titles, strict=True)
        ]
    else:
        field |= {"enum": _ids_of(choices), "enumNames": titles}
    return {"type": "object", "properties": {CHOICE_FIELD: field}, "required": [CHOICE_FIELD]}


def _ids_of(choices: Sequence[Mapping[str, Json]]) -> list[str]:
    return [choice["id"] for choice in choices]


def _title_of(choice: Mapping[str, Json]) -> str:
    return choice["label"] if choice["count"] is None else f"{choice['label']} · {choice['count']:,}"
