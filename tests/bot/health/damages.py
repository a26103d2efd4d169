"""Ways in which a file on the disk is damaged or lost."""

import shutil
from pathlib import Path


def overwrite_middle(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(bytes(4096 * 8))


def cut_off_end(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def overwrite_beginning(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(4096))


def empty_file(path: Path) -> None:
    path.write_bytes(b"")


def remove_file(path: Path) -> None:
    path.unlink()


def put_back_copy(path: Path) -> None:
    """Put the file back that `copy_of` has copied."""
    shutil.copyfile(path.with_suffix(".copy"), path)


def copy_of(path: Path) -> Path:
    return Path(shutil.copyfile(path, path.with_suffix(".copy")))
