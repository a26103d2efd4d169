"""`python -m tests.storage.opensearch.ingest_process URL INSTALLATION FILE`: ingests a file, for a test to kill it."""

import asyncio
import sys

from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.opensearch.index import OpenSearchIndex
from storage.search.ids import BucketId
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT


async def ingest_contracts(url: str, installation: str, file: str) -> None:
    index = await OpenSearchIndex.open(
        [url], tenant=TENANT, analysers=analyser_for, embedder=None, installation=installation
    )
    try:
        await ingest_files(index, [file], extractor=RuleExtractor(), bucket=BucketId("contracts"))
    finally:
        await index.close()


if __name__ == "__main__":
    asyncio.run(ingest_contracts(*sys.argv[1:]))
