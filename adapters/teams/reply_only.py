"""Teams in a worker process, which posts replies but receives no activities.

Fulfils `bot.surface.surface.WorkerSupport`.
"""

from adapters.teams.connector.access_token import AccessTokenCache
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.directory.teams_directory import TeamsDirectory
from adapters.teams.events.directory_changes import DirectoryChangeForwarding
from adapters.teams.posting.outbox import TeamsOutbox
from bot.ids import ConversationId, PersonId, TurnId
from bot.surface.inbound import PrivateAudience
from bot.surface.surface import ChangeForwarder, DirectoryChange
from bot.turns.turn_actions import TurnActionHandler, TurnActor


class ReplyOnlyTeams:
    """Owns what replies need: the app's token, the connector and the streams."""

    def __init__(
        self,
        *,
        tokens: AccessTokenCache,
        connector: TeamsConnectorClient,
        outbox: TeamsOutbox,
        directory: TeamsDirectory,
        forwarding: DirectoryChangeForwarding,
    ) -> None:
        self._tokens, self._connector, self._outbox = tokens, connector, outbox
        self._directory, self._forwarding = directory, forwarding

    async def start(self) -> None:
        """Calls nobody: the first reply fetches the token."""
        await self._tokens.start()
        await self._connector.start()
        await self._outbox.start()

    async def close(self) -> None:
        await self._outbox.close()
        await self._connector.close()
        await self._tokens.close()

    def forward_changes_to(self, forwarder: ChangeForwarder) -> None:
        self._forwarding.set_forwarder(forwarder)

    async def apply_change(self, change: DirectoryChange) -> None:
        self._directory.forget_members()


class StoppedStreams:
    """Fulfils `adapters.teams.posting.protocols.StreamStopListener`."""

    def __init__(self, turn_actions: TurnActionHandler) -> None:
        self._turn_actions = turn_actions

    async def __call__(self, turn: TurnId, conversation: ConversationId, person: PersonId) -> None:
        """Teams offers the stop button to the person of the personal chat only, and does not name them."""
        actor = TurnActor(conversation=conversation, audience=PrivateAudience(person=person), person=person, name="")
        await self._turn_actions.try_stop_turn(turn, actor)
