"""Loading intact and broken files of every format."""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.files import SourceFile, find_source_files
from storage.ingest.load import load_records
from storage.ingest.records import LoadedItem, LoadRemark, RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker


@pytest.fixture
def worker() -> Iterator[ParserWorker]:
    with ParserWorker() as parser_worker:
        yield parser_worker


def load_items(path: Path, worker: ParserWorker | None = None) -> list[LoadedItem]:
    if worker is not None:
        return list(load_records(SourceFile(path=path, name=path.name), worker))
    with ParserWorker() as own_worker:
        return load_items(path, own_worker)


def single_record_of(items: list[LoadedItem]) -> SourceRecord:
    (item,) = items
    assert isinstance(item, SourceRecord), item
    return item


def rejection_reason_of(items: list[LoadedItem]) -> str:
    (item,) = items
    assert isinstance(item, RejectedInput), item
    return item.reason


def write_file(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_jsonl(path: Path, *lines: object) -> Path:
    return write_file(path, "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))


# -- finding files


def test_a_folder_gives_its_files_sorted_by_path_and_named_relative_to_it(tmp_path: Path) -> None:
    for name in ["b.txt", "a/z.txt", "a/b/c.md", ".git/x.txt", ".hidden.txt", "r.schema.yaml"]:
        write_file(tmp_path / name, "x")
    names = [source.name for source in find_source_files([tmp_path]) if isinstance(source, SourceFile)]
    assert names == ["a/b/c.md", "a/z.txt", "b.txt"]


def test_a_single_file_gets_its_file_name_and_a_glob_match_its_relative_path(tmp_path: Path) -> None:
    first, second = write_file(tmp_path / "in/a/x.txt", "x"), write_file(tmp_path / "in/b/x.txt", "x")
    assert [source.name for source in find_source_files([first]) if isinstance(source, SourceFile)] == ["x.txt"]
    sources = [source for source in find_source_files([f"{tmp_path}/in/**/*.txt"]) if isinstance(source, SourceFile)]
    assert [(source.name, source.path) for source in sources] == [("a/x.txt", first), ("b/x.txt", second)]


def test_an_existing_file_name_with_glob_characters_is_no_glob(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a[1].txt", "x")
    assert [source.path for source in find_source_files([path]) if isinstance(source, SourceFile)] == [path]


@pytest.mark.parametrize(("path", "word"), [("gone.txt", "no such"), ("*.gone", "matches"), ("empty", "no file")])
def test_a_path_without_files_is_reported(tmp_path: Path, path: str, word: str) -> None:
    (tmp_path / "empty").mkdir()
    (rejected,) = [item for item in find_source_files([tmp_path / path]) if isinstance(item, RejectedInput)]
    assert word in rejected.reason


def test_an_unknown_format_and_an_unreadable_file_are_reported(tmp_path: Path) -> None:
    assert "format is not known" in rejection_reason_of(load_items(write_file(tmp_path / "x.xyz", "x")))
    assert "picture" in rejection_reason_of(load_items(write_file(tmp_path / "x.JPG", "x")))
    assert "before 2007" in rejection_reason_of(load_items(write_file(tmp_path / "x.doc", "x")))
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone")
    assert "cannot be read: No such file" in rejection_reason_of(load_items(tmp_path / "link.txt"))


def test_a_file_name_that_is_not_utf8_becomes_a_valid_id(tmp_path: Path) -> None:
    write_file(tmp_path / os.fsdecode(b"caf\xe9\xc2\xa0.txt"), "x")
    (source,) = [item for item in find_source_files([tmp_path]) if isinstance(item, SourceFile)]
    with ParserWorker() as worker:
        assert single_record_of(list(load_records(source, worker))).doc_id == "caf\ufffd\xa0.txt"


# -- JSONL


def test_a_jsonl_document_is_loaded_with_all_its_parts(tmp_path: Path) -> None:
    document = {
        "doc_id": "d1",
        "title": "T",
        "text": "one two",
        "metadata": {"year": 2031},
        "source": "S",
        "page_starts": [0, None, 4],
        "bucket": "b",
        "readers": ["everyone", "user:slack:T1:U1", "group:g1", "team:teams:T:19:x@thread"],
        "labels": "unknown keys are ignored",
    }
    record = single_record_of(load_items(write_jsonl(tmp_path / "x.jsonl", document)))
    assert (record.doc_id, record.title, record.text, record.source) == ("d1", "T", "one two", "S")
    assert (record.metadata, record.page_starts, record.bucket) == ({"year": 2031}, (0, None, 4), "b")
    assert len(record.readers) == 4


def test_a_compressed_jsonl_file_is_loaded(tmp_path: Path) -> None:
    path = write_file(
        tmp_path / "x.jsonl.gz", gzip.compress(b'\xef\xbb\xbf{"doc_id": 7, "text": "First line\\nsecond"}\n\n')
    )
    record = single_record_of(load_items(path))
    assert (record.doc_id, record.title, record.source, record.bucket) == ("7", "First line", "x.jsonl.gz", None)


def test_a_plain_record_with_an_id_is_a_document_and_its_keys_are_fields(tmp_path: Path) -> None:
    lines = [{"item": "pen", "pieces": 2}, {"item": "ink"}]
    path = write_jsonl(tmp_path / "x.jsonl", {"id": 12, "buyer": "Moor", "lines": lines, "paid": True, "on": None})

    record = single_record_of(load_items(path))

    assert (record.doc_id, record.title) == ("12", "12")
    assert record.text == "id: 12\nbuyer: Moor\nlines: item pen, pieces 2; item ink\npaid: yes"
    assert list(record.metadata) == ["id", "buyer", "lines", "paid"]


def test_a_plain_record_without_an_id_is_a_row_called_by_its_file_and_line(tmp_path: Path) -> None:
    rows = [
        {"ref": "C-1", "caller": "Moor", "on": "2031-03-01"},
        {"ref": "C-2", "name": "Ida Fell", "on": "2031-03-02"},
    ]
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    records = [item for item in load_items(path) if isinstance(item, SourceRecord)]

    assert [(record.doc_id, record.title) for record in records] == [
        ("calls.jsonl#1", "C-1"),
        ("calls.jsonl#2", "Ida Fell"),
    ]
    assert dict(records[0].metadata) == rows[0]
    assert records[0].text == "ref: C-1\ncaller: Moor\non: 2031-03-01"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('{"doc_id": "x", ', "not JSON: "),
        ("[1]", "not a JSON object"),
        ('{"text": "x"}', "no doc_id"),
        ('{"text": "x", "title": "y"}', "no doc_id"),
        ('{"metadata": {"a": 1}, "title": "y"}', "no doc_id"),
        ('{"a": 1}', "no doc_id"),
        ('{"doc_id": true, "text": "x"}', "doc_id is not a string"),
        ('{"doc_id": " ", "text": "x"}', "doc_id is blank"),
        ('{"doc_id": "a\\nb", "text": "x"}', "control characters"),
        (json.dumps({"doc_id": "x" * 481, "text": "x"}), "longer than 480 bytes"),
        ('{"doc_id": "x"}', ""),
        ('{"doc_id": "x", "text": 1}', "text is not a string"),
        ('{"doc_id": "x", "text": "x", "metadata": []}', "metadata is not an object"),
        ('{"doc_id": "x", "text": "x", "page_starts": [5]}', "page_starts"),
        ('{"doc_id": "x", "text": "abc", "page_starts": [2, 1]}', "page_starts"),
        ('{"doc_id": "x", "text": "x", "readers": "everyone"}', "readers are not a list"),
        ('{"doc_id": "x", "text": "x", "readers": ["alice"]}', "'alice', which is not a subject"),
        ('{"doc_id": "x", "text": "x", "readers": ["user:slack:T1"]}', "not a subject"),
        ("[" * 100_000, "nested too deeply"),
        ('{"doc_id": ' + "9" * 5000 + "}", "too long"),
    ],
)
def test_a_broken_line_is_reported_with_its_number_and_the_others_are_loaded(
    tmp_path: Path, line: str, word: str
) -> None:
    good = {"doc_id": "good", "text": "x"}
    loaded = load_items(write_jsonl(tmp_path / "x.jsonl", good, line, good))
    broken = loaded[1]
    if word:
        assert isinstance(broken, RejectedInput)
        assert str(broken.origin) == "x.jsonl, line 2"
        assert word in broken.reason
    assert [isinstance(item, SourceRecord) for item in loaded] == [True, not word, True]


def test_a_line_that_is_not_utf8_and_a_truncated_file_are_reported(tmp_path: Path) -> None:
    assert "not UTF-8 (byte 13)" in rejection_reason_of(
        load_items(write_file(tmp_path / "x.jsonl", b'{"doc_id": "\xff"}\n'))
    )
    packed = gzip.compress(json.dumps({"doc_id": "a", "text": "x" * 99}).encode() * 50)
    assert "compression is broken" in rejection_reason_of(load_items(write_file(tmp_path / "x.jsonl.gz", packed[:-20])))
    assert "compression is broken" in rejection_reason_of(load_items(write_file(tmp_path / "y.jsonl.gz", "plain text")))


def test_lone_surrogates_become_replacement_characters_and_nan_becomes_none(tmp_path: Path) -> None:
    line = '{"doc_id": "x", "text": "a\\ud800b \\ud83d\\ude00", "metadata": {"n": NaN, "k\\udfff": "\\ud801"}}'
    record = single_record_of(load_items(write_jsonl(tmp_path / "x.jsonl", line)))
    assert record.text == "a\ufffdb 😀"
    assert record.metadata == {"n": None, "k\ufffd": "\ufffd"}


# -- text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_text_is_read_in_its_encoding_with_plain_line_ends(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    record = single_record_of(
        load_items(write_file(tmp_path / "Größe.txt", (mark + "é 日\r\nzwei\rdrei").encode(encoding)))
    )
    assert (record.doc_id, record.title, record.text) == ("Größe.txt", "Größe", "é 日\nzwei\ndrei")


