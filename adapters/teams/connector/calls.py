"""The calls to the Bot Connector that the rest of the adapter makes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from adapters.teams.payloads.json_values import JsonObject

MAX_ATTEMPTS: Final = 4  # of one call


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsMember:
    """A member of a conversation or of a team, as the connector describes them."""

    id: str  # `29:…`, for this bot alone
    object_id: str  # `aadObjectId`; empty where the service gives none
    tenant: str  # the member's own tenant; another one than the app's for a federated person; empty if not given
    name: str = ""
    email: str = ""
    role: str = ""  # `userRole`: "user", "guest", "anonymous" ...


class ConnectorCalls(Protocol):
    """Activities are JSON in the Bot Framework's activity schema. Each call sends within its deadline and repeats what
    may be repeated. Calls to one conversation keep their order. Each raises `TeamsError`.

    `service_url`: where the conversation's newest activity came from; `conversation`: its id in Teams.
    """

    async def send_activity(self, service_url: str, conversation: str, activity: JsonObject) -> str:
        """Posts a message or a `typing` activity. Returns its id; empty where the service gives none."""
        ...

    async def update_activity(
        self, service_url: str, conversation: str, activity_id: str, activity: JsonObject
    ) -> None: ...

    async def delete_activity(self, service_url: str, conversation: str, activity_id: str) -> None: ...

    async def get_member(self, service_url: str, conversation: str, member: str) -> TeamsMember | None:
        """None where nobody of that id is a member. `member`: `29:…` or an `aadObjectId`."""
        ...

    async def list_members(self, service_url: str, conversation: str) -> Sequence[TeamsMember]:
        """All members, over all pages. In a channel those of its team."""
        ...


class PostingCalls(ConnectorCalls, Protocol):
    """What posting replies needs beside that. `attempts`: with 1, a call fails where it would have to wait or to be
    repeated; for what is soon replaced by something newer.
    """

    async def send_activity(
        self, service_url: str, conversation: str, activity: JsonObject, *, attempts: int = MAX_ATTEMPTS
    ) -> str: ...

    async def update_activity(
        self,
        service_url: str,
        conversation: str,
        activity_id: str,
        activity: JsonObject,
        *,
        attempts: int = MAX_ATTEMPTS,
    ) -> None: ...

    async def create_conversation(self, service_url: str, *, tenant: str, bot_id: str, member: str) -> str:
        """The id of the personal chat with the member, begun if there is none yet. `member`: `29:…` or an
        `aadObjectId`. Raises `TeamsRefusal` with status 403 where the person has not installed the app.
        """
        ...
