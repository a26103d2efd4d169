"""`parley saved`, run as a process."""

from pathlib import Path

import pytest

from tests.cli.conftest import run_parley

ORDERS = "item,vendor,price\npump,Kestrel,3\nvalve,Harbor,4\nhose,Kestrel,5\n"


@pytest.fixture
def orders_home(tmp_path: Path) -> Path:
    load_orders(tmp_path, ORDERS)
    return tmp_path / "home"


def load_orders(folder: Path, text: str) -> None:
    (folder / "orders.csv").write_text(text)
    assert run_parley(folder / "home", "ingest", str(folder / "orders.csv"), "--bucket", "orders").status == 0


def test_a_question_is_saved_and_shows_what_has_changed(orders_home: Path, tmp_path: Path) -> None:
    added = run_parley(orders_home, "saved", "add", "orders from Kestrel", "--on-change")
    unchanged = run_parley(orders_home, "saved", "run", "1")
    load_orders(tmp_path, f"{ORDERS}seal,Kestrel,6\nlid,Harbor,7\n")
    changed = run_parley(orders_home, "saved", "run", "1")
    again = run_parley(orders_home, "saved", "run", "1")

    assert (added.status, "It finds 2 documents now" in added.stdout) == (0, True), added
    assert "nothing has changed" in unchanged.stdout
    assert "1 new since the last time; 3 documents now" in changed.stdout
    assert "nothing has changed" in again.stdout


def test_a_search_that_is_asked_for_on_a_command_line_names_the_commands_that_show_it(orders_home: Path) -> None:
    reply = run_parley(orders_home, "ask", "Tell me when a new order arrives").stdout

    assert "saved this as search 1" in reply
    for command in ("parley saved run 1", "parley saved list", "parley saved stop 1"):
        assert command in reply
        assert run_parley(orders_home, *command.split()[1:]).status == 0
    assert "stop watching" not in reply


def test_saved_searches_are_listed_and_stopped(orders_home: Path) -> None:
    words = ("orders from Kestrel", "--every", "monday 9:00", "--tz", "Europe/Berlin")
    assert run_parley(orders_home, "saved", "add", *words).status == 0

    (search,) = run_parley(orders_home, "saved", "list", "--json").json
    listed = run_parley(orders_home, "saved", "list").stdout
    resumed = run_parley(orders_home, "saved", "resume", "1")
    stopped = run_parley(orders_home, "saved", "stop", "1")
    again = run_parley(orders_home, "saved", "stop", "1")

    assert (search["id"], search["schedule"], search["time_zone"]) == (1, "every Monday at 09:00", "Europe/Berlin")
    assert (search["status"], search["documents"], search["buckets"]) == ("active", 2, ["orders"])
    assert "every Monday at 09:00 (Europe/Berlin, next " in listed
    assert (resumed.status, stopped.status) == (0, 0)
    assert (again.status, "there is no saved search 1" in again.stderr) == (1, True)
    assert run_parley(orders_home, "saved", "list", "--json").json == []


def test_what_cannot_be_saved_is_refused(orders_home: Path) -> None:
    add = ("saved", "add", "orders from Kestrel")
    results = [
        run_parley(orders_home, *add),
        run_parley(orders_home, *add, "--every", "monday", "--on-change"),
        run_parley(orders_home, *add, "--every", "blue moon"),
        run_parley(orders_home, *add, "--on-change", "--tz", "Middle/Earth"),
        run_parley(orders_home, *add, "--on-change", "--as", "local:stranger"),
    ]

    assert [result.status for result in results] == [2, 2, 2, 2, 1]
    assert "is not a schedule" in results[2].stderr
    assert run_parley(orders_home, "saved", "list", "--json").json == []