def test_a_text_that_is_not_utf8_is_read_as_windows_1252_with_a_remark(tmp_path: Path) -> None:
    remark, record = load_items(write_file(tmp_path / "x.txt", "Preis 5 € für Müller".encode("cp1252")))
    assert isinstance(remark, LoadRemark)
    assert "Windows-1252" in remark.text
    assert isinstance(record, SourceRecord)
    assert record.text == "Preis 5 € für Müller"


def test_form_feeds_begin_pages(tmp_path: Path) -> None:
    assert single_record_of(load_items(write_file(tmp_path / "x.txt", "one\ftwo"))).page_starts == (0, 4)


def test_the_title_of_a_markdown_file_is_its_first_heading(tmp_path: Path) -> None:
    assert (
        single_record_of(load_items(write_file(tmp_path / "x.md", "intro\n\n## The *guide* ##\n\n# Other"))).title
        == "The *guide*"
    )
    assert single_record_of(load_items(write_file(tmp_path / "y.md", "#hashtag only"))).title == "y"


@pytest.mark.parametrize(("content", "word"), [(b"", "empty"), (b" \n", "empty"), (b"MZ\0\0", "NUL")])
def test_a_file_without_text_is_reported(tmp_path: Path, content: bytes, word: str) -> None:
    assert word in rejection_reason_of(load_items(write_file(tmp_path / "x.txt", content)))


