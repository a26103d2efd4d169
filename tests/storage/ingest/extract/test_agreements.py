"""Extraction from sentences of agreements and from slips of many kinds: small invented documents."""

import pytest

from storage.ingest.extract.annotation import MIN_VALUE_CONFIDENCE
from storage.ingest.extract.candidates import ExtractionInput, ValueCandidate
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

NOTICE = SchemaField(name=FieldName("warning"), type=FieldType.NUMBER, title="Notice period", unit="day")
NOTICE_AS_SAID = SchemaField(name=FieldName("warning_said"), type=FieldType.CATEGORY, title="Notice period")
RENEWAL = SchemaField(name=FieldName("goes_on"), type=FieldType.CATEGORY, title="Renewal term")
SIGNATORIES = SchemaField(name=FieldName("who"), type=FieldType.LIST, title="Parties")
HEADING = SchemaField(name=FieldName("heading"), type=FieldType.TEXT, title="Document name")
SIGNED = SchemaField(name=FieldName("signed_on"), type=FieldType.DATE, title="Agreement date")
ENDS = SchemaField(name=FieldName("over_on"), type=FieldType.DATE, title="Expiration date")
LAW = SchemaField(
    name=FieldName("whose_law"),
    type=FieldType.LIST,
    title="Governing law",
    values={"Texas": (), "Ontario": (), "Germany": (), "United States": ("USA", "federal")},
)
TOTAL = SchemaField(
    name=FieldName("sum_due"), type=FieldType.MONEY, title="Total", currency_field=FieldName("money_of")
)
CURRENCY = SchemaField(name=FieldName("money_of"), type=FieldType.CATEGORY, title="Currency")


def sure(text: str, *fields: SchemaField) -> dict[str, list[FieldValue]]:
    """The values of each field that are confident enough to be stored, most confident first."""
    schema = Schema(bucket=BucketId("papers"), fields=fields)
    candidates_by_field = RuleExtractor().extract_in_thread(ExtractionInput(title="", text=text), schema)
    return {
        name: [candidate.value for candidate in candidates if _is_sure(candidate)]
        for name, candidates in candidates_by_field.items()
    }


def _is_sure(candidate: ValueCandidate) -> bool:
    return candidate.confidence >= MIN_VALUE_CONFIDENCE


def test_a_notice_counts_only_in_a_sentence_about_renewal() -> None:
    text = (
        "The insurer gives thirty (30) days' prior notice of non-renewal of the policy. Invoices are due within "
        "ten (10) days of notice. This Agreement renews each year unless either party gives ninety (90) days' prior "
        "written notice of its intention not to renew."
    )
    assert sure(text, NOTICE, NOTICE_AS_SAID) == {"warning": [90.0], "warning_said": ["90 days"]}


def test_the_number_of_a_section_is_no_notice() -> None:
    assert not sure("8. Miscellaneous. Notices 21 Language 22", NOTICE).get("warning")


def test_a_renewal_has_a_length_and_may_be_repeated() -> None:
    text = (
        'Each successive period of three (3) months is a "Quarter". After the initial term this Agreement shall '
        "automatically renew for successive one (1) year periods."
    )
    assert sure(text, RENEWAL)["goes_on"] == ["successive 1 year"]


@pytest.mark.parametrize(
    "text",
    [
        'CONSULTING AGREEMENT between e-Harbour Mills, Inc., Denver, CO ("Client") and Quarry Works GmbH, of Harbour.',
        "Party A: e-Harbour Mills, Inc.\nParty B: Quarry Works GmbH\nThe parties agree as follows.",
        'e-Harbour Mills, Inc. ("Mills") and Quarry Works GmbH ("Works") will share the quay.',
        "We agree to the above.\n\ne-Harbour Mills, Inc.\n\nBy: ______\n\nQuarry Works GmbH\n\nBy: ______",
    ],
)
def test_parties_stand_after_between_or_have_short_names_or_sign(text: str) -> None:
    assert sure(text, SIGNATORIES)["who"] == [("e-Harbour Mills, Inc.",), ("Quarry Works GmbH",)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "Exhibit 10.2 Execution Copy QUAY SHARING AGREEMENT This Quay Sharing Agreement is made",
            "QUAY SHARING AGREEMENT",
        ),
        ("This Agreement is a QUAY LEASE AGREEMENT between us", "QUAY LEASE AGREEMENT"),
        ("EXHIBIT B MARK LICENSE AGREEMENT THIS AGREEMENT is made", "MARK LICENSE AGREEMENT"),
    ],
)
def test_a_heading_ends_before_the_text_repeats_it(text: str, name: str) -> None:
    assert sure(text, HEADING)["heading"] == [name]


def test_an_agreement_without_a_day_at_its_head_has_the_day_of_its_signatures() -> None:
    text = "The quay is shared. " * 400 + "Harbour, 2 April 2031. Signed by all."
    assert sure(text, SIGNED)["signed_on"] == ["2031-04-02"]


