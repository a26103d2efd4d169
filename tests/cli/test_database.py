"""`parley db`, run as a process."""

from pathlib import Path

import pytest

from storage.sql.migrations import HEAD
from tests.cli.conftest import run_parley


def test_the_tables_are_checked_created_and_up_to_date(tmp_path: Path) -> None:
    home = tmp_path / "home"

    before, upgraded = run_parley(home, "db", "check"), run_parley(home, "db", "upgrade")
    after, again = run_parley(home, "db", "check", "--json"), run_parley(home, "db", "upgrade")

    assert (before.status, "create them with parley db upgrade" in before.stderr) == (1, True)
    assert "0001: The first tables" in before.stdout
    assert (upgraded.status, f"upgraded to {HEAD}: " in upgraded.stdout) == (0, True)
    assert (after.status, after.json["revision"], after.json["pending"], after.json["faults"]) == (0, HEAD, [], [])
    assert (again.status, "the tables are up to date" in again.stdout) == (0, True)


@pytest.mark.servers
def test_the_tables_of_a_server_are_upgraded_and_checked(tmp_path: Path, postgres_database: str) -> None:
    settings = {"PARLEY_DATABASE_URL": postgres_database, "PARLEY_SECRET_KEY": "k" * 40}

    upgraded = run_parley(tmp_path, "db", "upgrade", **settings)
    checked = run_parley(tmp_path, "db", "check", "--json", **settings)

    assert (upgraded.status, checked.json["revision"]) == (0, HEAD)
    assert [fault.partition(":")[0] for fault in checked.json["faults"]] == ["durability"]  # of the tests' server
