"""Values of fields with labels: with confidence and evidence, also from a sentence."""

from storage.ingest.extract.candidates import ExtractionInput, ValueCandidate
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField


def a_field(label: str, kind: FieldType, **details: object) -> SchemaField:
    return SchemaField(name=FieldName(label), type=kind, labels=(label,), **details)  # pyright: ignore[reportArgumentType]


SCHEMA = Schema(
    bucket=BucketId("berths"),
    fields=(
        a_field("Monthly fee", FieldType.MONEY, currency="EUR"),
        a_field("Start date", FieldType.DATE),
        a_field("Length", FieldType.NUMBER, unit="m"),
        a_field("Harbour master", FieldType.CATEGORY),
        a_field("To", FieldType.CATEGORY),
        a_field("Crew", FieldType.LIST),
    ),
)


def candidates_in(text: str, schema: Schema = SCHEMA) -> dict[str, list[ValueCandidate]]:
    found = RuleExtractor().extract_in_thread(ExtractionInput(title="Berth 4", text=text), schema)
    return {str(name): list(candidates) for name, candidates in found.items()}


def values_in(text: str, schema: Schema = SCHEMA) -> dict[str, object]:
    return {
        name: candidates[0].value
        for name, candidates in candidates_in(text, schema).items()
        if candidates[0].confidence >= 0.5
    }


def test_a_labelled_value_has_its_line_as_evidence() -> None:
    text = "Berth 4\n\n**Monthly fee:** EUR 940 per month\nStart date: 3 May 2031\n"

    (fee,) = candidates_in(text)["Monthly fee"]

    assert (fee.value, text[fee.start : fee.end]) == (940.0, "**Monthly fee:** EUR 940 per month")
    assert fee.confidence >= 0.9


def test_a_sentence_gives_the_value_that_other_documents_give_by_label() -> None:
    text = (
        "The monthly fee is EUR 940 and is paid in advance. The agreement starts on 3 May 2031. The harbour master is "
        "Nora Falk. The length of 12 m includes the bowsprit."
    )

    assert values_in(text) == {
        "Monthly fee": 940.0,
        "Start date": "2031-05-03",
        "Harbour master": "Nora Falk",
        "Length": 12.0,
    }


def test_a_label_of_one_small_word_means_nothing_in_a_sentence() -> None:
    assert "To" not in candidates_in("To all the people of the harbour we say thanks.")


def test_an_amount_in_another_currency_is_no_value() -> None:
    assert "Monthly fee" not in candidates_in("Monthly fee: USD 940")


def test_two_values_of_one_label_lower_the_confidence() -> None:
    first, second = candidates_in("Length: 12 m\n\nSome text.\n\nLength: 14 m")["Length"]

    assert (first.value, second.value) == (12.0, 14.0)
    assert first.confidence > 0.5 > second.confidence


def test_members_of_a_list_stand_on_one_line_or_on_several() -> None:
    expected = [("Nora Falk",), ("Tim Brand",)]

    for text in ("Crew: Nora Falk (mate) and Tim Brand", "## Crew\n\n- Nora Falk\n- Tim Brand"):
        assert [candidate.value for candidate in candidates_in(text)["Crew"]] == expected


def test_days_are_read_in_the_notation_of_the_field() -> None:
    schema = Schema(bucket=BucketId("b"), fields=(a_field("Start date", FieldType.DATE, month_first=True),))

    assert values_in("Start date: 03/04/2031", schema) == {"Start date": "2031-03-04"}
    assert values_in("Start date: 03/04/2031")["Start date"] == "2031-04-03"


def test_amounts_of_several_currencies_bring_their_currency() -> None:
    fee = a_field("Fee", FieldType.MONEY, currency_field=FieldName("Fee currency"))
    schema = Schema(
        bucket=BucketId("b"), fields=(fee, SchemaField(name=FieldName("Fee currency"), type=FieldType.CATEGORY))
    )

    assert values_in("Fee: USD 40\n\nIt was EUR 90 before.", schema) == {"Fee": 40.0, "Fee currency": "USD"}
