"""Fields that contracts and invoices usually have, though no two of them use the same words."""

from collections.abc import Sequence

import pytest

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.fields.flags import payment_mark_candidates
from storage.ingest.extract.kinds.usual_fields import UsualField, find_usual_fields, join_with_labels
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.extract.labels.label_fields import fields_of_labels
from storage.ingest.extract.labels.recurring_labels import LabelTally
from storage.search.schema import FieldType

LEASE = """# Lease of Shed 9

This lease is made on 1 April 2031 between Tarnhow Estates Ltd ("the Landlord") and Velm Joinery Ltd ("the Tenant").
The term is five years from 1 April 2031 and ends on 31 March 2036.
Either party may end it by giving six months' notice."""
HIRE = """HIRE AGREEMENT

Between Skarv Plant Ltd and Velm Joinery Ltd. It starts on 15 May 2032 and runs for three years.
Either side may cancel with 90 days' notice."""
CLEANING = """# Cleaning agreement

**Start date:** 3 June 2033
**End date:** 2 June 2035
**Notice period:** 30 days"""
VANS = """Vehicle agreement

36 months, from 1 February 2034 to 31 January 2037. Ended by three months' notice in writing."""
INVOICES = (
    """Orlo Timber Ltd
Mill Lane, Tarn

INVOICE
No: 81
Date: 3 March 2031

Total due: £120.00
Pay by 2 April 2031

PAID 1/4/2031""",
    """** Skarv Fixings Ltd **   9 Quay Road
INV NO 9   TAX POINT 7 May 2031
GRAND TOTAL GBP 48.50

[stamp] NOT PAID YET""",
    """VELM GLASS LTD

Invoice 12 of 9 June 2031
Goods 20.00
VAT 4.00
Amount payable £24.00
Due date: 9 July 2031""",
)


def find_fields(noun: str, texts: Sequence[str]) -> dict[str, UsualField]:
    documents = {number: ExtractionInput(title=f"paper {number}", text=text) for number, text in enumerate(texts)}
    found = find_usual_fields(documents, dict.fromkeys(documents, noun), "en", {})
    return {each.field.label: each for each in found}


def values_of(usual: UsualField) -> list[object]:
    return [candidate.value for _, candidate in sorted(usual.values_by_document.items())]


def test_contracts_have_parties_a_start_an_end_and_a_notice_period_in_days() -> None:
    fields = find_fields("contract", (LEASE, HIRE, CLEANING, VANS))

    assert list(fields) == ["Parties", "Start date", "End date", "Notice period"]
    assert values_of(fields["Start date"]) == ["2031-04-01", "2032-05-15", "2033-06-03", "2034-02-01"]
    assert values_of(fields["End date"]) == ["2036-03-31", "2035-05-15", "2035-06-02", "2037-01-31"]
    assert values_of(fields["Notice period"]) == [180.0, 90.0, 30.0, 90.0]
    assert fields["Notice period"].field.unit == "day"


def test_invoices_have_a_supplier_a_total_in_one_currency_and_a_mark_of_payment() -> None:
    fields = find_fields("invoice", INVOICES)

    assert values_of(fields["Supplier"]) == ["Orlo Timber Ltd", "Skarv Fixings Ltd", "VELM GLASS LTD"]
    assert values_of(fields["Total"]) == [120.0, 48.5, 24.0]
    assert (fields["Total"].field.type, fields["Total"].field.currency) == (FieldType.MONEY, "GBP")
    assert values_of(fields["Due date"]) == ["2031-04-02", "2031-07-09"]
    assert values_of(fields["Paid"]) == [True, False]


def test_documents_of_another_kind_get_no_usual_fields() -> None:
    assert find_fields("memo", (LEASE, HIRE, CLEANING, VANS)) == {}


def test_a_usual_field_stands_for_the_labels_of_fewer_documents_and_keeps_their_name() -> None:
    texts = (LEASE, HIRE, CLEANING, CLEANING.replace("2 June 2035", "1 May 2036"), VANS)
    tally = LabelTally()
    for text in texts:
        tally.add_document(find_labelled_texts(DocumentText(ExtractionInput(title="", text=text))))
    labelled = fields_of_labels(tally)
    assert "End date" in {field.title for field in labelled.fields}

    kept, usual = join_with_labels(find_fields("contract", texts).values(), labelled, ())

    assert "End date" not in {field.title for field in kept.fields}
    end_date = next(each for each in usual if each.concept == "expiration date")
    assert (end_date.field.title, len(end_date.values_by_document)) == ("End date", 5)


def test_labels_that_as_many_documents_have_stay_as_they_are() -> None:
    texts = (CLEANING, CLEANING.replace("2035", "2036"), CLEANING.replace("2035", "2037"))
    tally = LabelTally()
    for text in texts:
        tally.add_document(find_labelled_texts(DocumentText(ExtractionInput(title="", text=text))))
    labelled = fields_of_labels(tally)

    kept, usual = join_with_labels(find_fields("contract", texts).values(), labelled, ())

    assert {field.title for field in kept.fields} >= {"Start date", "End date", "Notice period"}
    assert usual == []


@pytest.mark.parametrize(
    ("line", "is_paid"),
    [
        ("PAID 09/03/2031 BACS", True),
        ("Paid in full, with thanks", True),
        ("[office stamp] RECEIVED - NOT PAID YET", False),
        ("Unpaid", False),
        ("bezahlt am 3.4.2031", True),
        ("To be paid by 3 April", None),
        ("Paid within 30 days please", None),
        ("Please pay by bank transfer.", None),
    ],
)
def test_a_line_by_itself_says_whether_a_document_is_paid(line: str, is_paid: bool | None) -> None:
    document = DocumentText(ExtractionInput(title="", text=f"Orlo Ltd\nInvoice 7\nTotal 12.00\n\n{line}\n"))

    assert [candidate.value for candidate in payment_mark_candidates(document)] == (
        [] if is_paid is None else [is_paid]
    )


def test_slips_without_a_letterhead_have_no_supplier() -> None:
    texts = [f"{number} Fried rice  {number}2.00\n1 Tea 3.00\n\nTOTAL  £{number}5.00\nCASH" for number in range(1, 5)]

    fields = find_fields("receipt", texts)

    assert "Supplier" not in fields
    assert values_of(fields["Total"]) == [15.0, 25.0, 35.0, 45.0]


def test_a_stamp_that_only_some_invoices_have_is_a_field() -> None:
    stamped = [f"Orlo Timber Ltd\n\nINVOICE {number}\nTotal due: £{number}0.00\n\nPAID" for number in range(1, 4)]
    plain = ["Orlo Timber Ltd\n\nINVOICE 9\nTotal due: £90.00\n"]

    assert "Paid" in find_fields("invoice", [*stamped, *plain])
    assert "Paid" not in find_fields("invoice", stamped)