# -- CSV


def test_each_row_is_a_document_with_its_cells_as_lines(tmp_path: Path) -> None:
    path = write_file(tmp_path / "parts.csv", 'id,name,vceo_v\nA1,"BC107, metal",45\n\nA2,BC108,\n')
    first, second = load_items(path)
    assert isinstance(first, SourceRecord)
    assert isinstance(second, SourceRecord)
    assert (first.doc_id, first.title) == ("parts.csv#A1", "BC107, metal")
    assert first.text == "id: A1\nname: BC107, metal\nvceo_v: 45"
    assert first.metadata == {"id": "A1", "name": "BC107, metal", "vceo_v": "45"}
    assert (second.doc_id, second.text) == ("parts.csv#A2", "id: A2\nname: BC108")


def test_rows_are_numbered_if_their_ids_are_not_unique(tmp_path: Path) -> None:
    rows = load_items(write_file(tmp_path / "x.csv", "id,colour\n1,red\n1,blue\n"))
    assert [item.doc_id for item in rows if isinstance(item, SourceRecord)] == ["x.csv#1", "x.csv#2"]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected(tmp_path: Path, mark: str) -> None:
    lines = [["name", "price", "note"], ["Müller", "1,50", "a"], ["Meier", "2,50", "b"]]
    quoted = [[f'"{cell}"' if mark in cell else cell for cell in line] for line in lines]
    first, _ = load_items(write_file(tmp_path / "x.csv", "\n".join(mark.join(line) for line in quoted)))
    assert isinstance(first, SourceRecord)
    assert first.metadata == {"name": "Müller", "price": "1,50", "note": "a"}


