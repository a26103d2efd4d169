"""The bounds of what may be counted follow from what was acknowledged, and when."""

from tests.faults.servers.write_ledger import CountBounds, DocumentWrite, WriteLedger


def write_at(started: float, ended: float | None, vendor: str | None) -> DocumentWrite:
    return DocumentWrite(vendor=vendor, revision=0, started_at=started, ended_at=ended)


def test_a_document_counts_from_its_acknowledgement_until_its_deletion_begins() -> None:
    ledger = WriteLedger({"d": [write_at(1, 2, "Kestrel"), write_at(5, 6, None)]})

    assert ledger.count_bounds(None, 3, 4) == CountBounds(smallest=1, largest=1)
    assert ledger.count_bounds(None, 3, 5.5) == CountBounds(smallest=0, largest=1)
    assert ledger.count_bounds(None, 7, 8) == CountBounds(smallest=0, largest=0)


def test_a_write_without_an_acknowledgement_may_have_happened_until_the_next_one() -> None:
    ledger = WriteLedger({"d": [write_at(1, None, "Kestrel"), write_at(5, 6, "Harbor")]})

    assert ledger.count_bounds("Kestrel", 3, 4) == CountBounds(smallest=0, largest=1)
    assert ledger.count_bounds("Kestrel", 7, 8) == CountBounds(smallest=0, largest=0)
    assert ledger.count_bounds("Harbor", 7, 8) == CountBounds(smallest=1, largest=1)


def test_a_list_lacks_what_was_there_all_the_time_and_may_not_have_what_never_was() -> None:
    ledger = WriteLedger({"d": [write_at(1, 2, "Kestrel")], "e": [write_at(1, 2, "Harbor")]})

    wrong = ledger.find_wrong_documents(["e", "f"], "Kestrel", 3, 4)

    assert wrong == {"missing": ["d"], "in excess": ["e", "f"]}
