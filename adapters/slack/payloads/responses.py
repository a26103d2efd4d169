"""Responses of Slack's Web API."""

from typing import Any

from pydantic import BaseModel, Field

from adapters.slack.payloads.objects import ObjectReference, SlackFile


class OkResponse(BaseModel):
    """The response of a method of which only the success counts."""

    ok: bool


class ShownView(BaseModel):
    id: str
    hash: str = ""


class ViewResponse(BaseModel):
    """The response of `views.open` and `views.publish`."""

    view: ShownView


class PageCursor(BaseModel):
    next_cursor: str = ""


class PagedResponse(BaseModel):
    response_metadata: PageCursor | None = None

    @property
    def next_cursor(self) -> str:
        """The cursor of the next page; empty on the last."""
        return self.response_metadata.next_cursor if self.response_metadata else ""


class PostedMessageResponse(BaseModel):
    """The response of `chat.postMessage`, `chat.update` and `chat.startStream`."""

    ts: str


class EphemeralMessageResponse(BaseModel):
    message_ts: str


class MessageMetadata(BaseModel):
    event_type: str = ""
    event_payload: dict[str, Any] = {}


class ThreadMessage(BaseModel):
    """A message of `conversations.history` or `conversations.replies`."""

    ts: str
    user: str | None = None
    files: list[SlackFile] = []
    metadata: MessageMetadata = Field(default_factory=MessageMetadata)


class MessagesResponse(PagedResponse):
    messages: list[ThreadMessage]


class OpenDirectResponse(BaseModel):
    """The response of `conversations.open`."""

    channel: ObjectReference


class ChannelInfo(BaseModel):
    """A channel's visibility, and whether it is shared with other organisations or offered to them."""

    is_channel: bool = False
    is_private: bool = True
    is_member: bool = False
    is_ext_shared: bool = False
    is_pending_ext_shared: bool = False
    pending_shared: list[str] = []
    pending_connected_team_ids: list[str] = []

    @property
    def is_open_to_others(self) -> bool:
        pending = self.pending_shared or self.pending_connected_team_ids
        return self.is_ext_shared or self.is_pending_ext_shared or bool(pending)

    @property
    def is_public(self) -> bool:
        return self.is_channel and not self.is_private


class ChannelInfoResponse(BaseModel):
    channel: ChannelInfo


class ChannelMembersResponse(PagedResponse):
    members: list[str]


class UserProfile(BaseModel):
    display_name: str = ""
    real_name: str = ""
    email: str = ""  # only with the scope `users:read.email`


class EnterpriseUser(BaseModel):
    enterprise_id: str
    teams: list[str] = []


class SlackUser(BaseModel):
    id: str
    team_id: str | None = None
    name: str = ""
    locale: str = "en-US"
    tz: str | None = None
    deleted: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    is_email_confirmed: bool = False
    profile: UserProfile = UserProfile()
    enterprise_user: EnterpriseUser | None = None


class UserInfoResponse(BaseModel):
    user: SlackUser


class UserListResponse(PagedResponse):
    members: list[SlackUser]


class UsergroupInfo(BaseModel):
    """A user group. `users` are its members, where the request asks for them."""

    id: str
    name: str = ""
    handle: str = ""
    users: list[str] = []


class UsergroupListResponse(BaseModel):
    usergroups: list[UsergroupInfo]


class UploadAddress(BaseModel):
    """The response of `files.getUploadURLExternal`."""

    upload_url: str
    file_id: str


class FileInfo(SlackFile):
    url_private: str | None = None
    url_private_download: str | None = None


class FileInfoResponse(BaseModel):
    file: FileInfo


class BotIdentity(BaseModel):
    """The response of `auth.test`: the installation that the token belongs to."""

    team_id: str
    user_id: str
    bot_id: str | None = None
    enterprise_id: str | None = None
    is_enterprise_install: bool = False


class GrantedAccount(BaseModel):
    id: str
    name: str = ""


class OAuthAccessResponse(BaseModel):
    """The response of `oauth.v2.access`, for a code or a refresh token. An organisation-wide one names no team."""

    access_token: str
    refresh_token: str | None = None
    expires_in: int | None = None
    scope: str = ""
    bot_user_id: str
    team: GrantedAccount | None = None
    enterprise: GrantedAccount | None = None
    is_enterprise_install: bool = False
    authed_user: ObjectReference | None = None


class RevokeResponse(BaseModel):
    revoked: bool


class SocketUrlResponse(BaseModel):
    """The response of `apps.connections.open`: an address that is valid for one connection."""

    url: str
