"""A home with a few documents that everyone may see."""

import json
from pathlib import Path

from tests.cli.conftest import RECEIPTS, run


def a_home(folder: Path) -> Path:
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    for words in (("ingest", str(source), "--bucket", "receipts"), ("grant", "receipts", "everyone")):
        if run(folder, *words).status:
            raise RuntimeError(f"parley {words[0]} failed")
    return folder
