"""Odd values in the forms of the admin page: a good share is accepted, and reads back as it was saved.

No page fails, and no page has an element or an attribute that a value brought.
"""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.admin.admin_page.schema_edits import BARE_MATCHES
from bot.admin.admin_page.value_forms import parse_typed_value, typed_text_of
from bot.admin.source_kinds.source_kind import SourceRequest
from bot.ids import OPERATOR, Subject
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.adapters.web.admin.conftest import ANN, OpenedSite, open_site
from tests.builders import a_document

ODDS: Final = BucketId("odds")
FIELDS: Final = (
    SchemaField(
        name=FieldName("boat"),
        type=FieldType.CATEGORY,
        title="Boat",
        facet=True,
        values={"Tern": (), "Straße": ("Str.",)},
    ),
    SchemaField(name=FieldName("remark"), type=FieldType.TEXT),
    SchemaField(name=FieldName("price"), type=FieldType.MONEY, currency="EUR"),
    SchemaField(name=FieldName("length"), type=FieldType.NUMBER, unit="m"),
    SchemaField(name=FieldName("launched"), type=FieldType.DATE),
    SchemaField(name=FieldName("sold"), type=FieldType.FLAG),
    SchemaField(name=FieldName("crew"), type=FieldType.LIST),
)
SOURCE_NAMES: Final = ("notes", "a & b", "<x-odd onodd=1>", "日本", "it's", "%2e", "x" * 120)
EXAMPLES: Final = 40
# A value that leaves its place would make an element `x-odd`, or an attribute `onodd`.
HOSTILE: Final = (
    *("<x-odd onodd=1>", '"><x-odd>', "'><x-odd>", "</textarea><x-odd>", "</title><x-odd>", "</script><x-odd>"),
    *("<!-- <x-odd>", '" onodd="1', "' onodd='1", "&lt;x-odd&gt;", "&#60;x-odd>", "&amp;", "&", "javascript:onodd"),
    *(
        "\u202eright",
        "e\u0301",
        "ﬁne",
        "😀",
        "日本語",
        "İ",
        "½",
        "a\tb",
        "{{ onodd }}",
        "%s",
        "\\",
        "'; DROP TABLE",
        "\0",
    ),
)
SHORT_TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ODD_TEXTS: Final = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.sampled_from(["Tern", "mast", "B-120", "7", " "]), SHORT_TEXTS), max_size=4
).map("".join)
ODD_NUMBERS: Final = st.one_of(
    st.decimals(min_value=-(10**12), max_value=10**12, places=2).map(str),
    st.integers(-(10**30), 10**30).map(str),
    st.floats().map(str),
    st.sampled_from(["1.234,5", "1,234.5", "1 234", "1'234", "-0", "+7", "١٢٣", "1e3", "12 m", "EUR 12", "12 €", "½"]),
)
ODD_DAYS: Final = st.one_of(
    st.dates().map(str), st.sampled_from(["31.5.2024", "May 31, 2024", "2024-02-30", "0000-00-00", "2024-W05-1"])
)
TYPED_TEXTS: Final = {
    FieldType.MONEY: ODD_NUMBERS,
    FieldType.NUMBER: ODD_NUMBERS,
    FieldType.DATE: ODD_DAYS,
    FieldType.FLAG: st.sampled_from(["yes", "no", "Yes ", "true", "1", "ja", "on", "off"]),
    FieldType.LIST: st.lists(ODD_TEXTS, max_size=5).map("\n".join),
}


@dataclass
class PageReader(HTMLParser):
    """What a page has: its elements, the names and labels of their attributes, and its forms as they are filled in."""

    elements: set[str] = field(default_factory=set[str])
    attributes: set[str] = field(default_factory=set[str])
    labels: set[str] = field(default_factory=set[str])
    forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    checked: set[str] = field(default_factory=set[str])
    texts: list[str] = field(default_factory=list[str])
    _area: str = ""
    _select: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @property
    def inputs(self) -> dict[str, str]:
        """The fields of the form that is read."""
        return self.forms[-1]

    def find_form(self, **fields: str) -> dict[str, str]:
        """Returns the last form with these values; an empty one if there is none."""
        return next((form for form in reversed(self.forms) if fields.items() <= form.items()), dict[str, str]())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.elements.add(tag)
        self.attributes |= named.keys()
        name = named.get("name", "")
        self.labels.add(named.get("aria-label", ""))
        match tag:
            case "form":
                self.forms.append({})
            case "input" if named.get("type") == "checkbox":
                self.checked |= {name} if "checked" in named else set()
            case "input" if self.forms:
                self.inputs[name] = named.get("value", "")
            case "textarea":
                self._area, self.inputs[name] = name, ""
            case "select":
                self._select = name
            case "option" if "selected" in named and self._select:
                self.inputs[self._select] = named.get("value", "")
            case _:
                pass

    def handle_endtag(self, tag: str) -> None:
        self._area = "" if tag == "textarea" else self._area
        self._select = "" if tag == "select" else self._select

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._area:
            self.inputs[self._area] += data


