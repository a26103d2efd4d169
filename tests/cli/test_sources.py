"""`parley source` as people type it."""

import asyncio
from pathlib import Path

import pytest

from tests.cli.conftest import run
from tests.stand_ins.site import Served, a_site


def ten_notes(folder: Path) -> Path:
    folder.mkdir()
    for number in range(10):
        (folder / f"n{number}.txt").write_text(f"note number {number}")
    return folder


def test_a_folder_is_added_synced_listed_and_removed(tmp_path: Path) -> None:
    folder, home = ten_notes(tmp_path / "notes"), tmp_path / "home"

    added = run(home, "source", "add", "folder", str(folder), "--bucket", "b", "--every", "90m")
    first = run(home, "source", "sync")
    (folder / "n0.txt").unlink()
    (folder / "n1.txt").write_text("another text")
    second = run(home, "source", "sync", "notes", "--json").json

    assert (added.status, "every 90m" in added.out, "parley source sync notes" in added.out) == (0, True, True)
    assert (first.status, "added 10" in first.out) == (0, True)
    assert [(one["replaced"], one["deleted"], one["unchanged"], one["problem"]) for one in second] == [(1, 1, 8, None)]
    [listed] = run(home, "source", "list", "--json").json
    assert (listed["id"], listed["location"], listed["every_s"]) == ("notes", str(folder), 5400)
    assert (listed["documents"], listed["outcome"]) == (9, "done")
    assert run(home, "source", "remove", "notes").out == "removed notes; 9 documents deleted\n"


def test_a_bucket_goes_with_its_sources_its_grants_and_its_schema_file(tmp_path: Path) -> None:
    home, table = tmp_path / "home", tmp_path / "notes" / "prices.csv"
    for name in ("notes", "kept"):
        run(home, "source", "add", "folder", str(ten_notes(tmp_path / name)), "--bucket", f"in_{name}", "--every", "1h")
    table.write_text("id,price\nn1,USD 5\n", encoding="utf-8")
    run(home, "source", "sync", "notes")
    run(home, "grant", "in_notes", "everyone")
    schema = home / "schemas" / "in_notes.schema.yaml"
    before = schema.is_file()

    unasked = run(home, "bucket", "delete", "in_notes")
    deleted = run(home, "bucket", "delete", "in_notes", "--yes")

    assert (before, unasked.status, deleted.status) == (True, 1, 0)
    assert deleted.out.splitlines() == [
        f"removed the source notes: folder {tmp_path / 'notes'}",
        "revoked in_notes from everyone",
        f"deleted {schema}",
        "deleted in_notes: 11 documents",
    ]
    assert [one["id"] for one in run(home, "source", "list", "--json").json] == ["kept"]
    assert (run(home, "bucket", "list", "--json").json, schema.exists()) == ([], False)


def test_the_sync_after_another_schema_fills_its_fields(tmp_path: Path) -> None:
    folder, home = tmp_path / "notes", tmp_path / "home"
    folder.mkdir()
    (folder / "n.txt").write_text("Weight: 40 kg")
    run(home, "source", "add", "folder", str(folder), "--bucket", "b")
    run(home, "source", "sync")
    unfilled = run(home, "bucket", "review", "b")
    schema = tmp_path / "b.yaml"
    schema.write_text("bucket: b\nfields:\n- name: weight\n  type: number\n  unit: kg\n")

    told = run(home, "bucket", "schema", "b", "--set", str(schema))
    [synced] = run(home, "source", "sync", "--json").json

    assert "no fields to fill" in unfilled.out
    assert "to fill weight: parley source sync notes" in told.out
    assert (synced["replaced"], synced["unchanged"]) == (1, 0)
    assert "weight: number in kg, in 1" in run(home, "bucket", "show", "b").out
    assert [one["unchanged"] for one in run(home, "source", "sync", "--json").json] == [1]


def test_a_sweep_of_more_than_a_fifth_stops_says_so_and_can_be_wanted(tmp_path: Path) -> None:
    folder, home = ten_notes(tmp_path / "notes"), tmp_path / "home"
    run(home, "source", "add", "folder", str(folder), "--bucket", "b")
    run(home, "source", "sync")
    for number in range(3):
        (folder / f"n{number}.txt").unlink()

    refused = run(home, "source", "sync")

    assert refused.status == 1
    [sentence] = refused.err.splitlines()
    assert "3 of its 10 documents" in sentence
    assert "parley source sync notes --sweep-anyway" in sentence
    assert [one["deleted"] for one in run(home, "source", "sync", "--sweep-anyway", "--json").json] == [3]


def test_what_could_not_be_loaded_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder, home = ten_notes(tmp_path / "notes"), tmp_path / "home"
    (folder / "empty.txt").write_text("")
    ten_notes(tmp_path / "gone")
    for place in ("gone", "notes"):
        run(home, "source", "add", "folder", str(tmp_path / place), "--bucket", "b")
    for file in (tmp_path / "gone").iterdir():
        file.unlink()
    (tmp_path / "gone").rmdir()

    ended = run(home, "source", "sync", "--json")

    assert ended.status == 1
    assert {one["source"]: (one["outcome"], one["added"]) for one in ended.json} == {
        "gone": ("incomplete", 0),
        "notes": ("incomplete", 10),
    }
    assert [one["where"] for one in ended.json[1]["failures"]] == ["notes:empty.txt"]
    assert "1 could not be loaded" in ended.err


async def test_a_site_on_this_machine_needs_a_word_of_allowance(tmp_path: Path) -> None:
    async with a_site() as site:
        site.pages |= {"/a.txt": Served(text="About tires."), "/b.txt": Served(text="About brakes.", etag='"1"')}
        for bucket, more in (("closed", ()), ("open", ("--allow-private",))):
            await asyncio.to_thread(run, tmp_path, "source", "add", "site", site.url, "--bucket", bucket, *more)

        refused = await asyncio.to_thread(run, tmp_path, "source", "sync", "127.0.0.1")
        assert (refused.status, "private network" in refused.err, site.asked) == (1, True, [])
        synced = await asyncio.to_thread(run, tmp_path, "source", "sync", "127.0.0.1-2", "--json")
        assert [(one["added"], one["outcome"]) for one in synced.json] == [(2, "done")]

        asked = await asyncio.to_thread(run, tmp_path, "ask", "brakes", "--bucket", "open", "--json")
        assert asked.json["hits"][0]["doc_id"] == "127.0.0.1-2:/b.txt"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["add", "folder", ".", "--bucket", "b", "--every", "often"], 2, "30m"),
        (["add", "ftp", "x", "--bucket", "b"], 2, "ftp"),
        (["sync", "nowhere"], 1, "none yet"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, words: list[str], status: int, said: str) -> None:
    ended = run(tmp_path, "source", *words)

    assert ended.status == status
    assert said in ended.err
    assert ended.out == ""
