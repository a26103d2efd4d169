"""`parley ingest` as people run it: dry, interrupted, over files of every kind."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from time import monotonic

import docx
import openpyxl

from bot.cli.ingest import pace_of
from storage.ingest.report import Progress
from tests.cli.conftest import environ, run

MANY = 3000


def test_a_dry_run_shows_counts_and_schema_and_makes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    source = tmp_path / "parts.csv"
    source.write_text("id,power_w\na,5\nb,7\n", encoding="utf-8")

    told = run(home, "ingest", str(source), "--bucket", "parts", "--dry-run")

    assert told.status == 0
    assert told.out.splitlines()[-1] == "it would be: added 2, replaced 0, skipped 0, failed 0"
    assert "name: power_w" in told.out
    assert not home.exists()

    run(home, "ingest", str(source), "--bucket", "parts")
    source.write_text("id,power_w\na,5\nb,8\nc,9\n", encoding="utf-8")
    again = run(home, "ingest", str(source), "--bucket", "parts", "--dry-run", "--json").json
    assert (again["dry_run"], again["would_set"]) == (True, [])
    assert again["by_bucket"] == {"parts": {"added": 1, "replaced": 1, "skipped": 1, "failed": 0}}


def test_office_files_are_loaded_and_broken_ones_named(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    document = docx.Document()
    document.add_heading("Warranty", 1)
    document.add_paragraph("The pump has a warranty of three years.")
    document.save(str(folder / "terms.docx"))
    book = openpyxl.Workbook()
    book.worksheets[0].append(["Town", "Opened"])
    book.worksheets[0].append(["Bern", 1931])
    book.save(folder / "towns.xlsx")
    (folder / "broken.pptx").write_bytes(b"nothing")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")

    told = run(tmp_path / "home", "ingest", str(folder), "--bucket", "mixed")

    assert (told.status, told.out.splitlines()[-1]) == (1, "added 2, replaced 0, skipped 0, failed 2")
    assert "broken.pptx: it is broken, or no Office file" in told.err
    assert "photo.jpg: it is a picture" in told.err


def documents_in(home: Path) -> int:
    """What the embedded index holds; 0 as long as there is none."""
    found = list((home / "index").glob("*.sqlite"))
    if not found:
        return 0
    with closing(sqlite3.connect(f"file:{found[0]}?mode=ro", uri=True)) as file:
        try:
            return file.execute("SELECT count(*) FROM document").fetchone()[0]
        except sqlite3.OperationalError:  # no table yet
            return 0


def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    home, source = tmp_path / "home", tmp_path / "many.jsonl"
    lines = (json.dumps({"doc_id": f"d{n}", "text": f"Letter {n}. " + "Some words of it. " * 20}) for n in range(MANY))
    source.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "bot.cli", "ingest", str(source), "--bucket", "letters"]

    with subprocess.Popen(command, env=environ(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = monotonic() + 60
        while not documents_in(home) and process.poll() is None and monotonic() < deadline:
            pass
        process.send_signal(signal.SIGKILL)
    held = documents_in(home)
    again = run(home, "ingest", str(source), "--bucket", "letters", "--json").json

    assert 0 < held < MANY
    assert (again["added"], again["skipped"], again["failed"]) == (MANY - held, held, 0)
    assert documents_in(home) == MANY
    assert [one.name for one in (home / "schemas").iterdir()] == ["letters.schema.yaml"]


def test_progress_tells_files_bytes_documents_pace_and_what_remains() -> None:
    one = Progress(
        looking=False,
        file="x",
        files=3,
        of_files=12,
        bytes=4_000_000,
        of_bytes=20_000_000,
        documents=1250,
        elapsed_s=20.0,
    )
    assert pace_of(one) == "3 of 12 files, 4.0 of 20.0 MB, 1,250 documents, 62/s, 1:20 left"
