"""The rows of a query of a database as a source."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import SecretStr

from bot.admin.source_kinds.principal_options import parse_principal_options, principal_mapping_of
from bot.admin.source_kinds.source_kind import (
    CheckedSource,
    SourceRequest,
    allows_private,
    check_private_host,
    private_network_option,
    source_name_of,
    split_plain_url,
)
from bot.errors import InvalidSource
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.databases.query_reader import DatabaseLocation
    from storage.ingest.sources.source import DocumentSource

SQL_KIND: Final = "sql"
_EXAMPLE: Final = "postgresql://reader@db.example.com/shop or sqlite:////srv/shop.db"
_OPTIONS: Final = ("query", "key", "cursor", "readers", "name", "max_rows", "user", "tls")
_TLS_MODES: Final = ("disable", "prefer", "require", "verify-ca", "verify-full")
_MAX_QUERY_CHARACTERS: Final = 20_000


class QueryKind:
    name = SQL_KIND

    def check_request(self, request: SourceRequest) -> CheckedSource:
        options = {name: value for name, value in request.options.items() if name in _OPTIONS}
        query = _check_query(str(options.get("query", "")))
        key, cursor = str(options.get("key", "")), str(options.get("cursor", ""))
        if not key or key == cursor:
            raise InvalidSource("say with --key which column of the query identifies a row; --cursor is another one")
        principals = parse_principal_options(request)
        if principals and not options.get("readers"):
            raise InvalidSource("--principal says who the readers are; name their column with --readers")
        if options.get("readers", " ") in (key, cursor):
            raise InvalidSource("--readers is a column of its own, besides --key and --cursor")
        _check_row_bound(options.get("max_rows"))
        if options.get("tls", "prefer") not in _TLS_MODES:
            raise InvalidSource(f"--tls is one of {', '.join(_TLS_MODES)}")
        location, database = _check_location(request, options)
        name = source_name_of(str(options.pop("name", "") or database), self.name)
        return CheckedSource(
            name=name,
            location=location,
            options=options | {"query": query, "table": name} | principals | private_network_option(request),
        )

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator["DocumentSource"]:
        from storage.ingest.sources.databases.query_reader import QueryReader
        from storage.ingest.sources.databases.query_source import DEFAULT_MAX_ROWS, QuerySource, RowQuery

        options = source.options
        row_query = RowQuery(
            query=str(options["query"]),
            key=str(options["key"]),
            cursor=str(options.get("cursor", "")),
            readers=str(options.get("readers", "")),
            max_rows=int(options.get("max_rows", DEFAULT_MAX_ROWS)),
        )
        reader = QueryReader(_database_location_of(source, secret))
        with TemporaryDirectory(prefix="parley-") as folder:
            yield QuerySource(
                reader,
                row_query,
                table=str(options["table"]),
                link=source.location,
                folder=Path(folder),
                principals=principal_mapping_of(options, takes_subjects=True),
            )


def _check_query(query: str) -> str:
    statement = query.strip().rstrip(";").rstrip()
    if not re.match(r"(select|with|values|table)\b", statement, re.IGNORECASE):
        raise InvalidSource("--query is a SELECT, such as 'SELECT id, title, price FROM products'")
    if len(statement) > _MAX_QUERY_CHARACTERS:
        raise InvalidSource(f"the query is longer than {_MAX_QUERY_CHARACTERS:,} characters; make it a view")
    return statement


def _check_row_bound(max_rows: object) -> None:
    from storage.ingest.sources.databases.query_source import MAX_ROWS

    if max_rows is not None and not (isinstance(max_rows, int) and 1 <= max_rows <= MAX_ROWS):
        raise InvalidSource(f"--max-rows is a number from 1 to {MAX_ROWS:,}")


def _check_location(request: SourceRequest, options: dict[str, object]) -> tuple[str, str]:
    """Returns the location without the user, who becomes an option, and the name of the database."""
    text = request.location.strip()
    if text.startswith("sqlite:///"):
        file = Path(text.removeprefix("sqlite:///")).expanduser().resolve()
        if not file.is_file():
            raise InvalidSource(f"there is no file {file}")
        return f"sqlite:///{file}", file.stem
    parts: SplitResult = split_plain_url(text, _EXAMPLE)
    database = unquote(parts.path).strip("/")
    if parts.scheme not in ("postgresql", "postgres") or not database or "/" in database:
        raise InvalidSource(f"this is no address such as {_EXAMPLE}")
    if parts.username is not None:
        options.setdefault("user", unquote(parts.username))
    if not options.get("user"):
        raise InvalidSource("say with --user as whom the database is read")
    check_private_host(request, parts.hostname or "", parts.port or 5432)
    return f"postgresql://{parts.netloc.rpartition('@')[2]}/{database}", database


def _database_location_of(source: StoredSource, secret: SecretStr | None) -> "DatabaseLocation":
    from storage.ingest.sources.databases.query_reader import DatabaseLocation

    if source.location.startswith("sqlite:///"):
        return DatabaseLocation(file=Path(source.location.removeprefix("sqlite:///")))
    parts = urlsplit(source.location)
    return DatabaseLocation(
        host=parts.hostname or "",
        port=parts.port or 5432,
        database=parts.path.strip("/"),
        user=str(source.options.get("user", "")),
        password=secret.get_secret_value() if secret is not None else "",
        tls=str(source.options.get("tls", "")),
        allow_private=allows_private(source),
    )
