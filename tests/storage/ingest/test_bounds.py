"""Each bound of what is read from a file is told by name, and what is within it is read."""

import json
import unicodedata
from pathlib import Path
from typing import Literal

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.documents.chunk import passages_of
from storage.ingest.documents.headings import first_heading
from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.formats.delimited import read_csv_items
from storage.ingest.formats.record_frames import read_record_frames
from storage.ingest.limits import MAX_COLUMNS, MAX_PAGES, ParserLimits
from storage.ingest.load import load_records
from storage.ingest.records import LoadedItem, RejectedInput, SourceRecord, size_of_values
from storage.ingest.schemas.profile import ValueProfile, add_to_profiles
from storage.ingest.schemas.values import flatten_metadata
from storage.ingest.worker import ParserWorker, bound_content
from storage.search.analyser import fold_text
from storage.search.ids import FieldName
from storage.text.key_sentences import heading_text_of
from storage.text.snowball_analyser import analyser_for
from tests.attack.hostile_packages import a_text_pdf, write_repeated_slide


def load_items(path: Path, content: str, limits: ParserLimits | None = None) -> list[LoadedItem]:
    path.write_text(content, encoding="utf-8")
    with ParserWorker(limits) as worker:
        return list(load_records(SourceFile(path=path, name=path.name), worker))


def single_reason_of(path: Path, content: str) -> str:
    path.write_text(content, encoding="utf-8")
    return reason_of_file(path)


def reason_of_file(path: Path) -> str:
    """Why the whole file is rejected."""
    with ParserWorker() as worker:
        (item,) = load_records(SourceFile(path=path, name=path.name), worker)
    assert isinstance(item, RejectedInput)
    return item.reason


def metadata_in(items: list[LoadedItem]) -> list[dict[str, object]]:
    return [dict(item.metadata) for item in items if isinstance(item, SourceRecord)]


def test_a_table_with_too_many_columns_is_rejected_with_their_number(tmp_path: Path) -> None:
    for name in ("a", "", "c{i}"):
        header = ",".join(name.format(i=i) for i in range(40_000))
        reason = single_reason_of(tmp_path / "t.csv", f"x{header}\n" + ",".join(["1"] * 40_000))

        assert reason == "it has 40,000 columns; 2,000 are read: split it into several tables"


def test_blank_columns_beyond_the_bound_are_left_out(tmp_path: Path) -> None:
    items = load_items(tmp_path / "t.csv", "a" + "," * 75_000 + "\n1" + "," * 75_000)

    assert metadata_in(items) == [{"a": "1"}]


def test_repeated_names_are_numbered_in_their_order(tmp_path: Path) -> None:
    items = load_items(tmp_path / "t.csv", "a,a 2,a,,a,column 4\n1,2,3,4,5,6\n1,2,3,4,5,6")

    assert list(metadata_in(items)[0]) == ["a", "a 2", "a 3", "column 4", "a 4", "column 4 2"]


def test_as_many_repeated_names_as_there_may_be_columns_are_read(tmp_path: Path) -> None:
    items = load_items(tmp_path / "t.csv", ",".join(["a"] * MAX_COLUMNS) + "\n" + ",".join(["1"] * MAX_COLUMNS))

    assert list(metadata_in(items)[0])[-1] == f"a {MAX_COLUMNS}"


def test_a_record_with_too_many_keys_is_rejected_and_the_next_is_read(tmp_path: Path) -> None:
    wide = {"doc_id": "wide", "text": "t", "metadata": {f"k{i}": 1 for i in range(3_000)}}
    rows = {"doc_id": "rows", "text": "t", "metadata": {"items": [{f"c{i}": 1} for i in range(3_000)]}}
    lists = {"doc_id": "lists", "text": "t", "metadata": {"items": [{"c": i} for i in range(3_000)]}}
    first, second, third = load_items(tmp_path / "t.jsonl", "\n".join(map(json.dumps, (wide, rows, lists))))

    assert isinstance(first, RejectedInput)
    assert first.reason.startswith("it has 3,003 keys; 2,000 are read")
    assert isinstance(second, RejectedInput)
    assert second.reason.startswith("it has 3,004 keys")
    assert isinstance(third, SourceRecord)


def test_a_record_that_is_nested_deeply_is_rejected(tmp_path: Path) -> None:
    for opening, closing in (('{"a":', "}"), ("[", "]")):
        deep = '{"doc_id": "d", "text": "t", "metadata": {"a": ' + opening * 300 + "1" + closing * 300 + "}}"

        assert single_reason_of(tmp_path / "t.jsonl", deep) == "it is nested more than 50 levels deep"


def test_keys_that_become_the_same_field_are_numbered_each_once() -> None:
    flat = flatten_metadata({"." * (i + 1) + "k": i for i in range(MAX_COLUMNS)})

    assert len(flat.values) == MAX_COLUMNS
    assert list(flat.values)[:3] == ["k", "k_2", "k_3"]


