"""The pages about documents: lists, a text beside its values, and values to review."""

from dataclasses import replace

import pytest

from adapters.web.admin.document_pages import TEXT_CHARACTERS
from bot.ids import Subject
from storage.search.documents import FieldAnnotation
from storage.search.ids import FieldName
from tests.adapters.web.admin.conftest import ANN, HIDDEN_WORD, LETTER, LETTERS, SECRET, OpenedSite
from tests.builders import a_document

CONTENT_PATHS = (
    "/admin/documents?b={}",
    "/admin/document?b={}&id=s-1",
    "/admin/review?b={}",
)


@pytest.mark.parametrize("path", CONTENT_PATHS)
async def test_an_admin_reads_no_bucket_without_a_grant(site: OpenedSite, path: str) -> None:
    as_operator = await site.get(path.format(SECRET))
    await site.enter_as(ANN)

    status, page = await site.get(path.format(SECRET))

    assert as_operator[0] == 200
    assert (status, HIDDEN_WORD in page, "only with a grant" in page) == (403, False, True)


async def test_a_document_is_not_read_through_another_bucket(site: OpenedSite) -> None:
    await site.enter_as(ANN)

    status, page = await site.get("/admin/document?b=letters&id=s-1")

    assert (status, HIDDEN_WORD in page) == (404, False)


async def test_a_document_with_other_readers_is_neither_listed_nor_read_nor_reviewed(site: OpenedSite) -> None:
    doubt = FieldAnnotation(field=FieldName("boat"), value="Zander", confidence=0.52, start=0, end=4)
    kept = replace(
        a_document("l-900", "For Bob alone.", title="Zander", readers=["user:local:bob"]), annotations=(doubt,)
    )
    await site.bot.index.put(LETTERS, [kept])
    await site.enter_as(ANN)

    listed = await site.get("/admin/documents?b=letters&q=Zander")
    read = await site.get("/admin/document?b=letters&id=l-900")
    reviewed = await site.get("/admin/review?b=letters")

    assert (read[0], "Zander" in read[1]) == (404, False)
    assert ("0 documents" in listed[1] or "No document" in listed[1], "l-900" in listed[1]) == (True, False)
    assert (reviewed[0], "Zander" in reviewed[1]) == (200, False)


async def test_documents_are_listed_in_pages_each_once(site: OpenedSite) -> None:
    address, found = "/admin/documents?b=letters", list[str]()
    while address:
        _, page = await site.get(address)
        found += [line.partition('"')[0] for line in page.split("/admin/document?b=letters&id=")[1:]]
        address = next(
            (part.partition('"')[0] for part in page.split('href="') if "after=" in part.partition('"')[0]), ""
        )

    assert sorted(found) == [f"l-{n:03}" for n in range(60)]


@pytest.mark.parametrize("cursor", ["x", "W10=", "x" * 5_000, "bnVsbA==", "WyJhIiwgMSwgMl0="])
async def test_an_unknown_page_of_documents_is_not_found(site: OpenedSite, cursor: str) -> None:
    status, page = await site.get(f"/admin/documents?b=letters&after={cursor}")

    assert (status, "begin with the first one" in page) == (404, True)


async def test_documents_are_found_by_their_words(site: OpenedSite) -> None:
    mast = await site.get("/admin/documents?b=letters&q=mast+ada")
    nothing = await site.get("/admin/documents?b=letters&q=%3Cb%3Ezeppelin")

    assert ("60 documents that mention “mast ada”" in mast[1], nothing[0]) == (True, 200)
    assert "<b>zeppelin" not in await site.get_markup("/admin/documents?b=letters&q=%3Cb%3Ezeppelin")
    assert "No document that you may see mentions “<b>zeppelin”." in nothing[1]


