"""The permission matrix of the admin page: no page tells anything of what is in a bucket that its visitor may not see.

An admin without a grant sees of the marked bucket what Home shows too: its id, its title and how many documents it has,
and so their sum; and the id of its source, when that was synced and what came of it. Nobody else sees any of it.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from aiohttp import ClientSession, CookieJar, web

from adapters.web.admin.endpoint import AdminSite
from bot.admin.admin_page.entrance import AdminEntrance
from bot.admin.sentences import describe_change
from bot.application import Application
from bot.http_server import build_web_app
from bot.ids import OPERATOR, PersonId, Subject
from bot.metrics.service_metrics import ServiceMetrics
from bot.web_search.web_pages import WEB_BUCKET
from tests.scenarios.matrix.marked_buckets import (
    DOCUMENTS,
    OPEN,
    RULES,
    SECRET,
    SOURCE,
    WEB_DOCUMENT,
    WEB_MARK,
    marks_in,
    open_matrix_home,
    shown_page_of,
)

ANN: Final = PersonId("local:ann")
SHOWN_IN_HOME: Final = {SECRET, str(DOCUMENTS), str(DOCUMENTS + RULES)}
READ_PATHS: Final = (
    "/admin",
    "/admin/bucket?b={b}",
    "/admin/documents?b={b}",
    "/admin/documents?b={b}&q=goshawkclause",
    "/admin/document?b={b}&id=kvdoc-001",
    "/admin/document?b=handbook&id=kvdoc-001",
    "/admin/review?b={b}",
    "/admin/schema?b={b}",
    "/admin/schema/entry?b={b}&f=harrierfirm",
    "/admin/schema/entry?b={b}&f=harrierfirm&title=x&edited=yes",
    "/admin/synonym?b={b}&field=harrierfirm&word=hawk&value=merlinworks",
    "/admin/synonym?b={b}&field=harrierfirm&word=hawk&value=wrong",
    "/admin/synonym/choose?b={b}&field=harrierfirm&word=hawk",
    "/admin/retention?b={b}",
    "/admin/retention?b={b}&field=harrierfirm&days=3",
    "/admin/retention?b={b}&field=@loaded&days=3",
    "/admin/grants",
    "/admin/admins",
    "/admin/limits",
    "/admin/sources",
    "/admin/report",
    "/admin/picture?name=buckets",
    "/admin/bucket?b={w}",
    "/admin/documents?b={w}",
    "/admin/document?b={w}&id={p}",
    "/admin/document?b=handbook&id={p}",
    "/admin/review?b={w}",
    "/admin/schema?b={w}",
    "/admin/schema/entry?b={w}",
    "/admin/retention?b={w}",
)
FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "/admin/synonym": {"b": SECRET, "field": "harrierfirm", "word": "hawk", "value": "lannerhaus"},
    "/admin/value": {"b": SECRET, "id": "kvdoc-001", "f": "harrierfirm", "text": "x", "decision": "correct"},
    "/admin/value/withdraw": {"b": SECRET, "id": "kvdoc-001", "f": "harrierfirm"},
    "/admin/schema/save": {"b": SECRET, "f": "harrierfirm", "title": "Known"},
    "/admin/retention": {"b": SECRET, "field": "@loaded", "days": "3", "version": ""},
    "/admin/retention/end": {"b": SECRET, "version": ""},
}
SOURCE_FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    f"/admin/source/{action}": {"source": SOURCE} for action in ("sync", "pause", "resume", "forget")
}
ACCESS_FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "/admin/grant": {"bucket": SECRET, "subject": "everyone"},
    "/admin/revoke": {"bucket": OPEN, "subject": f"user:{ANN}"},
    "/admin/admins/add": {"person": "local:bob"},
    "/admin/admins/remove": {"person": ANN},
    "/admin/limits": {"person_hour": "1"},
}
OWN_WORDS: Final = ("goshawkclause", "merlinworks", "harrierfirm", "kvdoc-001", "kvdoc")


@asynccontextmanager
async def open_matrix_site(bot: Application) -> AsyncGenerator[tuple[ClientSession, str]]:
    runner = web.AppRunner(build_web_app(bot, [AdminSite(bot)], ServiceMetrics()), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
            yield session, f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def enter_page(bot: Application, session: ClientSession, base: str) -> str:
    """Enter as Ann; returns the key of her forms."""
    entrance = AdminEntrance(administration=bot.administration, database=bot.database, settings=bot.settings)
    signed = (await entrance.create_link(ANN)).rpartition("/")[2]
    async with session.post(f"{base}/admin/enter/{signed}", headers={"Origin": base}) as response:
        assert response.status == 200
    async with session.get(f"{base}/admin/grants") as response:
        return (await response.text()).partition('name="form_key" value="')[2].partition('"')[0]


async def read_pages(session: ClientSession, base: str, headers: Mapping[str, str]) -> list[str]:
    """What every page tells, without the words that its address had."""
    told: list[str] = []
    for path in READ_PATHS:
        address = path.format(b=SECRET, w=quote(WEB_BUCKET, safe=""), p=quote(WEB_DOCUMENT, safe=""))
        async with session.get(base + address, headers=headers) as response:
            page = shown_page_of(response.headers, await response.text())
        for word in (word for word in OWN_WORDS if word in address):
            page = page.replace(word, "")
        told.append(page)
    return told


async def send_forms(
    session: ClientSession, base: str, key: str, forms: Mapping[str, Mapping[str, str]], told: list[str]
) -> dict[str, int]:
    """The statuses by path. What is told without a field of the sender's own is added to `told`."""
    statuses = dict[str, int]()
    for path, fields in forms.items():
        sent = {"form_key": key, **fields}
        async with session.post(base + path, data=sent, headers={"Origin": base}, allow_redirects=False) as response:
            statuses[path] = response.status
            told.append(f"{response.headers.get('Location', '')} {await response.text()}".replace("harrierfirm", ""))
    return statuses


