"""What Teams delivers: one activity a request. Fields that Parley does not read are ignored.

Names follow the Bot Framework's activity schema
(https://github.com/microsoft/botframework-sdk/blob/main/specs/botframework-activity/botframework-activity.md).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

# Ids are keys in the database, so they are short, and no text that it could refuse.
TeamsId: TypeAlias = Annotated[str, StringConstraints(max_length=512, pattern=r"^[\x20-\x7e]*$")]
RequiredId: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[\x20-\x7e]+$")]
ServiceUrl: TypeAlias = Annotated[str, StringConstraints(max_length=512, pattern=r"^[\x21-\x7e]+$")]
_READ_ENTITIES: Final = ("mention", "clientInfo")


class ActivityPart(BaseModel):
    """A field that is null is the same as a field that is missing."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_null_fields(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        fields = cast(Mapping[str, object], value)
        return {name: field for name, field in fields.items() if field is not None}


class ChannelAccount(ActivityPart):
    """A person or a bot. `aad_object_id` is the same for every bot; `id` is not."""

    id: RequiredId
    name: str = ""
    aad_object_id: TeamsId = ""
    role: str = ""


class TenantReference(ActivityPart):
    id: TeamsId = ""


class NamedReference(ActivityPart):
    """A team or a channel. `aad_group_id` is a team's only."""

    id: TeamsId = ""
    name: str = ""
    aad_group_id: TeamsId = ""


class ChannelData(ActivityPart):
    """What Teams adds to an activity."""

    tenant: TenantReference = TenantReference()
    team: NamedReference | None = None
    channel: NamedReference | None = None
    event_type: str = ""  # "editMessage", "undeleteMessage", "softDeleteMessage", "teamMemberAdded" …


class ConversationAccount(ActivityPart):
    """`conversation_type` is empty where Teams names none; nothing may then be taken for private."""

    id: RequiredId
    conversation_type: str = ""
    is_group: bool = False
    tenant_id: TeamsId = ""
    name: str = ""


class MentionedAccount(ActivityPart):
    id: str = ""
    name: str = ""


class ActivityEntity(ActivityPart):
    """`mentioned` and `text` are those of a mention; `locale` and `timezone` those of a `clientInfo`.

    Of all other kinds only the type is read, because their fields have other shapes.
    """

    type: str = ""
    mentioned: MentionedAccount | None = None
    text: str = ""
    locale: str = ""
    timezone: str = ""

    @model_validator(mode="before")
    @classmethod
    def _ignore_other_kinds(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        entity = cast(Mapping[str, object], value)
        return entity if entity.get("type") in _READ_ENTITIES else {"type": entity.get("type")}


class ActivityAttachment(ActivityPart):
    """A file of a personal chat has the type `application/vnd.microsoft.teams.file.download.info`."""

    content_type: str = ""
    content_url: str = ""
    name: str = ""
    content: Any = None


class InboundActivity(ActivityPart):
    """One delivery. `value` holds the fields of a submitted card or of an invoke.

    `timestamp` is Teams' text of the time, of an edit or a deletion the time of that.
    """

    type: str
    id: TeamsId = ""
    timestamp: TeamsId = ""
    channel_id: str = ""
    service_url: ServiceUrl
    sender: ChannelAccount = Field(validation_alias="from")
    recipient: ChannelAccount
    conversation: ConversationAccount
    channel_data: ChannelData = ChannelData()
    text: str = ""
    text_format: str = ""
    locale: str = ""
    local_timezone: str = ""
    reply_to_id: TeamsId = ""
    name: str = ""  # of an invoke or an event
    action: str = ""  # of an installationUpdate: "add", "remove"
    value: Any = None
    entities: list[ActivityEntity] = []
    attachments: list[ActivityAttachment] = []
    members_added: list[ChannelAccount] = []
    members_removed: list[ChannelAccount] = []

    @property
    def named_tenants(self) -> frozenset[str]:
        """All tenants that the activity names; they are the same but in a channel that organisations share."""
        return frozenset({self.channel_data.tenant.id, self.conversation.tenant_id} - {""})

    @property
    def tenant(self) -> str:
        """The tenant of the conversation; empty where the activity names none."""
        return self.channel_data.tenant.id or self.conversation.tenant_id
