"""Walks over a condition and all conditions within it."""

from collections.abc import Iterator

from storage.search.conditions import (
    AndCondition,
    Condition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
)
from storage.search.ids import BucketId


def walk_conditions(condition: Condition, bucket: BucketId) -> Iterator[tuple[BucketId, Condition]]:
    """Yields the condition and those within it, outer ones first, each with the bucket whose documents it is about.

    Those within a `RowCondition` are about columns.
    """
    yield bucket, condition
    match condition:
        case AndCondition(members) | OrCondition(members):
            for member in members:
                yield from walk_conditions(member, bucket)
        case NotCondition(inner) | RowCondition(condition=inner):
            yield from walk_conditions(inner, bucket)
        case SemiJoinCondition(condition=inner):
            yield from walk_conditions(inner, condition.bucket)
        case _:
            return
