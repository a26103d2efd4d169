"""Extraction from any text raises nothing, and evidence lies within the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput
from storage.ingest.extract.document_text import fold_characters
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.evaluation.value_validation import select_fitting_values
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

_COLUMNS = (
    SchemaField(name=FieldName("name"), type=FieldType.TEXT),
    SchemaField(name=FieldName("qty"), type=FieldType.NUMBER),
    SchemaField(name=FieldName("total"), type=FieldType.MONEY),
)
EVERYTHING = Schema(
    bucket=BucketId("papers"),
    fields=(
        SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, values={"fuel": ("petrol",), "food": ("meal",)}),
        SchemaField(name=FieldName("currency"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("total"), type=FieldType.MONEY, currency_field=FieldName("currency")),
        SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        SchemaField(name=FieldName("notice_days"), type=FieldType.NUMBER, unit="day"),
        SchemaField(name=FieldName("agreement_date"), type=FieldType.DATE),
        SchemaField(name=FieldName("effective_date"), type=FieldType.DATE),
        SchemaField(name=FieldName("end_date"), type=FieldType.DATE),
        SchemaField(name=FieldName("year"), type=FieldType.NUMBER),
        SchemaField(name=FieldName("parties"), type=FieldType.LIST),
        SchemaField(name=FieldName("governing_law"), type=FieldType.LIST),
        SchemaField(name=FieldName("clauses"), type=FieldType.LIST, values={"Insurance": (), "Exclusivity": ()}),
        SchemaField(name=FieldName("package"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("paid"), type=FieldType.FLAG),
        SchemaField(name=FieldName("document_name"), type=FieldType.TEXT),
        SchemaField(name=FieldName("part"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("items"), type=FieldType.ROWS, columns=_COLUMNS),
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
EXTRACTOR.extract_in_thread(ExtractionInput(title="", text="3 kg"), EVERYTHING)  # compiles patterns before deadlines


def check(text: str, candidates_by_field: CandidatesByField) -> None:
    for name, candidates in candidates_by_field.items():
        for candidate in candidates:
            assert -1 <= candidate.confidence <= 1
            assert (candidate.start is None) == (candidate.end is None)
            if candidate.start is not None and candidate.end is not None:
                assert 0 <= candidate.start < candidate.end <= len(text)
            assert select_fitting_values({name: candidate.value}, EVERYTHING).get(name) is not None


@given(texts, texts)
def test_evidence_lies_within_any_text_and_values_fit_their_fields(title: str, text: str) -> None:
    check(text, EXTRACTOR.extract_in_thread(ExtractionInput(title=title, text=text), EVERYTHING))


@given(texts)
def test_lowered_text_is_as_long_as_the_text(text: str) -> None:
    assert len(fold_characters(text)) == len(text)


@pytest.mark.parametrize("piece", ["a", "1", " ", "12.50 total ", "laws of ", "A. ", "the ", "(", "May 3 ", "Inc, "])
def test_a_long_line_of_anything_is_read(piece: str) -> None:
    text = piece * (50_000 // len(piece))

    check(text, EXTRACTOR.extract_in_thread(ExtractionInput(title="", text=text), EVERYTHING))


def test_a_line_of_a_megabyte_is_read() -> None:
    text = ("Total \x00 12.50 by and between A, Inc. and " * 30_000)[:1_000_000]

    check(text, EXTRACTOR.extract_in_thread(ExtractionInput(title="", text=text), EVERYTHING))
