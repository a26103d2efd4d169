"""`parley source` with mail folders, list interfaces and Confluence, run as a process."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ProcessResult, run_parley
from tests.servers.dovecot import MAIL_PASSWORD, MAIL_USER, MailServer
from tests.stand_ins.cut_connection import relay_connections
from tests.stand_ins.list_interface import (
    CONFLUENCE_TOKEN,
    CONFLUENCE_USER,
    LIST_TOKEN,
    ConfluencePage,
    ListInterface,
    serve_confluence,
    serve_list_interface,
)
from tests.stand_ins.mail_folder import MailFolder, open_mail_folder

REST_PATHS = ("--items", "$.results", "--id", "$.id", "--text", "$.body", "--title", "$.title")


@pytest.fixture
def box(plain_dovecot: MailServer) -> Iterator[MailFolder]:
    with open_mail_folder(plain_dovecot) as folder:
        yield folder


def mail_url(box: MailFolder, port: int) -> str:
    return f"imap://{MAIL_USER.replace('@', '%40')}@127.0.0.1:{port}/{box.name}"


async def run_program(home: Path, *words: str, **more: str) -> ProcessResult:
    return await asyncio.to_thread(run_parley, home, *words, **more)


async def sync_sources(home: Path, *words: str) -> dict[str, Any]:
    [result] = (await run_program(home, "source", "sync", "--json", *words)).json
    return result


async def add_rest_source(home: Path, interface: ListInterface, *words: str) -> ProcessResult:
    options = ("--bucket", "notes", "--allow-private", "--secret-env", "LIST_SECRET", *words)
    url = f"{interface.url}/items"
    return await run_program(home, "source", "add", "rest", url, *REST_PATHS, *options, LIST_SECRET=LIST_TOKEN)


async def list_documents(home: Path, bucket: str) -> list[str]:
    asked = await run_program(home, "ask", "list all documents", "--bucket", bucket, "--json")
    return sorted(str(row) for row in asked.json["rows"])


# -- mail


def test_a_mail_folder_is_added_synced_changed_and_swept(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    for number in range(10):
        box.add_mail(f"Pump {number}", f"The pump {number} leaks.")
    url = mail_url(box, plain_dovecot.port)

    added = run_parley(
        tmp_path, "source", "add", url, "--bucket", "mails", "--allow-private", "--secret-env", "BOX", BOX=MAIL_PASSWORD
    )
    [first] = run_parley(tmp_path, "source", "sync", "--json").json
    box.add_mail("Valve", "The valve is stuck.")
    box.expunge(3)
    [second] = run_parley(tmp_path, "source", "sync", "--json").json

    assert added.status == 0, added.stderr
    assert (first["outcome"], first["added"]) == ("done", 10)
    assert (second["added"], second["deleted"], second["unchanged"]) == (1, 1, 9)
    answer = run_parley(tmp_path, "ask", "stuck valve", "--bucket", "mails", "--json").json
    assert answer["hits"][0]["doc_id"].endswith(":11")
    [listed] = run_parley(tmp_path, "source", "list", "--json").json
    assert (listed["kind"], listed["location"], listed["documents"]) == ("imap", url, 10)
    assert MAIL_PASSWORD not in (tmp_path / "parley.db").read_bytes().decode("latin-1")


def test_most_mails_expunged_at_once_are_kept_until_it_is_confirmed(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    for number in range(5):
        box.add_mail(f"Pump {number}")
    url = mail_url(box, plain_dovecot.port)
    options = ("--bucket", "mails", "--allow-private", "--secret-env", "BOX")
    run_parley(tmp_path, "source", "add", url, *options, BOX=MAIL_PASSWORD)
    run_parley(tmp_path, "source", "sync")
    box.expunge(1, 2, 3)

    refused = run_parley(tmp_path, "source", "sync")
    [confirmed] = run_parley(tmp_path, "source", "sync", "--sweep-anyway", "--json").json

    assert (refused.status, "3 of its 5 documents" in refused.stderr) == (1, True)
    assert confirmed["deleted"] == 3


def test_a_folder_made_again_is_loaded_again_without_duplicates(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    box.add_mail("The same", "stays")
    box.add_mail("Old", "about tires")
    options = ("--bucket", "mails", "--allow-private", "--secret-env", "BOX")
    run_parley(tmp_path, "source", "add", mail_url(box, plain_dovecot.port), *options, BOX=MAIL_PASSWORD)
    run_parley(tmp_path, "source", "sync")

    box.make_again()
    box.add_mail("New", "about brakes")
    box.add_mail("Newer", "about belts")
    [synced] = run_parley(tmp_path, "source", "sync", "--json").json

    assert (synced["replaced"], synced["deleted"], synced["unchanged"]) == (2, 0, 0)
    assert run_parley(tmp_path, "source", "list", "--json").json[0]["documents"] == 2


async def test_a_sync_that_lost_its_server_goes_on_with_the_mails_that_it_lacks(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    for number in range(4):
        box.add_mail(f"Pump {number}", "word " * 4_000)
    async with relay_connections(plain_dovecot.port) as relay:
        options = ("--bucket", "mails", "--allow-private", "--secret-env", "BOX")
        url = mail_url(box, relay.port)
        await run_program(tmp_path, "source", "add", url, *options, BOX=MAIL_PASSWORD)
        relay.remaining_bytes, relay.cuts_left = 50_000, 1_000

        interrupted = await sync_sources(tmp_path)
        relay.remaining_bytes = None
        resumed = await sync_sources(tmp_path)

    assert (interrupted["outcome"], interrupted["added"] + interrupted["failed"]) == ("incomplete", 4)
    assert interrupted["added"] >= 1
    assert (resumed["outcome"], resumed["unchanged"]) == ("done", interrupted["added"])
    assert resumed["added"] == interrupted["failed"]


def test_a_wrong_password_is_one_sentence_without_it(
    box: MailFolder, plain_dovecot: MailServer, tmp_path: Path
) -> None:
    options = ("--bucket", "mails", "--allow-private", "--secret-env", "BOX")
    run_parley(tmp_path, "source", "add", mail_url(box, plain_dovecot.port), *options, BOX="wrong secret")

    refused = run_parley(tmp_path, "source", "sync")
    [listed] = run_parley(tmp_path, "source", "list", "--json").json
    replaced = run_parley(tmp_path, "source", "secret", listed["id"], "--secret-env", "BOX", BOX=MAIL_PASSWORD)

    assert refused.status == 1
    assert refused.stderr.splitlines() == [f"parley: {listed['id']}: the mail server refuses the user or the password"]
    assert replaced.status == 0
    assert run_parley(tmp_path, "source", "sync").status == 0


# -- list interfaces


async def test_a_list_is_added_synced_changed_and_swept(tmp_path: Path) -> None:
    async with serve_list_interface() as interface:
        interface.items = {f"n{n}": {"title": f"Note {n}", "body": f"About tires {n}."} for n in range(10)}
        added = await add_rest_source(tmp_path, interface)
        first = await sync_sources(tmp_path)
        interface.items["n1"]["body"] = "About brakes."
        del interface.items["n2"]
        second = await sync_sources(tmp_path)
        interface.broken_after = 4
        incomplete = await sync_sources(tmp_path, "--sweep-anyway")

        assert added.status == 0, added.stderr
        assert (first["outcome"], first["added"]) == ("done", 10)
        assert (second["replaced"], second["deleted"], second["unchanged"]) == (1, 1, 8)
        assert (incomplete["outcome"], incomplete["deleted"]) == ("incomplete", 0)
        answer = await run_program(tmp_path, "ask", "brakes", "--bucket", "notes", "--json")
        assert answer.json["hits"][0]["doc_id"] == "127.0.0.1:n1"


async def test_an_answer_shows_and_counts_only_the_documents_of_the_reader(tmp_path: Path) -> None:
    async with serve_list_interface() as interface:
        readers = [["user:local:mara"], ["user:local:mara", "user:local:ola"], ["staff"], ["strangers"], []]
        interface.items = {
            f"n{n}": {"title": f"Salary {n}", "body": f"The salary of person {n}.", "readers": names}
            for n, names in enumerate(readers)
        }
        words = ("--readers", "$.readers", "--principal", "staff=everyone")
        assert (await add_rest_source(tmp_path, interface, *words)).status == 0
        assert (await sync_sources(tmp_path))["added"] == 5
        await run_program(tmp_path, "grant", "notes", "everyone")

        counts = {
            person: (await run_program(tmp_path, "ask", "how many documents", "--as", person, "--json")).json
            for person in ("mara", "ola", "ann")
        }

        interface.items["n2"]["readers"] = ["strangers"]
        await sync_sources(tmp_path)
        later = (await run_program(tmp_path, "ask", "how many documents", "--as", "ann", "--json")).json

    assert {person: answer["count"] for person, answer in counts.items()} == {"mara": 3, "ola": 2, "ann": 1}
    assert later["count"] == 0


# -- Confluence


async def test_pages_of_confluence_are_read_by_those_whom_their_restrictions_name(tmp_path: Path) -> None:
    async with serve_confluence() as wiki:
        wiki.pages["HR"] = {
            "1": ConfluencePage(title="Leave", body="<p>30 days of leave.</p>"),
            "2": ConfluencePage(title="Salaries", body="<p>What directors earn.</p>", groups=("directors",)),
            "3": ConfluencePage(title="Bonus", body="<p>The bonus of directors.</p>", parent="2"),
            "4": ConfluencePage(title="Merger", body="<p>The merger.</p>", groups=("strangers",)),
        }
        options = ("--space", "HR", "--user", CONFLUENCE_USER, "--principal", "group:directors=user:local:mara")
        secret = ("--allow-private", "--secret-env", "WIKI")
        added = await run_program(
            tmp_path,
            "source",
            "add",
            "confluence",
            wiki.url,
            "--bucket",
            "hr",
            *options,
            *secret,
            WIKI=CONFLUENCE_TOKEN,
        )
        first = await sync_sources(tmp_path)
        await run_program(tmp_path, "grant", "hr", "everyone")
        counts = [
            (await run_program(tmp_path, "ask", "how many documents", "--as", person, "--json")).json["count"]
            for person in ("mara", "ola")
        ]
        hidden = await run_program(tmp_path, "ask", "merger", "--as", "mara", "--json")
        wiki.pages["HR"]["1"] = ConfluencePage(title="Leave", body="<p>31 days of leave.</p>", version=2)
        del wiki.pages["HR"]["4"]
        second = await sync_sources(tmp_path, "--sweep-anyway")

    assert added.status == 0, added.stderr
    assert (first["outcome"], first["added"]) == ("done", 4)
    assert counts == [3, 1]
    assert "Merger" not in hidden.stdout
    assert (second["replaced"], second["deleted"], second["unchanged"]) == (1, 1, 2)
