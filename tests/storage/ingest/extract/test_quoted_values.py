"""Values that a reader quotes: which are taken, where their evidence is, and how they join those of the rules."""

import pytest

from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput, ValueCandidate
from storage.ingest.extract.quoted_values import (
    AGREED_CONFIDENCE,
    CONTRADICTED_CONFIDENCE,
    UNCONFIRMED_CONFIDENCE,
    QuotedValue,
    check_quoted_values,
    join_candidates,
)
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

SCHEMA = Schema(
    bucket=BucketId("papers"),
    fields=(
        SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, values={"fuel": ("petrol",), "food": ()}),
        SchemaField(name=FieldName("currency"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("total"), type=FieldType.MONEY, currency_field=FieldName("currency")),
        SchemaField(name=FieldName("deposit"), type=FieldType.MONEY, currency="EUR"),
        SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        SchemaField(name=FieldName("rooms"), type=FieldType.NUMBER),
        SchemaField(name=FieldName("date"), type=FieldType.DATE),
        SchemaField(name=FieldName("paid"), type=FieldType.FLAG),
        SchemaField(name=FieldName("parties"), type=FieldType.LIST),
        SchemaField(
            name=FieldName("items"),
            type=FieldType.ROWS,
            columns=(
                SchemaField(name=FieldName("name"), type=FieldType.TEXT),
                SchemaField(name=FieldName("qty"), type=FieldType.NUMBER),
            ),
        ),
    ),
)
TEXT = """Bought of Kestrel
Motors Ltd on 3 May 2031 for € 1.234,50, weighing 2500 g, with three rooms.
Filled with petrol. It was settled in full. Signed by Ann Lee and Bo Ray.
2 x Valve
"""


def check(field: str, value: str, words: str, *, text: str = TEXT, title: str = "") -> FieldValue | None:
    quoted = QuotedValue(field=FieldName(field), value=value, words=words)
    candidates = check_quoted_values([quoted], ExtractionInput(title=title, text=text), SCHEMA)
    return candidates[FieldName(field)][0].value if candidates else None


@pytest.mark.parametrize(
    ("field", "value", "words", "expected"),
    [
        ("vendor", "Kestrel Motors Ltd", "Kestrel Motors Ltd", "Kestrel Motors Ltd"),
        ("vendor", "KESTREL", "kestrel", "KESTREL"),
        ("kind", "fuel", "Filled with petrol", "fuel"),
        ("kind", "petrol", "Filled with petrol", "fuel"),
        ("currency", "EUR", "€ 1.234,50", "EUR"),
        ("total", "1234.50 EUR", "€ 1.234,50", 1234.5),
        ("deposit", "1234.50", "for € 1.234,50", 1234.5),
        ("weight", "2.5", "weighing 2500 g", 2.5),
        ("weight", "2500 g", "weighing 2500 g", 2.5),
        ("rooms", "3", "three rooms", 3.0),
        ("date", "2031-05-03", "on 3 May 2031", "2031-05-03"),
        ("paid", "true", "settled in full", True),
        ("parties", "Bo Ray", "Ann Lee and Bo Ray", ("Bo Ray",)),
    ],
)
def test_a_value_whose_words_stand_in_the_text_and_hold_it_is_taken(
    field: str, value: str, words: str, expected: FieldValue
) -> None:
    assert check(field, value, words) == expected


@pytest.mark.parametrize(
    ("field", "value", "words", "reason"),
    [
        ("vendor", "Harbor Ltd", "Bought of Harbor Ltd", "the words are not in the text"),
        ("vendor", "Kestrel Motors", "Ann Lee", "the words hold another name"),
        ("vendor", "Kestrel", "", "there are no words"),
        ("kind", "furniture", "Filled with petrol", "it is not a listed value"),
        ("total", "1234.60 EUR", "€ 1.234,50", "the words hold another amount"),
        ("deposit", "1234.50 USD", "€ 1.234,50", "the field has another currency"),
        ("weight", "2600 g", "weighing 2500 g", "the words hold another number"),
        ("weight", "2.5 m", "weighing 2500 g", "it has another dimension"),
        ("date", "2031-05-04", "on 3 May 2031", "the words hold another day"),
        ("date", "in May", "on 3 May 2031", "it is no day"),
        ("paid", "maybe", "settled in full", "it is no flag"),
        ("currency", "USD", "€ 1.234,50", "the words hold another currency"),
        ("owner", "Ann Lee", "Ann Lee", "there is no such field"),
    ],
)
def test_another_value_is_refused(field: str, value: str, words: str, reason: str) -> None:
    assert check(field, value, words) is None, reason