async def test_the_text_is_shown_beside_its_values_with_their_evidence_marked(site: OpenedSite) -> None:
    markup = await site.get_markup("/admin/document?b=letters&id=l-000")

    assert '<mark title="price" class="sure">EUR 900</mark>' in markup
    assert '<mark title="Boat" class="doubtful">Ada</mark>' in markup
    assert "sure 0.95" in markup
    assert "doubtful 0.55" in markup
    assert 'href="#e' in markup
    assert '<p class="quiet">Without a value:</p>' in markup
    assert '<span class="field-name">length</span>' in markup


async def test_the_text_of_a_document_is_data(site: OpenedSite) -> None:
    markup = await site.get_markup("/admin/document?b=letters&id=l-000")

    assert "the mast of &lt;b&gt;Tern&lt;/b&gt; costs" in markup
    assert "<b>" not in markup


async def test_overlapping_evidence_is_marked_and_all_of_the_text_is_shown_once(site: OpenedSite) -> None:
    spans = [(0, 9), (5, 15), (5, 15), (60, 5_000), (9, 9)]
    annotations = tuple(
        FieldAnnotation(field=FieldName("boat"), value=f"v{start}", confidence=0.8, start=start, end=end)
        for start, end in spans
    )
    document = a_document("l-901", LETTER, title="Odd")
    await site.bot.index.put(LETTERS, [replace(document, annotations=annotations)])

    _, page = await site.get("/admin/document?b=letters&id=l-901")

    text = page[page.index('class="text"') :].partition(">")[2].partition("</section>")[0]
    without_tags = text
    for tag in ("mark", "span", "div"):
        pieces = without_tags.split(f"<{tag}")
        without_tags = pieces[0] + "".join(piece.partition(">")[2] for piece in pieces[1:])
        without_tags = without_tags.replace(f"</{tag}>", "")
    assert without_tags == LETTER


async def test_a_long_text_is_shown_in_parts_and_a_value_leads_to_its_part(site: OpenedSite) -> None:
    text = "A" * TEXT_CHARACTERS + "B" * TEXT_CHARACTERS + "the Tern"
    place = FieldAnnotation(field=FieldName("boat"), value="Tern", confidence=0.9, start=len(text) - 4, end=len(text))
    await site.bot.index.put(LETTERS, [replace(a_document("l-902", text, title="Long"), annotations=(place,))])

    first = await site.get_markup("/admin/document?b=letters&id=l-902")
    last = await site.get_markup("/admin/document?b=letters&id=l-902&part=2")
    odd = [
        await site.get_markup(f"/admin/document?b=letters&id=l-902&part={part}") for part in ("9", "-1", "x", "9" * 30)
    ]

    assert ("Part 1 of 3" in first, "BB" in first, "part=2#e0" in first) == (True, False, True)
    assert '<mark title="Boat" class="sure">Tern</mark>' in last
    assert ["Part 1 of 3" in page for page in odd] == [True] * 4


@pytest.mark.parametrize("doc_id", ["", "nothing", "<script>", "x" * 7_000])
async def test_an_unknown_document_is_not_found(site: OpenedSite, doc_id: str) -> None:
    async with site.session.get(site.base + "/admin/document", params={"b": "letters", "id": doc_id}) as response:
        page = await response.text()

    assert (response.status, "<script>" in page) == (404, False)


async def test_unsure_values_are_listed_with_their_evidence(site: OpenedSite) -> None:
    _, page = await site.get("/admin/review?b=letters")
    shown_evidence = 'Paid by <mark class="doubtful">Ada</mark>.'
    given = await site.get("/admin/review?b=secret")

    assert "1 value less sure than 0.7" in page
    assert (shown_evidence in page, "0.55" in page, "/admin/document?b=letters&id=l-000" in page) == (True, True, True)
    assert "No value of this bucket was read from a text" in given[1]


async def test_a_grant_opens_the_documents_at_once(site: OpenedSite) -> None:
    await site.enter_as(ANN)
    await site.bot.administration.grant_bucket(SECRET, Subject(f"user:{ANN}"), by=ANN)

    assert HIDDEN_WORD in (await site.get("/admin/documents?b=secret"))[1]
