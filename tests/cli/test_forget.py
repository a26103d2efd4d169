"""`parley forget`, run as a process."""

from pathlib import Path

import pytest

from tests.cli.conftest import run_parley

WORDS = "the purple giraffe receipts"


@pytest.fixture
def asked_home(tmp_path: Path) -> Path:
    """A home in which local:ann has asked."""
    (tmp_path / "orders.csv").write_text("item,vendor,price\npump,Kestrel,3\nvalve,Harbor,4\nhose,Kestrel,5\n")
    home = tmp_path / "home"
    assert run_parley(home, "ingest", str(tmp_path / "orders.csv"), "--bucket", "orders").status == 0
    assert run_parley(home, "grant", "orders", "user:local:ann").status == 0
    assert run_parley(home, "ask", f"list {WORDS}", "--as", "local:ann").status == 0
    return home


def files_with(home: Path, text: str) -> list[str]:
    return [path.name for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_a_person_is_counted_then_erased_then_gone(asked_home: Path) -> None:
    counted = run_parley(asked_home, "forget", "user:local:ann", "--dry-run", "--json").json
    refused = run_parley(asked_home, "forget", "user:local:ann")
    kept = files_with(asked_home, WORDS)
    erased = run_parley(asked_home, "forget", "user:local:ann", "--yes", "--json").json
    again = run_parley(asked_home, "forget", "user:local:ann", "--yes")

    countable = "sums of costs by month stay, without saying whose; conversations that are deleted count nowhere else"
    assert countable in counted["notes"]
    assert countable in erased["notes"]
    assert f"note: {countable}" in refused.stdout
    assert (counted["dry_run"], erased["dry_run"]) == (True, False)
    assert counted["deleted"] == erased["deleted"]
    assert {"turns": 1, "grants": 1}.items() <= erased["deleted"].items()
    assert (refused.status, "nothing was erased; give --yes" in refused.stderr) == (1, True)
    assert "deleted: 1 grant" in refused.stdout
    assert kept != []
    assert (files_with(asked_home, WORDS), files_with(asked_home, "local:ann")) == ([], [])
    assert (again.status, again.stdout.strip().splitlines()[-1]) == (0, "local:ann: nothing is kept")


def test_a_person_of_whom_nothing_is_kept_needs_no_confirmation(asked_home: Path) -> None:
    ended = run_parley(asked_home, "forget", "user:local:ben")

    assert (ended.status, ended.stdout, ended.stderr) == (0, "local:ben: nothing is kept\n", "")


def test_only_people_are_forgotten(tmp_path: Path) -> None:
    results = [
        run_parley(tmp_path, "forget", subject, "--yes") for subject in ("everyone", "channel:slack:T1:C1", "a b")
    ]

    assert [result.status for result in results] == [2, 2, 2]
    assert "is not a person" in results[0].stderr


def test_linked_ids_are_named_and_erased_on_request(asked_home: Path) -> None:
    assert run_parley(asked_home, "group", "link", "local:ann", "slack:T1:U0ANN4711").status == 0

    named = run_parley(asked_home, "forget", "slack:T1:U0ANN4711", "--dry-run")
    erased = run_parley(asked_home, "forget", "user:slack:T1:U0ANN4711", "--linked", "--yes", "--json").json

    assert "not erased: local:ann, the same person by a link; --linked erases them too" in named.stdout
    assert erased["persons"] == ["local:ann", "slack:T1:U0ANN4711"]
    assert files_with(asked_home, WORDS) == []
