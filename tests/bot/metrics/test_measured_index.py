"""The measured index passes each call on, and reports it."""

from pathlib import Path

from bot.metrics.measured_index import MeasuredIndex
from bot.metrics.operation_measurements import OperationMeasurement
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import BucketId
from storage.search.schema import Schema
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT, a_document


async def test_a_scan_of_records_is_measured_batch_by_batch(tmp_path: Path) -> None:
    bucket, measurements = BucketId("notes"), list[OperationMeasurement]()
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    try:
        measured = MeasuredIndex(index, measurements.append)
        await index.set_schema(Schema(bucket=bucket))
        await index.put(bucket, [a_document(f"d{number}") for number in range(3)])

        records = [record async for batch in measured.scan_records(bucket) for record in batch]
    finally:
        await index.close()

    assert [record.doc_id for record in records] == ["d0", "d1", "d2"]
    assert len(measurements) == 2  # the batch, and the look for another one
