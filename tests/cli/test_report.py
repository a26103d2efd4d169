"""`parley report` and `parley bucket synonym`, run as processes."""

from pathlib import Path

from tests.cli.conftest import run_parley


def test_a_failed_question_leads_to_a_synonym_that_answers_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    rows = "\n".join(f"HH-{n:03},{('truck', 'van')[n % 2]},{n}" for n in range(40))
    (tmp_path / "vehicles.csv").write_text(f"plate,kind,mileage\n{rows}\n", encoding="utf-8")
    assert run_parley(home, "ingest", str(tmp_path / "vehicles.csv"), "--bucket", "vehicles").status == 0
    failed = run_parley(home, "ask", "list the lorries", "--json").json

    reported = run_parley(home, "report")
    counted = run_parley(home, "bucket", "synonym", "vehicles", "kind", "lorries", "truck", "--dry-run", "--json").json
    refused = run_parley(home, "bucket", "synonym", "vehicles", "kind", "lorries", "truck")
    added = run_parley(home, "bucket", "synonym", "vehicles", "kind", "lorries", "truck", "--yes")
    answered = run_parley(home, "ask", "list the lorries", "--json").json
    after = run_parley(home, "report", "--json").json

    assert failed["outcome"] == "no_results"
    assert "“lorries”: 1 question of 1 person, in vehicles" in reported.stdout
    assert "parley bucket synonym vehicles FIELD 'lorries' VALUE" in reported.stdout
    assert (counted["documents"], counted["added"]) == (20, False)
    assert (refused.status, "nothing was changed; give --yes" in refused.stderr) == (1, True)
    assert "“lorries” as kind = truck would find 20 documents" in added.stdout
    assert (answered["outcome"], answered["count"]) == ("answer", 20)
    assert (after["unknown_words"], after["counts"]["asked"], after["counts"]["nothing_found"]) == ([], 2, 1)
