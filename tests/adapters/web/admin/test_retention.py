"""How long documents are kept: shown with what would be deleted, counted before it is set, and ended."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from bot.ids import EVERYONE, OPERATOR, BucketId, Subject
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.adapters.web.admin.conftest import ANN, BOB, SECRET, OpenedSite, open_site
from tests.builders import a_document
from tests.stored_rows import list_audit_entries

VISITS = BucketId("visits")
OLD_DAYS = ("2029-01-01", "2030-05-08")


@pytest_asyncio.fixture
async def kept_site(site: OpenedSite) -> OpenedSite:
    """Ann may also see twelve visits; two are more than 365 days ago on 9 May 2031."""
    await fill_visits(site)
    await site.enter_as(ANN)
    return site


async def fill_visits(site: OpenedSite) -> None:
    date = SchemaField(name=FieldName("date"), type=FieldType.DATE, title="Day of the visit")
    await site.bot.index.set_schema(Schema(bucket=VISITS, title="Visits", fields=(date,)))
    days = (*OLD_DAYS, *(f"2031-04-{day:02}" for day in range(1, 11)))
    await site.bot.index.put(VISITS, [a_document(f"v-{day}", "A visit.", date=day) for day in days])
    await site.bot.grants.grant_bucket_access(VISITS, Subject(f"user:{ANN}"), by=OPERATOR)


async def count_visits(site: OpenedSite) -> int:
    return (await site.bot.index.load_bucket_states())[VISITS].document_count


async def rules_of(site: OpenedSite) -> list[tuple[str, str, int]]:
    return [(rule.bucket, rule.field, rule.days) for rule in await site.bot.document_retention.load_rules()]


async def test_a_rule_is_counted_then_set_then_applied(kept_site: OpenedSite) -> None:
    site = kept_site
    _, before = await site.get("/admin/bucket?b=visits")
    status, preview = await site.get("/admin/retention?b=visits&field=date&days=365")
    unchanged = await rules_of(site), await site.bot.document_retention.expire_documents(), await count_visits(site)
    site.clock.advance(timedelta(hours=2))
    _, _, address = await site.submit("/admin/retention", b="visits", field="date", days="365", version="")
    _, after = await site.get(address)
    _, bucket_page = await site.get("/admin/bucket?b=visits")
    deleted = await site.bot.document_retention.expire_documents()

    assert "Its documents are kept without an end." in before
    assert (status, "kept 365 days after date: the next run deletes 2 of 12 documents" in preview) == (200, True)
    assert "Nothing is deleted before you save this" in preview
    assert unchanged == ([], 0, 12)
    assert "Saved; what is older is deleted within the hour." in after
    assert "kept 365 days after date: the next run deletes 2 of 12 documents" in bucket_page
    assert (deleted, await count_visits(site)) == (2, 10)
    [entry] = [entry for entry in await list_audit_entries(site.bot.database) if entry.action == "retention"]
    assert (entry.by, entry.matter, entry.before) == (ANN, "visits", None)
    assert entry.after == {"bucket": "visits", "field": "date", "days": 365}


async def test_a_rule_is_changed_and_ended_and_ending_deletes_nothing(kept_site: OpenedSite) -> None:
    site = kept_site
    await site.submit("/admin/retention", b="visits", field="date", days="365", version="")
    await site.submit("/admin/retention", b="visits", field="@loaded", days="30", version="date:365")
    changed = await rules_of(site)
    _, _, address = await site.submit("/admin/retention/end", b="visits", version="@loaded:30")
    _, page = await site.get(address)

    assert changed == [("visits", "@loaded", 30)]
    assert "The rule is ended" in page
    assert "End the rule" not in page
    assert (await rules_of(site), await site.bot.document_retention.expire_documents()) == ([], 0)
    assert await count_visits(site) == 12


async def test_more_than_a_fifth_is_said_before_it_is_set_and_stays(kept_site: OpenedSite) -> None:
    site = kept_site
    _, preview = await site.get("/admin/retention?b=visits&field=date&days=1")
    await site.submit("/admin/retention", b="visits", field="date", days="1", version="")

    assert "12 of 12 documents are older, which is more than a fifth" in preview
    assert (await site.bot.document_retention.expire_documents(), await count_visits(site)) == (0, 12)


@pytest.mark.parametrize(
    ("field", "days", "sentence"),
    [
        ("date", "0", "a whole number from 1 to 36,500"),
        ("date", "36501", "a whole number from 1 to 36,500"),
        ("date", "٣", "a whole number from 1 to 36,500"),
        ("date", "9" * 5000, "a whole number from 1 to 36,500"),
        ("vendor", "3", "Choose one of the dates"),
        ("", "3", "Choose one of the dates"),
    ],
)
async def test_what_is_no_rule_is_refused_and_kept_in_the_form(
    kept_site: OpenedSite, field: str, days: str, sentence: str
) -> None:
    shown_status, shown = await kept_site.get(f"/admin/retention?b=visits&field={field}&days={days[:300]}")
    status, page, _ = await kept_site.submit("/admin/retention", b="visits", field=field, days=days, version="")

    assert (shown_status, sentence in shown, status, sentence in page) == (422, True, 422, True)
    assert await rules_of(kept_site) == []


async def test_a_rule_that_another_admin_has_changed_is_not_overwritten(kept_site: OpenedSite) -> None:
    site = kept_site
    await site.submit("/admin/retention", b="visits", field="date", days="365", version="")
    for path in ("/admin/retention", "/admin/retention/end"):
        status, page, _ = await site.submit(path, b="visits", field="date", days="30", version="")

        assert (status, 'role="alert"' in page) == (409, True)
    assert await rules_of(site) == [("visits", "date", 365)]


async def test_without_a_grant_an_admin_sees_and_changes_no_rule(kept_site: OpenedSite) -> None:
    site = kept_site
    answers = [
        (await site.get("/admin/retention?b=secret"))[0],
        (await site.get("/admin/retention?b=secret&field=topic&days=3"))[0],
        (await site.submit("/admin/retention", b="secret", field="@loaded", days="3", version=""))[0],
        (await site.submit("/admin/retention/end", b="secret", version=""))[0],
    ]
    _, bucket_page = await site.get("/admin/bucket?b=secret")

    assert answers == [403] * 4
    assert "How long its documents are kept" not in bucket_page
    assert await rules_of(site) == []


async def test_a_bucket_that_does_not_exist_has_no_page(kept_site: OpenedSite) -> None:
    assert (await kept_site.get("/admin/retention?b=nowhere"))[0] == 404


@pytest_asyncio.fixture
async def ruled_site(tmp_path: Path) -> AsyncGenerator[OpenedSite]:
    async with open_site(tmp_path / "ruled", PARLEY_DOCUMENT_RETENTION="visits:date:30") as opened:
        await fill_visits(opened)
        await opened.enter_as(ANN)
        yield opened


async def test_the_setting_goes_before_what_admins_set(ruled_site: OpenedSite) -> None:
    site = ruled_site
    _, page = await site.get("/admin/retention?b=visits")
    status, refused, _ = await site.submit("/admin/retention", b="visits", field="date", days="365", version="")

    assert "PARLEY_DOCUMENT_RETENTION sets this for the whole installation and goes before" in page
    assert "Count what that would delete" not in page
    assert (status, "PARLEY_DOCUMENT_RETENTION sets how long this bucket is kept" in refused) == (422, True)
    assert await rules_of(site) == [("visits", "date", 30)]


async def test_a_rule_of_before_the_setting_has_no_effect_and_can_be_ended(
    kept_site: OpenedSite, tmp_path: Path
) -> None:
    await kept_site.submit("/admin/retention", b="visits", field="date", days="365", version="")
    async with open_site(
        kept_site.bot.settings.home, PARLEY_DOCUMENT_RETENTION="visits:date:7", PARLEY_EMBEDDER="none"
    ) as site:
        await site.enter_as(ANN)
        _, page = await site.get("/admin/retention?b=visits")
        rules = await rules_of(site)
        status, _, _ = await site.submit("/admin/retention/end", b="visits", version="date:365")
        _, after = await site.get("/admin/retention?b=visits")

    assert rules == [("visits", "date", 7)]
    assert "What was set here has no effect" in page
    assert (status, "What was set here has no effect" in after) == (303, False)


async def test_home_lines_tell_the_rules_of_open_buckets_alone(kept_site: OpenedSite) -> None:
    edits = kept_site.bot.retention_edits
    await edits.set_rule(VISITS, "date", "365", "", ANN)
    await kept_site.bot.grants.grant_bucket_access(SECRET, EVERYONE, by=OPERATOR)
    await edits.set_rule(SECRET, "@loaded", "9", "", ANN)
    await kept_site.bot.grants.revoke_grant(SECRET, EVERYONE, by=OPERATOR)

    lines = await edits.describe_rules(ANN, time_limit=timedelta(seconds=30))
    without_time = await kept_site.bot.retention_edits.describe_rules(OPERATOR, time_limit=timedelta())

    assert lines == {"visits": ["kept 365 days after date: the next run deletes 2 of 12 documents"]}
    assert without_time["secret"] == ["kept 9 days after loading"]
    assert BOB not in lines
