"""Sources beyond folders: what is deleted in a store or a database is no longer found."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.servers.file_stores import SECRET, USER, ObjectStoreServer
from tests.shown.transcripts import RecordedShell, RecordedTranscript

LETTERS = 12
CITIES = ("Bergen", "Turku", "Aarhus")


def test_an_object_that_is_deleted_in_a_store_is_no_longer_found(
    tmp_path: Path, object_store: ObjectStoreServer
) -> None:
    object_store.create_bucket("office")
    for number in range(LETTERS):
        city = CITIES[number % len(CITIES)]
        text = f"Letter {number}\n\nThe lease of the warehouse in {city} ends after {number + 1} months."
        object_store.request("PUT", f"/office/letters/letter-{number:02}.txt", text.encode())
    transcript = RecordedTranscript("s3", {object_store.url: "https://store.example.com"})
    shell = RecordedShell(tmp_path, transcript, STORE_KEY=SECRET)
    options = f"--bucket letters --user {USER} --endpoint {object_store.url} --secret-env STORE_KEY"

    command = f"parley source add s3://office/letters {options}"
    shell.run(f"{command} --allow-private", shown=command)
    shell.run("parley source sync")
    before = shell.run("parley ask 'How many letters are there?'")
    object_store.request("DELETE", "/office/letters/letter-07.txt")
    transcript.add_lines("# letter-07.txt is deleted in the store", "")
    shell.run("parley source sync")
    after = shell.run("parley ask 'How many letters are there?'")

    assert (str(LETTERS) in before, str(LETTERS - 1) in after) == (True, True)
    transcript.check_page()


def test_a_row_that_is_deleted_in_a_database_is_no_longer_found(tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    rows = [(number, CITIES[number % len(CITIES)], 10 * number) for number in range(1, 31)]
    with closing(sqlite3.connect(shop)) as database, database:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, price INTEGER)")
        database.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
    transcript = RecordedTranscript("sql", {str(tmp_path): "/srv"})
    shell = RecordedShell(tmp_path, transcript)

    shell.run(
        f"parley source add sql sqlite:///{shop} --query 'SELECT * FROM orders' --key id --name orders --bucket orders"
    )
    shell.run("parley source sync")
    before = shell.run("parley ask 'How many orders from Bergen?'")
    with closing(sqlite3.connect(shop)) as database, database:
        database.execute("DELETE FROM orders WHERE id = 3")
    transcript.add_lines("# DELETE FROM orders WHERE id = 3, an order from Bergen", "")
    shell.run("parley source sync")
    after = shell.run("parley ask 'How many orders from Bergen?'")

    assert rows[2][1] == "Bergen"
    assert ("10" in before, "9" in after) == (True, True)
    transcript.check_page()
