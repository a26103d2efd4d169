"""A folder of a real mail server as a source: what is fetched, what counts as deleted, which connections are made."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pydantic import SecretStr

from storage.ingest.errors import SourceUnavailable
from storage.ingest.sources.addresses import is_any_address
from storage.ingest.sources.mail import mailbox_source
from storage.ingest.sources.mail.mail_connection import MailAddress, MailConnection, MailRefused
from storage.ingest.sources.mail.mailbox_source import MailboxSource, open_mailbox
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.source import (
    ClosedItem,
    FetchedItem,
    FetchFailure,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
    VanishedItem,
)
from storage.search.ids import Subject
from storage.search.subjects import NOBODY, email_subject_for
from tests.servers.dovecot import COLLEAGUE, MAIL_PASSWORD, MAIL_USER, MailServer
from tests.stand_ins.cut_connection import relay_connections
from tests.stand_ins.mail_folder import MailFolder, open_mail_folder


class ReconnectionPauses(list[float]):
    """A fake sleep function that records the requested pauses and does not wait."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def box(plain_dovecot: MailServer) -> Iterator[MailFolder]:
    with open_mail_folder(plain_dovecot) as folder:
        yield folder


def address_of(box: MailFolder, port: int, *, uses_tls: bool = False) -> MailAddress:
    return MailAddress(host="localhost", port=port, uses_tls=uses_tls, user=MAIL_USER, folder=box.name)


@asynccontextmanager
async def open_source(
    address: MailAddress, *, password: str = MAIL_PASSWORD, allow_private: bool = True
) -> AsyncGenerator[MailboxSource]:
    async with open_mailbox(
        address, SecretStr(password), allow_private=allow_private, sleep=ReconnectionPauses()
    ) as source:
        yield source


async def list_items(address: MailAddress) -> list[SourceItem]:
    async with open_source(address) as source:
        return [item async for item in source.list_items()]


async def refusal_of(address: MailAddress, *, password: str = MAIL_PASSWORD, allow_private: bool = True) -> str:
    with pytest.raises(SourceUnavailable) as caught:
        async with open_source(address, password=password, allow_private=allow_private):
            pass
    return caught.value.reason


# -- listing and fetching


async def test_each_mail_is_an_item_whose_version_never_changes(box: MailFolder, plain_dovecot: MailServer) -> None:
    box.add_mail("first")
    box.add_mail("second")

    first, second = await list_items(address_of(box, plain_dovecot.port)), box
    second.add_mail("third")
    later = await list_items(address_of(box, plain_dovecot.port))

    assert [item.id for item in first] == ["1", "2"]
    assert later[:2] == first
    assert later[2].location == f"imap://localhost/{box.name}/;UID=3"


