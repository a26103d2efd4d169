"""Runs the program as people start it, and a home with a few documents."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RECEIPTS = [
    {
        "doc_id": f"r-{number:03}",
        "title": f"Receipt {number}",
        "text": f"Receipt {number}. Tires from {vendor}, paid {number}.50 EUR.",
        "metadata": {"vendor": vendor, "date": f"202{number % 4}-03-{number % 27 + 1:02}", "kind": "tires"},
    }
    for number in range(120)
    for vendor in [["Kestrel", "Northline", "Harbor"][number % 3]]
]


@dataclass(frozen=True)
class ProcessResult:
    """The exit status and output of a process."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


Parley = Callable[..., ProcessResult]


def environment_for(home: Path, **more: str) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PARLEY_", "SLACK_", "MICROSOFT_"))
    }
    return inherited | {"PARLEY_HOME": str(home), "PARLEY_EMBEDDER": "none"} | more


def run_parley(home: Path, *words: str, **more: str) -> ProcessResult:
    ended = subprocess.run(
        [sys.executable, "-m", "bot.cli", *words],
        env=environment_for(home, **more),
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "Traceback" not in ended.stderr or "--debug" in words, ended.stderr
    return ProcessResult(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the bucket `receipts`. Tests that grant or delete use their own home."""
    folder = tmp_path_factory.mktemp("home")
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    assert run_parley(folder, "ingest", str(source), "--bucket", "receipts").status == 0
    return folder


@pytest.fixture
def parley(home: Path) -> Parley:
    def started(*words: str, **more: str) -> ProcessResult:
        return run_parley(home, *words, **more)

    return started
