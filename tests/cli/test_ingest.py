"""`parley ingest` as a process: dry runs, a killed run, files of every kind."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic

import docx
import openpyxl
import pytest

from bot.cli.commands.ingest import describe_pace, open_progress_bar
from storage.ingest.report import IngestProgress
from tests.cli.conftest import environment_for, run_parley

MANY = 3000


def test_a_dry_run_shows_counts_and_schema_and_creates_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    source = tmp_path / "parts.csv"
    source.write_text("id,power_w\na,5\nb,7\n", encoding="utf-8")

    ended = run_parley(home, "ingest", str(source), "--bucket", "parts", "--dry-run")

    assert ended.status == 0
    assert ended.stdout.splitlines()[-1] == "it would be: added 2, replaced 0, skipped 0, failed 0"
    assert "name: power_w" in ended.stdout
    assert not home.exists()

    run_parley(home, "ingest", str(source), "--bucket", "parts")
    source.write_text("id,power_w\na,5\nb,8\nc,9\n", encoding="utf-8")
    second_report = run_parley(home, "ingest", str(source), "--bucket", "parts", "--dry-run", "--json").json
    assert (second_report["dry_run"], second_report["would_set"]) == (True, [])
    assert second_report["by_bucket"] == {"parts": {"added": 1, "replaced": 1, "skipped": 1, "failed": 0}}


def test_documents_get_passages_of_another_size_when_they_are_loaded_the_next_time(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "notes" / "long.txt"
    file.parent.mkdir()
    file.write_text("The pump was checked, and nothing was found. " * 100, encoding="utf-8")
    small = {"PARLEY_PASSAGE_CHARACTERS": "400"}

    def load_counts(**settings: str) -> tuple[int, ...]:
        report = run_parley(home, "ingest", str(file), "--bucket", "notes", "--json", **settings).json
        return tuple(report["by_bucket"]["notes"][name] for name in ("added", "replaced", "skipped"))

    def sync_counts(*words: str, **settings: str) -> tuple[int, ...]:
        [result] = run_parley(home, "source", "sync", "--json", *words, **settings).json
        return tuple(result[name] for name in ("added", "replaced", "unchanged"))

    run_parley(home, "source", "add", "folder", str(file.parent), "--bucket", "synced")

    assert [load_counts(), load_counts(**small), load_counts(**small)] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert [sync_counts(), sync_counts(**small), sync_counts("--reload", **small)] == [(1, 0, 0), (0, 0, 1), (0, 1, 0)]
    refused = run_parley(home, "source", "list", PARLEY_PASSAGE_CHARACTERS="50")
    assert (refused.status, "PARLEY_PASSAGE_CHARACTERS" in refused.stderr) == (1, True)


def test_office_files_are_loaded_and_broken_ones_are_reported(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    document = docx.Document()
    document.add_heading("Warranty", 1)
    document.add_paragraph("The pump has a warranty of three years.")
    document.save(str(folder / "terms.docx"))
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].append(["Town", "Opened"])
    workbook.worksheets[0].append(["Bern", 1931])
    workbook.save(folder / "towns.xlsx")
    (folder / "broken.pptx").write_bytes(b"nothing")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")

    ended = run_parley(tmp_path / "home", "ingest", str(folder), "--bucket", "mixed")

    assert (ended.status, ended.stdout.splitlines()[-1]) == (1, "added 2, replaced 0, skipped 0, failed 2")
    assert "broken.pptx: it is broken, or no Office file" in ended.stderr
    assert "photo.jpg: it is a picture" in ended.stderr


def count_documents(home: Path) -> int:
    """The number of documents in the embedded index; 0 if there is no index yet."""
    index_files = list((home / "index").glob("*.sqlite"))
    if not index_files:
        return 0
    with closing(sqlite3.connect(f"file:{index_files[0]}?mode=ro", uri=True)) as file:
        try:
            return file.execute("SELECT count(*) FROM document").fetchone()[0]
        except sqlite3.OperationalError:  # no table yet
            return 0


def test_a_killed_run_resumes_where_it_stopped(tmp_path: Path) -> None:
    home, source = tmp_path / "home", tmp_path / "many.jsonl"
    lines = (json.dumps({"doc_id": f"d{n}", "text": f"Letter {n}. " + "Some words of it. " * 20}) for n in range(MANY))
    source.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "bot.cli", "ingest", str(source), "--bucket", "letters"]

    with subprocess.Popen(
        command, env=environment_for(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = monotonic() + 60
        while not count_documents(home) and process.poll() is None and monotonic() < deadline:
            pass
        process.send_signal(signal.SIGKILL)
    document_count = count_documents(home)
    second_report = run_parley(home, "ingest", str(source), "--bucket", "letters", "--json").json

    assert 0 < document_count < MANY
    assert (second_report["added"], second_report["skipped"], second_report["failed"]) == (
        MANY - document_count,
        document_count,
        0,
    )
    assert count_documents(home) == MANY
    assert [schema_file.name for schema_file in (home / "schemas").iterdir()] == ["letters.schema.yaml"]


def test_progress_reports_files_bytes_documents_pace_and_remaining_time() -> None:
    progress = IngestProgress(
        is_first_pass=False,
        file_name="x",
        files_done=3,
        files_total=12,
        bytes_done=4_000_000,
        bytes_total=20_000_000,
        documents=1250,
        elapsed_s=20.0,
    )
    assert describe_pace(progress) == "3 of 12 files, 4.0 of 20.0 MB, 1,250 documents, 62/s, 1:20 left"


def test_a_file_that_takes_long_is_named_once_in_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    progress = IngestProgress(
        is_first_pass=True, file_name="big.csv", files_done=0, files_total=2, bytes_done=0, bytes_total=9, documents=0
    )
    with open_progress_bar("Loading") as report_progress:
        for seconds in (1.0, 6.0, 11.0):
            report_progress(replace(progress, file_elapsed_s=seconds))
        report_progress(replace(progress, is_first_pass=False, file_elapsed_s=7.0))

    assert capsys.readouterr().err.splitlines() == [
        "parley: reading big.csv, for 6 s so far",
        "parley: reading big.csv, for 7 s so far",
    ]
    assert describe_pace(replace(progress, file_elapsed_s=6.0)).endswith("reading big.csv, for 6 s so far")
