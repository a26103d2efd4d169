"""The contract of `AttachmentSource`, for Slack, for Teams and for the fake in `tests/bot`."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from adapters.slack.app import SlackSurface
from adapters.teams.files.attachment_download import TeamsFiles, attached_files_of, sealed_locations_of
from adapters.teams.files.file_hosts import FileHosts
from adapters.teams.payloads.activities import ActivityAttachment
from bot.ids import ConversationId, MessageId, PersonId
from bot.surface.attachments import AttachmentSource, FileUnavailable
from bot.surface.inbound import AttachedFile, Inbound, PrivateAudience, TextMessage
from bot.surface.secret_sealing import SecretSeal
from tests.adapters.slack.conftest import ada, api, bob, bot, general, pauses, slack, surface
from tests.bot.attachments.test_attachments import InMemoryAttachmentSource
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import SlackMember
from tests.stand_ins.teams.conftest import teams
from tests.stand_ins.teams.server import TeamsServer

__all__ = ["ada", "api", "bob", "bot", "general", "pauses", "slack", "surface", "teams"]

CONTENT = b"twelve bytes"


class FileShelf(Protocol):
    """The files of a product, from which a test adds and deletes."""

    source: AttachmentSource
    address: dict[str, str]

    def add_file(self, name: str, content: bytes) -> AttachedFile: ...

    def delete_file(self, file: AttachedFile) -> None: ...


@dataclass
class FakeFileShelf:
    source: InMemoryAttachmentSource = field(default_factory=InMemoryAttachmentSource)
    address: dict[str, str] = field(default_factory=dict[str, str])

    def add_file(self, name: str, content: bytes) -> AttachedFile:
        self.source.contents[name] = content
        return AttachedFile(id=name, name=name, kind="txt")

    def delete_file(self, file: AttachedFile) -> None:
        del self.source.contents[file.id]


@dataclass
class SlackFileShelf:
    source: AttachmentSource
    server: SlackServer
    owner: SlackMember
    address: dict[str, str]

    def add_file(self, name: str, content: bytes) -> AttachedFile:
        stored = self.server.upload_file(self.owner, name, content)
        stored.channels.append(self.address["channel"])
        return AttachedFile(id=stored.id, name=name, kind="txt")

    def delete_file(self, file: AttachedFile) -> None:
        self.server.workspace.files[file.id].mode = "tombstone"


@dataclass
class TeamsFileShelf:
    source: AttachmentSource
    server: TeamsServer
    seal: SecretSeal
    address: dict[str, str] = field(default_factory=dict[str, str])
    keys: dict[str, str] = field(default_factory=dict[str, str])  # of the server's files, by the ids of attached files

    def add_file(self, name: str, content: bytes) -> AttachedFile:
        attachments = [ActivityAttachment.model_validate(self.server.upload_attachment(name, content, "text/plain"))]
        [file] = attached_files_of(attachments)
        self.address |= sealed_locations_of(attachments, self.seal)
        self.keys[file.id] = next(reversed(self.server.files.sent))
        return file

    def delete_file(self, file: AttachedFile) -> None:
        del self.server.files.sent[self.keys[file.id]]


@pytest.fixture
def fake_shelf() -> FakeFileShelf:
    return FakeFileShelf()


@pytest.fixture
def slack_shelf(slack: SlackServer, surface: SlackSurface, ada: SlackMember) -> SlackFileShelf:
    slack.scopes |= slack.optional_scopes
    return SlackFileShelf(surface.files, slack, ada, {"channel": slack.workspace.direct_channel_of(ada.id).id})


@pytest.fixture
async def teams_shelf(teams: TeamsServer) -> AsyncIterator[TeamsFileShelf]:
    hosts, seal = FileHosts(allows_loopback=True), SecretSeal([b"key"])
    yield TeamsFileShelf(TeamsFiles(hosts, seal), teams, seal)
    await hosts.close()


@pytest.fixture(params=["slack", "teams", "fake"])
def file_shelf(request: pytest.FixtureRequest) -> FileShelf:
    return request.getfixturevalue(f"{request.param}_shelf")


@pytest.fixture
def inbound(file_shelf: FileShelf) -> Inbound:
    person = PersonId("slack:T0PARLEY:U1ADA")
    return Inbound(
        surface="slack",
        event_id="e1",
        conversation=ConversationId("c1"),
        message_id=MessageId("m1"),
        person=person,
        person_name="Ada",
        audience=PrivateAudience(person=person, is_guest=False),
        body=TextMessage("which?"),
        received_at=datetime(2031, 5, 9, 12, tzinfo=UTC),
        address=file_shelf.address,
    )


async def test_a_described_file_keeps_its_id_and_has_its_present_name_and_kind(
    file_shelf: FileShelf, inbound: Inbound
) -> None:
    file = file_shelf.add_file("note.txt", CONTENT)

    described = await file_shelf.source.describe_file(inbound, replace(file, kind=""))

    assert (described.file.id, described.file.name, described.file.kind) == (file.id, "note.txt", "txt")


async def test_a_fetched_file_has_the_attached_content(file_shelf: FileShelf, inbound: Inbound, tmp_path: Path) -> None:
    described = await file_shelf.source.describe_file(inbound, file_shelf.add_file("note.txt", CONTENT))

    await file_shelf.source.fetch_file(inbound, described, tmp_path / "content", max_bytes=len(CONTENT))

    assert (tmp_path / "content").read_bytes() == CONTENT


async def test_content_larger_than_the_limit_is_refused(
    file_shelf: FileShelf, inbound: Inbound, tmp_path: Path
) -> None:
    described = await file_shelf.source.describe_file(inbound, file_shelf.add_file("note.txt", CONTENT))

    with pytest.raises(FileUnavailable) as caught:
        await file_shelf.source.fetch_file(inbound, described, tmp_path / "content", max_bytes=len(CONTENT) - 1)

    assert caught.value.reason


async def test_a_deleted_file_is_refused_with_a_reason(file_shelf: FileShelf, inbound: Inbound) -> None:
    file = file_shelf.add_file("note.txt", CONTENT)
    file_shelf.delete_file(file)

    with pytest.raises(FileUnavailable) as caught:
        await file_shelf.source.describe_file(inbound, file)

    assert caught.value.reason


async def test_a_file_in_a_missing_folder_is_an_operating_system_error(
    file_shelf: FileShelf, inbound: Inbound, tmp_path: Path
) -> None:
    described = await file_shelf.source.describe_file(inbound, file_shelf.add_file("note.txt", CONTENT))

    with pytest.raises(OSError, match="missing"):
        await file_shelf.source.fetch_file(inbound, described, tmp_path / "missing" / "content", max_bytes=len(CONTENT))