class OddForms:
    """Sends odd forms of one site, and counts how they are answered."""

    def __init__(self, site: OpenedSite) -> None:
        self.site, self.statuses = site, Counter[int]()

    async def read_page(self, path: str, **query: str) -> PageReader:
        address = f"{self.site.base}{path}?{urlencode(query)}"
        async with self.site.session.get(address) as response:
            markup = await response.text()
        is_refused = "%00" in address or "f=no_such_field" in address
        assert response.status in ((400, 422) if is_refused else (200,)), address
        return self._check_markup(markup)

    async def send_form(self, path: str, **fields: str) -> int:
        key = await self.site.form_key()
        request = self.site.session.post(
            self.site.base + path,
            data={"form_key": key, **fields},
            headers={"Origin": self.site.base},
            allow_redirects=False,
        )
        async with request as response:
            self._check_markup(await response.text())
        self.statuses[response.status] += 1
        assert response.status < 500, fields
        return response.status

    def _check_markup(self, markup: str) -> PageReader:
        page = PageReader()
        page.feed(markup)
        page.close()
        assert "x-odd" not in page.elements, markup
        assert "onodd" not in page.attributes, markup
        return page

    @property
    def accepted_share(self) -> float:
        return self.statuses[303] / max(self.statuses.total(), 1)


@pytest_asyncio.fixture
async def forms(tmp_path: Path) -> AsyncIterator[OddForms]:
    async with open_site(tmp_path / "home") as site:
        await site.bot.index.set_schema(Schema(bucket=ODDS, title="Odds", fields=FIELDS))
        await site.bot.index.put(ODDS, [a_document("o-1", "A boat of Ada.", title="Odd 1", boat="Tern")])
        await site.bot.grants.grant_bucket_access(ODDS, Subject(f"user:{ANN}"), by=OPERATOR)
        await site.enter_as(ANN)
        odd_forms = OddForms(site)
        yield odd_forms
        assert odd_forms.accepted_share > 0.15, odd_forms.statuses


odd_settings = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def join_words(text: str) -> str:
    return " ".join(text.split())


async def load_schema(site: OpenedSite) -> Schema:
    _, schema = await site.bot.granted_contents.open_bucket(ODDS, OPERATOR)
    return schema


@odd_settings
@given(
    name=st.sampled_from(["", *(entry.name for entry in FIELDS), "no_such_field"]),
    title=ODD_TEXTS,
    synonyms=st.lists(ODD_TEXTS, max_size=4),
    bare=st.sampled_from([*BARE_MATCHES, "<x-odd>"]),
    is_facet=st.booleans(),
    is_stale=st.sampled_from([False] * 9 + [True]),
)
async def test_an_odd_schema_entry_reads_back_as_it_was_saved(
    forms: OddForms, name: str, title: str, synonyms: list[str], bare: str, is_facet: bool, is_stale: bool
) -> None:
    typed = {"title": title, "synonyms": "\n".join(synonyms), "bare": bare} | ({"facet": "yes"} if is_facet else {})
    before = await load_schema(forms.site)
    preview = await forms.read_page("/admin/schema/entry", b=ODDS, f=name, edited="yes", **typed)

    version = "0" * 32 if is_stale else preview.find_form(f=name).get("version", "")
    status = await forms.send_form("/admin/schema/save", b=ODDS, f=name, version=version, **typed)

    after, page = await load_schema(forms.site), await forms.read_page("/admin/schema/entry", b=ODDS, f=name)
    for path in ("/admin/schema", "/admin/bucket", "/admin/review"):
        await forms.read_page(path, b=ODDS)
    if status != 303:
        assert after == before
        return
    entry = after.by_name[FieldName(name)] if name else after
    assert entry.title == join_words(title)
    assert entry.synonyms == tuple(
        dict.fromkeys(word for line in typed["synonyms"].splitlines() if (word := join_words(line)))
    )
    shown = page.find_form(f=name)
    assert shown["title"] == entry.title
    assert [line for line in shown["synonyms"].split("\n") if line] == [*entry.synonyms]
    if isinstance(entry, SchemaField):
        assert (entry.facet, "facet" in page.checked) == (is_facet, is_facet)
        assert shown.get("bare", bare) == bare


