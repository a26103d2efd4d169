"""`parley source`, run as a process."""

import asyncio
import sqlite3
import sys
from asyncio.subprocess import DEVNULL
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import ProcessResult, environment_for, run_parley
from tests.servers.file_stores import SECRET, USER, ObjectStoreServer
from tests.stand_ins.site import PageResponse, serve_web_site


def write_ten_notes(folder: Path) -> Path:
    folder.mkdir()
    for number in range(10):
        (folder / f"n{number}.txt").write_text(f"note number {number}")
    return folder


def test_a_folder_is_added_synced_listed_and_removed(tmp_path: Path) -> None:
    folder, home = write_ten_notes(tmp_path / "notes"), tmp_path / "home"

    added = run_parley(home, "source", "add", "folder", str(folder), "--bucket", "b", "--every", "90m")
    first_sync = run_parley(home, "source", "sync")
    (folder / "n0.txt").unlink()
    (folder / "n1.txt").write_text("another text")
    second_results = run_parley(home, "source", "sync", "notes", "--json").json

    assert (added.status, "every 90m" in added.stdout, "parley source sync notes" in added.stdout) == (0, True, True)
    assert (first_sync.status, "added 10" in first_sync.stdout) == (0, True)
    assert [
        (result["replaced"], result["deleted"], result["unchanged"], result["problem"]) for result in second_results
    ] == [(1, 1, 8, None)]
    [listed] = run_parley(home, "source", "list", "--json").json
    assert (listed["id"], listed["location"], listed["every_s"]) == ("notes", str(folder), 5400)
    assert (listed["documents"], listed["outcome"]) == (9, "done")
    assert run_parley(home, "source", "remove", "notes").stdout == "removed notes; 9 documents deleted\n"


def test_deleting_a_bucket_deletes_its_sources_grants_and_schema_file(tmp_path: Path) -> None:
    home, table = tmp_path / "home", tmp_path / "notes" / "prices.csv"
    for name in ("notes", "kept"):
        run_parley(
            home,
            "source",
            "add",
            "folder",
            str(write_ten_notes(tmp_path / name)),
            "--bucket",
            f"in_{name}",
            "--every",
            "1h",
        )
    table.write_text("id,price\nn1,USD 5\n", encoding="utf-8")
    run_parley(home, "source", "sync", "notes")
    run_parley(home, "grant", "in_notes", "everyone")
    schema = home / "schemas" / "in_notes.schema.yaml"
    part_schema = home / "schemas" / "in_notes" / "prices.schema.yaml"
    had_schema_files = schema.is_file() and part_schema.is_file()

    unconfirmed = run_parley(home, "bucket", "delete", "in_notes")
    deleted = run_parley(home, "bucket", "delete", "in_notes", "--yes")

    assert (had_schema_files, unconfirmed.status, deleted.status) == (True, 1, 0)
    assert deleted.stdout.splitlines() == [
        f"removed the source notes: folder {tmp_path / 'notes'}",
        "revoked in_notes from everyone",
        f"deleted {part_schema}",
        f"deleted {schema}",
        "deleted in_notes: 11 documents",
    ]
    assert [source["id"] for source in run_parley(home, "source", "list", "--json").json] == ["kept"]
    assert (run_parley(home, "bucket", "list", "--json").json, schema.exists() or part_schema.exists()) == ([], False)


def test_a_sync_after_a_schema_change_fills_the_new_fields(tmp_path: Path) -> None:
    folder, home = tmp_path / "notes", tmp_path / "home"
    folder.mkdir()
    (folder / "n.txt").write_text("Weight: 40 kg")
    run_parley(home, "source", "add", "folder", str(folder), "--bucket", "b")
    run_parley(home, "source", "sync")
    unfilled = run_parley(home, "bucket", "review", "b")
    schema = tmp_path / "b.yaml"
    schema.write_text("bucket: b\nfields:\n- name: weight\n  type: number\n  unit: kg\n")

    ended = run_parley(home, "bucket", "schema", "b", "--set", str(schema))
    [synced] = run_parley(home, "source", "sync", "--json").json

    assert "no fields to fill" in unfilled.stdout
    assert "to fill weight: parley source sync notes" in ended.stdout
    assert (synced["replaced"], synced["unchanged"]) == (1, 0)
    assert "weight: number in kg, in 1" in run_parley(home, "bucket", "show", "b").stdout
    assert [result["unchanged"] for result in run_parley(home, "source", "sync", "--json").json] == [1]


