"""The web chat over HTTP: access control, and the handling of posted messages."""

import asyncio
import hashlib
import hmac
import math
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
import structlog
from aiohttp import ClientSession, CookieJar, FormData, web
from aiohttp.test_utils import make_mocked_request

from adapters.web.access_guard import ACCESS_COOKIE, AccessGuard
from adapters.web.app import WebChat
from adapters.web.transcript import WebTranscript
from bot.errors import AnswerNotFound, InvalidQuestion
from bot.http.callers import is_loopback
from bot.http.request_checks import build_request_checks
from bot.ids import OPERATOR, ChoiceId, ConversationId, TurnId
from bot.surface.inbound import ButtonClick, Inbound, OperatorAudience, SearchSaveRequest, TextMessage
from bot.surface.replies import NoticePart, PictureKind, PicturePart, PicturePoint, Reply, TextPart
from bot.turns.turn_actions import TurnActor, TurnSteps

NOW = datetime(2031, 5, 4, 9, 30, tzinfo=UTC)
KEY = "a-conversation-key"


@dataclass
class ChatSite:
    """A running chat, and the messages that it stored."""

    address: str
    chat: WebChat
    accepted_inbounds: list[Inbound]
    session: ClientSession = field(repr=False)

    async def post_form(self, path: str = f"/?c={KEY}", *, origin: str | None = None, **fields: str) -> tuple[int, str]:
        headers = {"Origin": self.address if origin is None else origin, "Accept": "application/json"}
        async with self.session.post(self.address + path, data=fields, headers=headers) as response:
            return response.status, await response.text()

    async def get_page(self, path: str, **headers: str) -> tuple[int, str]:
        request_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.get(self.address + path, headers=request_headers) as response:
            return response.status, await response.text()


async def open_chat_site(folder: Path, token: str | None) -> AsyncGenerator[ChatSite]:
    stored: list[Inbound] = []

    async def accept(inbound: Inbound) -> None:
        if isinstance(inbound.body, TextMessage) and inbound.body.text == "refuse me":
            raise InvalidQuestion("That is no question.")
        stored.append(inbound)

    async def load_steps(turn: TurnId, actor: TurnActor) -> TurnSteps:
        if turn != "t1" or actor.conversation != f"web:{KEY}":
            raise AnswerNotFound()
        return TurnSteps(route="hybrid", reasoner="model", elapsed_ms=5.0, steps=(), reasoning_lines=("plan: 5.0 ms",))

    async def load_examples() -> list[str]:
        return ["How many <b>receipts</b> per vendor?", "How many contracts are there?"]

    chat = WebChat(
        accept=accept,
        load_steps=load_steps,
        load_examples=load_examples,
        transcript=WebTranscript(folder),
        guard=AccessGuard(token, keys=(b"key", b"old key"), clock=lambda: NOW),
        clock=lambda: NOW,
        max_characters=100,
        log=structlog.get_logger(),
    )
    app = web.Application(middlewares=[build_request_checks(structlog.get_logger())])
    app.add_routes(chat.http_routes())
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
        yield ChatSite(f"http://127.0.0.1:{runner.addresses[0][1]}", chat, stored, session)
    await chat.close()
    await runner.cleanup()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncGenerator[ChatSite]:
    async for opened_site in open_chat_site(tmp_path, None):
        yield opened_site


@pytest.fixture
async def guarded_site(tmp_path: Path) -> AsyncGenerator[ChatSite]:
    async for opened_site in open_chat_site(tmp_path, "open sesame"):
        yield opened_site


async def test_the_steps_of_an_answer_have_a_page_in_their_conversation(site: ChatSite, guarded_site: ChatSite) -> None:
    status, page = await site.get_page(f"/chat/steps?c={KEY}&turn=t1")

    assert (status, "plan: 5.0 ms" in page, "with a language model" in page) == (200, True, True)
    assert (await site.get_page(f"/chat/steps?c={KEY}&turn=t2"))[0] == 404
    assert (await site.get_page("/chat/steps?c=another-conversation&turn=t1"))[0] == 404
    assert (await site.get_page("/chat/steps?turn=t1"))[0] == 404
    assert (await guarded_site.get_page(f"/chat/steps?c={KEY}&turn=t1"))[0] == 401


