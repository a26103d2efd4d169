"""The labels that documents write in all forms, and what letters and headings say without them."""

import pytest

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.extract.labels.labelled_texts import LabelledText


def labels_in(text: str, title: str = "paper") -> list[LabelledText]:
    return find_labelled_texts(DocumentText(ExtractionInput(title=title, text=text)))


def pairs_in(text: str) -> dict[str, str]:
    return {labelled.label: labelled.text for labelled in labels_in(text)}


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        ("Skipper: Nora Falk", "Skipper", "Nora Falk"),
        ("**Skipper:** Nora Falk", "Skipper", "Nora Falk"),
        ("- **Skipper**: Nora Falk", "Skipper", "Nora Falk"),
        ("3. Skipper: Nora Falk", "Skipper", "Nora Falk"),
        ("Skipper ........... Nora Falk", "Skipper", "Nora Falk"),
        ("Skipper\tNora Falk", "Skipper", "Nora Falk"),
        ("Skipper      Nora Falk", "Skipper", "Nora Falk"),
        ("Skipper – Nora Falk", "Skipper", "Nora Falk"),
        ("Skipper = Nora Falk", "Skipper", "Nora Falk"),
        ("| Field | Value |\n|---|---|\n| Skipper | Nora Falk |\n| Hull | Oak |", "Skipper", "Nora Falk"),
        ("Skipper | Nora Falk\nHull | Oak", "Skipper", "Nora Falk"),
        ("Skipper | Hull | Sails\n---|---|---\nNora Falk | Oak | 3", "Sails", "3"),
        ("Skipper: | Nora Falk | Hull: | Oak", "Hull", "Oak"),
        ("Voyage\n\nSkipper\nNora Falk\n\nHull\nOak\n", "Skipper", "Nora Falk"),
        ("Skipper:\nNora Falk\n\nThe end came soon.", "Skipper", "Nora Falk"),
        ("# Voyage\n\n## Skipper\n\nNora Falk\n\n## Hull\n\nOak", "Skipper", "Nora Falk"),
        ("## Crew\n\n- Nora Falk\n- Tim Brand\n", "Crew", "Nora Falk; Tim Brand"),
        ("---\nskipper: Nora Falk\ncrew: [Nora Falk, Tim Brand]\n---\nText.", "crew", "Nora Falk; Tim Brand"),
        ("Skipper: Nora Falk   Hull: Oak", "Hull", "Oak"),
        ("Skipper: Nora Falk · Hull: Oak", "Skipper", "Nora Falk"),
        ("Area (m²): 40", "Area (m²)", "40"),
        ("Our ref.: C-118", "Our ref.", "C-118"),
        ("Voyage log\n\nDisplacement 12 kg\n", "Displacement", "12 kg"),
        ("Voyage log\n\nContract no. H/2031/17\n", "Contract no.", "H/2031/17"),
        ("| | |\n|---|---|\n| Skipper | Nora Falk |\n| Hull | Oak |", "Skipper", "Nora Falk"),
        ("Hire period: 1 May 2031 to 30 June 2031", "End date", "30 June 2031"),
        ("Trip: 1 May 2031 – 3 May 2031", "Trip start", "1 May 2031"),
    ],
)
def test_a_label_is_found_in_every_form(text: str, label: str, value: str) -> None:
    assert pairs_in(text)[label] == value


@pytest.mark.parametrize(
    "text",
    [
        "We met at 10:30 and left at 12:15.",
        "See https://example.org/a for more.",
        "The keeper said that this is what they want: nothing at all.",
        "Nora went home again early - it was late - and slept.",
    ],
)
def test_a_sentence_has_no_label(text: str) -> None:
    assert labels_in(text) == []


def test_evidence_covers_the_label_and_its_value() -> None:
    text = "Voyage log\n\n  **Skipper:** Nora Falk  \nHull: Oak"

    (skipper, _) = (labelled for labelled in labels_in(text) if labelled.label in ("Skipper", "Hull"))

    assert text[skipper.start : skipper.end] == "**Skipper:** Nora Falk"


LETTER = """Bergen, 4 May 2031

Our ref: C-77

Dear Ms Brand,

The anchor has not come.

Yours sincerely,

Nora Falk
Harbour office
"""


def test_a_letter_says_its_day_its_addressee_and_who_signed_it() -> None:
    pairs = pairs_in(LETTER)

    assert (pairs["Date"], pairs["Recipient"], pairs["Sender"], pairs["Our ref"]) == (
        "4 May 2031",
        "Ms Brand",
        "Nora Falk",
        "C-77",
    )


def test_the_head_of_a_mail_takes_the_place_of_its_greeting_and_signature() -> None:
    mail = "From: Nora Falk <n@x.example>\nTo: Tim Brand <t@x.example>\nDate: Tue, 6 May 2031 08:00:00 +0000\n\n"
    pairs = pairs_in(mail + "Hi Tim,\n\nIt came.\n\nRegards,\nNora\n")

    assert pairs["From"].startswith("Nora Falk")
    assert {"Sender", "Recipient"}.isdisjoint(pairs)


@pytest.mark.parametrize(
    ("heading", "kind", "reference"),
    [
        ("# Survey report SR-204", "Survey report", "SR-204"),
        ("SURVEY REPORT SR-204\n", "Survey report", "SR-204"),
        ("# Complaint: late anchor", "Complaint", None),
        ("# Invoice No. 8841", "Invoice", "8841"),
        ("Falk & Brand Ltd\nINVOICE 8841\n", "Invoice", "8841"),
    ],
)
def test_a_heading_says_the_kind_and_the_reference(heading: str, kind: str, reference: str | None) -> None:
    pairs = pairs_in(f"{heading}\n\nThe anchor was found to be sound.\n")

    assert (pairs.get("Document type"), pairs.get("Reference")) == (kind, reference)


def test_a_heading_with_a_day_says_the_day() -> None:
    assert pairs_in("# Minutes of the crew, 4 May 2031\n\nAll came.")["Date"] == "4 May 2031"
