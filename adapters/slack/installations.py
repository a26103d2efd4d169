"""Several workspaces, each with a token of its own that is replaced in time and forgotten when the app is removed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.slack.apart import LEFT, Others
from adapters.slack.api import SlackApi
from adapters.slack.directory import AuthTest
from adapters.slack.errors import SlackFailed, SlackRefused, SlackUnreachable
from adapters.slack.install import Allowed, OAuth
from adapters.slack.workspaces import Place, Workspace, Workspaces, addressed, place_of, workspace_with
from bot.installations import Installation, Installations

KEPT: Final = timedelta(seconds=60)  # what another replica changes is noticed here after so long
REPLACED: Final = timedelta(hours=2)  # before a token expires
SPENT: Final = timedelta(minutes=2)  # nothing is sent with a token that is nearer to its end
FAREWELL_S: Final = 10.0  # a refresh that was cut off would lose the token for good


@dataclass(slots=True, kw_only=True)
class _Opened:
    installation: Installation
    workspace: Workspace


class ManyWorkspaces:
    """Fulfils `Workspaces` with those that installed the app and are allowed."""

    def __init__(
        self,
        *,
        installations: Installations,
        oauth: OAuth,
        allowed: Allowed,
        base_url: str,
        file_mb: int,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._file_mb = file_mb
        self._installations, self._oauth, self._allowed = installations, oauth, allowed
        self._base_url, self._clock, self._log = base_url, clock, log
        self._opened: dict[str, _Opened] = {}  # by account
        self._known: dict[Place, tuple[datetime, str]] = {}  # when it was looked up, and the account
        self._looking: WeakValueDictionary[Place, asyncio.Lock] = WeakValueDictionary()
        self._opening = asyncio.Lock()
        self._replacing: dict[str, asyncio.Task[None]] = {}  # by account

    async def start(self) -> None:
        await self._oauth.start()

    async def close(self) -> None:
        if self._replacing:
            _, late = await asyncio.wait(self._replacing.values(), timeout=FAREWELL_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        for opened in self._opened.values():
            await opened.workspace.api.close()
        self._opened.clear()
        self._known.clear()
        await self._oauth.close()

    async def of(self, place: Place) -> Workspace | None:
        """Raises `SlackFailed` while its token has expired and is being replaced."""
        async with self._looking.setdefault(place, asyncio.Lock()):
            looked, account = self._known.get(place, (None, ""))
            if looked is not None and looked + KEPT > self._clock() and account in self._opened:
                return self._opened[account].workspace
            return await self._looked_up(place)

    async def _looked_up(self, place: Place) -> Workspace | None:
        found = await self._installations.find(team=place.team, enterprise=place.enterprise)
        if found is None or not self._allowed.serve(found):
            await self._forget(place)
            return None
        found = await self._in_time(found)
        if found.is_org_wide and place.team is not None and place.enterprise is not None:
            await self._installations.note_team(found, place.team)
        workspace = await self._workspace(found)
        self._known[place] = (self._clock(), found.account)
        return workspace

    async def _workspace(self, found: Installation) -> Workspace:
        """Other tokens of the same installation change nothing else: messages under way keep their order."""
        async with self._opening:
            opened = self._opened.get(found.account)
            if opened is not None and opened.installation.installed_at == found.installed_at:
                opened.workspace.api.use(found.tokens.access.get_secret_value())
                opened.installation = found
                return opened.workspace
            if opened is not None:
                await opened.workspace.api.close()
            api = SlackApi(token=found.tokens.access.get_secret_value(), base_url=self._base_url)
            await api.start()
            workspace = workspace_with(api, self._clock, self._log, _ours(found), file_mb=self._file_mb)
            self._opened[found.account] = _Opened(installation=found, workspace=workspace)
            return workspace

    # Leaving

    async def _forget(self, place: Place) -> None:
        _, account = self._known.pop(place, (None, ""))
        if account:
            await self._shut(account)

    async def _shut(self, account: str) -> None:
        self._known = {place: known for place, known in self._known.items() if known[1] != account}
        opened = self._opened.pop(account, None)
        if opened is not None:
            await opened.workspace.api.close()

    async def leave(self, place: Place, at: datetime) -> None:
        """A whole organisation is not left with one of its workspaces."""
        found = await self._installations.find(team=place.team, enterprise=place.enterprise)
        if found is None:
            await self._forget(place)  # another process has dropped it
            return
        if found.is_org_wide and place.team is not None:
            return
        if await self._installations.drop(found, until=at):
            await self._shut(found.account)

    # Tokens

    async def _in_time(self, found: Installation) -> Installation:
        """With tokens that are good: replaced beside what is going on, or, where they have expired, before it."""
        expires = found.tokens.expires_at
        if expires is None or found.tokens.refresh is None or self._clock() < expires - REPLACED:
            return found
        if self._clock() < expires - SPENT:
            self._replace_beside(found)
            return found
        await self._replace(found)
        fresh = await self._installations.find(team=found.team, enterprise=found.enterprise)
        if fresh is None or fresh.revision == found.revision:
            raise SlackUnreachable("the token has expired and is being replaced")
        return fresh

    def _replace_beside(self, found: Installation) -> None:
        if found.account not in self._replacing:
            task = asyncio.create_task(self._replace(found))
            self._replacing[found.account] = task
            task.add_done_callback(lambda ended: self._replaced(found.account, ended))

    def _replaced(self, account: str, task: asyncio.Task[None]) -> None:
        del self._replacing[account]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("slack token not kept", account=account, error=type(error).__name__)

    async def _replace(self, found: Installation) -> None:
        """By one of the replicas. Where Slack does not answer, the lease keeps all of them from asking for a while."""
        if found.tokens.refresh is None or not await self._installations.lease(found):
            return
        try:
            tokens = await self._oauth.refreshed(found.tokens.refresh)
        except SlackRefused as exc:
            advice = "install the app there anew"
            self._log.error("slack token not replaced", account=found.account, reason=exc.error, advice=advice)
            return
        except SlackFailed as exc:
            self._log.warning("slack token not replaced yet", account=found.account, reason=str(exc))
            return
        await self._installations.replace(found, tokens)
        self._known = {place: known for place, known in self._known.items() if known[1] != found.account}
        self._log.info("slack token replaced", account=found.account)


def _ours(found: Installation) -> AuthTest:
    """As `auth.test` would answer: of a whole organisation, the team is the organisation."""
    return AuthTest(
        team_id=found.team or found.enterprise or "",
        user_id=found.bot_user,
        enterprise_id=found.enterprise,
        is_enterprise_install=found.is_org_wide,
    )


class _Tokens(BaseModel):
    bot: list[str] = []


class _Event(BaseModel):
    type: str
    tokens: _Tokens = _Tokens()


class _Delivery(BaseModel):
    event: _Event
    event_time: int


class Leaving:
    """The app was removed, or its token revoked. Fulfils `adapters.slack.dispatch.Listener`."""

    events = ("app_uninstalled", "tokens_revoked")

    def __init__(self, workspaces: Workspaces, others: Others, log: FilteringBoundLogger) -> None:
        self._workspaces, self._others, self._log = workspaces, others, log

    def listen(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_end)

    async def _on_end(self, body: dict[str, Any]) -> None:
        """Of tokens, only the bot's matter: there are no others."""
        try:
            told = _Delivery.model_validate(body)
        except ValidationError:
            return
        if told.event.type == "tokens_revoked" and not told.event.tokens.bot:
            return
        # Whole seconds: whatever was installed within this one is what it is about.
        at = datetime.fromtimestamp(told.event_time, UTC) + timedelta(seconds=1)
        place = place_of(body)
        await self._workspaces.leave(place, at)
        await self._others.tell({**addressed(place), "type": LEFT, "at": at.isoformat()})
        consequence = "replies still due there end undelivered"
        self._log.warning("slack app removed", team=place.team, enterprise=place.enterprise, consequence=consequence)