@pytest.fixture
async def matrix_bot(tmp_path: Path) -> AsyncGenerator[Application]:
    async with open_matrix_home(tmp_path / "home") as bot:
        await bot.administration.add_admin(ANN, by=OPERATOR)
        await bot.administration.grant_bucket(OPEN, Subject(f"user:{ANN}"), by=OPERATOR)
        yield bot


async def test_who_is_not_in_sees_no_mark(matrix_bot: Application) -> None:
    async with open_matrix_site(matrix_bot) as (session, base):
        told = await read_pages(session, base, {"X-Forwarded-For": "203.0.113.9"})

    assert marks_in(told) == set()


async def test_who_is_no_longer_an_admin_changes_nothing_with_the_forms_of_before(matrix_bot: Application) -> None:
    administration = matrix_bot.administration
    await administration.add_admin(PersonId("local:cleo"), by=OPERATOR)
    async with open_matrix_site(matrix_bot) as (session, base):
        key = await enter_page(matrix_bot, session, base)
        await administration.remove_admin(ANN, by=OPERATOR)
        told = await read_pages(session, base, {})
        answers = await send_forms(session, base, key, {**ACCESS_FORMS, **SOURCE_FORMS, **FORMS}, told)

    assert marks_in(told) == set()
    assert set(answers.values()) == {403}
    [source] = await matrix_bot.sources.list_sources()
    assert (source.due_at, source.paused_at) == (None, None)
    assert [grant.bucket for bucket in await administration.list_buckets(OPERATOR) for grant in bucket.grants] == [OPEN]
    assert [admin.person for admin in await administration.list_admins(OPERATOR)] == ["local:cleo"]
    assert await administration.list_limits(OPERATOR) == {}


async def test_an_admin_without_a_grant_sees_what_home_shows_and_changes_nothing(matrix_bot: Application) -> None:
    async with open_matrix_site(matrix_bot) as (session, base):
        key = await enter_page(matrix_bot, session, base)
        told = await read_pages(session, base, {})
        answers = await send_forms(session, base, key, FORMS, told)

    assert marks_in(told) <= SHOWN_IN_HOME
    assert set(answers.values()) == {403}


async def test_an_admin_without_a_grant_steers_a_source_and_is_told_nothing_of_it(matrix_bot: Application) -> None:
    told: list[str] = []
    async with open_matrix_site(matrix_bot) as (session, base):
        key = await enter_page(matrix_bot, session, base)
        answers = await send_forms(session, base, key, SOURCE_FORMS, told)
        unknown = {"/admin/source/sync": {"source": "nothing"}}
        answers_of_unknown = await send_forms(session, base, key, unknown, told)
        for path in ("/admin/sources", "/admin", f"/admin/bucket?b={SECRET}"):
            async with session.get(base + path) as response:
                told.append(await response.text())
    told += [describe_change(change) for change in await matrix_bot.administration.list_changes(ANN, 50)]

    assert marks_in(told) <= SHOWN_IN_HOME
    assert list(answers.values()) == [303, 303, 303, 404]
    assert list(answers_of_unknown.values()) == [404]
    assert sum("only who may see the bucket reads why" in text for text in told) == 3


async def test_nobody_is_granted_the_pages_of_the_web(matrix_bot: Application) -> None:
    async with open_matrix_site(matrix_bot) as (session, base):
        key = await enter_page(matrix_bot, session, base)
        forms = {"/admin/grant": {"bucket": str(WEB_BUCKET), "subject": f"user:{ANN}"}}
        answers = await send_forms(session, base, key, forms, [])
        await matrix_bot.grants.grant_bucket_access(WEB_BUCKET, Subject(f"user:{ANN}"), by=OPERATOR)
        told = await read_pages(session, base, {})

    assert list(answers.values()) == [422]
    assert WEB_MARK not in marks_in(told)


async def test_a_grant_opens_the_bucket_and_its_end_closes_it(matrix_bot: Application) -> None:
    async with open_matrix_site(matrix_bot) as (session, base):
        await enter_page(matrix_bot, session, base)
        await matrix_bot.administration.grant_bucket(SECRET, Subject(f"user:{ANN}"), by=OPERATOR)
        with_grant = marks_in(await read_pages(session, base, {}))
        await matrix_bot.administration.revoke_grant(SECRET, Subject(f"user:{ANN}"), by=OPERATOR)
        without_grant = marks_in(await read_pages(session, base, {}))

    assert with_grant >= {"gyrfalcon", "harrierfirm", "lannerhaus", "siskinfolder"}
    assert without_grant <= SHOWN_IN_HOME


async def test_a_grant_opens_what_was_changed_in_the_bucket(matrix_bot: Application) -> None:
    await matrix_bot.administration.grant_bucket(SECRET, Subject(f"user:{ANN}"), by=OPERATOR)

    told = [describe_change(change) for change in await matrix_bot.administration.list_changes(ANN, 50)]

    assert marks_in(told) >= {"harrierfirm", "lannerhaus", "siskinfolder"}
