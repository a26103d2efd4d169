"""Sentences of the administration that have cases."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from bot.admin.administration import AuditEntry
from bot.admin.sentences import describe_change, describe_likeness, describe_meaning
from bot.ids import PersonId


@pytest.mark.parametrize(
    ("action", "matter", "before", "after", "text"),
    [
        ("grant", "leases → group:lawyers", None, {"include_external": False}, "Granted: leases → Group lawyers"),
        ("grant", "leases → user:slack:T1:U1", None, {"include_external": False}, "Granted: leases → slack:T1:U1"),
        (
            "grant",
            "leases → channel:slack:T1:C1",
            {"include_external": False},
            {"include_external": True},
            "Granted: leases → channel:slack:T1:C1 (guests and other organisations included)",
        ),
        (
            "limits",
            "limits",
            {"person_hour": 10},
            {"person_hour": 20, "person_day": 50},
            "Changed the limits (10 → 20 questions per person in an hour, 50 questions per person in 24 hours)",
        ),
        (
            "limits",
            "limits",
            {"person_day": 9},
            {},
            "Changed the limits (9 → any number of questions per person in 24 hours)",
        ),
        ("group.create", "lawyers", None, {"title": "Lawyers"}, "Made the group: lawyers (title Lawyers)"),
    ],
)
def test_a_change_is_told_in_words(
    action: str, matter: str, before: Mapping[str, object] | None, after: Mapping[str, object] | None, text: str
) -> None:
    entry = AuditEntry(
        at=datetime(2031, 5, 9, tzinfo=UTC), by=PersonId("local:ann"), action=action, matter=matter,
        before=before, after=after,
    )  # fmt: skip

    assert describe_change(entry) == text


def test_a_meaning_is_told_in_words() -> None:
    assert describe_meaning("issued_by", "Pillar Rigging") == "issued by “Pillar Rigging”"
    assert describe_meaning("total", None) == "the field “total”"
    assert (describe_likeness(2, 0.0), describe_likeness(0, 0.514)) == ("people chose it 2×", "similar meaning (0.51)")
