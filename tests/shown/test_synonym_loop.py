"""A question fails, an admin adds a synonym whose effect is counted first, and the question is answered."""

from pathlib import Path

from tests.shown.transcripts import RecordedShell, RecordedTranscript


def test_what_was_not_understood_today_is_understood_tomorrow(tmp_path: Path) -> None:
    rows = "\n".join(f"HH-{n:03},{('truck', 'van')[n % 2]},{n}" for n in range(40))
    (tmp_path / "vehicles.csv").write_text(f"plate,kind,mileage\n{rows}\n", encoding="utf-8")
    transcript = RecordedTranscript("synonym")
    shell = RecordedShell(tmp_path, transcript)
    shell.run_unshown("parley ingest vehicles.csv --bucket vehicles")

    failed = shell.run("parley ask 'How many lorries are there?'")
    reported = shell.run("parley report | grep -A 1 lorries")
    counted = shell.run("parley bucket synonym vehicles kind lorries truck --dry-run")
    shell.run("parley bucket synonym vehicles kind lorries truck --yes")
    answered = shell.run("parley ask 'How many lorries are there?'")

    assert "20" not in failed
    assert "parley bucket synonym vehicles FIELD 'lorries' VALUE" in reported
    assert "would find 20 documents" in counted
    assert "20" in answered
    transcript.check_page()
