"""What the Bot Connector and the token endpoints answer. Fields that Parley does not read are ignored."""

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class ConnectorAnswer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class SentResource(ConnectorAnswer):
    """Of a posted activity, or of a conversation."""

    id: str = ""


class ConnectorErrorDetail(ConnectorAnswer):
    code: str = ""
    message: str = ""


class ConnectorErrorResponse(ConnectorAnswer):
    error: ConnectorErrorDetail = ConnectorErrorDetail()


class MemberAccount(ConnectorAnswer):
    id: str
    object_id: str = Field(default="", validation_alias=AliasChoices("aadObjectId", "objectId"))
    tenant_id: str = ""
    name: str | None = None
    email: str | None = None
    user_role: str | None = None


class MembersPage(ConnectorAnswer):
    members: list[MemberAccount] = []
    continuation_token: str | None = None


class TokenResponse(BaseModel):
    """`expires_in` is in seconds; a managed identity's endpoint sends it as a text."""

    access_token: str = Field(min_length=1, repr=False)
    expires_in: float = 3_600.0


class TokenErrorResponse(BaseModel):
    """Of Microsoft's token endpoint. `error_description` begins with a code such as `AADSTS7000215`."""

    error: Any = ""
    error_description: Any = ""
