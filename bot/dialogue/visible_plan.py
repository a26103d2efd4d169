"""The part of a plan that the current grants cover."""

from storage.search.plan import Plan
from storage.search.scope import Scope


def visible_plan(plan: Plan, scope: Scope) -> Plan | None:
    """Returns the plan over the buckets that are granted now; None when a leg has no granted bucket.

    A clause that compares with a bucket that is not granted is left out like one of that bucket.
    """
    for leg in plan.legs:
        visible_clauses = tuple(clause for clause in leg.search.clauses if clause.read_buckets <= scope.buckets)
        if not visible_clauses:
            return None
        plan = plan.with_search(leg.id, leg.search.with_clauses(*visible_clauses))
    return plan
