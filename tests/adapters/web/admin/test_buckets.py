"""The pages about buckets, grants and sources."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest

from adapters.web.admin.source_pages import describe_interval
from bot.admin.sources import SourceRequest
from bot.ids import EVERYONE, OPERATOR, Subject
from tests.adapters.web.admin.conftest import ANN, HIDDEN_WORD, LETTERS, SECRET, OpenedSite
from tests.builders import a_document


def row_texts_of(markup: str) -> list[list[str]]:
    """The texts of the cells of all tables, by row."""
    rows = (row for row in re.findall(r"<tr>(.*?)</tr>", markup, re.DOTALL) if 'scope="col"' not in row)
    cells = (re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.DOTALL) for row in rows)
    return [[" ".join(unescape(re.sub("<[^>]*>", " ", cell)).split()) for cell in row] for row in cells]


async def test_buckets_are_shown_with_their_counts_and_health(site: OpenedSite) -> None:
    _, page = await site.get("/admin")

    assert "2 buckets, 61 documents" in page
    assert "The disk, the database and the index work." in page
    assert page.count('class="fine">fine') == 2


async def test_the_pages_are_in_english_as_slacks_home_is_whatever_the_browser_asks_for(site: OpenedSite) -> None:
    for path in ("/admin", "/admin/bucket?b=letters", "/admin/grants", "/admin/limits", "/admin/sources"):
        english = await site.get(path)

        assert await site.get(path, {"Accept-Language": "de"}) == english
        assert '<html lang="en">' in english[1]


async def test_a_bucket_that_lost_documents_is_shown_as_unwell(site: OpenedSite) -> None:
    await site.get("/admin")  # the size of each bucket is now on record
    await site.bot.index.drop_bucket(SECRET)
    await site.bot.grants.grant_bucket_access(SECRET, EVERYONE, by=OPERATOR)

    _, page = await site.get("/admin")

    assert "this bucket is gone, but has grants" in page
    assert "the index has 0 of the 1 documents of secret" in page


async def test_a_bucket_whose_source_never_loaded_anything_is_shown(site: OpenedSite, tmp_path: Path) -> None:
    request = SourceRequest(kind="folder", location=str(tmp_path), bucket="notes", sync_interval=timedelta(days=1))
    await site.bot.sources.add_source(request)

    rows = row_texts_of(await site.get_markup("/admin"))
    _, page = await site.get("/admin/bucket?b=notes")

    assert next(row for row in rows if row[0] == "notes")[1:5] == ["–", "0", "nobody", "not yet"]
    assert ("nothing is loaded" in page, "is gone" in page) == (True, False)


async def test_an_index_that_cannot_be_read_is_what_the_page_tells(site: OpenedSite) -> None:
    (site.bot.settings.index_path / "index.sqlite").unlink()

    status, page = await site.get("/admin")

    assert (status, "the index is damaged" in page, "shown again when the index can be read" in page) == (
        200,
        True,
        True,
    )


async def test_only_the_operator_reads_the_details_of_what_does_not_work(site: OpenedSite) -> None:
    await site.get("/admin")
    await site.bot.index.drop_bucket(SECRET)
    detail = "parley ingest PATH --bucket secret"

    as_operator = await site.get("/admin")
    await site.enter_as(ANN)
    as_ann = await site.get("/admin")

    assert (detail in as_operator[1], "the index lacks documents" in as_operator[1]) == (True, True)
    assert (detail in as_ann[1], "the index lacks documents" in as_ann[1]) == (False, True)


async def test_the_fields_of_a_bucket_are_counted(site: OpenedSite) -> None:
    _, page = await site.get("/admin/bucket?b=letters")

    assert ("3 fields" in page, "number, in m" in page, "98%" in page) == (True, True, True)


async def test_an_admin_sees_that_a_bucket_is_there_but_nothing_of_its_documents(site: OpenedSite) -> None:
    await site.enter_as(ANN)

    status, page = await site.get("/admin/bucket?b=secret")

    assert (status, "Permits" in page, HIDDEN_WORD in page, "topic" in page) == (200, True, False, False)
    assert "only with a grant" in page


@pytest.mark.parametrize("name", ["", "nothing", "<script>alert(1)</script>", "x" * 5_000, "letters/../secret"])
async def test_an_unknown_bucket_is_not_found(site: OpenedSite, name: str) -> None:
    async with site.session.get(site.base + "/admin/bucket", params={"b": name}) as response:
        page = await response.text()

    assert (response.status, "<script>" in page) == (404, False)


async def test_a_grant_is_made_listed_and_revoked(site: OpenedSite) -> None:
    granted = await site.submit("/admin/grant", bucket=LETTERS, subject=" channel:slack:T1:C1 ", include_external="yes")
    listed = await site.get(granted[2])
    revoked = await site.submit("/admin/revoke", bucket=LETTERS, subject="channel:slack:T1:C1")

    assert (granted[0], granted[2]) == (303, "/admin/grants?done=granted")
    assert ("It is granted" in listed[1], "channel:slack:T1:C1" in listed[1]) == (True, True)
    assert "guests and other organisations included" in listed[1]
    assert (revoked[0], revoked[2]) == (303, "/admin/grants?done=revoked")
    assert [grant.subject for grant in await site.bot.grants.list_grants()] == [f"user:{ANN}"]


async def test_beside_each_grant_stands_how_many_documents_it_opens(site: OpenedSite) -> None:
    channel, index = Subject("channel:slack:T1:C1"), site.bot.index
    readers = {"l-900": channel, "l-901": Subject("user:local:bob")}
    await index.put(
        LETTERS, [replace(a_document(id_, "x"), readers=frozenset({reader})) for id_, reader in readers.items()]
    )
    administration = site.bot.administration
    for bucket, subject in ((LETTERS, channel), (SECRET, channel), (SECRET, EVERYONE)):
        await administration.grant_bucket(bucket, subject, by=OPERATOR)

    grants = row_texts_of(await site.get_markup("/admin/grants"))
    of_bucket = row_texts_of(await site.get_markup("/admin/bucket?b=letters"))

    assert [row[:3] for row in grants[:4]] == [
        ["Letters", channel, "61 of 62"],
        ["Letters", ANN, "60 of 62"],
        ["Permits", channel, "1"],
        ["Permits", "Everyone in the organisation, guests not included everyone", "1"],
    ]
    assert grants[4:] == [
        [channel, "Letters, Permits", "62"],
        ["Everyone in the organisation, guests not included everyone", "Permits", "1"],
        [ANN, "Letters", "60"],
    ]
    assert [row[1] for row in of_bucket[-2:]] == ["61 of 62", "60 of 62"]


async def test_a_form_on_the_page_of_a_bucket_leads_back_there(site: OpenedSite) -> None:
    granted = await site.submit("/admin/grant", bucket=LETTERS, subject=EVERYONE, back="/admin/bucket")
    refused = await site.submit("/admin/grant", bucket=LETTERS, subject="nobody", back="/admin/bucket")
    elsewhere = await site.submit("/admin/revoke", bucket=LETTERS, subject=EVERYONE, back="https://other.example/")

    assert granted[2] == "/admin/bucket?b=letters&done=granted"
    assert (refused[0], "is not a subject" in refused[1], "3 fields" in refused[1]) == (422, True, True)
    assert elsewhere[2] == "/admin/grants?done=revoked"


@pytest.mark.parametrize(
    ("bucket", "subject", "reason"),
    [
        ("letters", "", "is not a subject"),
        ("letters", "<b>everyone", "is not a subject"),
        ("letters", "group:nobody", "There is no group"),
        ("nothing", "everyone", "There is no bucket"),
        ("", "everyone", "There is no bucket"),
    ],
)
async def test_a_refused_grant_says_why_and_changes_nothing(
    site: OpenedSite, bucket: str, subject: str, reason: str
) -> None:
    status, page, _ = await site.submit("/admin/grant", bucket=bucket, subject=subject)

    assert (status, reason in page) == (422, True)
    assert len(await site.bot.grants.list_grants()) == 1


async def test_titles_and_names_are_shown_as_text(site: OpenedSite, tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x>"
    folder.mkdir()
    await site.bot.groups.create_group("crew", "<i>Crew</i>", by=OPERATOR)
    await site.bot.grants.grant_bucket_access(LETTERS, Subject("user:local:<script>"), by=OPERATOR)
    await site.bot.sources.add_source(SourceRequest(kind="folder", location=str(folder), bucket=LETTERS))

    pages = [await site.get_markup(path) for path in ("/admin", "/admin/grants", "/admin/sources")]

    assert [("<script>" in page, "<img src=x>" in page, "<i>" in page) for page in pages] == [(False,) * 3] * 3


async def test_sources_are_shown_with_what_came_of_them(site: OpenedSite, tmp_path: Path) -> None:
    _, before = await site.get("/admin/sources")
    folder = tmp_path / "post"
    folder.mkdir()
    request = SourceRequest(kind="folder", location=str(folder), bucket=LETTERS, sync_interval=timedelta(hours=2))
    await site.bot.sources.add_source(request)

    _, page = await site.get("/admin/sources")

    assert "There are no sources yet" in before
    assert (str(folder) in page, "not yet" in page, "every 2 hours" in page) == (True, True, True)


def test_an_interval_is_said_in_its_largest_unit() -> None:
    intervals = [timedelta(days=1), timedelta(hours=36), timedelta(minutes=90), timedelta(minutes=1)]

    assert [describe_interval(interval) for interval in intervals] == ["day", "36 hours", "90 minutes", "minute"]
