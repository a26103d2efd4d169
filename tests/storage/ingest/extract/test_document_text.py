"""The folded text that the rules search."""

from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.extract.document_text import fold_characters


@given(st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("İﬁ²９½ẞΣ\u0345")), max_size=300))
def test_folded_text_is_as_long_as_the_text(text: str) -> None:
    assert len(fold_characters(text)) == len(text)
