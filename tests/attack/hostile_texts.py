"""Hostile files that are text: tables, JSON Lines, plain text, Markdown and web pages."""

import gzip
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

WRITERS: dict[str, Callable[[Path], None]] = {}  # by file name
FileWriter = Callable[[Path], None]


def as_file(name: str) -> Callable[[FileWriter], FileWriter]:
    """Registers a function that writes the hostile file `name` to a path."""

    def register_writer(write: FileWriter) -> FileWriter:
        WRITERS[name] = write
        return write

    return register_writer


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def invent_words(count: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices("abcdefghijklmnoprstuvwz", k=rng.randint(2, 9))) for _ in range(count)]


# -- tables


@as_file("one_name_40000_times.csv")
def write_repeated_names(path: Path) -> None:
    write_lines(path, [",".join(["a"] * 40_000), ",".join(["1"] * 40_000)])


@as_file("150000_blank_names.csv")
def write_blank_names(path: Path) -> None:
    write_lines(path, ["a" + "," * 75_000, "1" + "," * 75_000])


@as_file("blank_names_with_values.csv")
def write_blank_names_with_values(path: Path) -> None:
    write_lines(path, ["column 2," * 20_000 + ",x" * 20_000, "1," * 60_000])


@as_file("million_columns.csv")
def write_million_columns(path: Path) -> None:
    write_lines(path, [",".join(f"c{i}" for i in range(1_000_000)), ",".join(["7"] * 1_000_000)])


@as_file("near_duplicate_headers.csv")
def write_near_duplicates(path: Path) -> None:
    names = [f"Total amount of invoice line {i} in EUR" for i in range(1_900)]
    write_lines(path, [",".join(names), *(",".join(str(i + row) for i in range(1_900)) for row in range(20))])


@as_file("cell_of_50_mb.csv")
def write_large_cell(path: Path) -> None:
    write_lines(path, ["name,text", "a," + "words and more words " * 2_500_000])


@as_file("open_quote.csv")
def write_open_quote(path: Path) -> None:
    write_lines(path, ["name,text", 'a,"', *("b,some words of a row" for _ in range(1_000_000))])


@as_file("thousand_tables_in_rows.csv")
def write_ragged_rows(path: Path) -> None:
    write_lines(path, [",".join(["v"] * (1 + row % 3_000)) for row in range(6_000)])


@as_file("long_column_name.csv")
def write_long_name(path: Path) -> None:
    write_lines(path, ["name," + "very " * 1_000_000 + "long", "a,1", "b,2"])


# -- JSON Lines


@as_file("keys_of_1.9_mb.jsonl")
def write_many_keys(path: Path) -> None:
    write_lines(path, [json.dumps({"doc_id": "d", "text": "t", "metadata": {f"k{i}": 1 for i in range(150_000)}})])


@as_file("new_keys_in_each_line.jsonl")
def write_new_keys(path: Path) -> None:
    write_lines(
        path,
        (
            json.dumps({"doc_id": f"d{line}", "text": "t", "metadata": {f"k{line}_{i}": i for i in range(50)}})
            for line in range(3_000)
        ),
    )


@as_file("keys_that_become_one.jsonl")
def write_colliding_keys(path: Path) -> None:
    keys = {"." * (i + 1) + "k": i for i in range(3_000)}
    write_lines(path, [json.dumps({"doc_id": "d", "text": "t", "metadata": keys})])


@as_file("nested_900_deep.jsonl")
def write_nested_objects(path: Path) -> None:
    deep = '{"a":' * 900 + "1" + "}" * 900
    write_lines(path, (f'{{"doc_id":"d{i}","text":"t","metadata":{deep}}}' for i in range(300)))


@as_file("nested_100000_deep.jsonl")
def write_nested_lists(path: Path) -> None:
    write_lines(path, ['{"doc_id":"d","metadata":' + "[" * 100_000 + "]" * 100_000 + "}"])


@as_file("rows_with_many_columns.jsonl")
def write_wide_rows(path: Path) -> None:
    rows = [{f"c{row}_{i}": i for i in range(100)} for row in range(1_000)]
    write_lines(path, [json.dumps({"doc_id": "d", "text": "t", "metadata": {"items": rows}})])


@as_file("list_of_a_million.jsonl")
def write_long_list(path: Path) -> None:
    members = [f"m{i}" for i in range(1_000_000)]
    write_lines(path, [json.dumps({"doc_id": "d", "text": "t", "metadata": {"members": members}})])


@as_file("million_page_starts.jsonl")
def write_page_starts(path: Path) -> None:
    text = "page of words. " * 66_000
    write_lines(path, [json.dumps({"doc_id": "d", "text": text, "page_starts": list(range(990_000))})])


