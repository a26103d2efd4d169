"""The terms of a document and of its passages do not depend on how the text is divided for analysis."""

from hypothesis import given
from hypothesis import strategies as st

from storage.search.documents import Passage
from storage.text.document_terms import analyse_document
from storage.text.snowball_analyser import analyser_for

TEXTS = st.text("ab1 -é\u0301中½\n", max_size=20)


@given(TEXTS, st.data())
def test_the_terms_of_a_passage_are_those_of_its_part_of_the_text(text: str, data: st.DataObject) -> None:
    boundaries = st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True)
    boundary_pairs = data.draw(st.lists(boundaries, max_size=3)) if text else []
    passages = [Passage(start=min(pair), end=max(pair)) for pair in boundary_pairs]
    analyser = analyser_for("en")

    analysed = analyse_document("A title", text, passages, analyser, "")

    assert analysed.text == " ".join([term.text for term in analyser.extract_terms(text)])
    assert analysed.words.split() == sorted({word.text for word in analyser.extract_words(f"A title {text}")})
    for passage, terms in zip(passages, analysed.passages, strict=True):
        passage_terms = analyser.extract_terms(text[passage.start : passage.end])
        assert terms == " ".join([term.text for term in passage_terms])


def test_a_boundary_inside_a_word_divides_it_in_the_passages_but_not_in_the_document() -> None:
    passages = [Passage(start=0, end=6), Passage(start=6, end=13)]

    analysed = analyse_document("", "some planting", passages, analyser_for("en"), "")

    assert (analysed.text, analysed.passages) == ("some plant", ("some p", "lant"))
