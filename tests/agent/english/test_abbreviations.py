"""Abbreviations in the headers of tables."""

import pytest

from agent.english.abbreviations import acronyms_in, initials_of, may_be_acronym, spell_out_label


@pytest.mark.parametrize(
    ("label", "spelled"),
    [
        ("Deliv date", ["delivery date"]),
        ("GPhC Reg", ["GPhC registration", "GPhC registered"]),
        ("Max temp", ["highest temp", "peak temp"]),
        ("Rent pw", ["Rent", "weekly Rent", "Rent per week"]),
        ("Colour", []),
    ],
)
def test_a_label_is_spelled_out(label: str, spelled: list[str]) -> None:
    assert list(spell_out_label(label)) == spelled


def test_acronyms_are_words_in_capitals_and_first_letters() -> None:
    assert list(acronyms_in("RA received by HMRC, A")) == ["ra"]
    assert list(initials_of("Blood pressure monitor")) == ["bp", "bpm"]
    assert list(initials_of("Kite")) == []
    assert [word for word in ("bp", "cctv", "bag", "b", "rhythm") if may_be_acronym(word)] == ["bp", "cctv"]
