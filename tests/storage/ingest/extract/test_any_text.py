"""Any text at all: nothing is raised, and evidence lies within the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.extract.candidates import Candidates, Material
from storage.ingest.extract.page import lowered
from storage.ingest.extract.rules import RuleExtractor
from storage.search.fit import still_fitting
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType, Schema

_COLUMNS = (
    Field(name=FieldName("name"), type=FieldType.TEXT),
    Field(name=FieldName("qty"), type=FieldType.NUMBER),
    Field(name=FieldName("total"), type=FieldType.MONEY),
)
EVERYTHING = Schema(
    bucket=BucketId("papers"),
    fields=(
        Field(name=FieldName("vendor"), type=FieldType.CATEGORY),
        Field(name=FieldName("kind"), type=FieldType.CATEGORY, values={"fuel": ("petrol",), "food": ("meal",)}),
        Field(name=FieldName("currency"), type=FieldType.CATEGORY),
        Field(name=FieldName("total"), type=FieldType.MONEY, currency_field=FieldName("currency")),
        Field(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        Field(name=FieldName("notice_days"), type=FieldType.NUMBER, unit="day"),
        Field(name=FieldName("agreement_date"), type=FieldType.DATE),
        Field(name=FieldName("effective_date"), type=FieldType.DATE),
        Field(name=FieldName("end_date"), type=FieldType.DATE),
        Field(name=FieldName("year"), type=FieldType.NUMBER),
        Field(name=FieldName("parties"), type=FieldType.LIST),
        Field(name=FieldName("governing_law"), type=FieldType.LIST),
        Field(name=FieldName("clauses"), type=FieldType.LIST, values={"Insurance": (), "Exclusivity": ()}),
        Field(name=FieldName("package"), type=FieldType.CATEGORY),
        Field(name=FieldName("paid"), type=FieldType.FLAG),
        Field(name=FieldName("document_name"), type=FieldType.TEXT),
        Field(name=FieldName("part"), type=FieldType.CATEGORY),
        Field(name=FieldName("items"), type=FieldType.ROWS, columns=_COLUMNS),
    ),
)
_PIECES = st.sampled_from(
    "Total|total:|12.50|1.234,5|$|RM|28/05/2031|the 31st day of February, 2031|laws of the State of|New York|Inc.|"
    "by and between|thirty (30) days|notice|renew|weight|3 kg|TO-220|petrol|paid: yes|insurance|\n|\t| | |:|....|\x00|"
    "\u2028|İ|ﬁ|²|9999999999|99/99/99|first|effective date|,|;|(|)|\"|'|-|term of this Agreement|Agreement|a|Ltd|x 2|½|"
    "９|governed".split("|")
)
texts = st.one_of(st.text(max_size=300), st.lists(_PIECES, max_size=60).map("".join), st.lists(_PIECES).map(" ".join))
EXTRACTOR = RuleExtractor()
EXTRACTOR.read(Material(title="", text="3 kg"), EVERYTHING)  # what is made ready once takes no part in deadlines


def check(text: str, found: Candidates) -> None:
    for name, candidates in found.items():
        for one in candidates:
            assert -1 <= one.confidence <= 1
            assert (one.start is None) == (one.end is None)
            if one.start is not None and one.end is not None:
                assert 0 <= one.start < one.end <= len(text)
            assert still_fitting({name: one.value}, EVERYTHING).get(name) is not None


@given(texts, texts)
def test_evidence_lies_within_any_text_and_values_fit_their_fields(title: str, text: str) -> None:
    check(text, EXTRACTOR.read(Material(title=title, text=text), EVERYTHING))


@given(texts)
def test_lowered_text_is_as_long_as_the_text(text: str) -> None:
    assert len(lowered(text)) == len(text)


@pytest.mark.parametrize("piece", ["a", "1", " ", "12.50 total ", "laws of ", "A. ", "the ", "(", "May 3 ", "Inc, "])
def test_a_long_line_of_anything_is_read(piece: str) -> None:
    text = piece * (50_000 // len(piece))

    check(text, EXTRACTOR.read(Material(title="", text=text), EVERYTHING))


def test_a_line_of_a_megabyte_is_read() -> None:
    text = ("Total \x00 12.50 by and between A, Inc. and " * 30_000)[:1_000_000]

    check(text, EXTRACTOR.read(Material(title="", text=text), EVERYTHING))