def test_a_row_with_too_many_cells_is_reported_and_the_others_are_loaded(tmp_path: Path) -> None:
    loaded = load_items(write_file(tmp_path / "x.csv", "a,b\n1,2,3\n4,5,\n"))
    assert isinstance(loaded[0], RejectedInput)
    assert (str(loaded[0].origin), loaded[0].reason) == ("x.csv, line 2", "it has 3 values for 2 columns")
    assert isinstance(loaded[1], SourceRecord)


def test_blank_and_repeated_column_names_get_numbers(tmp_path: Path) -> None:
    record = single_record_of(load_items(write_file(tmp_path / "x.csv", "a,,a\n1,2,3\n")))
    assert record.metadata == {"a": "1", "column 2": "2", "a 2": "3"}


def test_an_empty_table_is_reported_and_a_header_alone_yields_nothing(tmp_path: Path) -> None:
    assert "empty" in rejection_reason_of(load_items(write_file(tmp_path / "x.csv", "\n")))
    assert load_items(write_file(tmp_path / "y.csv", "a,b\n")) == []


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=20)
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=3, max_size=6)


@settings(deadline=None)
@given(table=TABLES)
def test_a_table_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str]]
) -> None:
    def quote_cell(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"'

    body = "".join(",".join(map(quote_cell, row)) + "\n" for row in [("x", "y", "z"), *table])
    path = write_file(tmp_path_factory.mktemp("csv") / "x.csv", body)
    loaded = [item.metadata for item in load_items(path) if isinstance(item, SourceRecord)]
    rows = [dict(zip("xyz", map(str.strip, row), strict=True)) for row in table]
    nonblank_rows = [{name: cell for name, cell in row.items() if cell} for row in rows]
    assert loaded == [row for row in nonblank_rows if row]


# -- titles of rows


@pytest.mark.parametrize(
    ("file", "header", "row", "title"),
    [
        ("staff.csv", "id,full_name,job", "S-1,Ada Finch,nurse", "Ada Finch"),
        ("staff.csv", "no,surname,first name,job", "S-1,Finch,Ada,nurse", "Ada Finch"),
        ("staff.csv", "no,Last,First,job", "S-1,Finch,Ada,nurse", "Ada Finch"),
        ("staff.csv", "no,surname,job", "S-1,Finch,nurse", "S-1"),
        ("towns.csv", "id,town,mayor", "T-1,Muckby,Ada Finch", "Muckby"),
        ("towns.csv", "id,island,town_name", "T-1,Ostora,Muckby", "Muckby"),
        ("boats.csv", "boat,length", "B-12,30 m", "B-12"),
        ("vans.csv", "id,make,van", "V-1,Solvan,NK 31", "V-1"),
        ("trainings.csv", "id,participant_name,course", "T-1,Ada Finch,First Aid", "T-1"),
    ],
)
def test_a_row_is_called_by_its_own_name(tmp_path: Path, file: str, header: str, row: str, title: str) -> None:
    assert single_record_of(load_items(write_file(tmp_path / file, f"{header}\n{row}\n"))).title == title