@pytest.mark.parametrize(
    ("clause", "end"),
    [
        ("The term of this Agreement is twenty-four (24) months.", "2033-03-05"),
        ("It shall extend until the twentieth (20th) anniversary of the Effective Date.", "2051-03-05"),
    ],
)
def test_a_term_ends_its_length_after_its_start(clause: str, end: str) -> None:
    text = f"This Agreement is made as of March 5, 2031. {clause}"
    assert sure(text, SIGNED, ENDS)["over_on"] == [end]


def test_duties_that_outlast_an_agreement_are_not_its_term() -> None:
    text = "Made as of March 5, 2031. During the term of this Agreement and for two (2) years thereafter all is secret."
    assert not sure(text, SIGNED, ENDS).get("over_on")


@pytest.mark.parametrize(
    ("laws", "places"),
    [
        ("the laws of the United States of America and of the State of Texas", [("Texas",)]),
        ("the laws of the Federal Republic of Germany", [("Germany",)]),
        ("the laws of the United States", [("United States",)]),
    ],
)
def test_the_law_is_of_the_smallest_place(laws: str, places: list[FieldValue]) -> None:
    assert sure(f"This Agreement is governed by {laws}.", LAW)["whose_law"] == places


def test_amounts_of_whole_thousands_exclude_a_currency_with_cents() -> None:
    slip = "THE JOINT\n47 Park St\n1 BREAD BOX 4,000\n3 PASTRY 51,000\nTOTAL 55,000\nRP CARD 55,000"
    assert sure(slip, TOTAL, CURRENCY) == {"sum_due": [55000.0], "money_of": ["IDR"]}


@pytest.mark.parametrize(
    "slip",
    [
        "LOJA LDA\nCapital Social 576.326.759,00 EUR\nPAO 4,50\nQUEIJO 7,00\nTOTAL c/IVA: 11,50",
        "LOJA LDA\nCapital Social 576.326.759,00 EUR\nPAO 4,50\nQUEIJO 7,00\nIVA 23,00 %\n11,50\n11,50",
        "LOJA LDA EUR\nPAO 4,50\nQUEIJO 7,00\nTOTAL 711171\nA PAGAR........11,50",
    ],
)
def test_capital_rates_and_reference_numbers_are_no_paid_amounts(slip: str) -> None:
    assert sure(slip, TOTAL, CURRENCY)["sum_due"][0] == 11.5


@pytest.mark.parametrize(
    ("text", "parties"),
    [
        ("SUPPLY AGREEMENT\nBY AND BETWEEN\nHALDEN PUMPS CORPORATION\nAND\nORLO INC.\nMay 2, 2019", 2),
        ('made between Orlo Research and Pumping Company, a Texas corporation, and Halden, Inc. ("Halden")', 2),
        ('entered into by and between Bank of Northport, N.A. ("Bank") and Orlo LLC, a Texas company', 2),
        ("Endorsement agreement between Mia Torvald and ORLO PUMPS INCORPORATED effective June 1, 2011", 2),
        ('is by and among ORLO COAL & MINERALS LLC ("Orlo") and HALDEN, INC. ("Halden")', 2),
        ('is between o-rlo, inc. and The Harbour Press, a Texas not-for-profit corporation ("Press")', 2),
    ],
)
def test_all_names_after_between_are_parties(text: str, parties: int) -> None:
    assert len(sure(text, SIGNATORIES)["who"]) == parties


def test_addresses_captions_and_short_names_are_no_parties() -> None:
    text = (
        'This agreement is between Orlo Limited, of Block 9, 12 Pine Road, Hong Kong ("Orlo") and Halden GmbH '
        '("Company"). Orlo and Company may agree otherwise. Source: NORTHPORT HOLDINGS INC., 8-K'
    )
    assert sure(text, SIGNATORIES)["who"] == [("Orlo Limited",), ("Halden GmbH",)]


def test_two_spellings_of_the_same_name_are_not_two_parties() -> None:
    text = (
        "Services agreement between ORLO PUMPS CORPORATION. Orlo Pumps Corp wrote this cover.\n\nWHEREAS one thing. "
        'The agreement is made by and between Orlo Pumps Corporation ("Orlo") and Halden Limited ("Halden").'
    )
    assert ("Halden Limited",) in sure(text, SIGNATORIES)["who"]


def test_the_day_of_another_document_is_not_taken() -> None:
    text = (
        "WHEREAS, Orlo and Halden have previously entered into a Supply Agreement dated as of March 3, 1995; now they "
        "agree as follows. IN WITNESS WHEREOF this amendment was executed as of April 4, 2003."
    )
    assert sure(text, SIGNED)["signed_on"][0] == "2003-04-04"