def test_a_sweep_of_more_than_a_fifth_stops_unless_it_is_confirmed(tmp_path: Path) -> None:
    folder, home = write_ten_notes(tmp_path / "notes"), tmp_path / "home"
    run_parley(home, "source", "add", "folder", str(folder), "--bucket", "b")
    run_parley(home, "source", "sync")
    for number in range(3):
        (folder / f"n{number}.txt").unlink()

    refused = run_parley(home, "source", "sync")

    assert refused.status == 1
    [sentence] = refused.stderr.splitlines()
    assert "3 of its 10 documents" in sentence
    assert "parley source sync notes --sweep-anyway" in sentence
    assert [result["deleted"] for result in run_parley(home, "source", "sync", "--sweep-anyway", "--json").json] == [3]


def test_an_error_names_unloaded_files_and_the_others_are_loaded(tmp_path: Path) -> None:
    folder, home = write_ten_notes(tmp_path / "notes"), tmp_path / "home"
    (folder / "empty.txt").write_text("")
    write_ten_notes(tmp_path / "gone")
    for name in ("gone", "notes"):
        run_parley(home, "source", "add", "folder", str(tmp_path / name), "--bucket", "b")
    for file in (tmp_path / "gone").iterdir():
        file.unlink()
    (tmp_path / "gone").rmdir()

    ended = run_parley(home, "source", "sync", "--json")

    assert ended.status == 1
    assert {result["source"]: (result["outcome"], result["added"]) for result in ended.json} == {
        "gone": ("incomplete", 0),
        "notes": ("incomplete", 10),
    }
    assert [failure["where"] for failure in ended.json[1]["failures"]] == ["notes:empty.txt"]
    assert "1 could not be loaded" in ended.stderr


async def test_a_site_on_this_machine_needs_the_option_allow_private(tmp_path: Path) -> None:
    async with serve_web_site() as site:
        site.pages |= {
            "/a.txt": PageResponse(text="About tires."),
            "/b.txt": PageResponse(text="About brakes.", etag='"1"'),
        }
        for bucket, options in (("closed", ()), ("open", ("--allow-private",))):
            await asyncio.to_thread(
                run_parley, tmp_path, "source", "add", "site", site.url, "--bucket", bucket, *options
            )

        refused = await asyncio.to_thread(run_parley, tmp_path, "source", "sync", "127.0.0.1")
        assert (refused.status, "private network" in refused.stderr, site.requested_paths) == (1, True, [])
        synced = await asyncio.to_thread(run_parley, tmp_path, "source", "sync", "127.0.0.1-2", "--json")
        assert [(result["added"], result["outcome"]) for result in synced.json] == [(2, "done")]

        question_result = await asyncio.to_thread(run_parley, tmp_path, "ask", "brakes", "--bucket", "open", "--json")
        assert question_result.json["hits"][0]["doc_id"] == "127.0.0.1-2:/b.txt"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["add", "folder", ".", "--bucket", "b", "--every", "often"], 2, "30m"),
        (["add", "ftp", "x", "--bucket", "b"], 2, "ftp"),
        (["sync", "nowhere"], 1, "none yet"),
    ],
)
def test_an_invalid_source_command_explains_why(tmp_path: Path, words: list[str], status: int, message: str) -> None:
    ended = run_parley(tmp_path, "source", *words)

    assert ended.status == status
    assert message in ended.stderr
    assert ended.stdout == ""


