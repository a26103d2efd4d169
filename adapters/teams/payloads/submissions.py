"""What the buttons on Parley's cards submit, as the `value` of a message.

A person can change what is submitted, so it holds ids only, which grant nothing.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias, cast

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

KIND_FIELD: Final = "parley"  # names the kind of submission; no other app's card has it
PICK_KIND: Final = "pick"

_StoredId = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")]


class ChoiceSubmission(BaseModel):
    parley: Literal["choice"]
    id: _StoredId


class PickSubmission(BaseModel):
    """A choice from a menu. `clarification`: of the menu of further choices, on a card of its own; else None."""

    parley: Literal["pick"]
    choice: _StoredId
    clarification: _StoredId | None = None


class StopSubmission(BaseModel):
    parley: Literal["stop"]
    turn: _StoredId


class StepsSubmission(BaseModel):
    parley: Literal["steps"]
    turn: _StoredId


class SaveSubmission(BaseModel):
    """A request to have the question of a turn asked again by itself."""

    parley: Literal["save"]
    turn: _StoredId


class FullTextSubmission(BaseModel):
    parley: Literal["full"]
    turn: _StoredId


class MoreSubmission(BaseModel):
    """A request for the choices that did not fit on the card."""

    parley: Literal["more"]
    clarification: _StoredId


CardSubmission: TypeAlias = (
    ChoiceSubmission
    | PickSubmission
    | StopSubmission
    | StepsSubmission
    | SaveSubmission
    | FullTextSubmission
    | MoreSubmission
)
_SUBMISSION: Final[TypeAdapter[CardSubmission]] = TypeAdapter(
    Annotated[CardSubmission, Field(discriminator=KIND_FIELD)]
)


def parse_submission(value: object) -> CardSubmission | None:
    """None for a value of another form: of another feature, incomplete or forged."""
    try:
        return _SUBMISSION.validate_python(value)
    except ValidationError:
        return None


def submission_kind_of(value: object) -> str | None:
    """The kind that a submission names, whether or not Parley knows it; None where no card of Parley's submitted it."""
    if not isinstance(value, Mapping):
        return None
    kind = cast(Mapping[object, object], value).get(KIND_FIELD)
    return kind if isinstance(kind, str) else None
