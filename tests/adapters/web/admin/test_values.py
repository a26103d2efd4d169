"""Values that an admin accepts or corrects: counted at once, kept when their document is loaded again, taken back."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bot.admin.admin_page.value_forms import parse_typed_value, typed_text_of
from bot.ids import OPERATOR, Subject
from storage.ingest.pipeline import ingest_files
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.index import CountRequest
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from tests.adapters.web.admin.conftest import ANN, HIDDEN_WORD, LETTERS, SECRET, OpenedSite
from tests.builders import a_document

VOYAGES: Final = BucketId("voyages")
VOYAGE_SCHEMA: Final = Schema(
    bucket=VOYAGES,
    title="Voyages",
    fields=(
        SchemaField(name=FieldName("vessel"), type=FieldType.CATEGORY, labels=("Vessel",)),
        SchemaField(name=FieldName("fare"), type=FieldType.MONEY, currency="EUR", labels=("Fare",)),
        SchemaField(name=FieldName("departure"), type=FieldType.DATE, labels=("Departure",)),
    ),
)
_VERSION = re.compile(r'name="f" value="(\w+)"><input type="hidden" name="version" value="(\w+)"')


async def load_voyages(site: OpenedSite, folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    await ingest_files(
        site.bot.index, [str(folder)], extractor=site.bot.extractor, bucket=VOYAGES, schema=VOYAGE_SCHEMA
    )


async def count_voyages(site: OpenedSite, field: str, value: str | float) -> int:
    condition = ComparisonCondition(field=FieldName(field), op=ComparisonOperator.EQ, value=value)
    request = CountRequest(Search(clauses=(Clause(bucket=VOYAGES, condition=condition),)))
    scope = Scope(tenant=site.bot.index.tenant, buckets=frozenset({VOYAGES}))
    return (await site.bot.index.within_scope(scope).answer_requests(request))[request]


async def decide(
    site: OpenedSite, bucket: str, doc_id: str, field: str, decision: str, text: str = ""
) -> tuple[int, str, str]:
    """Send the form of a field as the page of the document has it."""
    markup = await site.get_markup(f"/admin/document?b={bucket}&id={doc_id}")
    versions = dict(_VERSION.findall(markup))
    return await site.submit(
        "/admin/value",
        b=bucket, id=doc_id, f=field, version=versions[field], text=text, decision=decision, back="/admin/review",
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "voyages"
    path.mkdir()
    return path


async def test_a_corrected_value_is_counted_and_outlives_another_ingestion(site: OpenedSite, folder: Path) -> None:
    texts = {"a.txt": "Vessel: Tern\nFare: EUR 90.00\n", "b.txt": "Vessel: Dunlin\nFare: EUR 70.00\n"}
    await load_voyages(site, folder, texts)
    before = await count_voyages(site, "fare", 120.0)

    answer = await decide(site, VOYAGES, "a.txt", "fare", "correct", "120.00")
    at_once = await count_voyages(site, "fare", 120.0)
    await load_voyages(site, folder, texts)
    unchanged = await count_voyages(site, "fare", 120.0)
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\nFare: EUR 90.00\nA longer text.\n"})
    _, page = await site.get("/admin/document?b=voyages&id=a.txt")

    assert (answer[0], answer[2]) == (303, "/admin/review?b=voyages&done=value-correct")
    assert (before, at_once, unchanged) == (0, 1, 1)
    assert await count_voyages(site, "fare", 120.0) == 1
    assert ("A longer text." in page, "the document has changed since" in page) == (True, True)


async def test_an_unchanged_document_with_a_decision_is_not_put_again(site: OpenedSite, folder: Path) -> None:
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\nFare: EUR 90.00\n"})
    await decide(site, VOYAGES, "a.txt", "vessel", "correct", "Petrel")
    digests = await site.bot.index.load_digests(VOYAGES)

    report = await ingest_files(
        site.bot.index, [str(folder)], extractor=site.bot.extractor, bucket=VOYAGES, schema=VOYAGE_SCHEMA
    )

    assert (report.skipped, report.replaced) == (1, 0)
    assert await site.bot.index.load_digests(VOYAGES) == digests


async def test_a_decision_comes_back_with_a_document_that_was_deleted(site: OpenedSite, folder: Path) -> None:
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\n"})
    await decide(site, VOYAGES, "a.txt", "vessel", "correct", "Petrel")
    doc_ids = list(await site.bot.index.load_digests(VOYAGES))
    await site.bot.index.delete(doc_ids)

    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\n"})

    assert await count_voyages(site, "vessel", "Petrel") == 1


async def test_an_accepted_value_is_sure_and_leaves_the_list(site: OpenedSite) -> None:
    await site.enter_as(ANN)
    _, page = await site.get("/admin/review?b=letters")

    answer = await decide(site, LETTERS, "l-000", "boat", "accept", "Ada")
    _, after = await site.get("/admin/review?b=letters")
    changes = await site.bot.administration.list_changes(OPERATOR, 1)

    assert ("Paid by <mark" in page, 'aria-label="Accept Boat' in page) == (True, True)
    assert answer[0] == 303
    assert "No value is less sure than 0.7." in after
    assert (str(ANN) in after, "1 decision, the newest first" in after) == (True, True)
    assert [(change.action, change.by, change.matter) for change in changes] == [("value.accepted", ANN, LETTERS)]


async def test_a_value_can_be_said_to_be_missing_and_taken_back(site: OpenedSite, folder: Path) -> None:
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\nFare: EUR 90.00\n"})
    emptied = await decide(site, VOYAGES, "a.txt", "fare", "empty")
    without = await count_voyages(site, "fare", 90.0)

    withdrawn = await site.submit("/admin/value/withdraw", b=VOYAGES, id="a.txt", f="fare", back="/admin/document")
    again = await site.submit("/admin/value/withdraw", b=VOYAGES, id="a.txt", f="fare", back="/admin/document")

    assert (emptied[0], without) == (303, 0)
    assert withdrawn[2] == "/admin/document?b=voyages&id=a.txt&done=value-restored"
    assert await count_voyages(site, "fare", 90.0) == 1
    assert (again[0], "Somebody changed this" in again[1]) == (422, True)


async def test_taking_back_after_the_text_changed_leaves_no_value_of_the_old_text(
    site: OpenedSite, folder: Path
) -> None:
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\nFare: EUR 90.00\n"})
    await decide(site, VOYAGES, "a.txt", "fare", "correct", "120")
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\nFare: EUR 95.00\n"})

    answer = await site.submit("/admin/value/withdraw", b=VOYAGES, id="a.txt", f="fare", back="/admin/review")
    left = [await count_voyages(site, "fare", fare) for fare in (90.0, 95.0, 120.0)]
    await load_voyages(site, folder, {})

    assert answer[2].endswith("done=value-unread")
    assert left == [0, 0, 0]
    assert await count_voyages(site, "fare", 95.0) == 1


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("fare", "much", "“much” is not an amount for fare"),
        ("departure", "the day after", "is not a day such as 2024-05-31"),
        ("vessel", "  ", "Type a value for vessel"),
        ("vessel", "x" * 5_000, "A value has at most 4,000 characters"),
    ],
)
async def test_a_value_that_does_not_fit_is_refused_with_a_sentence(
    site: OpenedSite, folder: Path, field: str, text: str, sentence: str
) -> None:
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\nFare: EUR 90.00\nDeparture: 3 May 2024\n"})

    status, page, _ = await decide(site, VOYAGES, "a.txt", field, "correct", text)

    assert (status, sentence in page) == (422, True)
    assert await count_voyages(site, "vessel", "Tern") == 1


async def test_a_form_of_an_earlier_state_changes_nothing(site: OpenedSite, folder: Path) -> None:
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\n"})
    markup = await site.get_markup("/admin/document?b=voyages&id=a.txt")
    version = dict(_VERSION.findall(markup))["vessel"]
    sent = {"b": str(VOYAGES), "id": "a.txt", "f": "vessel", "version": version, "decision": "correct"}
    first = await site.submit("/admin/value", **sent, text="Petrel")

    second = await site.submit("/admin/value", **sent, text="Dunlin")

    assert (first[0], second[0], "Somebody changed this" in second[1]) == (303, 422, True)
    assert await count_voyages(site, "vessel", "Petrel") == 1


async def test_nobody_decides_on_a_document_that_they_may_not_see(site: OpenedSite) -> None:
    await site.enter_as(ANN)
    sent = {"id": "s-1", "f": "topic", "version": "0" * 32, "text": "x", "decision": "correct"}

    closed = await site.submit("/admin/value", b=SECRET, **sent)
    through_another = await site.submit("/admin/value", b=LETTERS, **sent)
    withdrawn = await site.submit("/admin/value/withdraw", b=SECRET, id="s-1", f="topic")
    foreign = await site.post("/admin/value", {"b": LETTERS, **sent})

    assert [answer[0] for answer in (closed, through_another, withdrawn, foreign)] == [403, 422, 403, 403]
    assert not any(HIDDEN_WORD in answer[1] for answer in (closed, through_another, withdrawn, foreign))


async def test_a_document_with_other_readers_is_not_among_the_decisions(site: OpenedSite, folder: Path) -> None:
    await load_voyages(site, folder, {"a.txt": "Vessel: Tern\n"})
    await decide(site, VOYAGES, "a.txt", "vessel", "correct", "Zander")
    await site.bot.administration.grant_bucket(VOYAGES, Subject(f"user:{ANN}"), by=OPERATOR)
    await site.enter_as(ANN)
    _, open_page = await site.get("/admin/review?b=voyages")
    closed = replace(a_document("a.txt", "Vessel: Tern\n", readers=["user:local:bob"]), digest="other")
    await site.bot.index.put(VOYAGES, [closed])
    _, page = await site.get("/admin/review?b=voyages")

    assert ("Zander" in open_page, "Zander" in page) == (True, False)


async def test_a_decision_during_a_put_is_not_lost(site: OpenedSite, folder: Path) -> None:
    texts = {"a.txt": "Vessel: Tern\n"}
    await load_voyages(site, folder, texts)

    async def load_new_text() -> None:
        await load_voyages(site, folder, {"a.txt": "Vessel: Tern\nWith more text.\n"})

    async def correct_vessel() -> None:
        await decide(site, VOYAGES, "a.txt", "vessel", "correct", "Petrel")

    await asyncio.gather(load_new_text(), correct_vessel())
    await load_voyages(site, folder, {})

    assert await count_voyages(site, "vessel", "Petrel") == 1


@pytest.mark.parametrize("value", [True, False, 3.5, 1e21, "two\nlines", ("oak", "fir")])
def test_what_a_form_begins_with_is_read_as_the_same_value(value: FieldValue) -> None:
    kinds = {bool: FieldType.FLAG, float: FieldType.NUMBER, str: FieldType.TEXT, tuple: FieldType.LIST}
    field = SchemaField(name=FieldName("x"), type=kinds[type(value)])

    assert parse_typed_value(typed_text_of(value), field)[0] == value