@odd_settings
@given(
    data=st.data(),
    schema_field=st.sampled_from(FIELDS),
    decision=st.sampled_from(["correct"] * 6 + ["empty", "accept", "<x-odd>"]),
    back=st.sampled_from(["/admin/document", "/admin/review", "https://evil.example", ""]),
)
async def test_an_odd_value_of_a_document_reads_back_as_it_was_saved(
    forms: OddForms, data: st.DataObject, schema_field: SchemaField, decision: str, back: str
) -> None:
    text = data.draw(TYPED_TEXTS.get(schema_field.type, ODD_TEXTS) | ODD_TEXTS, label="text")
    name, document = schema_field.name, {"b": ODDS, "id": "o-1"}
    page = await forms.read_page("/admin/document", **document)
    before = await load_value(forms.site, name)

    version = page.find_form(f=name).get("version", "")
    status = await forms.send_form(
        "/admin/value", **document, f=name, version=version, text=text, decision=decision, back=back
    )

    after, page = await load_value(forms.site, name), await forms.read_page("/admin/document", **document)
    await forms.read_page("/admin/review", b=ODDS)
    await forms.read_page("/admin/documents", b=ODDS, q=text[:100])
    if status != 303:
        assert after == before
    elif decision == "empty":
        assert after is None
    else:
        assert after is not None
        assert after == parse_typed_value(text, schema_field)[0]
        shown = page.find_form(f=name)["text"]
        assert parse_typed_value(shown, schema_field)[0] == after
        assert shown.strip() == typed_text_of(after).strip()


async def load_value(site: OpenedSite, name: str) -> FieldValue | None:
    found = await site.bot.granted_contents.find_documents(ODDS, ["o-1"], OPERATOR)
    return found[DocId("o-1")].values.get(FieldName(name))


@odd_settings
@given(
    source=st.one_of(*[st.sampled_from(range(len(SOURCE_NAMES)))] * 4, ODD_TEXTS),
    action=st.sampled_from(["sync", "pause", "resume"] * 4 + ["<x-odd>", "%00", "remove"]),
)
async def test_an_odd_source_is_paused_and_resumed_as_its_page_says(
    forms: OddForms, tmp_path: Path, source: int | str, action: str
) -> None:
    sources = await add_odd_sources(forms.site, tmp_path)
    source_id = source if isinstance(source, str) else sources[source]
    before = await forms.site.bot.sources.list_sources()

    status = await forms.send_form(f"/admin/source/{quote(action, safe='')}", source=source_id)

    after = {stored.id: stored for stored in await forms.site.bot.sources.list_sources()}
    page = await forms.read_page("/admin/sources")
    assert sorted(sources) == sorted(after)
    for stored in before:
        is_changed = status == 303 and stored.id == source_id
        is_paused = action == "pause" if is_changed and action != "sync" else (stored.paused_at is not None)
        assert (after[stored.id].paused_at is not None) == is_paused
        assert (f"Resume: {stored.id}" in page.labels, stored.id in page.texts) == (is_paused, True)


async def add_odd_sources(site: OpenedSite, folder: Path) -> list[str]:
    """Adds them with the first example; returns their ids."""
    for name in () if await site.bot.sources.list_sources() else SOURCE_NAMES:
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text("The mast is of spruce.", encoding="utf-8")
        location, interval = str(folder / name), timedelta(days=1)
        await site.bot.sources.add_source(
            SourceRequest(kind="folder", location=location, bucket=ODDS, sync_interval=interval)
        )
    return [stored.id for stored in await site.bot.sources.list_sources()]
