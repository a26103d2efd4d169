"""What Slack delivers by itself: events, with the installation that a delivery is for, and envelopes of Socket Mode."""

from typing import Any, Final

from pydantic import BaseModel

from adapters.slack.payloads.objects import EnclosedMessage, ObjectReference

_TOMBSTONE_SUBTYPE: Final = "tombstone"  # the remains of a deleted message that has replies


class BotAuthorization(BaseModel):
    team_id: str | None = None
    enterprise_id: str | None = None


class InstallationFields(BaseModel):
    """The installation's ids in events (`authorizations`), interactions (objects) and commands (flat)."""

    authorizations: list[BotAuthorization] = []
    team: ObjectReference | str | None = None
    enterprise: ObjectReference | str | None = None
    team_id: str | None = None
    enterprise_id: str | None = None


class SocketEnvelope(BaseModel):
    """A `hello`, a `disconnect`, or an envelope, which has an id."""

    type: str
    reason: str = ""
    envelope_id: str | None = None
    payload: dict[str, Any] = {}
    accepts_response_payload: bool = False


class BotProfile(BaseModel):
    id: str | None = None
    app_id: str | None = None


class MessageEvent(EnclosedMessage):
    """An `app_mention` or `message` event. A bot's event may have no user, and has the bot's ids in several fields."""

    type: str
    channel: str
    channel_type: str | None = None
    app_id: str | None = None
    bot_profile: BotProfile | None = None

    @property
    def bot_ids(self) -> frozenset[str]:
        """The ids of the bot that wrote the message and of its app; empty for a person's message."""
        profile = self.bot_profile or BotProfile()
        return frozenset(
            bot_or_app_id for bot_or_app_id in (self.bot_id, self.app_id, profile.id, profile.app_id) if bot_or_app_id
        )


class MessageDelivery(BaseModel):
    """The envelope of an event."""

    event_id: str
    event: MessageEvent
    api_app_id: str | None = None
    is_ext_shared_channel: bool = False


class AlteredEvent(BaseModel):
    """`message_changed`, or `message_deleted`, which has no `message`."""

    channel: str
    ts: str
    previous_message: EnclosedMessage
    message: EnclosedMessage | None = None

    @property
    def current_version(self) -> EnclosedMessage | None:
        """The message after the change; None if it is deleted."""
        return None if self.message is None or self.message.subtype == _TOMBSTONE_SUBTYPE else self.message


class EditDelivery(BaseModel):
    event_id: str
    event: AlteredEvent
    is_ext_shared_channel: bool = False


class DirectoryChangeEvent(BaseModel):
    """The fields of an event that name what changed."""

    type: str
    user: ObjectReference | str | None = None
    channel: ObjectReference | str | None = None


class DirectoryChangeDelivery(BaseModel):
    event: DirectoryChangeEvent


class StoppedSession(BaseModel):
    channel: str
    thread_ts: str
    user: str


class SessionStoppedDelivery(BaseModel):
    event: StoppedSession


class RevokedTokens(BaseModel):
    bot: list[str] = []


class UninstallEvent(BaseModel):
    """`app_uninstalled` or `tokens_revoked`."""

    type: str
    tokens: RevokedTokens = RevokedTokens()


class UninstallDelivery(BaseModel):
    event: UninstallEvent
    event_time: int


class TabOpenedEvent(BaseModel):
    """`app_home_opened`: the Home tab or the Messages tab."""

    user: str
    channel: str