async def test_a_mail_is_fetched_whole_and_stays_unread(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    box.add_mail("Pump 7", "It leaks.")

    async with open_source(address_of(box, plain_dovecot.port)) as source:
        [item] = [item async for item in source.list_items()]
        fetched = await source.fetch_item(item, "", tmp_path)
        assert isinstance(fetched, FetchedItem)
        again = await source.fetch_item(item, fetched.cursor, tmp_path)

    assert "It leaks." in fetched.path.read_text()
    assert (fetched.path.suffix, fetched.version) == (".eml", item.version)
    assert again == UnchangedItem(version=item.version, cursor=fetched.cursor)
    assert not any(b"Seen" in flags for flags in box.list_flags())


async def test_mails_marked_as_deleted_are_not_listed(box: MailFolder, plain_dovecot: MailServer) -> None:
    box.add_mail("kept")
    box.add_mail("deleted")

    box.mark_deleted(2)

    assert [item.id for item in await list_items(address_of(box, plain_dovecot.port))] == ["1"]


async def test_a_mail_expunged_after_the_listing_has_vanished(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    box.add_mail("kept")
    box.add_mail("gone soon")

    async with open_source(address_of(box, plain_dovecot.port)) as source:
        items = [item async for item in source.list_items()]
        await asyncio.to_thread(box.expunge, 2)
        source.close()  # the next command sees the folder as it is now

        assert await source.fetch_item(items[1], "", tmp_path) == VanishedItem()


async def test_another_uidvalidity_gives_all_mails_another_version(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    box.add_mail("the same")
    async with open_source(address_of(box, plain_dovecot.port)) as source:
        [old_item] = [item async for item in source.list_items()]
        fetched = await source.fetch_item(old_item, "", tmp_path)
        assert isinstance(fetched, FetchedItem)

        await asyncio.to_thread(box.make_again)
        await asyncio.to_thread(box.add_mail, "another")
        source.close()
        stale = await source.fetch_item(old_item, fetched.cursor, tmp_path)

    [new_item] = await list_items(address_of(box, plain_dovecot.port))
    assert stale == FetchFailure(reason="the server has numbered its mails anew since they were listed")
    assert (new_item.id, new_item.version != old_item.version) == ("1", True)


async def test_a_mail_that_is_too_large_is_passed_over_unfetched(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox_source, "_MAX_MAIL_BYTES", 1024 * 1024)
    box.add_mail("large", "word " * 300_000)

    async with open_source(address_of(box, plain_dovecot.port)) as source:
        [item] = [item async for item in source.list_items()]
        result = await source.fetch_item(item, "", tmp_path)

    assert result == UnsupportedItem(reason="it is larger than 1 MB", version=item.version, cursor="")


async def test_more_mails_than_one_command_lists_are_all_listed(
    box: MailFolder, plain_dovecot: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.ingest.sources.mail.mail_connection._LIST_BATCH", 3)
    for number in range(8):
        box.add_mail(f"mail {number}")

    items = await list_items(address_of(box, plain_dovecot.port))

    assert [item.id for item in items] == [str(number) for number in range(1, 9)]


# -- failures


async def test_a_cut_connection_is_opened_again_after_growing_pauses(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    box.add_mail("long", "word " * 20_000)
    pauses = ReconnectionPauses()
    async with relay_connections(plain_dovecot.port) as relay:
        address = address_of(box, relay.port)
        async with open_mailbox(address, SecretStr(MAIL_PASSWORD), allow_private=True, sleep=pauses) as source:
            [item] = [item async for item in source.list_items()]
            relay.remaining_bytes, relay.cuts_left = 10_000, 2

            fetched = await source.fetch_item(item, "", tmp_path)

    assert isinstance(fetched, FetchedItem)
    assert relay.connection_count == 4
    assert [0.5 * 2**n <= pause <= 1.5 * 2**n for n, pause in enumerate(pauses)] == [True] * 3


async def test_a_server_that_stays_away_fails_the_item_and_not_the_sync(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    box.add_mail("long", "word " * 20_000)
    async with relay_connections(plain_dovecot.port) as relay, open_source(address_of(box, relay.port)) as source:
        [item] = [item async for item in source.list_items()]
        relay.remaining_bytes, relay.cuts_left = 10_000, 100

        result = await source.fetch_item(item, "", tmp_path)

    assert isinstance(result, FetchFailure)
    assert "mail server" in result.reason


async def test_a_wrong_password_is_refused_at_once_in_a_sentence_without_it(
    box: MailFolder, plain_dovecot: MailServer
) -> None:
    async with relay_connections(plain_dovecot.port) as relay:
        reason = await refusal_of(address_of(box, relay.port), password="wrong secret")

    assert reason == "the mail server refuses the user or the password"
    assert relay.connection_count == 1


async def test_a_folder_that_is_not_there_is_named(box: MailFolder, plain_dovecot: MailServer) -> None:
    reason = await refusal_of(replace(address_of(box, plain_dovecot.port), folder="Rechnungen/Über 5"))

    assert reason == "there is no mail folder 'Rechnungen/Über 5' that the user may read"


async def test_a_host_without_a_mail_server_is_reported(box: MailFolder, plain_dovecot: MailServer) -> None:
    async with relay_connections(plain_dovecot.port) as relay:
        port = relay.port

    assert "cannot be reached" in await refusal_of(address_of(box, port))


# -- encryption and addresses


async def test_a_private_address_is_refused_unless_it_is_allowed(box: MailFolder, plain_dovecot: MailServer) -> None:
    async with relay_connections(plain_dovecot.port) as relay:
        reason = await refusal_of(address_of(box, relay.port), allow_private=False)

    assert "private network" in reason
    assert relay.connection_count == 0


async def test_no_password_is_sent_in_plain_text_to_a_public_address(
    box: MailFolder, plain_dovecot: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.ingest.sources.mail.mail_connection.is_public_address", is_any_address)

    assert "offers no encryption" in await refusal_of(address_of(box, plain_dovecot.port), allow_private=True)


@pytest.mark.parametrize("uses_tls", [True, False])
async def test_a_connection_is_encrypted_by_tls_from_the_start_or_by_starttls(
    uses_tls: bool, dovecot: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(dovecot.authority))
    port = dovecot.tls_port if uses_tls else dovecot.port
    address = MailAddress(host="localhost", port=port, uses_tls=uses_tls, user=MAIL_USER, folder="INBOX")

    assert await list_items(address) == []  # this server takes no password without encryption


@pytest.mark.parametrize("uses_tls", [True, False])
async def test_a_certificate_that_nobody_vouches_for_is_refused(uses_tls: bool, dovecot: MailServer) -> None:
    port = dovecot.tls_port if uses_tls else dovecot.port
    address = MailAddress(host="localhost", port=port, uses_tls=uses_tls, user=MAIL_USER, folder="INBOX")

    assert "certificate of the mail server is not valid" in await refusal_of(address)


# -- who may read the folder

MARA, OLA, TESS = (Subject(f"user:slack:T1:{name}") for name in ("MARA", "OLA", "TESS"))
PRINCIPALS = {MAIL_USER: MARA, "ola": OLA, "tess": TESS, "$sales": Subject("group:sales")}


async def sync_readers(
    box: MailFolder, server: MailServer, cursor: str = "", *, user: str = MAIL_USER
) -> tuple[SourceItem, FetchedItem | UnchangedItem | ClosedItem]:
    """The first item, and what fetching it gives, with the names of `PRINCIPALS`."""
    address = address_of(box, server.port)
    if user != MAIL_USER:
        address = replace(address, user=user, folder=f"shared/{MAIL_USER}/{box.name}")
    async with open_mailbox(
        address,
        SecretStr(MAIL_PASSWORD),
        allow_private=True,
        principals=PrincipalMapping(PRINCIPALS),
        sleep=ReconnectionPauses(),
    ) as source:
        [item, *_] = [listed async for listed in source.list_items()]
        with TemporaryDirectory() as folder:
            fetched = await source.fetch_item(item, cursor, Path(folder))
    assert isinstance(fetched, FetchedItem | UnchangedItem | ClosedItem)
    return item, fetched


async def readers_of(box: MailFolder, server: MailServer) -> frozenset[Subject]:
    _, fetched = await sync_readers(box, server)
    assert isinstance(fetched, FetchedItem)
    return fetched.readers


async def test_mails_are_read_by_those_whom_the_access_list_of_their_folder_lets_read(
    box: MailFolder, plain_dovecot: MailServer
) -> None:
    box.add_mail("first")
    box.allow("ola", "lr")
    box.allow("tess", "l")  # sees that the folder is there
    box.allow("$sales", "lrs")

    _, fetched = await sync_readers(box, plain_dovecot)

    assert isinstance(fetched, FetchedItem)
    assert fetched.readers == {MARA, OLA, Subject("group:sales")}


async def test_whom_nobody_here_knows_counts_as_nobody_and_is_named(box: MailFolder, plain_dovecot: MailServer) -> None:
    box.add_mail("first")
    box.allow(COLLEAGUE, "lr")  # an address stands for whoever has it
    box.allow("lee", "lr")
    box.allow("anyone", "lr")

    _, fetched = await sync_readers(box, plain_dovecot)

    assert isinstance(fetched, FetchedItem)
    assert fetched.readers == {MARA, email_subject_for(COLLEAGUE)}
    assert set(fetched.remarks) == {
        f"{name} may read the folder there and is nobody here; --principal {name}=SUBJECT says who"
        for name in ("lee", "anyone")
    }


async def test_a_denial_wins_where_it_can_be_expressed_and_closes_the_folder_else(
    box: MailFolder, plain_dovecot: MailServer
) -> None:
    box.add_mail("first")
    box.allow("ola", "lr")
    box.allow("tess", "lr")
    box.allow("-tess", "r")
    without_tess = await readers_of(box, plain_dovecot)
    box.allow("$sales", "lr")  # tess may be one of them

    assert without_tess == {MARA, OLA}
    assert await readers_of(box, plain_dovecot) == {NOBODY}


async def test_a_changed_list_reads_a_mail_again_that_is_the_same(box: MailFolder, plain_dovecot: MailServer) -> None:
    box.add_mail("first")
    box.allow("ola", "lr")
    first_item, first = await sync_readers(box, plain_dovecot)
    assert isinstance(first, FetchedItem)

    _, unchanged = await sync_readers(box, plain_dovecot, first.cursor)
    box.allow("ola", "")
    changed_item, changed = await sync_readers(box, plain_dovecot, first.cursor)

    assert isinstance(unchanged, UnchangedItem)
    assert changed_item.version != first_item.version
    assert isinstance(changed, FetchedItem)
    assert changed.has_other_readers
    assert OLA not in changed.readers


async def test_a_list_that_may_not_be_read_closes_the_mails(box: MailFolder, plain_dovecot: MailServer) -> None:
    box.add_mail("first")
    box.allow(COLLEAGUE, "lr")  # and not to administer the folder

    item, fetched = await sync_readers(box, plain_dovecot, user=COLLEAGUE)
    box.allow(COLLEAGUE, "lra")
    _, opened = await sync_readers(box, plain_dovecot, user=COLLEAGUE)

    assert isinstance(fetched, ClosedItem)
    assert fetched.reason == (
        "who may read it cannot be found out, so nobody reads it: the user may not see the access list of the folder;"
        " it needs the right to administer it (a)"
    )
    assert item.version == ""
    assert isinstance(opened, FetchedItem)
    assert opened.readers == {email_subject_for(COLLEAGUE)}


async def test_a_server_without_access_lists_says_so(dovecot: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(dovecot.authority))
    address = MailAddress(host="localhost", port=dovecot.tls_port, uses_tls=True, user=MAIL_USER, folder="INBOX")

    def load_access_list() -> None:
        connection = MailConnection.open_folder(address, SecretStr(MAIL_PASSWORD), allow_private=True)
        with contextlib.closing(connection):
            connection.load_access_list("INBOX")

    with pytest.raises(MailRefused, match="does not tell who may read a folder"):
        await asyncio.to_thread(load_access_list)
