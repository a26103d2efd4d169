"""The program as people start it, and a home with a few documents in it."""

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
class Ended:
    """What a process left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Parley = Callable[..., Ended]


def environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PARLEY_", "SLACK_"))}
    return kept | {"PARLEY_HOME": str(home), "PARLEY_EMBEDDER": "none"} | more


def run(home: Path, *words: str, **more: str) -> Ended:
    ended = subprocess.run(
        [sys.executable, "-m", "bot.cli", *words],
        env=environ(home, **more),
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "Traceback" not in ended.stderr or "--debug" in words, ended.stderr
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the bucket `receipts`. Tests that grant or delete use a home of their own."""
    folder = tmp_path_factory.mktemp("home")
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    assert run(folder, "ingest", str(source), "--bucket", "receipts").status == 0
    return folder


@pytest.fixture
def parley(home: Path) -> Parley:
    def started(*words: str, **more: str) -> Ended:
        return run(home, *words, **more)

    return started
