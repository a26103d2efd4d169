"""A document is listed once below an answer, with its places."""

from adapters.slack.posting.render import full_text_of as slack_text_of
from adapters.teams.posting.render import full_text_of as teams_text_of
from bot.ids import TurnId
from bot.surface.replies import Reply, ShownCitation, TextPart, list_cited_documents


def a_citation(marker: str, doc_id: str, page: int | None, title: str = "B-120 manual") -> ShownCitation:
    return ShownCitation(marker=marker, title=title, page=page, url=None, quote=f"Line {marker}.", doc_id=doc_id)


CITATIONS = (a_citation("1", "b120", 9), a_citation("2", "c7", None, "Note"), a_citation("3", "b120", 3))
REPLY = Reply(turn=TurnId("t"), parts=(TextPart(markdown="a [1] b [2] c [3]", sources=CITATIONS),))


def test_the_citations_of_a_document_are_one_line_with_all_its_pages() -> None:
    manual, note = list_cited_documents(CITATIONS)
    assert (manual.markers, manual.place_text) == (("1", "3"), "pages 3, 9")
    assert (note.markers, note.place_text) == (("2",), "")


def test_documents_with_one_title_are_two_and_so_are_citations_without_a_document() -> None:
    assert len(list_cited_documents([a_citation("1", "x", 1), a_citation("2", "y", 1)])) == 2
    assert len(list_cited_documents([a_citation("1", "", 1), a_citation("2", "", 2)])) == 2


def test_the_same_page_is_named_once() -> None:
    (manual,) = list_cited_documents([a_citation("1", "b120", 3), a_citation("2", "b120", 3)])
    assert manual.place_text == "page 3"


def test_texts_for_chat_products_name_a_document_once_and_keep_each_quotation() -> None:
    for text in (slack_text_of(REPLY), teams_text_of(REPLY)):
        assert text.count("B-120 manual") == 1
        assert "[1] [3] B-120 manual, pages 3, 9" in text
        assert "Line 1." in text
        assert "Line 3." in text
