"""Records the index that an earlier Parley writes, in `indexes/`, as its own program loads documents:

    git worktree add ../earlier COMMIT   # install it into an environment of its own
    python -m tests.storage.upgrades.record_index ../earlier-environment/bin/python NAME

`NAME.sqlite.gz` is the file of the embedded index. `NAME.jsonl.gz` has, in order, the requests that change an
OpenSearch, under the key `request`. What a process that runs on writes after that, `LATE_RECEIPTS`, has the keys
`late_request` and, for the file, `late_statement`.
"""

import asyncio
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any as Json
from typing import Final

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.builders import TENANT
from tests.servers.opensearch import opensearch_server

INDEXES: Final = Path(__file__).parent / "indexes"
_PARTS: Final = {
    "Kestrel": "Winter tires with steel rims were mounted and balanced.",
    "Northline": "The brake fluid was changed, and the hand brake was set anew.",
    "Harbor": "A windscreen was replaced after a stone had hit it.",
}
_SERVICE: Final = " ".join(
    f"Step {number}: check the {part}, note its wear, and replace it beyond {number} millimetres."
    for number in range(1, 21)
    for part in ("brake pads", "hoses", "belts")
)


def _build_receipt(number: int) -> dict[str, Json]:
    vendor = ["Kestrel", "Northline", "Harbor"][number % 3]
    metadata = {
        "vendor": vendor,
        "date": f"202{number % 4}-03-{number % 27 + 1:02}",
        "total": f"{number}.50 EUR",
        "hours": number / 2,
        "paid": number % 5 != 0,
        "tags": ["garage", f"bay {number % 2}"],
    }
    return {"doc_id": f"r-{number:03}", "title": f"Receipt {number}", "text": _PARTS[vendor], "metadata": metadata}


RECEIPT_RECORDS: Final = [_build_receipt(number) for number in range(15)]
LATE_RECEIPTS: Final = [_build_receipt(15), RECEIPT_RECORDS[0] | {"text": "Winter tires were sold."}]  # new, replaced
MANUAL_RECORDS: Final = [
    {"doc_id": "m-service", "title": "Service manual", "text": _SERVICE, "metadata": {"pages": 12}},
    {"doc_id": "m-lift", "title": "Lift", "text": "Lower the lift before the gate opens.", "metadata": {"pages": 2}},
]
_RUN: Final = "from bot.cli import main; main()"
_TRACED_RUN: Final = f"""
import os, sqlite3
connect = sqlite3.connect

def write_statement(statement):
    if statement.startswith(("INSERT", "UPDATE", "DELETE")):
        with open(os.environ["PARLEY_HOME"] + "/statements", "a") as file:
            file.write(statement + "\\0")

def connect_traced(path, *words, **options):
    connection = connect(path, *words, **options)
    if str(path).endswith("index.sqlite"):
        connection.set_trace_callback(write_statement)
    return connection

sqlite3.connect = connect_traced
{_RUN}
"""
_CHANGES: Final = ("/_bulk", "/_aliases", "/_refresh", "/_delete_by_query", "/_update_by_query")


class EarlierLoader:
    """Loads documents with the command line of the version that is installed for this interpreter."""

    def __init__(self, python: Path, home: Path, index_url: str) -> None:
        self._python, self._home = python, home
        self._environment = {"PATH": os.environ["PATH"], "PARLEY_HOME": str(home), "PARLEY_SECRET_KEY": "k" * 32}
        self._environment |= {"PARLEY_TENANT": TENANT, "PARLEY_INDEX_URL": index_url}

    def load_documents(self, bucket: str, documents: Sequence[dict[str, Json]], program: str = _RUN) -> None:
        path = self._home / f"{bucket}.jsonl"
        path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
        words = ["-c", program, "ingest", path.name, "--bucket", bucket]
        completed = subprocess.run(
            [self._python, *words], cwd=self._home, env=self._environment, capture_output=True, text=True, check=False
        )
        if completed.returncode:
            raise SystemExit(f"parley ingest: {completed.stderr}")

    def load_all(self) -> None:
        """Loads a receipt with another text first, so that it has been replaced."""
        self.load_documents("receipts", [*RECEIPT_RECORDS[:-1], RECEIPT_RECORDS[-1] | {"text": _SERVICE}])
        self.load_documents("receipts", RECEIPT_RECORDS)
        self.load_documents("manuals", MANUAL_RECORDS)


@asynccontextmanager
async def record_changes(server: str, changes: list[dict[str, Json]]) -> AsyncGenerator[str]:
    """Runs a proxy to the server, which adds the requests that change something; gives its address."""

    async def pass_request_on(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if request.method in ("PUT", "DELETE") or request.path.endswith(_CHANGES):
            changes.append({"method": request.method, "path": request.path_qs, "body": body.decode()})
        url, headers = f"{server}{request.path_qs}", {"content-type": "application/json"}
        async with aiohttp.request(request.method, url, data=body or None, headers=headers) as response:
            return web.Response(status=response.status, body=await response.read(), content_type="application/json")

    app = web.Application(client_max_size=100_000_000)
    app.router.add_route("*", "/{path:.*}", pass_request_on)
    async with TestServer(app) as proxy:
        yield str(proxy.make_url("")).rstrip("/")


def record_embedded(python: Path, name: str, home: Path) -> list[dict[str, Json]]:
    loader = EarlierLoader(python, home, "embedded:")
    loader.load_all()
    copied = home / "copy.sqlite"
    source, target = sqlite3.connect(home / "index" / "index.sqlite"), sqlite3.connect(copied)
    source.backup(target)
    source.close()
    target.close()
    (INDEXES / f"{name}.sqlite.gz").write_bytes(gzip.compress(copied.read_bytes(), mtime=0))
    loader.load_documents("receipts", LATE_RECEIPTS, _TRACED_RUN)
    statements = (home / "statements").read_text(encoding="utf-8").split("\0")
    return [{"late_statement": statement} for statement in statements if statement]


async def record_opensearch(python: Path, home: Path) -> list[dict[str, Json]]:
    loaded, late = list[dict[str, Json]](), list[dict[str, Json]]()
    with opensearch_server() as server:
        async with record_changes(server, loaded) as url:
            loader = EarlierLoader(python, home, url)
            await asyncio.to_thread(loader.load_all)
        async with record_changes(server, late) as url:
            loader = EarlierLoader(python, home, url)
            await asyncio.to_thread(loader.load_documents, "receipts", LATE_RECEIPTS)
    return [*({"request": change} for change in loaded), *({"late_request": change} for change in late)]


def main(python: Path, name: str) -> None:
    with tempfile.TemporaryDirectory() as embedded_home, tempfile.TemporaryDirectory() as opensearch_home:
        statements = record_embedded(python, name, Path(embedded_home))
        requests = asyncio.run(record_opensearch(python, Path(opensearch_home)))
    text = "".join(f"{json.dumps(line)}\n" for line in [*requests, *statements])
    (INDEXES / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), sys.argv[2])