def test_the_evidence_is_where_the_words_stand_whatever_their_blanks() -> None:
    quoted = QuotedValue(field=FieldName("vendor"), value="Kestrel Motors Ltd", words="kestrel motors ltd")
    candidates = check_quoted_values([quoted, quoted], ExtractionInput(title="", text=TEXT), SCHEMA)
    (candidate,) = candidates[FieldName("vendor")]

    assert candidate.start is not None
    assert TEXT[candidate.start : candidate.end] == "Kestrel\nMotors Ltd"
    assert candidate.confidence == UNCONFIRMED_CONFIDENCE


def test_a_value_of_the_title_has_no_evidence_in_the_text() -> None:
    quoted = QuotedValue(field=FieldName("vendor"), value="Northline", words="Northline")
    candidates = check_quoted_values([quoted], ExtractionInput(title="Bill of Northline", text=TEXT), SCHEMA)

    assert [(found.value, found.start) for found in candidates[FieldName("vendor")]] == [("Northline", None)]


def test_a_row_keeps_the_cells_that_its_words_hold() -> None:
    cells = ((FieldName("name"), "Valve"), (FieldName("qty"), "3"), (FieldName("colour"), "red"))
    row = QuotedValue(field=FieldName("items"), value="", words="2 x Valve", cells=cells)
    empty = QuotedValue(field=FieldName("items"), value="", words="2 x Valve", cells=cells[1:])

    candidates = check_quoted_values([row, empty], ExtractionInput(title="", text=TEXT), SCHEMA)

    assert [found.value for found in candidates[FieldName("items")]] == [({"name": "Valve"},)]


def a_candidate(value: FieldValue, confidence: float = UNCONFIRMED_CONFIDENCE, start: int | None = 0) -> ValueCandidate:
    return ValueCandidate(value=value, confidence=confidence, start=start, end=None if start is None else start + 5)


def join(field: str, of_rules: list[ValueCandidate], of_model: list[ValueCandidate]) -> list[tuple[FieldValue, float]]:
    name = FieldName(field)
    joined: CandidatesByField = join_candidates({name: of_rules}, {name: of_model}, SCHEMA)
    return [(found.value, found.confidence) for found in joined.get(name, ())]


def test_agreement_is_surest_then_the_model_alone_and_a_contradiction_is_for_review() -> None:
    assert join("vendor", [a_candidate("Kestrel", 0.6)], [a_candidate("KESTREL")]) == [("Kestrel", AGREED_CONFIDENCE)]
    assert join("vendor", [], [a_candidate("Kestrel")]) == [("Kestrel", UNCONFIRMED_CONFIDENCE)]
    assert join("vendor", [a_candidate("Harbor", 0.9)], [a_candidate("Kestrel")]) == [
        ("Kestrel", CONTRADICTED_CONFIDENCE),
        ("Harbor", 0.4),
    ]


def test_a_guess_of_the_rules_that_would_not_be_stored_contradicts_nothing() -> None:
    assert join("vendor", [a_candidate("Harbor", 0.3)], [a_candidate("Kestrel")])[0] == (
        "Kestrel",
        UNCONFIRMED_CONFIDENCE,
    )


def test_what_the_rules_alone_find_stays_as_it_is() -> None:
    assert join("vendor", [a_candidate("Kestrel", 0.8)], []) == [("Kestrel", 0.8)]


def test_members_of_lists_add_up() -> None:
    joined = join(
        "parties",
        [a_candidate(("Ann",), 0.6), a_candidate(("Cy",), 0.7)],
        [a_candidate(("ann",)), a_candidate(("Bo",))],
    )

    assert joined == [(("Ann",), AGREED_CONFIDENCE), (("Bo",), UNCONFIRMED_CONFIDENCE), (("Cy",), 0.7)]


def test_rows_stay_in_the_order_of_the_text_and_those_of_the_model_alone_are_doubtful() -> None:
    valve: FieldValue = ({FieldName("name"): "Valve"},)
    pump: FieldValue = ({FieldName("name"): "Pump"},)
    joined = join(
        "items", [a_candidate(valve, 0.8, start=50)], [a_candidate(pump, start=10), a_candidate(valve, start=50)]
    )

    assert joined == [(pump, CONTRADICTED_CONFIDENCE), (valve, AGREED_CONFIDENCE)]


def test_agreement_keeps_the_evidence_of_either() -> None:
    name = FieldName("vendor")
    joined = join_candidates(
        {name: [a_candidate("Kestrel", start=None)]}, {name: [a_candidate("Kestrel", start=7)]}, SCHEMA
    )

    assert joined[name][0].start == 7
