"""The arguments of the tools that ask and export, as a client writes them."""

from collections.abc import Mapping
from typing import Any as Json
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import InvalidCall
from bot.programs.question_calls import QuestionCall
from bot.surface.inbound import MAX_QUESTION_CHARS

MAX_HITS: Final = 100
MAX_DOCUMENT_IDS: Final = 1000
_MAX_BUCKETS: Final = 200
_MAX_ERRORS: Final = 3  # told of one call
_CONVERSATION_TEXT: Final = "The `conversation` of an earlier result, to go on with it. Without it, a new one begins."
_BUCKETS_TEXT: Final = "Names of the buckets to search. Without them, all that you may see."

_CODE_TEXT: Final = (
    "Find blocks of code instead of an answer; the question then names identifiers or words of them. It keeps no"
    " conversation and offers no choices."
)

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)


class QuestionArguments(BaseModel):
    """The arguments of `agentic_search`."""

    model_config = ConfigDict(extra="forbid")

    question: str | None = Field(
        default=None, max_length=MAX_QUESTION_CHARS, description="The question, in the words of the person who asks."
    )
    conversation: str | None = Field(default=None, max_length=200, description=_CONVERSATION_TEXT)
    choice: str | None = Field(
        default=None,
        max_length=200,
        description="In place of a question: the `id` of one of the `choices` of the conversation's last result.",
    )
    buckets: list[str] = Field(default_factory=list[str], max_length=_MAX_BUCKETS, description=_BUCKETS_TEXT)
    code: bool = Field(default=False, description=_CODE_TEXT)
    hits: int = Field(default=10, ge=0, le=MAX_HITS, description="Ranked passages to report.")
    limit: int = Field(default=100, ge=0, le=MAX_DOCUMENT_IDS, description="Document ids to report.")

    def to_call(self) -> QuestionCall:
        return QuestionCall(
            question=self.question,
            choice=self.choice,
            conversation=self.conversation,
            buckets=tuple(self.buckets),
            max_hits=self.hits,
            max_documents=self.limit,
        )

    def require_code_query(self) -> str:
        """The words of a search for code. Raises `InvalidCall`."""
        if self.question is None or self.choice is not None or self.conversation is not None:
            raise InvalidCall("`code` goes with a `question` alone: it keeps no `conversation` and offers no `choice`.")
        return self.question


class ExportArguments(BaseModel):
    """The arguments of `export`."""

    model_config = ConfigDict(extra="forbid")

    question: str | None = Field(
        default=None,
        max_length=MAX_QUESTION_CHARS,
        description="What to list. Without it, the last list of the conversation is exported.",
    )
    conversation: str | None = Field(default=None, max_length=200, description=_CONVERSATION_TEXT)
    buckets: list[str] = Field(default_factory=list[str], max_length=_MAX_BUCKETS, description=_BUCKETS_TEXT)

    def to_call(self) -> QuestionCall:
        """Raises `InvalidCall`."""
        if self.question is None and self.conversation is None:
            raise InvalidCall("Give a `question`, or the `conversation` whose last list is wanted.")
        return QuestionCall(
            question=self.question,
            conversation=self.conversation,
            buckets=tuple(self.buckets),
            max_hits=0,
            max_documents=0,
        )


def parse_arguments(arguments: Mapping[str, Json] | None, arguments_type: type[ArgumentsT]) -> ArgumentsT:
    """Raises `InvalidCall` with the first errors in a few words each, without the values that were written."""
    try:
        return arguments_type.model_validate(dict(arguments or {}))
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_input=False, include_context=False)
        described = "; ".join(
            f"{'.'.join(map(str, error['loc'])) or 'the arguments'}: {error['msg']}" for error in errors[:_MAX_ERRORS]
        )
        known = ", ".join(arguments_type.model_fields)
        raise InvalidCall(f"{described}. The arguments are: {known}.") from exc
