"""What the admin page shows of limits: those that are set, how much is asked now, and what models may cost."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.admin.administration import AdminOperations, QuestionLimit
from bot.ids import OPERATOR, PersonId
from bot.language_model.spending import load_month_spending
from bot.settings import Settings
from storage.search.ids import TenantId
from storage.sql.database import SqlDatabase
from storage.sql.stores.limits import LimitStore


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitStatus:
    """`recent`: the questions that count now in each limit; of those of one person, the most that anybody has asked.

    `budget_usd` None: models have no budget. `spent_usd`: of the budget, in this calendar month (UTC).
    """

    limits: Mapping[QuestionLimit, int]
    recent: Mapping[QuestionLimit, int]
    budget_usd: float | None
    spent_usd: float


class LimitStatuses:
    """Each call names the admin who asks, and raises `NotAdmin` for anybody else."""

    def __init__(self, *, administration: AdminOperations, database: SqlDatabase, settings: Settings) -> None:
        self._administration, self._database = administration, database
        self._budget_usd, self._tenant = settings.model.budget, TenantId(settings.tenant)

    async def load_status(self, by: PersonId) -> LimitStatus:
        limits = await self._administration.list_limits(by)
        recent = await LimitStore(self._database).count_recent_questions(exempt_person=OPERATOR)
        has_budget = self._budget_usd is not None
        return LimitStatus(
            limits=limits,
            recent=recent,
            budget_usd=self._budget_usd,
            spent_usd=await load_month_spending(self._database, self._tenant) if has_budget else 0.0,
        )
