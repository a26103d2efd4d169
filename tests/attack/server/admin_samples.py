"""Forms of the admin page, as its pages send them."""

from collections.abc import Mapping
from typing import Final

from tests.builders import RECEIPTS

ADMIN_FORMS: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("/admin/synonym", {"b": RECEIPTS, "field": "vendor", "word": "bolts", "value": "Acme"}),
    ("/admin/synonym", {"b": RECEIPTS, "field": "vendor", "word": "dealer", "value": ""}),
    (
        "/admin/schema/save",
        {"b": RECEIPTS, "f": "vendor", "title": "Vendor", "synonyms": "dealer\nshop"},
    ),
    (
        "/admin/schema/save",
        {"b": RECEIPTS, "f": "", "title": "Receipts", "synonyms": "", "facet": "yes"},
    ),
    (
        "/admin/value",
        {"b": RECEIPTS, "id": "r001", "f": "vendor", "text": "Acme", "decision": "correct", "version": "", "back": ""},
    ),
    ("/admin/value", {"b": RECEIPTS, "id": "r002", "f": "price", "text": "1,5", "decision": "accept", "version": ""}),
    ("/admin/value", {"b": RECEIPTS, "id": "r003", "f": "vendor", "decision": "empty", "back": "/admin/document"}),
    ("/admin/value/withdraw", {"b": RECEIPTS, "id": "r001", "f": "vendor", "back": "/admin/document"}),
    ("/admin/source/sync", {"source": "letters"}),
    ("/admin/source/pause", {"source": "letters"}),
    ("/admin/source/resume", {"source": "letters"}),
    ("/admin/source/%ff%00", {"source": "letters"}),
    ("/admin/grant", {"bucket": RECEIPTS, "subject": "user:local:bob", "include_external": "yes", "back": ""}),
    ("/admin/grant", {"bucket": RECEIPTS, "subject": "group:buyers", "back": "/admin/bucket"}),
    ("/admin/revoke", {"bucket": RECEIPTS, "subject": "user:local:bob", "back": "/admin/bucket"}),
    ("/admin/admins/add", {"person": "local:bob"}),
    ("/admin/admins/remove", {"person": "local:bob"}),
    ("/admin/limits", {"person_hour": "10", "shown_person_hour": ""}),
    ("/admin/retention", {"b": RECEIPTS, "field": "@loaded", "days": "3650", "version": ""}),
    ("/admin/retention/end", {"b": RECEIPTS, "version": ""}),
    ("/admin/leave", {"": ""}),
    ("/admin/enter/a.b", {"": ""}),
)
