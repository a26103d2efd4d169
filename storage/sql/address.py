"""Addresses of databases, as people write them and as the drivers want them."""

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


def sqlite_url(file: Path) -> str:
    """The address of a database in a file."""
    return URL.create("sqlite", database=str(file)).render_as_string()


def parsed(address: str) -> URL:
    """With the driver's name, and libpq's `sslmode` as asyncpg's `ssl`. Raises `InvalidDatabaseUrl`."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as exc:
        raise InvalidDatabaseUrl(_without_password(address)) from exc
    driver = _DRIVERS.get(url.drivername)
    if driver is None or not url.database or url.database == ":memory:":
        raise InvalidDatabaseUrl(shown(url))
    url = url.set(drivername=driver)
    if mode := url.query.get("sslmode"):
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    return url


def shown(url: URL) -> str:
    """How messages name it: the file, or host, port and database."""
    if url.drivername.startswith("sqlite"):
        return url.database or str(url)
    host = url.host or "localhost"
    return f"{url.drivername.split('+')[0]}://{host}:{url.port or 5432}/{url.database or ''}"


def _without_password(address: str) -> str:
    """What does not parse as an address may still hold a password before its `@`."""
    before, at, host = address.rpartition("@")
    scheme, separator, _ = before.partition("://")
    return f"{scheme + separator if separator else ''}…@{host}" if at else address
