"""The web chat as the scenarios use it: its page over HTTP, with forms alone. Its one person is Parley's owner."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from uuid import uuid4

from aiohttp import ClientSession

from adapters.web.app import surface as web_surface
from bot.bootstrap import open_application
from bot.ids import OPERATOR, ConversationId, Subject
from bot.settings import load_settings
from tests.bot.conftest import running_workers
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.limited import ActionNotOffered, LimitedDriver
from tests.scenarios.surfaces.office import (
    BotSetup,
    ChatOffice,
    ChatPlace,
    OfferedFile,
    OfficePerson,
    ReceivedFile,
    SentMessage,
    ShownAnswer,
    ShownChoice,
)
from tests.scenarios.surfaces.serving import open_port
from tests.scenarios.surfaces.web_page import WebArticle, articles_in

OWNER: Final = OfficePerson(id=OPERATOR, name="you", key="owner")
PAGE: Final = ChatPlace(key="page", owner=OWNER)
ABILITIES: Final = frozenset({SurfaceAbility.REPEATED_DELIVERIES, SurfaceAbility.CHANGED_MESSAGES})


@dataclass(kw_only=True)
class WebDriver(LimitedDriver):
    """Fulfils `SurfaceDriver`. A thread is the key of a conversation, which stands in the page's address."""

    address: str
    http: ClientSession
    keys: list[str] = field(default_factory=list[str])  # of the conversations, in the order of their first messages

    def private_place_of(self, person: OfficePerson) -> ChatPlace:
        return PAGE

    def subject_of(self, place: ChatPlace) -> Subject | None:
        return None

    async def send_text(
        self,
        person: OfficePerson,
        place: ChatPlace,
        text: str,
        *,
        thread: str | None = None,
        files: Sequence[OfferedFile] = (),
        deliveries: int = 1,
    ) -> SentMessage:
        if files:
            raise ActionNotOffered
        key, event = thread or uuid4().hex, uuid4().hex
        if key not in self.keys:
            self.keys.append(key)
        for _ in range(deliveries):
            await self._post_form(key, text=text, event=event)
        return SentMessage(id=event, place=place, thread=key, author=person)

    async def click_choice(self, person: OfficePerson, answer: ShownAnswer, choice: ShownChoice) -> None:
        await self._post_form(answer.thread, choice=choice.handle)

    async def load_answers(self) -> list[ShownAnswer]:
        return [
            ShownAnswer(
                id=article.id,
                place=PAGE,
                thread=key,
                conversation=ConversationId(f"web:{key}"),
                text=article.text,
                choices=article.choices,
                links=article.links,
                tables=article.tables,
            )
            for key, article in await self._load_articles()
        ]

    async def load_files(self) -> list[ReceivedFile]:
        links = [link for _, article in await self._load_articles() for link in article.downloads]
        return [await self._download_file(name, address) for name, address in links]

    async def _load_articles(self) -> list[tuple[str, WebArticle]]:
        """Parley's articles with the key of their conversation."""
        articles: list[tuple[str, WebArticle]] = []
        for key in self.keys:
            async with self.http.get(f"{self.address}/", params={"c": key}) as response:
                articles += [(key, article) for article in articles_in(await response.text())]
        return articles

    async def _download_file(self, name: str, address: str) -> ReceivedFile:
        async with self.http.get(address) as response:
            assert response.status == 200
            return ReceivedFile(name=name, content=await response.read())

    async def _post_form(self, key: str, **fields: str) -> None:
        headers = {"Origin": self.address, "Accept": "application/json"}
        async with self.http.post(f"{self.address}/", params={"c": key}, data=fields, headers=headers) as response:
            assert response.status == 200, await response.text()


@dataclass(kw_only=True)
class WebProduct:
    """Fulfils `ChatProduct`."""

    name: str = "web"
    abilities: frozenset[SurfaceAbility] = ABILITIES
    keys: list[str] = field(default_factory=list[str])

    @asynccontextmanager
    async def connect_bot(self, home: Path, setup: BotSetup) -> AsyncGenerator[ChatOffice]:
        async with AsyncExitStack() as stack:
            port = open_port(stack)
            environ = {"PARLEY_EMBEDDER": "none", "PARLEY_PUBLIC_URL": port.address}
            settings = load_settings(home, environ | dict(setup.environ)).settings
            bot = await stack.enter_async_context(
                open_application(settings, agent=setup.agent, reasoner=setup.reasoner, clock=setup.clock)
            )
            await port.serve_surface(bot, web_surface(bot), stack)
            if setup.with_workers:
                await stack.enter_async_context(running_workers(bot))
            http = await stack.enter_async_context(ClientSession())
            yield ChatOffice(
                driver=WebDriver(address=port.address, http=http, keys=self.keys),
                bot=bot,
                ada=OWNER,
                bob=OWNER,
                general=PAGE,
                lobby=PAGE,
                attaching_place=PAGE,
            )
