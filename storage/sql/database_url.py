"""Database addresses: parsed from the form people write into the form the drivers need."""

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from storage.sql.errors import InvalidDatabaseUrl

_DRIVERS = {
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
    "sqlite": "sqlite",
}


def sqlite_url_for(file: Path) -> str:
    """Returns the address of a database in a file."""
    return URL.create("sqlite", database=str(file)).render_as_string()


def is_file_url(url: URL) -> bool:
    """Whether the database is an SQLite file."""
    return url.drivername.startswith("sqlite")


def parse_database_url(address: str) -> URL:
    """Returns the URL with the driver's name, and libpq's `sslmode` as asyncpg's `ssl`. Raises `InvalidDatabaseUrl`."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as exc:
        raise InvalidDatabaseUrl(_mask_password_in(address)) from exc
    driver = _DRIVERS.get(url.drivername)
    if driver is None or not url.database or url.database == ":memory:":
        raise InvalidDatabaseUrl(display_url(url))
    url = url.set(drivername=driver)
    if mode := url.query.get("sslmode"):
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    return url


def display_url(url: URL) -> str:
    """Returns the address for messages: the file, or host, port and database, never a password."""
    if is_file_url(url):
        return url.database or str(url)
    host = url.host or "localhost"
    return f"{url.drivername.split('+')[0]}://{host}:{url.port or 5432}/{url.database or ''}"


def _mask_password_in(address: str) -> str:
    """Mask what precedes the `@`, because even an invalid address may contain a password."""
    credentials, at_sign, host = address.rpartition("@")
    scheme, separator, _ = credentials.partition("://")
    return f"{scheme + separator if separator else ''}…@{host}" if at_sign else address
