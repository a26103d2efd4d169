"""What the cards of the administration submit. A person can change it, so it holds keys only and proves nothing."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from bot.admin.administration import QuestionLimit

ADMIN_KIND: Final = "admin"
LIMIT_PREFIX: Final = "limit_"  # of the inputs of limits
TICKED_VALUE: Final = "yes"

_OpaqueKey = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,32}$")]
_TypedText = Annotated[str, StringConstraints(max_length=2_000, strip_whitespace=True)]


class AdminSubmission(BaseModel):
    """`action`: what to do or to show. Then what the button carried, then what was typed or chosen in the inputs."""

    parley: Literal["admin"]
    action: Annotated[str, StringConstraints(max_length=40)]
    bucket: _OpaqueKey = ""
    key: _OpaqueKey = ""  # of a grant's subject or of an admin, after a confirmation
    first: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] = 0
    number: Annotated[int, Field(ge=0, lt=10**9, strict=True)] = 0  # of a saved search
    limits: dict[QuestionLimit, Annotated[int, Field(strict=True)]] = {}  # as they were shown

    chosen: _OpaqueKey = ""
    everyone: _TypedText = ""
    typed_person: _TypedText = ""
    typed_channel: _TypedText = ""
    external: _TypedText = ""
    group: _TypedText = ""  # a key where there was a menu, else an id
    limit_person_hour: _TypedText = ""
    limit_person_day: _TypedText = ""
    limit_tenant_hour: _TypedText = ""
    limit_tenant_day: _TypedText = ""

    def typed_limit_of(self, limit: QuestionLimit) -> str:
        match limit:
            case QuestionLimit.PERSON_HOUR:
                return self.limit_person_hour
            case QuestionLimit.PERSON_DAY:
                return self.limit_person_day
            case QuestionLimit.TENANT_HOUR:
                return self.limit_tenant_hour
            case QuestionLimit.TENANT_DAY:
                return self.limit_tenant_day


def parse_admin_submission(value: object) -> AdminSubmission | None:
    """None for a value of another form: forged, or of an older version."""
    try:
        return AdminSubmission.model_validate(value)
    except ValidationError:
        return None