def test_the_end_of_a_term_is_no_agreement_date() -> None:
    text = "The period goes on, terminating on May 31, 2016, unless it ends sooner."
    assert not sure(text, SIGNED, ENDS).get("signed_on")


def test_a_label_that_is_the_end_of_another_fields_label_is_not_taken() -> None:
    due = SchemaField(name=FieldName("pay_by"), type=FieldType.DATE, title="Due date")
    bill = SchemaField(name=FieldName("billed"), type=FieldType.DATE, title="Date")

    values = sure("Bill\nDue date: 2024-06-30\nDate: 2024-05-31", due, bill)

    assert values["pay_by"][0] == "2024-06-30"
    assert values["billed"][0] == "2024-05-31"


def test_three_digits_after_the_decimal_mark_of_cents_are_no_thousands() -> None:
    text = "Lamp 2 x 3.78 7.56\nBulb 1.87\nNett 5.61\nTotal 6.950\n"
    assert sure(text, TOTAL, CURRENCY)["sum_due"][0] == 6.95


def test_a_percentage_does_not_show_that_amounts_have_cents() -> None:
    text = "Bakso 43.636\nTax 10.00 % 4.364\nService 5.00 % 1.000\nFee 1.00 %\nGrand total 48.000\nTunai 50.000"
    assert sure(text, TOTAL, CURRENCY)["sum_due"][0] == 48_000.0


def test_a_count_of_pieces_is_no_total() -> None:
    assert sure("Shoe 12.03\nTotal pieces: 3\nTotal: 15.90\n", TOTAL, CURRENCY)["sum_due"][0] == 15.9


LANDLORD = SchemaField(name=FieldName("gives"), type=FieldType.CATEGORY, title="Landlord", synonyms=("lessor",))
TENANT = SchemaField(name=FieldName("takes"), type=FieldType.CATEGORY, title="Tenant", synonyms=("lessee",))
RENT = SchemaField(name=FieldName("each_month"), type=FieldType.MONEY, title="Rent", synonyms=("monthly rent",))
DEPOSIT = SchemaField(name=FieldName("held"), type=FieldType.MONEY, title="Deposit", synonyms=("security",))


@pytest.mark.parametrize(
    "text",
    [
        'This lease is between Orlo Homes LLC, of 4 Quay Street ("Landlord") and Mia Torvald (the "Tenant").',
        'BETWEEN: Orlo Homes LLC (hereinafter called the "Lessor") OF THE ONE PART and Mia Torvald (the “Lessee”)',
        "Landlord: Orlo Homes LLC\nTenant: Mia Torvald",
    ],
)
def test_the_value_of_a_role_is_the_name_with_that_short_name(text: str) -> None:
    values = sure(text, LANDLORD, TENANT)
    assert (values["gives"][0], values["takes"][0]) == ("Orlo Homes LLC", "Mia Torvald")


def test_words_after_a_label_in_a_sentence_are_no_value() -> None:
    assert not sure("The tenant shall keep the flat in order, at any hour whatsoever.", TENANT).get("takes")


def test_only_a_total_without_a_label_is_the_largest_amount() -> None:
    assert not sure("Roof 12.50\nDoor 80.00\n", DEPOSIT).get("held")
    assert sure("Roof 12.50\nDoor 80.00\n", TOTAL, CURRENCY)["sum_due"] == [80.0]


def test_a_synonym_is_as_good_a_label_as_a_title() -> None:
    assert sure("Flat 8\nSecurity 940.50\nMonthly rent 470.25", RENT, DEPOSIT) == {
        "each_month": [470.25],
        "held": [940.5],
    }


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("Rent $1,450.00\nDeposit $2,900.00", "USD"),
        ("Miete 1.450,00 €\nKaution 2.900,00 €", "EUR"),
        ("Salary: $95,000 a year", "USD"),
    ],
)
def test_signs_beside_whole_thousands_show_the_currency(text: str, currency: str) -> None:
    assert sure(text, RENT, TOTAL, CURRENCY)["money_of"][0] == currency


@pytest.mark.parametrize(
    "head", ["FACTUUR\nOrlo Pompen B.V.", "Rechnung\nOrlo Pompen GmbH", "Bill\nFrom: Orlo Pompen Ltd"]
)
def test_the_seller_has_no_label_and_is_no_word_for_a_kind_of_document(head: str) -> None:
    seller = SchemaField(name=FieldName("sold_by"), type=FieldType.CATEGORY, title="Seller")
    assert str(sure(f"{head}\nTo: Halden Inc.\nTotal 12.50", seller)["sold_by"][0]).startswith("Orlo Pompen")


def test_commas_or_semicolons_separate_members_of_a_list() -> None:
    skills = SchemaField(name=FieldName("asked"), type=FieldType.LIST, title="Skills")
    assert sure("Skills: hydraulics; CAD, Norse", skills)["asked"] == [("hydraulics",), ("CAD",), ("Norse",)]
