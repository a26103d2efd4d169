"""The other commands: buckets, grants, groups, ingestion, doctor; and the imports of the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.health.database_upkeep import open_database
from bot.settings import load_settings
from storage.sql.administration.document_rules import DocumentRuleStore, StoredDocumentRule
from tests.cli.conftest import Parley, run_parley
from tests.stored_rows import list_audit_entries

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
    assert parley("bucket", "list").stdout == "receipts  120 documents\n"
    bucket_json = parley("bucket", "show", "receipts", "--json").json
    assert bucket_json["documents"] == 120
    assert {"name": "vendor", "type": "category", "unit": None, "documents": 120} in bucket_json["fields"]
    assert "bucket: receipts" in parley("bucket", "schema", "receipts").stdout


def test_an_error_about_a_missing_bucket_lists_the_existing_buckets(parley: Parley) -> None:
    ended = parley("bucket", "show", "invoices")

    assert (ended.status, ended.stdout) == (1, "")
    assert "'invoices'" in ended.stderr
    assert "receipts" in ended.stderr


def test_a_bucket_is_created_and_deleted(tmp_path: Path) -> None:
    assert run_parley(tmp_path, "bucket", "create", "notes").status == 0
    assert run_parley(tmp_path, "bucket", "create", "notes").status == 1
    unconfirmed = run_parley(tmp_path, "bucket", "delete", "notes")
    assert (unconfirmed.status, "--yes" in unconfirmed.stderr) == (1, True)
    assert run_parley(tmp_path, "bucket", "delete", "notes", "--yes").status == 0
    assert run_parley(tmp_path, "bucket", "list", "--json").json == []


async def set_rule(home: Path, bucket: str) -> None:
    """As an admin does on the admin page."""
    async with open_database(load_settings(home, {}).settings) as database:
        rule = StoredDocumentRule(bucket=bucket, field="@loaded", days=30)
        assert await DocumentRuleStore(database).replace_if_unchanged(bucket, None, rule, by="user:local:ann")


async def read_rules(home: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """The buckets with a rule, and the entries of the audit about rules, newest first."""
    async with open_database(load_settings(home, {}).settings) as database:
        rules = await DocumentRuleStore(database).list_rules()
        entries = [entry for entry in await list_audit_entries(database) if entry.action == "retention"]
    return [rule.bucket for rule in rules], [(entry.matter, entry.by) for entry in entries]


async def test_a_rule_of_retention_ends_with_its_bucket(tmp_path: Path) -> None:
    run_parley(tmp_path, "bucket", "create", "notes")
    run_parley(tmp_path, "bucket", "create", "kept")
    for bucket in ("notes", "kept"):
        await set_rule(tmp_path, bucket)

    named = {"PARLEY_DOCUMENT_RETENTION": "notes:date:9"}
    deleted = run_parley(tmp_path, "bucket", "delete", "notes", "--yes", **named)
    run_parley(tmp_path, "bucket", "create", "notes")

    assert deleted.stdout.splitlines() == [
        "ended the retention of notes: 30 days after loading",
        "deleted notes: 0 documents",
        "PARLEY_DOCUMENT_RETENTION still names notes, and holds for a later bucket of this name",
    ]
    assert "kept 30 days" not in run_parley(tmp_path, "bucket", "show", "notes").stdout
    rules, entries = await read_rules(tmp_path)
    assert (rules, entries[0]) == (["kept"], ("notes", "operator"))


async def test_a_rule_without_its_bucket_is_listed_and_ended(tmp_path: Path) -> None:
    run_parley(tmp_path, "bucket", "create", "notes")
    for bucket in ("notes", "lost"):
        await set_rule(tmp_path, bucket)

    listed = run_parley(tmp_path, "bucket", "list")
    deleted = run_parley(tmp_path, "bucket", "delete", "lost")
    again = run_parley(tmp_path, "bucket", "delete", "lost")

    assert (listed.status, listed.stderr) == (
        0,
        "parley: there is no bucket 'lost', for which the admin page has a rule of retention;"
        " to end it: parley bucket delete lost\n",
    )
    assert (deleted.status, deleted.stdout) == (0, "ended the retention of lost: 30 days after loading\n")
    assert (again.status, "there is no bucket 'lost'" in again.stderr) == (1, True)
    assert (await read_rules(tmp_path))[0] == ["notes"]


def test_a_folder_of_different_tables_is_one_bucket_with_parts(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    pets = "no,animal,kind,owner_no\n" + "".join(f"P{n},Rex {n},dog,C{n}\n" for n in range(1, 7))
    (folder / "pets.csv").write_text(pets, encoding="utf-8")
    (folder / "owners.csv").write_text("owner_no,client,town\nC1,Ann Lee,Wells\nC2,Bob Ray,Bath\n", encoding="utf-8")
    run_parley(tmp_path, "ingest", str(folder), "--bucket", "clinic")
    run_parley(tmp_path, "grant", "clinic", "user:local:ann")

    (bucket,) = run_parley(tmp_path, "bucket", "list", "--json").json
    assert (bucket["bucket"], bucket["documents"]) == ("clinic", 8)
    assert [part["bucket"] for part in bucket["parts"]] == ["clinic/owners", "clinic/pets"]
    assert "  clinic/pets  6 documents\n" in run_parley(tmp_path, "bucket", "list").stdout
    fields = run_parley(tmp_path, "bucket", "show", "clinic", "--json").json["fields"]
    assert ("clinic/owners", "town") in [(field["bucket"], field["name"]) for field in fields]
    for asked in (["--bucket", "clinic"], ["--as", "ann"], ["--bucket", "clinic/pets"]):
        assert run_parley(tmp_path, "ask", "How many pets are there?", *asked, "--json").json["count"] == 6
    assert run_parley(tmp_path, "ask", "How many pets are there?", "--as", "bob", "--json").json["outcome"] == "refused"
    assert "deleted clinic: 8 documents" in run_parley(tmp_path, "bucket", "delete", "clinic", "--yes").stdout
    assert run_parley(tmp_path, "bucket", "list", "--json").json == []


def test_an_inferred_schema_file_can_be_edited_and_set(tmp_path: Path) -> None:
    source = tmp_path / "notes.csv"
    source.write_text("id,price\nn1,USD 5\n", encoding="utf-8")

    ended = run_parley(tmp_path, "ingest", str(source), "--bucket", "notes")

    schema = tmp_path / "schemas" / "notes.schema.yaml"
    assert (ended.status, str(schema) in ended.stdout) == (0, True)
    edited = schema.read_text(encoding="utf-8").replace("synonyms:\n", "synonyms:\n- memos\n", 1)
    schema.write_text(edited, encoding="utf-8")
    assert run_parley(tmp_path, "bucket", "schema", "notes", "--set", str(schema)).status == 0
    schema_text = run_parley(tmp_path, "bucket", "schema", "notes").stdout
    assert "- memos" in schema_text
    assert "# 1 of 1 documents; 5 to 5\n- name: price" in schema_text

    schema.write_text("bucket: notes\nfields:\n- name: price\n  type: text\n", encoding="utf-8")
    assert (
        "ingest the documents again" in run_parley(tmp_path, "bucket", "schema", "notes", "--set", str(schema)).stdout
    )


def test_a_grant_opens_a_bucket_until_it_is_revoked(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text(
        json.dumps({"doc_id": "n", "title": "Note", "text": "The gate code is on file."}), encoding="utf-8"
    )
    run_parley(tmp_path, "ingest", str(source), "--bucket", "notes")
    ask = ("ask", "List all notes", "--as", "ada", "--json")
    assert run_parley(tmp_path, *ask).json["outcome"] == "refused"

    assert run_parley(tmp_path, "group", "create", "staff").status == 0
    assert run_parley(tmp_path, "group", "add", "staff", "ada").status == 0
    assert run_parley(tmp_path, "grant", "notes", "group:staff").status == 0
    assert run_parley(tmp_path, *ask).json["outcome"] != "refused"
    assert [grant["subject"] for grant in run_parley(tmp_path, "grants", "--json").json] == ["group:staff"]
    assert run_parley(tmp_path, "group", "list", "--json").json[0]["members"] == ["local:ada"]

    assert run_parley(tmp_path, "group", "remove", "staff", "ada").status == 0
    assert run_parley(tmp_path, *ask).json["outcome"] == "refused"
    assert run_parley(tmp_path, "revoke", "notes", "group:staff").status == 0
    assert run_parley(tmp_path, "revoke", "notes", "group:staff").status == 1


def test_a_grant_of_one_id_counts_for_a_linked_one(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text(json.dumps({"doc_id": "n", "title": "Note", "text": "The gate code is on file."}), "utf-8")
    run_parley(tmp_path, "ingest", str(source), "--bucket", "notes")
    run_parley(tmp_path, "grant", "notes", "user:slack:T1:U1")
    ask = ("ask", "List all notes", "--as", "ada", "--json")
    assert run_parley(tmp_path, *ask).json["outcome"] == "refused"

    linked = run_parley(tmp_path, "group", "link", "slack:T1:U1", "ada")
    assert (linked.status, linked.stdout.strip()) == (0, "slack:T1:U1 and local:ada are one person")
    assert run_parley(tmp_path, *ask).json["outcome"] != "refused"
    assert run_parley(tmp_path, "group", "links", "--json").json == [["local:ada", "slack:T1:U1"]]

    assert run_parley(tmp_path, "group", "unlink", "slack:T1:U1").status == 0
    assert run_parley(tmp_path, *ask).json["outcome"] == "refused"
    assert run_parley(tmp_path, "group", "unlink", "slack:T1:U1").status == 1
    assert run_parley(tmp_path, "group", "link", "ada", "local:ada").status == 1


@pytest.mark.parametrize(
    ("words", "status", "message"),
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
def test_a_command_that_cannot_run_explains_why(parley: Parley, words: list[str], status: int, message: str) -> None:
    ended = parley(*words)

    assert ended.status == status
    assert message in ended.stderr


def test_an_error_names_the_broken_line_and_the_other_lines_are_loaded(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"doc_id": "a", "text": "fine"}\n{broken\n{"doc_id": "b", "text": "fine"}\n', encoding="utf-8")

    ended = run_parley(tmp_path, "ingest", str(source), "--bucket", "notes")

    assert (ended.status, ended.stdout.splitlines()[-1]) == (1, "added 2, replaced 0, skipped 0, failed 1")
    assert "line 2" in ended.stderr


def test_the_doctor_names_every_setting_and_hides_secrets(parley: Parley) -> None:
    ended = parley("doctor", PARLEY_WEB_TOKEN="hush-hush")

    assert ended.status == 0
    assert "PARLEY_WEB_TOKEN" in ended.stdout
    assert "hush" not in ended.stdout


def test_the_doctor_reports_an_unreachable_index(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "doctor", "--json", PARLEY_INDEX_URL="http://127.0.0.1:9")

    assert ended.status == 1
    assert "http://127.0.0.1:9" in ended.json["problems"][0]


def test_the_doctor_reports_all_invalid_settings(tmp_path: Path) -> None:
    invalid_settings = {
        "PARLEY_PORT": "many",
        "PARLEY_READ_LIMIT": "0",
        "PARLEY_EMBEDDER": "word2vec",
        "SLACK_API_URL": "slack",
    }
    ended = run_parley(tmp_path, "doctor", "--json", PARLEY_TENANT="acme", **invalid_settings)

    rows = {row["name"]: row for row in ended.json["settings"]}
    assert ended.status == 1
    assert rows["PARLEY_TENANT"] | {"name": ""} == {
        "name": "",
        "value": "acme",
        "source": "environment",
        "problem": None,
    }
    assert {name for name, row in rows.items() if row["problem"]} == set(invalid_settings)
    assert len(ended.json["problems"]) == 4


def test_the_doctor_reports_all_unreachable_services_without_passwords(tmp_path: Path) -> None:
    ended = run_parley(
        tmp_path,
        "doctor",
        PARLEY_DATABASE_URL="postgresql://ann:hush@127.0.0.1:9/x",
        PARLEY_INDEX_URL="http://ann:hush@127.0.0.1:9,http://bob:hush@127.0.0.1:9",
        PARLEY_SECRET_KEY="hush",
    )

    assert ended.status == 1
    assert "the database at" in ended.stderr
    assert "the index at" in ended.stderr
    assert "hush" not in ended.stdout + ended.stderr


def test_an_error_names_an_invalid_setting(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "doctor", PARLEY_PORT="many")

    assert ended.status == 1
    assert "PARLEY_PORT" in ended.stderr


def test_options_may_come_before_the_command(tmp_path: Path) -> None:
    other_home = tmp_path / "other"
    run_parley(tmp_path, "--home", str(other_home), "bucket", "create", "notes")

    assert run_parley(tmp_path, "bucket", "list", "--home", str(other_home), "--json").json[0]["bucket"] == "notes"