def test_a_bucket_has_profiles_of_as_many_keys_as_become_fields() -> None:
    profiles = dict[FieldName, ValueProfile]()
    for record in range(3):
        add_to_profiles({FieldName(f"k{record}_{i}"): i for i in range(MAX_COLUMNS)}, profiles)

    assert list(profiles) == [f"k0_{i}" for i in range(MAX_COLUMNS)]


def test_a_record_with_too_many_values_is_rejected(tmp_path: Path) -> None:
    members = [f"m{i}" for i in range(100_001)]
    for data in ({"metadata": {"members": members}}, {"page_starts": [0] * 100_001}):
        line = json.dumps({"doc_id": "d", "text": "t"} | data)

        assert single_reason_of(tmp_path / "t.jsonl", line).startswith("it has more than 100,000 values")


def test_rows_beyond_the_bound_are_told_and_those_before_are_yielded(tmp_path: Path) -> None:
    items = load_items(tmp_path / "t.csv", "name\n" + "a\n" * 500, ParserLimits(max_rows=250))

    assert len(items) == 201  # whole frames
    assert isinstance(items[-1], RejectedInput)
    assert items[-1].reason == "it has more than 250 rows; split it into smaller files"


def test_rows_before_an_error_are_yielded(tmp_path: Path) -> None:
    items = load_items(tmp_path / "t.csv", "name\n" + "a\n" * 60 + ",".join("x" * 3_000) + "\n")

    assert len(metadata_in(items)) == 60
    assert isinstance(items[-1], RejectedInput)
    assert items[-1].reason.startswith("it has 3,000 columns")


