"""`python -m tests.attack.ingest_folder FOLDER HOME`: ingests a folder without an embedder, and prints the report."""

import asyncio
import json
import sys
from pathlib import Path

from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.search.ids import BucketId, TenantId
from storage.text.snowball_analyser import analyser_for


async def ingest_folder(folder: Path, home: Path) -> dict[str, object]:
    """Returns the number of documents, the failures and the remarks."""
    index = await EmbeddedIndex.open(home, tenant=TenantId("attack"), analysers=analyser_for, embedder=None)
    try:
        report = await ingest_files(index, [folder], extractor=RuleExtractor(), bucket=BucketId("b"))
    finally:
        await index.close()
    failures = [(failure.where, failure.reason) for failure in report.failures[:20]]
    return {"added": report.added, "failed": report.failed, "failures": failures, "remarks": report.remarks[:20]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(ingest_folder(Path(sys.argv[1]), Path(sys.argv[2])))))
