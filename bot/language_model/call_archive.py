"""Stores the model calls of turns, and reports them to observers."""

from collections.abc import Callable, Sequence

from structlog.typing import FilteringBoundLogger

from agent.reasoning_log import ModelCallRecord
from bot.ids import ConversationId, TurnId
from bot.language_model.measured_call import MeasuredCall, measure_call
from storage.search.ids import TenantId
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.stores.model_calls import ModelCallStore, NewModelCall

CallsObserver = Callable[[Sequence[MeasuredCall]], None]


class ModelCallArchive:
    def __init__(self, database: SqlDatabase, tenant: TenantId, log: FilteringBoundLogger) -> None:
        self._store, self._tenant, self._log = ModelCallStore(database), tenant, log
        self._observers: list[CallsObserver] = []

    def add_observer(self, observer: CallsObserver) -> None:
        """Calls `observer` with the calls of each turn of this process that made any."""
        self._observers.append(observer)

    async def save_calls(self, turn: TurnId, conversation: ConversationId, calls: Sequence[ModelCallRecord]) -> None:
        """Stores the calls in one insert. A failure is only logged: the answer counts more."""
        if not calls:
            return
        measured_calls = tuple(map(measure_call, calls))
        for notify_observer in self._observers:
            notify_observer(measured_calls)
        rows = [self._row_of(turn, conversation, call) for call in calls]
        try:
            await self._store.insert_calls(rows)
        except SqlError as exc:
            self._log.warning("model calls not stored", turn=turn, calls=len(rows), error=type(exc).__name__)

    def _row_of(self, turn: TurnId, conversation: ConversationId, call: ModelCallRecord) -> NewModelCall:
        return NewModelCall(
            tenant=self._tenant,
            turn=turn,
            conversation=conversation,
            prompt=call.prompt,
            model=call.model,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cost_usd=call.cost_usd,
            ms=call.ms,
            error=call.error or None,
            request_text=call.request_text or None,
            reply_text=call.reply_text or None,
        )
