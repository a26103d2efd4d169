"""A small seeded part of `make fuzz`."""

from pathlib import Path

import pytest

from storage.ingest.worker import ParserWorker
from tests.attack.fuzz_files import SAMPLES, fuzz_limits, fuzz_parser

_CASES = 12


@pytest.mark.parametrize("file_format", SAMPLES)
def test_a_file_that_was_changed_at_random_gives_documents_or_a_reason(tmp_path: Path, file_format: str) -> None:
    with ParserWorker(fuzz_limits()) as worker:
        findings = list(fuzz_parser(file_format, 1, iter(range(_CASES)), tmp_path, worker))

    assert [(finding.case, finding.problem) for finding in findings if finding] == []


@pytest.mark.parametrize("file_format", SAMPLES)
def test_an_unchanged_sample_is_read(tmp_path: Path, file_format: str) -> None:
    from storage.ingest.files import SourceFile
    from storage.ingest.load import load_records
    from storage.ingest.records import SourceRecord

    path = tmp_path / f"sample.{file_format}"
    path.write_bytes(SAMPLES[file_format]())
    with ParserWorker(fuzz_limits()) as worker:
        items = list(load_records(SourceFile(path=path, name=path.name), worker))

    assert any(isinstance(item, SourceRecord) for item in items)
