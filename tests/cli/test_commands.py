"""The other commands: buckets, grants, groups, ingestion, doctor; and what the command line imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Parley, run

HEAVY = ("numpy", "litellm", "aiohttp", "sqlalchemy", "opensearchpy", "rich", "bot.bootstrap", "adapters")


@pytest.mark.parametrize("words", [[], ["--help"], ["ask", "--help"]])
def test_nothing_heavy_is_imported_before_a_command_needs_it(words: list[str]) -> None:
    script = (
        "import sys, bot.cli\n"
        f"sys.argv = ['parley', *{words!r}]\n"
        "try:\n"
        f"    bot.cli.main() if {words!r} else None\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert ended.stderr.strip() == "[]"


def test_a_bucket_is_listed_shown_and_its_schema_read(parley: Parley) -> None:
    assert parley("bucket", "list").out == "receipts  120 documents\n"
    shown = parley("bucket", "show", "receipts", "--json").json
    assert shown["documents"] == 120
    assert {"name": "vendor", "type": "category", "unit": None, "documents": 120} in shown["fields"]
    assert "bucket: receipts" in parley("bucket", "schema", "receipts").out


def test_a_bucket_that_is_not_there_is_named_with_those_that_are(parley: Parley) -> None:
    ended = parley("bucket", "show", "invoices")

    assert (ended.status, ended.out) == (1, "")
    assert "'invoices'" in ended.err
    assert "receipts" in ended.err


def test_a_bucket_is_made_and_deleted(tmp_path: Path) -> None:
    assert run(tmp_path, "bucket", "create", "notes").status == 0
    assert run(tmp_path, "bucket", "create", "notes").status == 1
    unasked = run(tmp_path, "bucket", "delete", "notes")
    assert (unasked.status, "--yes" in unasked.err) == (1, True)
    assert run(tmp_path, "bucket", "delete", "notes", "--yes").status == 0
    assert run(tmp_path, "bucket", "list", "--json").json == []


def test_an_inferred_schema_is_a_file_to_edit_and_to_set(tmp_path: Path) -> None:
    source = tmp_path / "notes.csv"
    source.write_text("id,price\nn1,USD 5\n", encoding="utf-8")

    told = run(tmp_path, "ingest", str(source), "--bucket", "notes")

    schema = tmp_path / "schemas" / "notes.schema.yaml"
    assert (told.status, str(schema) in told.out) == (0, True)
    edited = schema.read_text(encoding="utf-8").replace("synonyms:\n", "synonyms:\n- memos\n", 1)
    schema.write_text(edited, encoding="utf-8")
    assert run(tmp_path, "bucket", "schema", "notes", "--set", str(schema)).status == 0
    shown = run(tmp_path, "bucket", "schema", "notes").out
    assert "- memos" in shown
    assert "# 1 of 1 documents; 5 to 5\n- name: price" in shown

    schema.write_text("bucket: notes\nfields:\n- name: price\n  type: text\n", encoding="utf-8")
    assert "ingest the documents again" in run(tmp_path, "bucket", "schema", "notes", "--set", str(schema)).out


def test_a_grant_opens_a_bucket_until_it_is_revoked(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text(
        json.dumps({"doc_id": "n", "title": "Note", "text": "The gate code is on file."}), encoding="utf-8"
    )
    run(tmp_path, "ingest", str(source), "--bucket", "notes")
    ask = ("ask", "List all notes", "--as", "ada", "--json")
    assert run(tmp_path, *ask).json["outcome"] == "refused"

    assert run(tmp_path, "group", "create", "staff").status == 0
    assert run(tmp_path, "group", "add", "staff", "ada").status == 0
    assert run(tmp_path, "grant", "notes", "group:staff").status == 0
    assert run(tmp_path, *ask).json["outcome"] != "refused"
    assert [one["subject"] for one in run(tmp_path, "grants", "--json").json] == ["group:staff"]
    assert run(tmp_path, "group", "list", "--json").json[0]["members"] == ["local:ada"]

    assert run(tmp_path, "group", "remove", "staff", "ada").status == 0
    assert run(tmp_path, *ask).json["outcome"] == "refused"
    assert run(tmp_path, "revoke", "notes", "group:staff").status == 0
    assert run(tmp_path, "revoke", "notes", "group:staff").status == 1


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["grant", "nowhere", "everyone"], 1, "'nowhere'"),
        (["grant", "receipts", "ada"], 2, "user:local:NAME"),
        (["grant", "receipts", "everyone", "--include-external"], 2, "external"),
        (["grant", "receipts", "group:nobody"], 1, "parley group create nobody"),
        (["group", "add", "nobody", "ada"], 1, "'nobody'"),
        (["ingest", "nowhere.jsonl", "--bucket", "x"], 1, "nowhere.jsonl"),
        (["bucket", "create", "x", "--schema", "nowhere.yaml"], 1, "nowhere.yaml"),
        (["bucket", "create", "../x"], 2, "'../x'"),
    ],
)
def test_what_cannot_be_done_is_said(parley: Parley, words: list[str], status: int, said: str) -> None:
    ended = parley(*words)

    assert ended.status == status
    assert said in ended.err


def test_a_broken_line_is_named_and_the_rest_is_loaded(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"doc_id": "a", "text": "fine"}\n{broken\n{"doc_id": "b", "text": "fine"}\n', encoding="utf-8")

    ended = run(tmp_path, "ingest", str(source), "--bucket", "notes")

    assert (ended.status, ended.out.splitlines()[-1]) == (1, "added 2, replaced 0, skipped 0, failed 1")
    assert "line 2" in ended.err


def test_the_doctor_names_every_setting_and_hides_secrets(parley: Parley) -> None:
    ended = parley("doctor", PARLEY_WEB_TOKEN="hush-hush")

    assert ended.status == 0
    assert "PARLEY_WEB_TOKEN" in ended.out
    assert "hush" not in ended.out


def test_the_doctor_says_what_does_not_answer(tmp_path: Path) -> None:
    ended = run(tmp_path, "doctor", "--json", PARLEY_INDEX_URL="http://127.0.0.1:9")

    assert ended.status == 1
    assert "http://127.0.0.1:9" in ended.json["problems"][0]


def test_the_doctor_goes_on_past_what_cannot_be(tmp_path: Path) -> None:
    wrong = {"PARLEY_PORT": "many", "PARLEY_READ_LIMIT": "0", "PARLEY_EMBEDDER": "word2vec", "SLACK_API_URL": "slack"}
    ended = run(tmp_path, "doctor", "--json", PARLEY_TENANT="acme", **wrong)

    rows = {row["name"]: row for row in ended.json["settings"]}
    assert ended.status == 1
    assert rows["PARLEY_TENANT"] | {"name": ""} == {
        "name": "",
        "value": "acme",
        "source": "environment",
        "problem": None,
    }
    assert {name for name, row in rows.items() if row["problem"]} == set(wrong)
    assert len(ended.json["problems"]) == 4


def test_the_doctor_names_all_that_does_not_answer_and_no_password(tmp_path: Path) -> None:
    ended = run(
        tmp_path,
        "doctor",
        PARLEY_DATABASE_URL="postgresql://ann:hush@127.0.0.1:9/x",
        PARLEY_INDEX_URL="http://ann:hush@127.0.0.1:9,http://bob:hush@127.0.0.1:9",
        PARLEY_SECRET_KEY="hush",
    )

    assert ended.status == 1
    assert "the database at" in ended.err
    assert "the index at" in ended.err
    assert "hush" not in ended.out + ended.err


def test_a_setting_that_cannot_be_is_named(tmp_path: Path) -> None:
    ended = run(tmp_path, "doctor", PARLEY_PORT="many")

    assert ended.status == 1
    assert "PARLEY_PORT" in ended.err


def test_options_may_stand_before_the_command(tmp_path: Path) -> None:
    other = tmp_path / "other"
    run(tmp_path, "--home", str(other), "bucket", "create", "notes")

    assert run(tmp_path, "bucket", "list", "--home", str(other), "--json").json[0]["bucket"] == "notes"