async def test_a_posted_message_is_stored_as_the_operators_and_shown_after_a_reload(site: ChatSite) -> None:
    status, _ = await site.post_form(text="Is <b>this</b> safe?", time_zone="Europe/Oslo")

    assert status == 200
    (inbound,) = site.accepted_inbounds
    assert inbound.body == TextMessage("Is <b>this</b> safe?")
    assert (inbound.person, inbound.audience, inbound.time_zone) == (OPERATOR, OperatorAudience(), "Europe/Oslo")
    _, page = await site.get_page(f"/?c={KEY}")
    assert "Is &lt;b&gt;this&lt;/b&gt; safe?" in page


async def test_an_empty_page_has_examples_which_post_their_question(site: ChatSite) -> None:
    _, page = await site.get_page(f"/?c={KEY}")
    buttons = re.findall(r'<button type="submit" name="text" value="([^"]+)">', page)
    await site.post_form(text=unescape(buttons[0]))
    _, later_page = await site.get_page(f"/?c={KEY}")

    assert list(map(unescape, buttons)) == ["How many <b>receipts</b> per vendor?", "How many contracts are there?"]
    assert "<b>receipts</b>" not in page
    assert [inbound.body for inbound in site.accepted_inbounds] == [TextMessage("How many <b>receipts</b> per vendor?")]
    assert 'name="text" value=' not in later_page


async def test_a_form_sent_twice_is_shown_once_and_has_one_event_id(site: ChatSite) -> None:
    for _ in range(2):
        await site.post_form(text="Once only", event="an-event-of-the-page")

    _, page = await site.get_page(f"/?c={KEY}")
    assert page.count("Once only") == 1
    assert len({inbound.event_id for inbound in site.accepted_inbounds}) == 1


async def test_a_click_carries_the_id_alone(site: ChatSite) -> None:
    await site.post_form(choice="x1")

    assert [inbound.body for inbound in site.accepted_inbounds] == [ButtonClick(ChoiceId("x1"))]


async def test_a_press_of_save_carries_the_turn_alone(site: ChatSite) -> None:
    await site.post_form(save="t1")

    assert [inbound.body for inbound in site.accepted_inbounds] == [SearchSaveRequest(TurnId("t1"))]


async def test_without_scripts_a_posted_form_redirects_to_the_page(site: ChatSite) -> None:
    async with site.session.post(
        f"{site.address}/?c={KEY}", data={"text": "hello"}, headers={"Origin": site.address}
    ) as response:
        assert (response.status, response.url.query_string) == (200, f"c={KEY}")
        assert "hello" in await response.text()


@pytest.mark.parametrize(("text", "said"), [("  ", "no question"), ("a" * 101, "100 characters")])
async def test_an_invalid_question_is_refused_with_a_sentence(site: ChatSite, text: str, said: str) -> None:
    status, answer = await site.post_form(text=text)

    assert (status, site.accepted_inbounds) == (422, [])
    assert said in answer


async def test_a_refusal_by_the_bot_is_shown_in_the_conversation(site: ChatSite) -> None:
    assert (await site.post_form(text="refuse me"))[0] == 200

    _, page = await site.get_page(f"/?c={KEY}")
    assert "That is no question." in page


async def test_another_site_cannot_post(site: ChatSite) -> None:
    assert (await site.post_form(text="x", origin="https://evil.example"))[0] == 403
    assert (await site.post_form(text="x", origin="null"))[0] == 403
    assert (await site.post_form(text="x", origin=""))[0] == 403
    assert site.accepted_inbounds == []


async def test_requests_through_a_proxy_or_for_a_foreign_host_are_refused(site: ChatSite) -> None:
    assert (await site.get_page("/", Host="evil.example"))[0] == 403
    assert (await site.get_page("/", X_Forwarded_For="203.0.113.9"))[0] == 403
    assert (await site.get_page(f"/chat/events?c={KEY}", Host="evil.example"))[0] == 403


