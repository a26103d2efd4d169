"""How long documents are kept, and what the next run deletes, as admins read it. Plain text."""

from bot.admin.document_retention import ExpiredDocuments
from bot.admin.sentences import count_with_noun
from bot.health.retention_rules import DocumentRule


def describe_rule(rule: DocumentRule) -> str:
    """ "kept 365 days after loading"."""
    return f"kept {count_with_noun(rule.days, 'day')} after {rule.start_name}"


def describe_effect(found: ExpiredDocuments) -> str:
    """What the next run deletes now, with how many documents there are."""
    if found.problem:
        return f"nothing is deleted, since {found.problem}"
    undated = f"; {count_with_noun(found.undated, 'document')} without that day" if found.undated else ""
    of_all = f"{found.expired:,} of {count_with_noun(found.total, 'document')}"
    if not found.expired:
        return f"none of {count_with_noun(found.total, 'document')} is older now{undated}"
    if found.is_refused:
        return (
            f"{of_all} are older, which is more than a fifth, so that none is deleted before the operator runs "
            f"parley bucket expire {found.rule.bucket} --anyway{undated}"
        )
    return f"the next run deletes {of_all}{undated}"
