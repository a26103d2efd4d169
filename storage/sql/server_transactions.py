"""Transactions on PostgreSQL: limited in time, and repeated if the server or the network ended them.

The server ends a statement after `ServerTimeouts.statement`, and the transaction of a process that hangs between two
statements, so that nothing stays locked for long. Transactions are READ COMMITTED, on which the inbox relies, whatever
the server's default is.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import SystemRandom
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar, cast

from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from storage.sql.error_translation import (
    LIBRARY_ERRORS,
    is_connection_ending,
    is_rolled_back_for_others,
    is_transient_failure,
)

APPLICATION_NAME: Final = "parley"  # of every connection, for the server's lists
_CONNECTIONS, _KEPT_CONNECTIONS = 11, 6  # for transactions: at most, and also while they are idle
_STATEMENT_CONNECTIONS: Final = 8  # for single statements: as many as turns are processed at once
POOL_SIZE: Final = _CONNECTIONS + _STATEMENT_CONNECTIONS + 1  # of one process at most; the last one listens
# Single statements find few rows through an index, in its order. The planner does not know how long the queue is at the
# moment: it would read and sort all open turns for each claim if there were few when it last counted.
_INDEX_ORDER_SETTINGS: Final = {"enable_sort": "off", "enable_bitmapscan": "off"}
_DRIVER_MARGIN_S: Final = 5.0  # the server ends a statement first, and says why
# In seconds, before the next attempt. Together less than the three seconds that a chat product waits.
_RETRY_PAUSES_S: Final = (0.0, 0.05, 0.2, 0.5, 1.0)

_RECONNECT_PAUSE_S: Final = 1.0  # before listening again
_jitter: Final = SystemRandom()

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTimeouts:
    """`connect`: of a new connection. `statement`: of each statement; migrations have none. `idle_transaction`: between
    two statements of a transaction.
    """

    connect: timedelta = timedelta(seconds=10)
    statement: timedelta = timedelta(seconds=30)
    idle_transaction: timedelta = timedelta(seconds=60)


DEFAULT_TIMEOUTS: Final = ServerTimeouts()


class ServerTransactions:
    """Runs transactions on PostgreSQL."""

    def __init__(self, url: URL, timeouts: ServerTimeouts, engine_options: dict[str, Any]) -> None:
        self._engine = create_async_engine(
            url,
            connect_args=_connect_args_for(timeouts),
            pool_size=_KEPT_CONNECTIONS,
            max_overflow=_CONNECTIONS - _KEPT_CONNECTIONS,
            pool_use_lifo=True,  # the last used connection has the common statements prepared
            **engine_options,
        )
        self._statement_engine = create_async_engine(
            url,
            connect_args=_connect_args_for(timeouts, _INDEX_ORDER_SETTINGS),
            pool_size=_STATEMENT_CONNECTIONS,
            max_overflow=0,
            pool_use_lifo=True,
            isolation_level="AUTOCOMMIT",
            **engine_options,
        )
        # Its statements may take as long as they need: the upgrade of a large table, or another process's upgrade.
        self._unlimited_engine = create_async_engine(
            url,
            connect_args=_connect_args_for(timeouts, limits_statements=False),
            poolclass=NullPool,
            **engine_options,
        )
        for engine in (self._engine, self._statement_engine, self._unlimited_engine):
            event.listen(engine.sync_engine, "handle_error", _discard_ending_connection)

    async def run_transaction(
        self,
        work: Callable[[Connection], T],
        *,
        durable: bool = True,
        is_repeatable: bool = False,
        is_single_statement: bool = False,
    ) -> T:
        """Run `work` in a transaction, again if the server or the network ended it.

        If the connection is lost during the commit, nobody knows whether the transaction is committed. It is then run
        again only if it `is_repeatable`. `is_single_statement`: the transaction of this statement takes one round trip
        instead of three, and every loss of the connection is one during the commit.
        """
        engine = self._statement_engine if is_single_statement else self._engine
        for pause_s in _RETRY_PAUSES_S:
            attempt = _TransactionAttempt(engine, is_committing=is_single_statement)
            try:
                return await attempt.run_work(work)
            except LIBRARY_ERRORS as exc:
                is_undone = is_rolled_back_for_others(exc) or is_connection_ending(exc)
                is_certain = is_repeatable or not attempt.is_committing or is_undone
                if not (is_certain and is_transient_failure(exc)):
                    raise
            await asyncio.sleep(pause_s * _jitter.uniform(0.5, 1))
        return await _TransactionAttempt(engine).run_work(work)

    async def run_unlimited(self, work: Callable[[Connection], T]) -> T:
        """Run `work` once in a transaction of its own connection, whose statements have no timeout."""
        return await _TransactionAttempt(self._unlimited_engine).run_work(work)

    async def watch_channel(self, channel: str, on_notification: Callable[[], None]) -> None:
        """Call `on_notification` for each notification of the channel, until cancelled.

        It is also called after each connection, because notifications are lost while there is none.
        """
        import asyncpg  # pyright: ignore[reportMissingTypeStubs]

        while True:
            try:
                await self._listen_until_disconnected(channel, on_notification)
            except (*LIBRARY_ERRORS, asyncpg.PostgresError, asyncpg.InterfaceError):
                pass  # the inbox is polled as well, and says what is wrong
            await asyncio.sleep(_RECONNECT_PAUSE_S * _jitter.uniform(0.5, 1))

    async def _listen_until_disconnected(self, channel: str, on_notification: Callable[[], None]) -> None:
        disconnected = asyncio.Event()
        async with self._unlimited_engine.connect() as connection:
            driver = cast(_ListeningDriver, (await connection.get_raw_connection()).driver_connection)
            driver.add_termination_listener(lambda _: disconnected.set())
            await driver.add_listener(channel, lambda *_: on_notification())
            on_notification()
            await disconnected.wait()

    async def close(self) -> None:
        await self._engine.dispose()
        await self._statement_engine.dispose()
        await self._unlimited_engine.dispose()


def _discard_ending_connection(context: ExceptionContext) -> None:
    """Tell SQLAlchemy, which asks only whether the connection is closed already, not to use it again."""
    if is_connection_ending(context.original_exception):
        context.is_disconnect = True


class _ListeningDriver(Protocol):
    """What asyncpg's connections offer: callbacks for notifications and for the end of the connection."""

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    def add_termination_listener(self, callback: Callable[[object], None]) -> None: ...


class _TransactionAttempt:
    def __init__(self, engine: AsyncEngine, *, is_committing: bool = False) -> None:
        self._engine, self.is_committing = engine, is_committing

    async def run_work(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.begin() as connection:
            result = await connection.run_sync(work)
            self.is_committing = True
        return result


def _connect_args_for(
    timeouts: ServerTimeouts, settings: Mapping[str, str] = MappingProxyType({}), *, limits_statements: bool = True
) -> dict[str, Any]:
    """The driver's arguments. The settings are those of the session, so the server's defaults do not matter."""
    statement_s = timeouts.statement.total_seconds() if limits_statements else 0
    return {
        "timeout": timeouts.connect.total_seconds(),
        "command_timeout": statement_s + _DRIVER_MARGIN_S if limits_statements else None,
        "server_settings": {
            "application_name": APPLICATION_NAME,
            "default_transaction_isolation": "read committed",
            "jit": "off",  # compiling takes longer than any statement here
            "statement_timeout": f"{statement_s * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{timeouts.idle_transaction.total_seconds() * 1000:.0f}",
            **settings,
        },
    }