async def test_pages_forbid_foreign_scripts_and_frames(site: ChatSite) -> None:
    async with site.session.get(f"{site.address}/?c={KEY}") as response:
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


async def test_an_invalid_conversation_address_starts_a_new_conversation(site: ChatSite) -> None:
    async with site.session.get(f"{site.address}/?c=../../etc/passwd") as response:
        assert len(response.url.query["c"]) >= 16
    assert (await site.post_form("/?c=../../x", text="hello"))[0] == 400


async def test_a_page_receives_new_messages_as_events(site: ChatSite) -> None:
    async with site.session.get(f"{site.address}/chat/events?c={KEY}&after=0") as events:
        reply = Reply(turn=TurnId("t"), parts=(NoticePart(text="Here & now"),))
        await site.chat.outbox.thread_for(ConversationId(f"web:{KEY}"), {}).post_message(reply)

        lines = [(await events.content.readline()).decode() for _ in range(2)]

    assert lines[0] == "id: 1\n"
    assert "Here &amp; now" in lines[1]


async def test_a_page_that_is_closed_is_no_error(site: ChatSite, caplog: pytest.LogCaptureFixture) -> None:
    thread = site.chat.outbox.thread_for(ConversationId(f"web:{KEY}"), {})
    events = await site.session.get(f"{site.address}/chat/events?c={KEY}&after=0")
    events.close()

    for number in range(5):
        await thread.post_message(Reply(turn=TurnId(f"t{number}"), parts=(NoticePart(text="Here"),)))
        await asyncio.sleep(0.05)

    assert [record.message for record in caplog.records if "Error" in record.message] == []


async def test_a_message_is_found_by_its_turn_and_an_equal_update_changes_nothing(site: ChatSite) -> None:
    outbox, conversation = site.chat.outbox, ConversationId(f"web:{KEY}")
    reply = Reply(turn=TurnId("t"), parts=(NoticePart(text="one"),))
    message = await outbox.thread_for(conversation, {}).post_message(reply)
    _, page_before = await site.get_page(f"/?c={KEY}")

    await outbox.thread_for(conversation, {}).update_message(message, reply)

    assert await outbox.thread_for(conversation, {}).find_message(TurnId("t")) == message
    assert await outbox.thread_for(conversation, {}).find_message(TurnId("other")) is None
    _, page_after = await site.get_page(f"/?c={KEY}")
    assert 'data-revision="1"' in page_before
    assert 'data-revision="1"' in page_after


async def test_with_a_token_set_only_people_who_give_it_are_admitted(guarded_site: ChatSite) -> None:
    assert (await guarded_site.get_page("/"))[0] == 401
    assert (await guarded_site.post_form(text="hello"))[0] == 401
    assert (await guarded_site.post_form("/chat/token", token="guess"))[0] == 403
    assert (await guarded_site.post_form("/chat/token", token="open sesame", origin="https://evil.example"))[0] == 403
    assert (await guarded_site.get_page("/"))[0] == 401

    assert (await guarded_site.post_form("/chat/token", token="open sesame"))[0] == 200
    assert (await guarded_site.post_form(text="hello"))[0] == 200
    assert len(guarded_site.accepted_inbounds) == 1


@pytest.mark.parametrize(
    ("target", "address"), [("/admin", "/admin"), ("", "/"), ("https://evil.example/", "/"), ("//evil.example", "/")]
)
async def test_the_token_leads_to_the_page_that_asked_for_it_and_nowhere_else(
    guarded_site: ChatSite, target: str, address: str
) -> None:
    request = guarded_site.session.post(
        f"{guarded_site.address}/chat/token",
        data={"token": "open sesame", "target": target},
        headers={"Origin": guarded_site.address},
        allow_redirects=False,
    )
    async with request as response:
        assert (response.status, response.headers["Location"]) == (303, address)


