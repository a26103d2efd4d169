"""The terms of a document and of its passages are those of the whole text, however it is cut."""

from hypothesis import given
from hypothesis import strategies as st

from storage.analysis import analyser_for
from storage.embedded.terms import analysed
from storage.search.documents import Passage

TEXTS = st.text("ab1 -é\u0301中½\n", max_size=20)


@given(TEXTS, st.data())
def test_passages_hold_the_terms_of_the_text_that_lie_in_them(text: str, data: st.DataObject) -> None:
    cuts = st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True)
    drawn = data.draw(st.lists(cuts, max_size=3)) if text else []
    passages = [Passage(start=min(pair), end=max(pair)) for pair in drawn]
    analyser = analyser_for("en")

    found = analysed("A title", text, passages, analyser, "")

    assert found.text == " ".join([term.text for term in analyser.terms(text)])
    assert found.words.split() == sorted({word.text for word in analyser.words(f"A title {text}")})
    for passage, terms in zip(passages, found.passages, strict=True):
        inside = analyser.terms(text[passage.start : passage.end])
        assert terms == " ".join([term.text for term in inside])


def test_a_cut_through_a_word_leaves_it_whole_in_the_document_and_parted_in_the_passages() -> None:
    passages = [Passage(start=0, end=6), Passage(start=6, end=13)]

    found = analysed("", "some planting", passages, analyser_for("en"), "")

    assert (found.text, found.passages) == ("some plant", ("some p", "lant"))
