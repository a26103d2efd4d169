"""What is said of an empty set: between which values the fields lie that its conditions compare."""

from collections.abc import Iterator

from agent.tools.tool_access import ToolAccess
from storage.search.conditions import fields_of
from storage.search.plan import Clause, Search


def explain_empty_set(search: Search, access: ToolAccess) -> str:
    """Returns a text for the model."""
    clause = search.clauses[0]
    return " ".join((f"0 documents of {clause.bucket} meet the filters.", *_describe_ranges(clause, access)))


def _describe_ranges(clause: Clause, access: ToolAccess) -> Iterator[str]:
    for name in sorted(fields_of(clause.condition)):
        vocabulary = access.question_context.vocabulary.field_of(clause.bucket, name)
        if vocabulary is not None and vocabulary.low is not None and vocabulary.high is not None:
            yield f"The values of {name} lie between {vocabulary.low} and {vocabulary.high}."
