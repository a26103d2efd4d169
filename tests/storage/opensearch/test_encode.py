"""The entries of a document, as they are sent to the cluster."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from storage.opensearch.mapping import IndexLayout
from storage.opensearch.terms import indexed_token_of, indexed_tokens_of
from storage.opensearch.writing.encode import encode_index_entries
from storage.search.documents import Document, Passage
from storage.text.snowball_analyser import analyser_for
from tests.builders import a_document, a_receipt_schema

_ANALYSER = analyser_for("en")
_LAYOUT = IndexLayout(
    index="i",
    version_number=1,
    schema=a_receipt_schema(),
    analyser=_ANALYSER,
    analyser_version=_ANALYSER.version,
    embedder_name="",
    dimensions=4,
)
_TEXTS = st.text(max_size=40) | st.sampled_from(["", "x" * 130 + " tires", "½ Straße 轮胎", "don't  re-use\tit"])


def _encode(document: Document, vectors: Any = None) -> Mapping[str, dict[str, Any]]:
    """Returns the entries by the last part of their ids: empty for the document, `.text`, `.0`, `.1` …"""
    entries = list(encode_index_entries(document, "r", _LAYOUT, vectors))
    return {entry_id.removeprefix(entries[0][0]): json.loads(source) for entry_id, source in entries}


@given(title=_TEXTS, first=_TEXTS, second=_TEXTS, context=_TEXTS)
def test_entries_have_the_terms_that_questions_are_analysed_into(
    title: str, first: str, second: str, context: str
) -> None:
    text, border = f"{first} {second}", len(first)
    passages = [Passage(start=0, end=border, context=context), Passage(start=border, end=len(text))]

    entries = _encode(a_document("a", text, title=title, passages=passages))

    def terms_of(*texts: str) -> list[str]:
        return [term for part in texts for term in indexed_tokens_of(part, _ANALYSER)]

    assert entries[""]["title_terms"].split() == terms_of(title)
    assert entries[""]["text_terms"].split() == terms_of(text)
    assert entries[""]["outline_terms"].split() == terms_of(title, title, text)
    assert entries[".0"]["passage_terms"].split() == terms_of(title, title, context, text[:border])
    assert entries[".1"]["passage_terms"].split() == terms_of(title, title, text[border:])
    words = {indexed_token_of(word.text) for part in (title, text) for word in _ANALYSER.extract_words(part)}
    assert sorted(entries[""]["words"]) == sorted(words)


def test_a_vector_is_sent_with_nine_decimals_and_a_zero_vector_is_not_sent() -> None:
    document = a_document("a", "new tires", passages=[Passage(start=0, end=3), Passage(start=4, end=9)])
    vector = np.array([0.5, -1 / 3, 1e-12, 0.79], dtype=np.float32)

    entries = _encode(document, np.stack([vector, np.zeros(4, dtype=np.float32)]))

    assert np.abs(np.array(entries[".0"]["vector"]) - vector.astype(np.float64)).max() <= 5e-10
    assert "vector" not in entries[".1"]
