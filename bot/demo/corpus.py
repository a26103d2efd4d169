"""The demo corpus: some 6,000 made-up documents in six buckets. The same seed gives the same corpus everywhere."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

from bot.demo import chemicals, contracts, manuals, panels, parts, receipts
from bot.demo.naming import ORIGINAL_NAMING, CorpusNaming
from bot.demo.records import CorpusRecord, MetadataValue
from storage.search.codec import schema_to_json
from storage.search.schema import Schema

DEFAULT_SEED = 2031

_BUCKET_GENERATORS: Mapping[str, tuple[Schema, Callable[[int, Random], list[CorpusRecord]]]] = {
    "receipts": (receipts.SCHEMA, receipts.generate_receipt_records),
    "panels": (panels.SCHEMA, panels.generate_panel_records),
    "manuals": (manuals.SCHEMA, manuals.generate_manual_records),
    "contracts": (contracts.SCHEMA, contracts.generate_contract_records),
    "parts": (parts.SCHEMA, parts.generate_part_records),
    "chemicals": (chemicals.SCHEMA, chemicals.generate_chemical_records),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoBucket:
    schema: Schema
    records: tuple[CorpusRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoCorpus:
    """A generated corpus. The keys of `buckets` are the generator's names (`receipts`), independent of `naming`."""

    seed: int
    naming: CorpusNaming
    buckets: Mapping[str, DemoBucket]


def generate_corpus(seed: int = DEFAULT_SEED, *, naming: CorpusNaming = ORIGINAL_NAMING) -> DemoCorpus:
    """The corpus of `seed`. `naming` changes only the names of buckets and fields."""
    buckets = {
        bucket: DemoBucket(
            schema=naming.rename_schema(schema),
            # Each bucket has its own random stream, so a change in one bucket does not change the others.
            records=tuple(
                _rename_record(record, bucket, naming)
                for record in generate_records(seed, Random(f"{seed}:{bucket}"))  # noqa: S311 - made-up data
            ),
        )
        for bucket, (schema, generate_records) in _BUCKET_GENERATORS.items()
    }
    return DemoCorpus(seed=seed, naming=naming, buckets=buckets)


def write_corpus(corpus: DemoCorpus, folder: Path) -> list[Path]:
    """Write `<bucket>.jsonl` and `<bucket>.schema.yaml` for each bucket into `folder`; return the JSONL files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for bucket in corpus.buckets.values():
        name = bucket.schema.bucket
        lines = (json.dumps({**record, "bucket": name}, ensure_ascii=False) for record in bucket.records)
        path = folder / f"{name}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        schema = yaml.safe_dump(schema_to_json(bucket.schema), sort_keys=False, allow_unicode=True)
        (folder / f"{name}.schema.yaml").write_text(schema, encoding="utf-8")
        paths.append(path)
    return paths


def _rename_record(record: CorpusRecord, bucket: str, naming: CorpusNaming) -> CorpusRecord:
    metadata: dict[str, MetadataValue] = {}
    for name, value in record["metadata"].items():
        path = f"{bucket}.{name}"
        metadata[naming.name_of(path)] = _rename_columns(value, path, naming)
    return {**record, "metadata": metadata}


def _rename_columns(value: MetadataValue, path: str, naming: CorpusNaming) -> MetadataValue:
    if not isinstance(value, list) or not value or isinstance(value[0], str):
        return value
    return [
        {naming.name_of(f"{path}.{column}"): cell for column, cell in row.items()}
        for row in value
        if isinstance(row, dict)
    ]
