"""Folders of this machine as sources."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from bot.admin.source_kinds.source_kind import CheckedSource, SourceRequest, source_name_of
from bot.errors import InvalidSource
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.source import DocumentSource

FOLDER_KIND: Final = "folder"


class FolderKind:
    name = FOLDER_KIND

    def check_request(self, request: SourceRequest) -> CheckedSource:
        location = _validate_folder(request.location)
        return CheckedSource(name=source_name_of(Path(location).name, self.name), location=location)

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator["DocumentSource"]:
        from storage.ingest.sources.folder import FolderSource

        yield FolderSource(Path(source.location))


def _validate_folder(location: str) -> str:
    try:
        path = Path(location).expanduser().resolve()
        if path.is_dir():
            return str(path)
    except (OSError, RuntimeError, ValueError) as exc:
        raise InvalidSource(f"{location!r} cannot be a folder: {exc}") from exc
    raise InvalidSource(f"{location} is no folder" if path.exists() else f"there is no folder {location}")
