"""The demo corpus: some 6,000 made-up documents in six buckets, the same for the same seed wherever it is made."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

from bot.demo import chemicals, contracts, manuals, panels, parts, receipts
from bot.demo.naming import ORIGINAL, Naming
from bot.demo.records import Record, Value
from storage.search.codec import schema_to_json
from storage.search.schema import Schema

DEFAULT_SEED = 2031

_BUCKETS: Mapping[str, tuple[Schema, Callable[[int, Random], list[Record]]]] = {
    "receipts": (receipts.SCHEMA, receipts.records),
    "panels": (panels.SCHEMA, panels.records),
    "manuals": (manuals.SCHEMA, manuals.records),
    "contracts": (contracts.SCHEMA, contracts.records),
    "parts": (parts.SCHEMA, parts.records),
    "chemicals": (chemicals.SCHEMA, chemicals.records),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketOfRecords:
    schema: Schema
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Buckets by the generator's own names (`receipts`), whatever `names` calls them and their fields."""

    seed: int
    names: Naming
    buckets: Mapping[str, BucketOfRecords]


def generate(seed: int = DEFAULT_SEED, *, names: Naming = ORIGINAL) -> Corpus:
    """The corpus of `seed`; `names` changes the words for buckets and fields and nothing else."""
    buckets = {
        bucket: BucketOfRecords(
            schema=names.schema(schema),
            # Each bucket draws from its own stream: a change in one leaves the others as they are.
            records=tuple(_renamed(one, bucket, names) for one in draw(seed, Random(f"{seed}:{bucket}"))),  # noqa: S311 - made-up data
        )
        for bucket, (schema, draw) in _BUCKETS.items()
    }
    return Corpus(seed=seed, names=names, buckets=buckets)


def write(corpus: Corpus, folder: Path) -> list[Path]:
    """Writes `<bucket>.jsonl` and `<bucket>.schema.yaml` for each bucket into `folder`; the JSONL files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for bucket in corpus.buckets.values():
        name = bucket.schema.bucket
        lines = (json.dumps({**record, "bucket": name}, ensure_ascii=False) for record in bucket.records)
        path = folder / f"{name}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        schema = yaml.safe_dump(schema_to_json(bucket.schema), sort_keys=False, allow_unicode=True)
        (folder / f"{name}.schema.yaml").write_text(schema, encoding="utf-8")
        written.append(path)
    return written


def _renamed(record: Record, bucket: str, names: Naming) -> Record:
    metadata: dict[str, Value] = {}
    for name, value in record["metadata"].items():
        path = f"{bucket}.{name}"
        metadata[names.name(path)] = _columns_renamed(value, path, names)
    return {**record, "metadata": metadata}


def _columns_renamed(value: Value, path: str, names: Naming) -> Value:
    if not isinstance(value, list) or not value or isinstance(value[0], str):
        return value
    return [
        {names.name(f"{path}.{column}"): cell for column, cell in row.items()} for row in value if isinstance(row, dict)
    ]
