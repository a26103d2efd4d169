"""The web chat over HTTP: who may use it, and what becomes of what they post."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar, web

from adapters.web.app import WebChat
from adapters.web.guard import Guard, is_loopback
from adapters.web.transcript import Transcript
from bot.errors import InvalidQuestion
from bot.ids import OPERATOR, ChoiceId, ConversationId, TurnId
from bot.inbound import Clicked, Inbound, Operator, Said
from bot.replies import Notice, Reply

NOW = datetime(2031, 5, 4, 9, 30, tzinfo=UTC)
KEY = "a-conversation-key"


@dataclass
class Site:
    """The chat on a port, and the messages it stored."""

    address: str
    chat: WebChat
    stored: list[Inbound]
    session: ClientSession = field(repr=False)

    async def post(self, path: str = f"/?c={KEY}", *, origin: str | None = None, **fields: str) -> tuple[int, str]:
        headers = {"Origin": self.address if origin is None else origin, "Accept": "application/json"}
        async with self.session.post(self.address + path, data=fields, headers=headers) as answer:
            return answer.status, await answer.text()

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.get(self.address + path, headers=named) as answer:
            return answer.status, await answer.text()


async def opened(folder: Path, token: str | None) -> AsyncGenerator[Site]:
    stored: list[Inbound] = []

    async def accept(inbound: Inbound) -> None:
        if isinstance(inbound.body, Said) and inbound.body.text == "refuse me":
            raise InvalidQuestion("That is no question.")
        stored.append(inbound)

    chat = WebChat(accept=accept, transcript=Transcript(folder), guard=Guard(token), clock=lambda: NOW, limit=100)
    app = web.Application()
    app.add_routes(chat.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
        yield Site(f"http://127.0.0.1:{runner.addresses[0][1]}", chat, stored, session)
    await chat.close()
    await runner.cleanup()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncGenerator[Site]:
    async for one in opened(tmp_path, None):
        yield one


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncGenerator[Site]:
    async for one in opened(tmp_path, "open sesame"):
        yield one


async def test_what_is_said_is_stored_as_the_operators_and_shown_after_a_reload(site: Site) -> None:
    status, _ = await site.post(text="Is <b>this</b> safe?", time_zone="Europe/Oslo")

    assert status == 200
    (inbound,) = site.stored
    assert inbound.body == Said("Is <b>this</b> safe?")
    assert (inbound.person, inbound.audience, inbound.time_zone) == (OPERATOR, Operator(), "Europe/Oslo")
    _, page = await site.get(f"/?c={KEY}")
    assert "Is &lt;b&gt;this&lt;/b&gt; safe?" in page


async def test_a_form_sent_twice_is_shown_once_and_known_by_one_event(site: Site) -> None:
    for _ in range(2):
        await site.post(text="Once only", event="an-event-of-the-page")

    _, page = await site.get(f"/?c={KEY}")
    assert page.count("Once only") == 1
    assert len({inbound.event_id for inbound in site.stored}) == 1


async def test_a_click_carries_the_id_alone(site: Site) -> None:
    await site.post(choice="x1")

    assert [inbound.body for inbound in site.stored] == [Clicked(ChoiceId("x1"))]


async def test_without_scripts_a_form_leads_back_to_the_page(site: Site) -> None:
    async with site.session.post(
        f"{site.address}/?c={KEY}", data={"text": "hello"}, headers={"Origin": site.address}
    ) as a:
        assert (a.status, a.url.query_string) == (200, f"c={KEY}")
        assert "hello" in await a.text()


@pytest.mark.parametrize(("text", "said"), [("  ", "no question"), ("a" * 101, "100 characters")])
async def test_what_is_no_question_is_refused_in_a_sentence(site: Site, text: str, said: str) -> None:
    status, answer = await site.post(text=text)

    assert (status, site.stored) == (422, [])
    assert said in answer


async def test_what_the_bot_refuses_is_answered_in_the_conversation(site: Site) -> None:
    assert (await site.post(text="refuse me"))[0] == 200

    _, page = await site.get(f"/?c={KEY}")
    assert "That is no question." in page


async def test_another_site_cannot_post(site: Site) -> None:
    assert (await site.post(text="x", origin="https://evil.example"))[0] == 403
    assert (await site.post(text="x", origin="null"))[0] == 403
    assert (await site.post(text="x", origin=""))[0] == 403
    assert site.stored == []


async def test_a_foreign_name_or_a_proxy_does_not_reach_the_operators_page(site: Site) -> None:
    assert (await site.get("/", Host="evil.example"))[0] == 403
    assert (await site.get("/", X_Forwarded_For="203.0.113.9"))[0] == 403
    assert (await site.get(f"/chat/events?c={KEY}", Host="evil.example"))[0] == 403


async def test_pages_forbid_foreign_scripts_and_frames(site: Site) -> None:
    async with site.session.get(f"{site.address}/?c={KEY}") as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


async def test_an_address_that_is_no_conversation_starts_a_new_one(site: Site) -> None:
    async with site.session.get(f"{site.address}/?c=../../etc/passwd") as answer:
        assert len(answer.url.query["c"]) >= 16
    assert (await site.post("/?c=../../x", text="hello"))[0] == 400


async def test_a_page_hears_what_is_said_next(site: Site) -> None:
    async with site.session.get(f"{site.address}/chat/events?c={KEY}&after=0") as events:
        reply = Reply(turn=TurnId("t"), parts=(Notice(text="Here & now"),))
        await site.chat.outbox.post(ConversationId(f"web:{KEY}"), {}, reply)

        lines = [(await events.content.readline()).decode() for _ in range(2)]

    assert lines[0] == "id: 1\n"
    assert "Here &amp; now" in lines[1]


async def test_a_message_is_found_by_its_turn_and_said_again_changes_nothing(site: Site) -> None:
    outbox, conversation = site.chat.outbox, ConversationId(f"web:{KEY}")
    reply = Reply(turn=TurnId("t"), parts=(Notice(text="one"),))
    message = await outbox.post(conversation, {}, reply)
    _, before = await site.get(f"/?c={KEY}")

    await outbox.update(conversation, {}, message, reply)

    assert await outbox.find(conversation, {}, TurnId("t")) == message
    assert await outbox.find(conversation, {}, TurnId("other")) is None
    _, after = await site.get(f"/?c={KEY}")
    assert 'data-revision="1"' in before
    assert 'data-revision="1"' in after


async def test_with_a_token_only_who_knows_it_gets_in(guarded: Site) -> None:
    assert (await guarded.get("/"))[0] == 401
    assert (await guarded.post(text="hello"))[0] == 401
    assert (await guarded.post("/chat/token", token="guess"))[0] == 403
    assert (await guarded.post("/chat/token", token="open sesame", origin="https://evil.example"))[0] == 403
    assert (await guarded.get("/"))[0] == 401

    assert (await guarded.post("/chat/token", token="open sesame"))[0] == 200
    assert (await guarded.post(text="hello"))[0] == 200
    assert len(guarded.stored) == 1


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_the_rest(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