@pytest.mark.parametrize("words", ["word ", "Words. ", "ab", "ab\n", " "])
def test_a_line_of_any_length_is_split_into_passages(words: str) -> None:
    text = "Begin. " + words * (400_000 // len(words)) + "end"
    passages = passages_of(text)

    assert all(passage.end - passage.start <= 1_400 for passage in passages)
    covered = "".join(text[passage.start : passage.end] for passage in passages)
    assert "".join(covered.split()) == "".join(text.split())


def test_the_blanks_and_marks_of_a_line_are_read_once_however_many_there_are() -> None:
    blanks, marks = "Words." + " " * 30_000 + "words", "# Title" + " #" * 30_000

    assert heading_text_of(f"{blanks} :  ") == blanks
    assert first_heading(marks) == "Title"
    assert first_heading(f"{marks} x") == f"{marks[2:]} x"


def test_keys_are_counted_on_all_levels_and_never_beyond_what_was_counted(tmp_path: Path) -> None:
    deep = {"doc_id": "d", "text": "t", "metadata": {"a": {f"k{i}": {f"m{i}": 1} for i in range(3_000)}}}
    huge = {"doc_id": "d", "text": "t", "metadata": {f"k{i}": 1 for i in range(150_000)}}
    first, second = load_items(tmp_path / "t.jsonl", "\n".join(map(json.dumps, (deep, huge))))

    assert isinstance(first, RejectedInput)
    assert first.reason.startswith("it has 6,004 keys; 2,000 are read")
    assert isinstance(second, RejectedInput)
    assert second.reason.startswith("it has more than 100,")


def test_a_document_with_too_many_pages_is_rejected_with_their_number(tmp_path: Path) -> None:
    starts = json.dumps({"doc_id": "d", "text": "t", "page_starts": [0] * (MAX_PAGES + 1)})

    assert single_reason_of(tmp_path / "t.txt", "words\f" * MAX_PAGES).startswith("it has 20,001 pages; 20,000 are")
    assert single_reason_of(tmp_path / "t.jsonl", starts).startswith("it has 20,001 pages; 20,000 are read")
    (tmp_path / "t.pdf").write_bytes(a_text_pdf([["words"]] * (MAX_PAGES + 1)))
    assert reason_of_file(tmp_path / "t.pdf").startswith("it has 20,001 pages; 20,000 are read")


def test_as_many_pages_as_a_document_may_have_are_read(tmp_path: Path) -> None:
    (item,) = load_items(tmp_path / "t.txt", "words\f" * (MAX_PAGES - 1))

    assert isinstance(item, SourceRecord)
    assert len(item.page_starts) == MAX_PAGES


def test_a_presentation_that_shows_one_slide_too_often_is_rejected(tmp_path: Path) -> None:
    write_repeated_slide(tmp_path / "t.pptx")

    assert reason_of_file(tmp_path / "t.pptx") == "it has more than 20,000 pages: split it into smaller documents"


def test_the_rows_of_all_sheets_are_bounded_together(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for sheet in (book.worksheets[0], book.create_sheet("more")):
        for row in range(400):
            sheet.append(["name" if row == 0 else f"n{row}"])
    book.save(tmp_path / "t.xlsx")

    with ParserWorker(ParserLimits(max_rows=700)) as worker:
        items = list(load_records(SourceFile(path=tmp_path / "t.xlsx", name="t.xlsx"), worker))

    assert len(metadata_in(items)) == 399
    assert isinstance(items[-1], RejectedInput)
    assert items[-1].reason == "it has more than 700 rows; split it into smaller files"


def test_cells_beyond_the_bound_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.ingest.worker.MAX_CELLS", 1_000)
    frames = bound_content(({"cell_count": count} for count in (900, 1_100)), max_rows=10)

    assert next(frames) == {"cell_count": 900}
    with pytest.raises(UnparsableFile, match=r"more than 20,000,000 cells .* split it"):
        next(frames)


def test_a_quote_that_is_not_closed_is_told_with_its_line_and_the_rows_before_are_read(tmp_path: Path) -> None:
    rows = "name,text\n" + "a,b\n" * 60
    items = load_items(tmp_path / "t.csv", rows + 'c,"open\n' + "d,e\n" * 900)

    assert len(metadata_in(items)) == 60
    assert isinstance(items[-1], RejectedInput)
    assert items[-1].reason.startswith("a quote in line 62 is not closed, so the last 901 lines would be one row")


@pytest.mark.parametrize(
    "end", ['x,"first\nsecond"', 'x,"first ""quoted""\nsecond"\n', 'x,"closed"', 'x,5" pipe\n', 'x,"\n"']
)
def test_a_closed_quote_at_the_end_is_read(tmp_path: Path, end: str) -> None:
    items = load_items(tmp_path / "t.csv", f"name,text\na,b\n{end}")

    assert [metadata["name"] for metadata in metadata_in(items)] == ["a", "x"]


def test_a_cell_of_csv_beyond_the_bound_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.ingest.formats.delimited.MAX_TEXT_CHARACTERS", 1_000)
    (tmp_path / "t.csv").write_text("name,text\na,b\nc," + "d" * 2_000, encoding="utf-8")
    source = SourceFile(path=tmp_path / "t.csv", name="t.csv")

    with pytest.raises(UnparsableFile, match=r"a cell has more than 20,000,000 characters up to line 3"):
        list(read_csv_items(source))


@pytest.mark.parametrize("text", ["  a b \n", "\x1cab", "\u200ba\u2028", "", "\n \t", "a\u0301 \x85b\xa0"])
def test_a_short_text_is_one_passage_without_the_blanks_around_it(text: str) -> None:
    passages = passages_of(text)

    assert [text[passage.start : passage.end] for passage in passages] == [text.strip(" \n\t\xa0\u2028")] * len(
        passages
    )
    assert bool(passages) == bool(text.strip())


def test_a_position_far_inside_a_run_of_marks_is_told_in_bounded_steps() -> None:
    text = "a" + "\u0301" * 500_000

    assert analyser_for("").is_inside_term(text, 400_000)
    assert analyser_for("").is_inside_term(text, 10)
    assert not analyser_for("").is_inside_term(f". {text}", 2)


def test_a_large_file_may_take_longer_than_a_small_one() -> None:
    limits = ParserLimits(cpu_s=30, cpu_s_per_mb=4, page_timeout_s=120, file_timeout_s=600)

    assert (limits.cpu_s_for(0), limits.timeouts_s_for(0)) == (30, (120, 600))
    assert (limits.cpu_s_for(15_000_000), limits.timeouts_s_for(15_000_000)) == (90, (360, 1_800))


@given(st.text("aA é\u0301\u0323\u0345ßΣ½中", max_size=40), st.integers(1, 20))
def test_a_text_is_folded_the_same_whatever_pieces_it_is_decomposed_in(text: str, repetitions: int) -> None:
    folded = fold_text(text * repetitions)
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text * repetitions).casefold())

    assert folded == " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).split())


def test_no_more_than_a_few_marks_are_sorted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, normalize = list[int](), unicodedata.normalize

    def note_length(form: Literal["NFKD"], text: str) -> str:
        lengths.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr("unicodedata.normalize", note_length)

    assert fold_text("Zalgo a" + "\u0301\u0323\u0316" * 30_000) == "zalgo a"
    assert max(lengths) <= 200


def test_records_with_many_values_are_carried_few_at_a_time(tmp_path: Path) -> None:
    members = [f"m{i}" for i in range(30_000)]
    lines = [json.dumps({"doc_id": f"d{i}", "text": "t", "metadata": {"members": members}}) for i in range(7)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")

    source = SourceFile(path=tmp_path / "t.jsonl", name="t.jsonl")
    frames = read_record_frames(source, source.path)

    assert [len(frame["items"]) for frame in frames] == [1] * 7 + [0]


def test_the_members_of_lists_and_rows_count_as_values() -> None:
    assert size_of_values({}) == 0
    assert size_of_values({"a": "x", "b": ["x", "y"], "c": ({"d": 1}, {"d": 2})}) == 50 * (3 + 2 + 2 + 2)
