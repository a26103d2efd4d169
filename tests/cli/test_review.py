"""`parley bucket review`, run as a process."""

import json
from pathlib import Path

from tests.cli.conftest import run_parley

SCHEMA = """\
bucket: slips
fields:
- name: vendor
  type: category
- name: total
  type: money
  currency: EUR
"""


def test_a_review_shows_uncertain_values_counts_and_joined_names(tmp_path: Path) -> None:
    home, slips, schema = tmp_path / "home", tmp_path / "slips.jsonl", tmp_path / "slips.schema.yaml"
    texts = ["Blue Door Bakery\nTOTAL: 9.00", "BLUE DOOR BAKERY\nTOTAL: 8.00", "Blue Door Bakery\n7.77"]
    lines = [{"doc_id": f"s{number}", "title": f"s{number}", "text": text} for number, text in enumerate(texts)]
    slips.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    schema.write_text(SCHEMA, encoding="utf-8")
    run_parley(home, "ingest", str(slips), "--schema", str(schema))

    ended = run_parley(home, "bucket", "review", "slips", "--below", "0.6")
    review_json = run_parley(home, "bucket", "review", "slips", "--below", "1", "--limit", "1", "--json").json

    assert ended.status == 0
    assert "3 documents were read for values." in ended.stdout
    assert "total   3 of 3" in ended.stdout
    assert "EUR 7.77  s2, line 2  “7.77”" in ended.stdout
    assert "total = 7.77  s2  “7.77”" in ended.stdout.split("Less sure than 0.6")[1]
    assert "vendor: Blue Door Bakery ← Blue Door Bakery (2), BLUE DOOR BAKERY (1)" in ended.stdout
    assert [(value["doc_id"], value["field"], value["value"]) for value in review_json["values"]] == [
        ("s2", "total", 7.77)
    ]


def test_a_bucket_whose_values_were_given_has_nothing_to_review(tmp_path: Path) -> None:
    source = tmp_path / "parts.csv"
    source.write_text("id,power_w\na,5\n", encoding="utf-8")
    run_parley(tmp_path / "home", "ingest", str(source), "--bucket", "parts")

    ended = run_parley(tmp_path / "home", "bucket", "review", "parts")

    assert (ended.status, ended.stdout.startswith("No value of parts was read")) == (0, True)
    assert run_parley(tmp_path / "home", "bucket", "review", "none").status == 1
