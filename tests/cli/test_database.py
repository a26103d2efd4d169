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


def test_upgrade_and_its_check_are_short_for_those_of_the_database(tmp_path: Path) -> None:
    home = tmp_path / "home"

    misread = run_parley(home, "upgrade", "--json")
    before, upgraded = run_parley(home, "upgrade", "--check"), run_parley(home, "upgrade")
    after = run_parley(home, "upgrade", "--check", "--json")

    assert (misread.status, "nothing was upgraded" in misread.stderr) == (2, True)
    assert (before.status, "create them with parley db upgrade" in before.stderr) == (1, True)
    assert (upgraded.status, f"upgraded to {HEAD}: " in upgraded.stdout) == (0, True)
    assert (after.status, after.json["revision"], after.json["faults"]) == (0, HEAD, [])


@pytest.mark.servers
def test_the_tables_of_a_server_are_upgraded_and_checked(tmp_path: Path, postgres_database: str) -> None:
    settings = {"PARLEY_DATABASE_URL": postgres_database, "PARLEY_SECRET_KEY": "k" * 40}

    upgraded = run_parley(tmp_path, "db", "upgrade", **settings)
    checked = run_parley(tmp_path, "db", "check", "--json", **settings)

    assert (upgraded.status, checked.json["revision"]) == (0, HEAD)
    assert [fault.partition(":")[0] for fault in checked.json["faults"]] == ["durability"]  # of the tests' server


@pytest.mark.servers
def test_a_backup_of_a_file_grows_into_a_server_and_back_while_people_go_on_asking(
    tmp_path: Path, postgres_database: str
) -> None:
    """The documents come back from the files that were loaded, the conversation and the grants from the backup."""
    first, on_server, last = tmp_path / "first", tmp_path / "server", tmp_path / "last"
    server = {"PARLEY_DATABASE_URL": postgres_database, "PARLEY_SECRET_KEY": "k" * 40}
    (tmp_path / "orders.csv").write_text("item,vendor,price\npump,Kestrel,3\nvalve,Harbor,4\nhose,Kestrel,5\n")
    speaker = ("--as", "local:ann")
    assert run_parley(first, "ingest", str(tmp_path / "orders.csv"), "--bucket", "orders").status == 0
    assert run_parley(first, "grant", "orders", "user:local:ann").status == 0
    asked = run_parley(first, "ask", "list all orders", *speaker, "--json").json
    follow_up = ("ask", "only from Kestrel", "--conversation", asked["conversation"], *speaker, "--json")

    backups = [run_parley(first, "backup", str(tmp_path / "1.backup"))]
    restored = [run_parley(on_server, "restore", str(tmp_path / "1.backup"), **server)]
    rebuilt = [run_parley(on_server, "index", "rebuild", "--yes", **server)]
    on_server_answer = run_parley(on_server, *follow_up, **server).json
    backups.append(run_parley(on_server, "backup", str(tmp_path / "2.backup"), **server))
    restored.append(run_parley(last, "restore", str(tmp_path / "2.backup")))
    rebuilt.append(run_parley(last, "index", "rebuild", "--yes"))

    assert [ended.status for ended in (*backups, *restored, *rebuilt)] == [0] * 6
    assert "parley index rebuild" in restored[0].stdout
    assert "without it the tokens" in backups[0].stdout
    assert (on_server_answer["count"], run_parley(last, *follow_up).json["count"]) == (2, 2)
