"""Checks whether folders take what is written to them."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_PROBE_BYTES: Final = 64 * 1024  # more than a message and its reply take
_PROBE_NAME: Final = ".write-check"


def find_unwritable_folder(folders: Iterable[Path]) -> str | None:
    """A sentence about the first folder that does not take a file of 64 KiB, or does not give it back; None if all do.

    A folder that does not exist counts as its nearest parent that does.
    """
    checked = set[Path]()
    for folder in folders:
        existing = _nearest_existing(folder)
        if existing not in checked:
            checked.add(existing)
            if (problem := _problem_of(existing)) is not None:
                return problem
    return None


def _nearest_existing(folder: Path) -> Path:
    return next((path for path in (folder, *folder.parents) if path.is_dir()), folder)


def _problem_of(folder: Path) -> str | None:
    path, content = folder / f"{_PROBE_NAME}-{os.getpid()}", secrets.token_bytes(_PROBE_BYTES)
    try:
        _write_file(path, content)
        stored = path.read_bytes()
    except OSError as exc:
        return f"{folder} cannot be written ({exc.strerror}): free some space, or correct its permissions"
    finally:
        path.unlink(missing_ok=True)
    return None if stored == content else f"{folder} does not keep what is written: check the disk"


def _write_file(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
