"""Statements to the database of the storm, beside Parley."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

ExecuteStatement: TypeAlias = Callable[..., Awaitable[list[Any]]]  # a statement, and its values by name


async def execute_statements(database_url: str, statements: Sequence[str], **values: Any) -> list[list[Any]]:
    """The rows of each statement of one transaction. Raises `OSError` and `SQLAlchemyError` while the database is
    down.
    """
    engine = create_async_engine(database_url, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            results = [await connection.execute(text(statement), values) for statement in statements]
            return [list(rows.all()) if rows.returns_rows else [] for rows in results]
    finally:
        await engine.dispose()
