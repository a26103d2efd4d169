"""Titles from front matter, headings, subjects and file names."""

from pathlib import Path

import pytest

from storage.ingest.documents.titles import add_file_number, title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\nauthor: Ann\ntitle: Tide table\n---\n# Other\n", "Tide table"),
        ("# Tide table\n\nText.", "Tide table"),
        ("From: a@x.example\nSubject: The late anchor\nDate: today\n\nHi", "The late anchor"),
        ("TIDE TABLE\n\nHigh water is at noon.", "TIDE TABLE"),
        ("Tide table\n==========\n\nHigh water is at noon.", "Tide table"),
        ("Falk & Brand\nINVOICE No. 88\n\nTotal: EUR 4", "INVOICE No. 88"),
        ("TT-17: the tide of May\n\nHigh water is at noon.", "TT-17: the tide of May"),
        ("Bergen, 4 May 2031\n\nDear Ann,\n", "paper"),
        ("Skipper: Nora\n\nHull: oak", "paper"),
        ("The tide was high that day, and all the boats came in.\n\nThen it fell.", "paper"),
        ("only one line", "paper"),
        ("ORLO HARBOUR TRUST\nBERTH CARD\n\nBerth: 4", "BERTH CARD"),
        ("Orlo Harbour Trust * 4 Quay Lane * Orlo\n\nTo: all\nRe: The new crane\n\nDear all,", "The new crane"),
        (
            "ORLO HARBOUR TRUST\nMinutes of the pilots\n\nDate: 4 May 2031\nChair: Ann",
            "Minutes of the pilots, 4 May 2031",
        ),
        ("4 May 2031\n\n**The new crane** (to all)\n\nDear all,", "The new crane"),
    ],
)
def test_the_title_is_what_the_text_calls_itself(text: str, title: str) -> None:
    assert title_of("", text, Path("paper.txt")) == title


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Your berth", "Your berth at the north pier", "Your berth at the north pier"),
        ("Harbour trust", "Berth card B4", "Berth card B4"),
        ("Harbour trust", "The north pier", "Harbour trust"),
    ],
)
def test_the_first_heading_is_the_title_if_it_says_more_than_the_property(
    title: str, heading: str, expected: str
) -> None:
    assert title_of(title, f"# {heading}\n\nText.", Path("paper.html")) == expected


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("EX-10.5_8-K", "EXHIBIT 10.5\n\nHOSTING AGREEMENT\n", "EXHIBIT 10.5 (EX-10.5_8-K)"),
        ("IMG_2031", "# Tide table\n\nText.", "Tide table (IMG_2031)"),
        ("IMG_2031", "no heading at all, only a sentence.", "IMG_2031"),
        ("TT-17", "# Tide table\n\nText.", "TT-17"),
        ("tide_table_17", "# Tides\n\nText.", "tide_table_17"),
    ],
)
def test_a_code_as_a_title_stands_behind_the_title_in_the_text(title: str, text: str, expected: str) -> None:
    assert title_of(title, text, Path("paper.pdf")) == expected


@pytest.mark.parametrize(
    ("title", "name", "expected"),
    [
        ("Complaint", "C-118.txt", "Complaint (C-118)"),
        ("Complaint C-118", "C-118.txt", "Complaint C-118"),
        ("Complaint", "letter.txt", "Complaint"),
        ("C-118", "C-118.txt", "C-118"),
    ],
)
def test_a_title_without_a_number_gets_that_of_its_file(title: str, name: str, expected: str) -> None:
    assert add_file_number(title, Path(name)) == expected
