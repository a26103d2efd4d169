"""A home with a few documents that everyone may see."""

import json
from pathlib import Path

from tests.cli.conftest import RECEIPTS, run_parley


def build_home(folder: Path) -> Path:
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    for arguments in (("ingest", str(source), "--bucket", "receipts"), ("grant", "receipts", "everyone")):
        if run_parley(folder, *arguments).status:
            raise RuntimeError(f"parley {arguments[0]} failed")
    return folder
