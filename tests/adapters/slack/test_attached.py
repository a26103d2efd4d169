"""What is special about files in Slack: scopes, shared channels, deleted files, and where the token is sent."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from tests.adapters.slack.attachment_desk import AttachmentDesk, a_desk
from tests.bot.conftest import running_workers
from tests.scenarios.attaching import LEASE, PDF
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER

RECEIPTS: Final = 24


@pytest.fixture
async def desk(slack: SlackServer, tmp_path: Path) -> AsyncIterator[AttachmentDesk]:
    async with a_desk(slack, tmp_path / "home") as desk:
        yield desk


async def test_without_the_scope_the_answer_says_that_an_admin_must_allow_it(desk: AttachmentDesk) -> None:
    desk.slack.scopes -= {"files:read"}

    answer = await desk.ask("How many receipts are there?", desk.upload_lease())

    assert "Harbour lease.pdf was not read: an admin of this workspace has to allow me" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()


async def test_unsupported_and_too_large_files_are_not_fetched(desk: AttachmentDesk) -> None:
    archive = desk.slack.upload_file(desk.ada, "all.zip", b"PK", "application/zip")
    large = desk.upload_lease()
    large.name, large.length = "large.pdf", 20 * 1024 * 1024 + 1

    answer = await desk.ask("How many receipts are there?", archive, large)

    assert "The attached all.zip and large.pdf were not read: I read PDF, Word" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()
    assert desk.slack.calls_of("files.info") == []


async def test_a_file_that_was_deleted_in_the_meantime_is_reported(slack: SlackServer, tmp_path: Path) -> None:
    async with a_desk(slack, tmp_path / "home", with_worker=False) as desk:
        lease, question = desk.upload_lease(), f"<@{BOT_USER}> How many receipts are there?"
        await slack.post_as_person(desk.ada, desk.general, question, files=[lease])
        lease.mode = "tombstone"
        async with running_workers(desk.bot):
            answer = await desk.answer_after(0)

    assert "Harbour lease.pdf was not read: it was deleted" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()


async def test_a_file_in_a_shared_channel_is_looked_up_by_its_id(desk: AttachmentDesk) -> None:
    desk.general.is_ext_shared = True

    answer = await desk.ask("What is the notice period?", desk.upload_lease())
    archive = await desk.ask("Hello?", desk.slack.upload_file(desk.ada, "all.zip", b"PK", "application/zip"))

    assert "Harbour lease.pdf, page 2" in answer.visible_text()
    assert "all.zip was not read: I have no reader for files of its kind" in archive.visible_text()


@pytest.mark.parametrize(
    "faults",
    [[Fault()], [Fault(status=503)], [Fault(status=429, retry_after=2)], [Fault(status=500), Fault()]],
    ids=["cut", "unavailable", "busy", "twice"],
)
async def test_a_failed_look_up_of_a_file_is_retried(desk: AttachmentDesk, faults: list[Fault]) -> None:
    desk.slack.plan_faults("files.info", *faults)

    answer = await desk.ask("What is the notice period?", desk.upload_lease())

    assert "eleven months" in answer.visible_text()


async def test_the_token_is_sent_only_to_slacks_own_hosts(desk: AttachmentDesk) -> None:
    lease = desk.upload_lease()
    tokens: list[str | None] = []

    async def elsewhere(request: web.Request) -> web.Response:
        tokens.append(request.headers.get("Authorization"))
        return web.Response(body=LEASE, content_type=PDF)

    async with serve_handler(elsewhere) as origin:
        lease.url = f"{origin}/lease.pdf"
        answer = await desk.ask("What is the notice period?", lease)

    assert tokens == []
    assert "Harbour lease.pdf was not read" in answer.visible_text()


async def test_a_redirect_to_another_host_is_not_followed(desk: AttachmentDesk) -> None:
    lease = desk.upload_lease()
    tokens: list[str | None] = []

    async def elsewhere(request: web.Request) -> web.Response:
        tokens.append(request.headers.get("Authorization"))
        return web.Response(body=LEASE, content_type=PDF)

    async with serve_handler(elsewhere) as origin:
        lease.redirect_url = f"{origin}/lease.pdf"
        answer = await desk.ask("What is the notice period?", lease)

    assert tokens == []
    assert "Harbour lease.pdf was not read" in answer.visible_text()


async def test_a_file_larger_than_announced_is_not_read(desk: AttachmentDesk) -> None:
    large = desk.slack.upload_file(desk.ada, "large.txt", b"x" * (20 * 1024 * 1024 + 1))
    large.length = 100

    answer = await desk.ask("How many receipts are there?", large)

    assert "large.txt was not read: it has over 20 MB" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()


@asynccontextmanager
async def serve_handler(handler: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_get("/{rest:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
