"""Indexes as earlier versions have left them, and what a process of such a version still writes (`record_index.py`)."""

import gzip
import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any as Json
from typing import Final

import aiohttp

from storage.embedded.database import FILE_NAME
from storage.search.codec import schema_from_json
from storage.search.documents import Document, FieldValues, Passage
from storage.search.ids import DocId, FieldName
from storage.search.schema import Schema
from tests.storage.upgrades.record_index import INDEXES

_RECORDED_PREFIX: Final = re.compile(r"parley-(?=[0-9a-f]{16}-)")


def list_recorded_indexes() -> list[str]:
    return sorted(path.name.removesuffix(".jsonl.gz") for path in INDEXES.glob("*.jsonl.gz"))


def read_recorded_lines(name: str, key: str) -> list[Json]:
    lines = gzip.decompress((INDEXES / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    return [line[key] for line in map(json.loads, lines) if key in line]


def read_recorded_buckets(name: str, folder: Path, *, with_late: bool = False) -> list[tuple[Schema, list[Document]]]:
    """The documents of each bucket, read from the rows of the file, with those of the late process if wanted."""
    write_earlier_file(name, folder)
    if with_late:
        write_late_to_file(name, folder)
    connection = sqlite3.connect(folder / FILE_NAME)
    try:
        buckets = connection.execute("SELECT id, schema FROM bucket ORDER BY name").fetchall()
        return [
            (schema_from_json(json.loads(schema)), _read_documents(connection, number)) for number, schema in buckets
        ]
    finally:
        connection.close()


def _read_documents(connection: sqlite3.Connection, bucket: int) -> list[Document]:
    query = "SELECT id, doc_id, title, text, source, digest, vals FROM document WHERE bucket = ?"
    documents = list[Document]()
    for number, doc_id, title, text, source, digest, values in connection.execute(query, (bucket,)).fetchall():
        passages = connection.execute(
            "SELECT start, stop, page FROM passage WHERE doc = ? ORDER BY position", (number,)
        ).fetchall()
        documents.append(
            Document(
                doc_id=DocId(doc_id),
                title=title,
                text=text,
                source=source,
                digest=digest,
                values=_read_values(values),
                passages=tuple(Passage(start=start, end=stop, page=page) for start, stop, page in passages),
                readers=frozenset(),
            )
        )
    return documents


def _read_values(values: str) -> FieldValues:
    stored: dict[str, Json] = json.loads(values)
    return {FieldName(name): tuple(value) if name == "tags" else value for name, value in stored.items()}


def write_earlier_file(name: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE_NAME).write_bytes(gzip.decompress((INDEXES / f"{name}.sqlite.gz").read_bytes()))


def write_late_to_file(name: str, folder: Path) -> None:
    """Write what a process of the earlier version that still runs has written, in one transaction."""
    connection = sqlite3.connect(folder / FILE_NAME, timeout=60, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        for statement in read_recorded_lines(name, "late_statement"):
            connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        connection.close()


async def send_earlier_requests(name: str, server: str, installation: str) -> None:
    for request in read_recorded_lines(name, "request"):
        await _send_request(server, installation, request)


async def send_late_requests(name: str, server: str, installation: str) -> list[int]:
    """Send what a process of the earlier version that still runs sends; returns the status of each document."""
    statuses = list[int]()
    for request in read_recorded_lines(name, "late_request"):
        answer = await _send_request(server, installation, request)
        items: Sequence[dict[str, dict[str, Json]]] = answer.get("items", [])
        statuses += [item["status"] for actions in items for item in actions.values() if _is_document(item)]
    return statuses


def _is_document(item: dict[str, Json]) -> bool:
    """Whether the item of a bulk is the main entry of a document. The others have a suffix."""
    return re.fullmatch(r"[0-9a-f]{32}", item["_id"]) is not None


async def _send_request(server: str, installation: str, request: dict[str, str]) -> dict[str, Json]:
    path, body = (_RECORDED_PREFIX.sub(f"{installation}-", request[part]) for part in ("path", "body"))
    headers = {"content-type": "application/json"}
    async with aiohttp.request(request["method"], f"{server}{path}", data=body or None, headers=headers) as response:
        return await response.json()
