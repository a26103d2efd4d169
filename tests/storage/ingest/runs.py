"""Ingestion runs with the extractor that ships with Parley."""

from functools import partial

from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files

ingest_with_rules = partial(ingest_files, extractor=RuleExtractor())