async def test_tokens_can_be_guessed_a_few_times_only_and_signed_in_people_notice_nothing(
    guarded_site: ChatSite,
) -> None:
    assert (await guarded_site.post_form("/chat/token", token="open sesame"))[0] == 200
    guesses = [(await guarded_site.post_form("/chat/token", token=f"guess {number}"))[0] for number in range(12)]

    assert guesses == [403] * 10 + [429] * 2
    assert (await guarded_site.post_form("/chat/token", token="open sesame"))[0] == 429
    assert (await guarded_site.get_page("/"))[0] == 200


async def test_a_cookie_made_from_the_token_alone_admits_nobody(guarded_site: ChatSite) -> None:
    made = hmac.new(b"open sesame", b"parley web chat", hashlib.sha256).hexdigest()

    assert (await guarded_site.get_page("/", Cookie=f"{ACCESS_COOKIE}={made}"))[0] == 401


def test_a_cookie_signed_with_an_older_key_stays_valid() -> None:
    old = AccessGuard("open sesame", keys=(b"old",), clock=lambda: NOW)
    renewed = AccessGuard("open sesame", keys=(b"new", b"old"), clock=lambda: NOW)
    other_token = AccessGuard("another", keys=(b"new", b"old"), clock=lambda: NOW)
    request = make_mocked_request("GET", "/", {"Cookie": f"{ACCESS_COOKIE}={old.token_cookie_value()}"})

    assert [guard.admits_request(request) for guard in (old, renewed, other_token)] == [True, True, False]


async def test_a_file_where_a_text_is_expected_is_refused(site: ChatSite) -> None:
    form = FormData()
    form.add_field("text", b"hello", filename="a.txt")
    async with site.session.post(f"{site.address}/?c={KEY}", data=form, headers={"Origin": site.address}) as response:
        assert response.status == 415
    assert site.accepted_inbounds == []


@pytest.mark.parametrize("after", ["9" * 5_000, "٣", "-1", "x"])
async def test_an_odd_revision_begins_the_stream_anew(site: ChatSite, after: str) -> None:
    await site.post_form(text="hello")
    address = f"{site.address}/chat/events?c={KEY}"
    async with site.session.get(address, params={"after": after[:4_000]}) as events:
        assert (events.status, b"data" in await events.content.readuntil(b"data")) == (200, True)


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
def test_only_loopback_hosts_count_as_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def picture_of(value: float) -> PicturePart:
    points = tuple(PicturePoint(label=label, value=value, value_text="USD 3.00") for label in ("Acme & <Sons>", "B"))
    return PicturePart(
        kind=PictureKind.BARS, title="Sum, by vendor", points=points, description='Bars: "Acme" USD 3.00'
    )


async def show_picture(site: ChatSite, picture: PicturePart) -> str:
    """Appends a reply with the picture, and returns the picture's address on the page."""
    thread = site.chat.outbox.thread_for(ConversationId(f"web:{KEY}"), {})
    await thread.post_message(Reply(turn=TurnId("t1"), parts=(TextPart(markdown="By vendor:"), picture)))
    _, page = await site.get_page(f"/?c={KEY}")
    found = re.search(r'<img src="([^"]+)" alt="Bars: &quot;Acme&quot; USD 3.00" width="\d+" height="\d+"', page)
    assert found is not None
    return unescape(found[1])


async def test_a_picture_is_an_svg_of_its_conversation_alone(site: ChatSite, guarded_site: ChatSite) -> None:
    address = await show_picture(site, picture_of(3.0))

    status, svg = await site.get_page(address)
    _, dark_svg = await site.get_page(f"{address}&look=dark")
    assert (status, "Acme &amp; &lt;Sons&gt;" in svg, "USD 3.00" in svg) == (200, True, True)
    assert svg != dark_svg
    assert (await site.get_page(address.replace("part=1", "part=0")))[0] == 404
    assert (await site.get_page(address.replace("part=1", "part=9")))[0] == 404
    assert (await site.get_page(address.replace(KEY, "another-conversation")))[0] == 404
    assert (await guarded_site.get_page(address))[0] == 401


async def test_a_picture_that_cannot_be_drawn_leaves_its_alternative_text(site: ChatSite) -> None:
    address = await show_picture(site, picture_of(math.nan))

    assert (await site.get_page(address))[0] == 404
