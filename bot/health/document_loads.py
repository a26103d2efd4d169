"""Loads of documents by `parley ingest`, as the database records them: enough to load the same documents again."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any as Json


def load_request_of(
    paths: Sequence[str],
    *,
    bucket: str | None,
    ignore_metadata: bool,
    reads_with_model: bool,
    writes_contexts: bool,
) -> Mapping[str, Json]:
    """The request as JSON, with absolute paths. It has no schema: the bucket keeps its own."""
    return {
        "paths": [str(Path(path).absolute()) for path in paths],
        "bucket": bucket,
        "ignore_metadata": ignore_metadata,
        "reads_with_model": reads_with_model,
        "writes_contexts": writes_contexts,
    }


def needs_model(request: Mapping[str, Json]) -> bool:
    """Whether the load calls a language model, which costs something."""
    return bool(request["reads_with_model"] or request["writes_contexts"])


def command_for_load(request: Mapping[str, Json]) -> str:
    """The command that loads the same documents again."""
    words = ["parley", "ingest", *request["paths"]]
    words += ["--bucket", request["bucket"]] if request["bucket"] else []
    words += ["--ignore-metadata"] if request["ignore_metadata"] else []
    words += ["--extract-with", "model"] if request["reads_with_model"] else []
    words += ["--chunk-context"] if request["writes_contexts"] else []
    return shlex.join(words)
