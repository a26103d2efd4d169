"""The pages about schemas: every change is previewed, counted, saved once, and audited."""

from urllib.parse import urlencode

import pytest

from storage.search.index import BucketState
from storage.search.schema import BareValueMatch, Schema
from tests.adapters.web.admin.conftest import ANN, LETTERS, OpenedSite
from tests.adapters.web.admin.test_report import ask
from tests.stored_rows import list_audit_entries


async def schema_of(site: OpenedSite) -> Schema:
    states: dict[str, BucketState] = {
        str(name): state for name, state in (await site.bot.index.load_bucket_states()).items()
    }
    return states[LETTERS].schema


def entry_path(field: str, **typed: str) -> str:
    fields = {"b": LETTERS, "f": field, **({"edited": "yes"} if typed else {}), **typed}
    return f"/admin/schema/entry?{urlencode(fields)}"


async def version_on(site: OpenedSite, path: str) -> str:
    markup = await site.get_markup(path)
    return markup.partition('name="version" value="')[2].partition('"')[0]


async def test_the_schema_is_listed_with_the_bucket_first(site: OpenedSite) -> None:
    _, page = await site.get("/admin/schema?b=letters")

    rows = [part.partition("</th>")[0] for part in page.split('scope="row"')[1:]]
    assert ["Letters" in rows[0], "Boat" in rows[1], "price" in rows[2], "length" in rows[3]] == [True] * 4


async def test_a_preview_counts_and_changes_nothing(site: OpenedSite) -> None:
    await ask(site, "which masts are costly?")
    before = await schema_of(site)

    _, page = await site.get(entry_path("boat", title="Vessel", synonyms="mast\r\n", facet="yes"))

    assert "The title: Boat → Vessel" in page
    assert "More synonyms: mast" in page
    assert "“mast” appears in 1 question of the last 30 days" in page
    assert "and in the text of 60 documents" in page
    assert await schema_of(site) == before


async def test_a_facet_is_previewed_with_what_lists_would_offer(site: OpenedSite) -> None:
    await site.submit("/admin/schema/save", **await typed(site, "boat", title="Boat", synonyms=""))

    on = await site.get(entry_path("boat", title="Boat", synonyms="", facet="yes"))
    off = await site.get(entry_path("price", title="", synonyms=""))

    assert "Long lists offer Boat: Dunlin (20), Petrel (20), Tern (20)." in on[1]
    assert "Nothing yet." in off[1]


async def test_a_bare_number_is_previewed_with_what_it_would_find(site: OpenedSite) -> None:
    path = entry_path("length", title="", synonyms="", bare="at_least")

    _, page = await site.get(path)
    saved = await site.submit(
        "/admin/schema/save", **await typed(site, "length", title="", synonyms="", bare="at_least")
    )

    assert "A bare number means: exactly → at_least" in page
    assert "“4 m” in a question would find" in page
    assert saved[0] == 303
    assert (await schema_of(site)).by_name["length"].bare is BareValueMatch.AT_LEAST  # pyright: ignore[reportArgumentType]


async def typed(site: OpenedSite, field: str, **fields: str) -> dict[str, str]:
    """The fields of the form that saves what was typed."""
    version = await version_on(site, entry_path(field, **fields))
    return {"b": LETTERS, "f": field, "version": version, **fields}


async def test_a_saved_change_is_in_the_schema_and_in_the_audit(site: OpenedSite) -> None:
    await site.enter_as(ANN)
    fields = await typed(site, "boat", title="Vessel", synonyms="craft\nship\ncraft", facet="yes")

    status, _, address = await site.submit("/admin/schema/save", **fields)

    field = (await schema_of(site)).by_name["boat"]  # pyright: ignore[reportArgumentType]
    assert (status, address) == (303, "/admin/schema/entry?b=letters&f=boat&done=saved")
    assert (field.title, field.synonyms, field.facet) == ("Vessel", ("craft", "ship"), True)
    entry = (await list_audit_entries(site.bot.database))[0]
    assert (entry.action, entry.matter, entry.by) == ("schema.change", LETTERS, ANN)
    assert (entry.before or {})["title"] == "Boat"


async def test_the_bucket_itself_has_a_title_and_synonyms(site: OpenedSite) -> None:
    status, _, _ = await site.submit("/admin/schema/save", **await typed(site, "", title="Post", synonyms="letter"))

    schema = await schema_of(site)
    assert (status, schema.title, schema.synonyms) == (303, "Post", ("letter",))


async def test_a_schema_that_somebody_changed_meanwhile_is_not_overwritten(site: OpenedSite) -> None:
    first = await typed(site, "boat", title="Vessel", synonyms="")
    second = await typed(site, "price", title="Amount", synonyms="")

    assert (await site.submit("/admin/schema/save", **first))[0] == 303
    status, page, _ = await site.submit("/admin/schema/save", **second)

    assert (status, "Somebody changed this since you opened it" in page) == (422, True)
    assert (await schema_of(site)).by_name["price"].title == ""  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"title": "x" * 101}, "A title has at most 100 characters."),
        ({"title": "Boat", "synonyms": "?!"}, "A synonym has 1 to 100 characters, with letters or digits."),
        ({"title": "Boat", "synonyms": "x" * 101}, "A synonym has 1 to 100 characters, with letters or digits."),
        ({"title": "Boat", "synonyms": "\n".join(map(str, range(101)))}, "There are at most 100 synonyms."),
        ({"title": "Price"}, "“Price” names price already."),
    ],
)
async def test_what_a_schema_cannot_take_is_said_in_the_preview_and_not_saved(
    site: OpenedSite, fields: dict[str, str], reason: str
) -> None:
    before = await schema_of(site)
    version = await version_on(site, entry_path("boat", title="Another", synonyms=""))

    _, page = await site.get(entry_path("boat", **fields))
    status, refused, _ = await site.submit("/admin/schema/save", b=LETTERS, f="boat", version=version, **fields)

    assert (reason in page, 'action="/admin/schema/save"' in page) == (True, False)
    assert (status, reason in refused) == (422, True)
    assert await schema_of(site) == before


async def test_what_was_typed_is_shown_as_text(site: OpenedSite) -> None:
    markup = await site.get_markup(entry_path("boat", title='"><script>alert(1)</script>', synonyms="</textarea><b>x"))

    assert ("<script>alert" in markup, "</textarea><b>" in markup) == (False, False)


async def test_a_field_that_is_not_there_and_a_closed_bucket_have_no_form(site: OpenedSite) -> None:
    await site.enter_as(ANN)

    assert (await site.get(entry_path("nothing")))[0] == 422
    assert (await site.get("/admin/schema?b=secret"))[0] == 403
    assert (await site.get("/admin/schema/entry?b=secret&f=topic"))[0] == 403
    assert (await site.submit("/admin/schema/save", b="secret", f="topic", title="x"))[0] == 403
