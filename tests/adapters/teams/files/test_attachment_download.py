"""Files of personal chats: read from the attachments, and fetched from the addresses that Teams gives."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adapters.teams.files.attachment_download import TeamsFiles, attached_files_of, sealed_locations_of
from adapters.teams.files.file_hosts import FileHosts
from adapters.teams.payloads.activities import ActivityAttachment
from bot.ids import ConversationId, MessageId, PersonId
from bot.surface.attachments import FileUnavailable, split_readable
from bot.surface.inbound import AttachedFile, Inbound, PrivateAudience, TextMessage
from bot.surface.json_codec import inbound_from_row, inbound_to_row
from bot.surface.secret_sealing import SecretSeal

SEAL = SecretSeal([b"key"])
CONTENT = b"the rent is due on Monday"


@dataclass
class FileSite:
    """A host that answers with the next of `answers`, and records the requests."""

    origin: str = ""
    answers: list[Callable[[web.Request], Awaitable[web.StreamResponse]]] = field(
        default_factory=list[Callable[[web.Request], Awaitable[web.StreamResponse]]]
    )
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list[tuple[str, dict[str, str]]])
    methods: list[str] = field(default_factory=list[str])

    async def serve_request(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path_qs, dict(request.headers)))
        self.methods.append(request.method)
        if self.answers:
            return await self.answers.pop(0)(request)
        return web.Response(body=CONTENT, content_type="application/octet-stream")

    def plan_response(self, **fields: Any) -> None:
        async def respond(request: web.Request) -> web.StreamResponse:
            return web.Response(**fields)

        self.answers.append(respond)

    def plan_endless_content(self) -> None:
        async def respond(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            try:
                while True:
                    await response.write(b"x" * 65536)
            except ConnectionError:
                return response

        self.answers.append(respond)


@pytest.fixture
async def site() -> AsyncIterator[FileSite]:
    site, app = FileSite(), web.Application()
    app.router.add_route("*", "/{path:.*}", site.serve_request)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield site
    await runner.cleanup()


@pytest.fixture
def files(hosts: FileHosts) -> TeamsFiles:
    return TeamsFiles(hosts, SEAL)


def an_attachment(url: str, name: str = "lease.txt", **content: str) -> ActivityAttachment:
    return ActivityAttachment(
        content_type="application/vnd.microsoft.teams.file.download.info",
        content_url=f"https://contoso-my.sharepoint.example/{name}",
        name=name,
        content={"downloadUrl": url, "uniqueId": f"id of {name}", "fileType": name.rpartition(".")[2], **content},
    )


def inbound_with(*attachments: ActivityAttachment) -> Inbound:
    """As it is read from the database when its turn runs."""
    person = PersonId("teams:T:ada")
    inbound = Inbound(
        surface="teams",
        event_id="e1",
        conversation=ConversationId("teams:T:a"),
        message_id=MessageId("m1"),
        person=person,
        person_name="Ada",
        audience=PrivateAudience(person=person),
        body=TextMessage("when is the rent due?"),
        received_at=datetime(2031, 5, 9, 12, tzinfo=UTC),
        address=sealed_locations_of(attachments, SEAL),
        files=attached_files_of(attachments),
    )
    return inbound_from_row(inbound_to_row(inbound))


async def fetch_first_file(files: TeamsFiles, inbound: Inbound, folder: Path, max_bytes: int = 100) -> bytes:
    described = await files.describe_file(inbound, inbound.files[0])
    await files.fetch_file(inbound, described, folder / "content", max_bytes=max_bytes)
    return read_file(folder / "content")


def read_file(path: Path) -> bytes:
    return path.read_bytes()


async def refusal_of(files: TeamsFiles, inbound: Inbound, folder: Path) -> str:
    with pytest.raises(FileUnavailable) as caught:
        await fetch_first_file(files, inbound, folder)
    return caught.value.reason


def test_an_attached_file_has_its_name_kind_and_link() -> None:
    [file] = attached_files_of([an_attachment("https://files.example/1", "Lease 2031.PDF")])

    assert (file.name, file.kind) == ("Lease 2031.PDF", "pdf")
    assert file.link == "https://contoso-my.sharepoint.example/Lease 2031.PDF"


def test_an_edited_message_has_the_same_files_although_their_addresses_are_new() -> None:
    [first] = attached_files_of([an_attachment("https://files.example/1?tempauth=a")])
    [again] = attached_files_of([an_attachment("https://files.example/1?tempauth=b")])

    assert first.id == again.id
    assert attached_files_of([an_attachment("https://files.example/2", "other.txt")])[0].id != first.id


def test_pictures_are_named_as_unread_and_the_html_copy_of_a_message_is_no_file() -> None:
    attachments = [
        ActivityAttachment(content_type="image/*", content_url="https://smba.example/v3/attachments/1/views/original"),
        ActivityAttachment(content_type="text/html", content="<div>when?</div>"),
        an_attachment("https://files.example/1"),
    ]

    readable, skipped = split_readable(attached_files_of(attachments))

    assert [file.name for file in readable] == ["lease.txt"]
    assert skipped == ("",)


@pytest.mark.parametrize("content", [None, "x", [], {"downloadUrl": 7}, {"uniqueId": "1"}])
async def test_a_file_without_an_address_is_refused_with_a_reason(
    files: TeamsFiles, tmp_path: Path, content: Any
) -> None:
    attachment = an_attachment("").model_copy(update={"content": content})

    assert await refusal_of(files, inbound_with(attachment), tmp_path) == "its content is not where I can read it"


async def test_the_address_is_sealed_where_the_inbound_is_stored(files: TeamsFiles) -> None:
    inbound = inbound_with(an_attachment("https://files.example/1?tempauth=secret"))

    assert "files.example" not in repr(inbound_to_row(inbound))
    assert "secret" not in repr(inbound_to_row(inbound))


async def test_a_file_is_fetched_without_a_token(files: TeamsFiles, site: FileSite, tmp_path: Path) -> None:
    inbound = inbound_with(an_attachment(f"{site.origin}/lease?tempauth=x"))

    assert await fetch_first_file(files, inbound, tmp_path) == CONTENT
    assert {path for path, _ in site.requests} == {"/lease?tempauth=x"}
    assert not any("Authorization" in headers or "Cookie" in headers for _, headers in site.requests)


async def test_a_described_file_has_its_size(files: TeamsFiles, site: FileSite) -> None:
    inbound = inbound_with(an_attachment(f"{site.origin}/lease"))

    described = await files.describe_file(inbound, AttachedFile(id=inbound.files[0].id, name="lease.txt"))

    assert (described.file.kind, described.file.size) == ("txt", len(CONTENT))


async def test_a_file_is_fetched_once_and_its_size_asked_for_before(
    files: TeamsFiles, site: FileSite, tmp_path: Path
) -> None:
    await fetch_first_file(files, inbound_with(an_attachment(f"{site.origin}/lease")), tmp_path)

    assert site.methods == ["HEAD", "GET"]


async def test_a_host_that_does_not_tell_sizes_is_asked_for_the_content(
    files: TeamsFiles, site: FileSite, tmp_path: Path
) -> None:
    site.plan_response(status=405)

    assert await fetch_first_file(files, inbound_with(an_attachment(f"{site.origin}/1")), tmp_path) == CONTENT


@pytest.mark.parametrize("status", [401, 403, 404, 410])
async def test_an_expired_address_is_refused_with_advice(
    files: TeamsFiles, site: FileSite, tmp_path: Path, status: int
) -> None:
    site.plan_response(status=status)

    reason = await refusal_of(files, inbound_with(an_attachment(f"{site.origin}/1")), tmp_path)

    assert reason == "the link to it no longer works; attach it again"


async def test_a_login_page_is_not_the_content(files: TeamsFiles, site: FileSite, tmp_path: Path) -> None:
    site.plan_response(text="<form>Sign in</form>", content_type="text/html")

    reason = await refusal_of(files, inbound_with(an_attachment(f"{site.origin}/1", "page.html")), tmp_path)

    assert reason == "the link to it no longer works; attach it again"


async def test_a_page_that_is_a_download_is_the_content(files: TeamsFiles, site: FileSite, tmp_path: Path) -> None:
    for _ in range(2):
        site.plan_response(
            text="<p>rent</p>", content_type="text/html", headers={"Content-Disposition": "attachment; filename=p.html"}
        )

    inbound = inbound_with(an_attachment(f"{site.origin}/1", "p.html"))

    assert await fetch_first_file(files, inbound, tmp_path) == b"<p>rent</p>"


async def test_a_busy_host_is_asked_again_when_it_says(
    files: TeamsFiles, site: FileSite, tmp_path: Path, pauses: list[float]
) -> None:
    site.plan_response(status=429, headers={"Retry-After": "7"})
    site.plan_response(status=503)

    assert await fetch_first_file(files, inbound_with(an_attachment(f"{site.origin}/1")), tmp_path) == CONTENT
    assert pauses[0] == 7


async def test_a_host_that_stays_busy_or_asks_for_a_long_pause_is_given_up(
    files: TeamsFiles, site: FileSite, tmp_path: Path, pauses: list[float]
) -> None:
    inbound = inbound_with(an_attachment(f"{site.origin}/1"))
    for _ in range(3):
        site.plan_response(status=503)
    assert await refusal_of(files, inbound, tmp_path) == "Teams did not hand it over; attach it again a little later"
    site.plan_response(status=429, headers={"Retry-After": "3600"})
    assert await refusal_of(files, inbound, tmp_path) == "Teams did not hand it over; attach it again a little later"

    assert len(site.requests) == 4


async def test_content_that_does_not_end_is_cut_at_the_limit(files: TeamsFiles, site: FileSite, tmp_path: Path) -> None:
    inbound = inbound_with(an_attachment(f"{site.origin}/1"))
    described = await files.describe_file(inbound, inbound.files[0])
    site.plan_endless_content()

    with pytest.raises(FileUnavailable) as caught:
        await files.fetch_file(inbound, described, tmp_path / "content", max_bytes=1_000_000)

    assert "MB" in caught.value.reason
    assert (tmp_path / "content").stat().st_size <= 1_000_000


async def test_a_redirect_to_another_place_is_followed(files: TeamsFiles, site: FileSite, tmp_path: Path) -> None:
    for _ in range(2):
        site.plan_response(status=302, headers={"Location": "/moved"})
        site.plan_response(body=b"moved content")

    assert await fetch_first_file(files, inbound_with(an_attachment(f"{site.origin}/1")), tmp_path) == b"moved content"


@pytest.mark.parametrize(
    "target", ["http://files.example/1", "https://10.1.2.3/1", "https://[::ffff:10.0.0.1]/1", "file:///etc/passwd"]
)
async def test_a_redirect_into_the_private_network_is_not_followed(
    files: TeamsFiles, site: FileSite, tmp_path: Path, target: str
) -> None:
    site.plan_response(status=302, headers={"Location": target})

    reason = await refusal_of(files, inbound_with(an_attachment(f"{site.origin}/1")), tmp_path)

    assert reason == "its content is not where I can read it"


async def test_redirects_in_a_circle_come_to_an_end(files: TeamsFiles, site: FileSite, tmp_path: Path) -> None:
    for _ in range(9):
        site.plan_response(status=302, headers={"Location": "/1"})

    reason = await refusal_of(files, inbound_with(an_attachment(f"{site.origin}/1")), tmp_path)

    assert reason == "its content is not where I can read it"
    assert len(site.requests) == 4


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/1",
        "https://127.0.0.1:9/1",
        "https://localhost:9/1",
        "https://169.254.169.254/metadata",
        "https://[::1]:9/1",
        "https://user:secret@files.example/1",
        "https://files.example:99999/1",
        "https://",
        "ftp://files.example/1",
    ],
)
async def test_outside_of_tests_this_machine_and_the_private_network_are_not_called(tmp_path: Path, url: str) -> None:
    hosts = FileHosts()

    reason = await refusal_of(TeamsFiles(hosts, SEAL), inbound_with(an_attachment(url)), tmp_path)

    await hosts.close()
    assert reason == "its content is not where I can read it"


async def test_a_location_that_another_key_sealed_is_not_used(hosts: FileHosts, site: FileSite, tmp_path: Path) -> None:
    inbound = inbound_with(an_attachment(f"{site.origin}/1"))

    reason = await refusal_of(TeamsFiles(hosts, SecretSeal([b"another"])), inbound, tmp_path)

    assert (reason, site.requests) == ("its content is not where I can read it", [])