async def test_a_store_is_added_by_its_url_with_a_secret_that_is_not_shown(
    tmp_path: Path, object_store: ObjectStoreServer
) -> None:
    object_store.create_bucket("shown")
    object_store.request("PUT", "/shown/in/a.txt", b"About tires.")
    options = ("--bucket", "b", "--user", USER, "--endpoint", object_store.url, "--allow-private")

    def run_with_secret(*words: str) -> ProcessResult:
        return run_parley(tmp_path, *words, STORE_KEY=SECRET)

    added = await asyncio.to_thread(
        run_with_secret, "source", "add", "s3://shown/in", *options, "--secret-env", "STORE_KEY"
    )
    synced = await asyncio.to_thread(run_parley, tmp_path, "source", "sync", "--json")
    listed = await asyncio.to_thread(run_parley, tmp_path, "source", "list", "--json")
    unset = await asyncio.to_thread(
        run_parley, tmp_path, "source", "add", "s3://shown", *options, "--secret-env", "NO_SUCH_KEY"
    )

    assert (added.status, "parley source sync in" in added.stdout) == (0, True)
    assert [(result["added"], result["outcome"]) for result in synced.json] == [(1, "done")]
    assert [source["options"]["user"] for source in listed.json] == [USER]
    assert (unset.status, unset.stderr) == (2, "parley: the variable NO_SUCH_KEY is not set\n")
    assert SECRET not in added.stdout + added.stderr + synced.stdout + synced.stderr + listed.stdout


async def test_a_store_with_readers_names_who_is_not_mapped(tmp_path: Path, object_store: ObjectStoreServer) -> None:
    object_store.create_bucket("guarded")
    object_store.request("PUT", "/guarded/in/a.txt", b"About tires.")
    object_store.set_access("/guarded/in/a.txt", {"fed2": "READ", "abc1": "FULL_CONTROL"})
    options = ("--bucket", "b", "--user", USER, "--endpoint", object_store.url, "--allow-private")
    mapping = ("--readers", "--principal", "user:fed2=group:staff")
    added = ("source", "add", "s3://guarded/in", *options, *mapping, "--secret-env", "STORE_KEY")
    await asyncio.to_thread(run_parley, tmp_path, *added, STORE_KEY=SECRET)

    synced = await asyncio.to_thread(run_parley, tmp_path, "source", "sync")
    listed = await asyncio.to_thread(run_parley, tmp_path, "source", "list", "--json")

    shown = synced.stdout + synced.stderr
    assert "--principal user:abc1=SUBJECT" in shown
    assert "user:fed2" not in shown
    [source] = listed.json
    assert (source["options"]["readers"], source["options"]["principals"]) == (
        "access lists",
        {"user:fed2": "group:staff"},
    )


async def test_a_sync_that_is_killed_goes_on_where_it_was(tmp_path: Path, object_store: ObjectStoreServer) -> None:
    object_store.create_bucket("killed")
    for number in range(540):
        object_store.request("PUT", f"/killed/in/n{number:03}.txt", f"note number {number}".encode())
    options = ("--bucket", "b", "--user", USER, "--endpoint", object_store.url, "--allow-private")
    added = ("source", "add", "s3://killed/in", *options, "--secret-env", "STORE_KEY")
    await asyncio.to_thread(run_parley, tmp_path, *added, STORE_KEY=SECRET)
    object_store.gate.held_path = "/killed/in/n530.txt"
    words = (sys.executable, "-m", "bot.cli", "source", "sync")
    syncing = await asyncio.create_subprocess_exec(
        *words, env=environment_for(tmp_path), stdout=DEVNULL, stderr=DEVNULL
    )
    await asyncio.to_thread(object_store.gate.wait_for_held_request)

    syncing.kill()
    await syncing.wait()
    object_store.gate.release_requests()
    expire_lease(tmp_path / "parley.db")
    synced = await asyncio.to_thread(run_parley, tmp_path, "source", "sync", "--json")

    [result] = synced.json
    assert (result["outcome"], result["unchanged"] + result["added"], result["unchanged"] >= 500) == ("done", 540, True)
    [listed] = (await asyncio.to_thread(run_parley, tmp_path, "source", "list", "--json")).json
    assert listed["documents"] == 540


def expire_lease(file: Path) -> None:
    """Lets the minute pass after which another process may go on."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE sources SET leased_until = '2000-01-01 00:00:00.000000'")
