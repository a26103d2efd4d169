"""`parley index`, run as a process."""

from pathlib import Path

from tests.bot.health.damages import overwrite_middle, remove_file
from tests.cli.conftest import run_parley


def test_a_damaged_index_is_rebuilt_from_what_was_loaded(tmp_path: Path) -> None:
    home, table = tmp_path / "home", tmp_path / "prices.csv"
    table.write_text("article,price\n" + "".join(f"pump {number},{number}\n" for number in range(300)))
    assert run_parley(home, "ingest", str(table), "--bucket", "prices").status == 0
    question = ("ask", "how many prices are there?")
    answer = run_parley(home, *question).stdout
    assert "300" in answer
    overwrite_middle(home / "index" / "index.sqlite")

    doctor, refused = run_parley(home, "doctor"), run_parley(home, "index", "rebuild")
    rebuilt = run_parley(home, "index", "rebuild", "--yes")

    assert (doctor.status, "parley index rebuild" in doctor.stderr) == (1, True)
    assert (refused.status, "nothing was changed; give --yes" in refused.stderr) == (1, True)
    assert f"prices, 300 documents: from parley ingest {table} --bucket prices" in refused.stderr
    assert (rebuilt.status, "prices: 300 documents" in rebuilt.stdout) == (0, True)
    assert run_parley(home, *question).stdout == answer


def test_an_index_with_lost_documents_is_not_asked_until_it_is_accepted(tmp_path: Path) -> None:
    home, table = tmp_path / "home", tmp_path / "prices.csv"
    table.write_text("article,price\npump,3\nvalve,4\n")
    assert run_parley(home, "ingest", str(table), "--bucket", "prices").status == 0
    remove_file(home / "index" / "index.sqlite")
    table.write_text("article,price\npump,3\n")

    asked, rebuilt = run_parley(home, "ask", "how many prices?"), run_parley(home, "index", "rebuild", "--yes")
    accepted, unknown = run_parley(home, "index", "accept", "prices"), run_parley(home, "index", "accept", "prices")

    assert (asked.status, "documents are missing" in asked.stderr + asked.stdout) == (1, True)
    assert (rebuilt.status, "the index has 1 of the 2 documents of prices" in rebuilt.stderr) == (1, True)
    assert accepted.stdout == "prices: 1 documents, and no longer 2\n"
    assert (unknown.status, "nothing is missing in 'prices'" in unknown.stderr) == (1, True)


def test_the_list_of_buckets_names_those_that_the_index_has_lost_and_what_loads_them(tmp_path: Path) -> None:
    home, table = tmp_path / "home", tmp_path / "prices.csv"
    table.write_text("article,price\npump,3\nvalve,4\n")
    assert run_parley(home, "ingest", str(table), "--bucket", "prices").status == 0
    remove_file(home / "index" / "index.sqlite")

    listed = run_parley(home, "bucket", "list")

    assert (listed.status, listed.stdout) == (0, "")
    assert "the index has 0 of the 2 documents of prices" in listed.stderr
    assert "parley index rebuild" in listed.stderr


def test_a_bucket_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    home, table = tmp_path / "home", tmp_path / "prices.csv"
    none_yet = run_parley(home, "index", "accept", "nosuch")
    table.write_text("article,price\npump,3\nvalve,4\n")
    assert run_parley(home, "ingest", str(table), "--bucket", "prices").status == 0

    accepted, rebuilt = run_parley(home, "index", "accept", "nosuch"), run_parley(home, "index", "rebuild", "nosuch")
    complete = run_parley(home, "index", "rebuild", "prices")
    remove_file(home / "index" / "index.sqlite")
    lost = run_parley(home, "index", "rebuild", "prices", "--yes")

    assert (none_yet.status, "there is no bucket 'nosuch'; there are none yet" in none_yet.stderr) == (1, True)
    assert (accepted.status, "there is no bucket 'nosuch'; there are prices" in accepted.stderr) == (1, True)
    assert (rebuilt.status, "there is no bucket 'nosuch'; there are prices" in rebuilt.stderr) == (1, True)
    assert (complete.status, "nothing is missing in 'prices'" in complete.stderr) == (1, True)
    assert (lost.status, lost.stdout) == (0, "prices: 2 documents\n")


def test_a_damaged_file_is_rebuilt_as_a_whole(tmp_path: Path) -> None:
    home, table = tmp_path / "home", tmp_path / "prices.csv"
    table.write_text("article,price\n" + "".join(f"pump {number},{number}\n" for number in range(300)))
    assert run_parley(home, "ingest", str(table), "--bucket", "prices").status == 0
    overwrite_middle(home / "index" / "index.sqlite")

    unknown, named = (
        run_parley(home, "index", "rebuild", "nosuch", "--yes"),
        run_parley(home, "index", "rebuild", "prices", "--yes"),
    )

    assert (unknown.status, "there is no bucket 'nosuch'; there are prices" in unknown.stderr) == (1, True)
    assert (named.status, "the whole index is loaded again, with every bucket: name none" in named.stderr) == (1, True)