@as_file("bomb.jsonl.gz")
def write_gzip_bomb(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"doc_id": "d", "text": "')
        for _ in range(1_000):
            file.write(b"a" * 1_000_000)


# -- plain text and Markdown


@as_file("one_line_of_15_mb.txt")
def write_long_line(path: Path) -> None:
    words = invent_words(5_000)
    path.write_text(" ".join(random.Random(2).choices(words, k=2_300_000)), encoding="utf-8")


@as_file("sentences_in_one_line_of_15_mb.txt")
def write_long_line_with_sentences(path: Path) -> None:
    words = invent_words(5_000)
    sentences = (" ".join(random.Random(i).choices(words, k=12)).capitalize() for i in range(190_000))
    path.write_text(". ".join(sentences), encoding="utf-8")


@as_file("no_full_stop_15_mb.txt")
def write_without_full_stop(path: Path) -> None:
    words = invent_words(5_000)
    write_lines(path, (" ".join(random.Random(i).choices(words, k=12)) for i in range(190_000)))


@as_file("one_word_of_15_mb.txt")
def write_long_word(path: Path) -> None:
    path.write_text("ab" * 7_500_000, encoding="utf-8")


@as_file("blanks_of_10_mb.txt")
def write_blanks(path: Path) -> None:
    path.write_text("Words." + " " * 10_000_000 + "words", encoding="utf-8")


@as_file("blank_lines_of_10_mb.txt")
def write_blank_lines(path: Path) -> None:
    path.write_text("Words.\n" + "\n \n" * 3_000_000 + "Label: value\n", encoding="utf-8")


@as_file("combining_characters_10_mb.txt")
def write_combining_characters(path: Path) -> None:
    path.write_text("Zalgo a" + "\u0301\u0323\u0316" * 1_700_000, encoding="utf-8")


@as_file("digits_of_10_mb.txt")
def write_digits(path: Path) -> None:
    path.write_text("Total: " + "1,234.50 " * 1_100_000, encoding="utf-8")


@as_file("million_form_feeds.txt")
def write_form_feeds(path: Path) -> None:
    path.write_text("page of words\f" * 1_000_000, encoding="utf-8")


@as_file("label_marks.txt")
def write_label_marks(path: Path) -> None:
    """Lines that begin as many forms of a label as possible, at the longest length that is still read."""
    lines = ("a" + " . " * 130, "a: " + "b  c: " * 60, "A " + "- " * 190, "a" + " " * 390 + "1", "** _a" * 75)
    write_lines(path, (line for _ in range(8_000) for line in lines))


@as_file("long_label_lines.txt")
def write_long_label_lines(path: Path) -> None:
    starts = ("", "Re: ", "Subject: ", "# ", "**", "- ", "Date: ", "| ", "A" * 50)
    write_lines(path, (start + ("x" + " " * 30) * 50_000 for start in starts))


@as_file("huge_front_matter.md")
def write_front_matter(path: Path) -> None:
    write_lines(path, ["---", *(f"key{i}: value {i}" for i in range(400_000)), "---", "# Title", "Words."])


@as_file("open_front_matter.md")
def write_open_front_matter(path: Path) -> None:
    write_lines(path, ["---", *("a: " + " " * 200 for _ in range(50_000))])


@as_file("mail_head_of_10_mb.txt")
def write_mail_head(path: Path) -> None:
    write_lines(path, ["From: a@example.com", "To: b@example.com", *(" folded line" for _ in range(800_000))])


@as_file("million_headings.md")
def write_headings(path: Path) -> None:
    write_lines(path, (f"## Heading {i}" for i in range(700_000)))


@as_file("heading_of_10_mb.md")
def write_long_heading(path: Path) -> None:
    path.write_text("# a" + " #" * 5_000_000 + "b", encoding="utf-8")


@as_file("table_row_of_10_mb.md")
def write_wide_table(path: Path) -> None:
    write_lines(path, ["| a " * 2_500_000, "|---" * 100_000, "| 1 " * 100_000])


@as_file("ids_of_10_mb.txt")
def write_identifiers(path: Path) -> None:
    path.write_text(" ".join(f"AB-{i}/2031" for i in range(800_000)), encoding="utf-8")


@as_file("open_marks_of_10_mb.txt")
def write_open_marks(path: Path) -> None:
    path.write_text('("[{«' * 2_000_000, encoding="utf-8")


@as_file("dots_of_10_mb.txt")
def write_dots(path: Path) -> None:
    path.write_text("Contents " + ". " * 2_500_000 + "." * 5_000_000 + " 7", encoding="utf-8")


# -- web pages


@as_file("nested_100000_deep.html")
def write_nested_page(path: Path) -> None:
    path.write_text("<div>" * 100_000 + "words", encoding="utf-8")


@as_file("nested_tables.html")
def write_nested_tables(path: Path) -> None:
    inner = "<table><tr><td>words</td></tr></table>" * 20_000
    path.write_text("<table><tr><td>" * 80 + inner + "</td></tr></table>" * 80, encoding="utf-8")


@as_file("row_of_300000_cells.html")
def write_wide_row(path: Path) -> None:
    path.write_text("<table><tr>" + "<td rowspan=1000>a</td>" * 300_000 + "</tr></table>", encoding="utf-8")


@as_file("spans.html")
def write_row_spans(path: Path) -> None:
    first = "<tr>" + "<td rowspan=1000>" + "words " * 90 + "</td>" + "<td rowspan=1000>a</td>" * 400 + "</tr>"
    path.write_text("<table>" + (first + "<tr><td>b</td></tr>" * 999) * 3 + "</table>", encoding="utf-8")


@as_file("million_attributes.html")
def write_attributes(path: Path) -> None:
    path.write_text("<p " + " ".join(f"a{i}=1" for i in range(500_000)) + ">words</p>", encoding="utf-8")


@as_file("unclosed_inline.html")
def write_unclosed_inline(path: Path) -> None:
    path.write_text("<p><b><i>word " * 60_000, encoding="utf-8")
