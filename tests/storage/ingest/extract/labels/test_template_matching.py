"""Which labels of different templates become one field: those that ask for the same in other words."""

from storage.search.schema import FieldType
from tests.storage.ingest.extract.labels.test_label_fields import labels_of, schema_of, types_of

KEEPERS = ("Nora Falk", "Tim Brand", "Olaf Ness", "Mia Holt")


def boats_in_two_templates() -> list[str]:
    rows = [(keeper, 100 + 10 * number, number) for number, keeper in enumerate(KEEPERS, 1)]
    first = [
        f"Skipper: {keeper}\nTaken on: {day} May 2031\nWeekly fee: EUR {fee}\nDeposit: EUR {4 * fee}\nBeds: {day}"
        for keeper, fee, day in rows
    ]
    second = [
        f"Captain: {keeper}\nSince: 0{day}.06.2031\nRate per week: {fee},00 EUR\n"
        f"Security: {4 * fee},00 EUR\nBerths: {day}"
        for keeper, fee, day in rows
    ]
    return [*first, *second]


def test_labels_of_two_templates_are_joined_by_meaning_values_rank_and_place() -> None:
    joined = [set(labels) for labels in labels_of(schema_of(boats_in_two_templates())).values()]

    assert {"Skipper", "Captain"} in joined  # the same people
    assert {"Taken on", "Since"} in joined  # the same meaning
    assert {"Weekly fee", "Rate per week"} in joined  # the smaller of two amounts, in the same place
    assert {"Deposit", "Security"} in joined


def test_the_labels_beside_the_title_are_synonyms() -> None:
    schema = schema_of(boats_in_two_templates())

    deposit = next(field for field in schema.fields if "Security" in field.labels)
    assert {deposit.label.casefold(), *deposit.synonyms} >= {"deposit", "security"}


def test_labels_that_ask_for_different_things_stay_apart() -> None:
    first = [f"Owner: {keeper}\nNet price: EUR {i}00\nDue: {i} May 2031" for i, keeper in enumerate(KEEPERS, 1)]
    second = [f"Owner: {keeper}\nGross price: EUR {i}00\nBorn: {i} May 1990" for i, keeper in enumerate(KEEPERS, 1)]

    labels = labels_of(schema_of([*first, *second])).values()

    assert not any({"Net price", "Gross price"} <= set(each) for each in labels)
    assert not any({"Due", "Born"} <= set(each) for each in labels)


def test_labels_that_stand_together_in_a_document_stay_apart() -> None:
    texts = [f"Start: {day} May 2031\nFrom: {day} June 2031\nKeeper: Ann" for day in range(1, 5)]

    assert not any({"Start", "From"} <= set(each) for each in labels_of(schema_of(texts)).values())


def test_prices_with_free_ones_are_amounts_and_open_ends_are_days() -> None:
    texts = [
        f"Price: {price}\nEnds: {end}\nGroup size: {size}\nRuns for: {length}"
        for price, end, size, length in [
            ("EUR 640.00", "3 May 2031", "max. 12", "two years"),
            ("430,00 €", "open-ended", "up to 8", "18 months"),
            ("free of charge", "4 May 2031", "10", "6 mo."),
        ]
    ]

    schema = schema_of(texts)

    assert {label: kind.value for label, kind in types_of(schema).items() if "currency" not in label} == {
        "Price": "money",
        "Ends": "date",
        "Group size": "number",
        "Runs for": "number",
    }


def test_a_field_has_the_type_of_most_values_and_not_of_a_few_misread_ones() -> None:
    days = ["3 May 2031", "05/06/2031", "2031-07-05", "9 June 2031", "12.08.2031", "see below the line"]
    texts = [f"Opened: {day}\nFee: EUR {i}00" for i, day in enumerate(days, 1)]

    assert types_of(schema_of(texts))["Opened"] is FieldType.DATE


def test_days_are_no_list_even_if_some_documents_have_several() -> None:
    texts = [f"Opened: {i} May 2031\nOpened: {i} June 2031\nKeeper: Ann Poe" for i in range(1, 5)]

    assert types_of(schema_of(texts))["Opened"] is FieldType.DATE
