"""Seeded fuzzing of the parsers: valid files, changed at random, must give documents or a reason.

A finding is an exception, an item of another kind, a parser that breaks down, or seconds of CPU for a small file.
"""

import io
import json
import random
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
from reportlab.pdfgen.canvas import Canvas

from storage.ingest.documents.chunk import passages_of
from storage.ingest.documents.summary import summary_of
from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.files import SourceFile
from storage.ingest.limits import ParserLimits
from storage.ingest.load import load_records
from storage.ingest.records import LoadRemark, RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker

MAX_CPU_S = 5.0  # for a file of some kilobytes
_BROKE_DOWN = "broke down"
_TOOK_TOO_LONG = ("seconds of CPU", "took too long")
_TOKENS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n\n", b"\f", b"\t", b'"', b"'", b",", b";", b"|"),
    *(b"{", b"}", b"[", b"]", b":", b"<", b">", b"</", b"<td rowspan=999>", b"<table>", b"&#55296;", b"&amp", b"---\n"),
    *(b"# ", b"**", b"Re: ", b"Date: ", b"1e999", b"-1", b"99999999999999999999", b"NaN", b"\\ud800", b"\xcc\x81" * 50),
    *(b" " * 300, b"." * 300, b"(" * 300, b"/Kids [1 0 R 2 0 R]", b"obj", b"endstream", b"<< >>", b"1,234.50 "),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzFinding:
    """A file that was not read as it should be."""

    file_format: str
    case: int  # with the seed, it makes the same file again
    problem: str
    content: bytes


def fuzz_parser(
    file_format: str, seed: int, cases: Iterator[int], folder: Path, worker: ParserWorker
) -> Iterator[FuzzFinding | None]:
    """Yields the finding of each case, None where all is well. The file of a case depends on seed and case alone."""
    sample = SAMPLES[file_format]()
    path = folder / f"case.{file_format}"
    for case in cases:
        content = mutate_file(sample, random.Random(f"{seed} {file_format} {case}"))
        path.write_bytes(content)
        problem = _find_problem(path, worker)
        yield FuzzFinding(file_format=file_format, case=case, problem=problem, content=content) if problem else None


def _find_problem(path: Path, worker: ParserWorker) -> str:
    """Returns what is wrong with reading the file; empty if nothing is."""
    started_s = time.process_time()
    for item in load_records(SourceFile(path=path, name=path.name), worker):
        match item:
            case SourceRecord():
                _analyse_text(item)
            case RejectedInput(reason=reason):
                if _BROKE_DOWN in reason or any(words in reason for words in _TOOK_TOO_LONG):
                    return reason
            case LoadRemark():
                pass
    cpu_s = time.process_time() - started_s
    return f"its text takes {cpu_s:.1f} s of CPU" if cpu_s > MAX_CPU_S else ""


def _analyse_text(record: SourceRecord) -> None:
    """Does with a text what the run does with it."""
    assert not any("\ud800" <= c <= "\udfff" for c in record.title + record.text)
    assert all(passage.end <= len(record.text) for passage in passages_of(record.text, record.page_starts))
    summary_of(record.text)
    find_labelled_texts(DocumentText(ExtractionInput(title=record.title, text=record.text)))


def fuzz_limits() -> ParserLimits:
    return ParserLimits(memory_mb=512, cpu_s=MAX_CPU_S, page_timeout_s=60.0)


# -- changes


def mutate_file(sample: bytes, rng: random.Random) -> bytes:
    """Returns the file with a few random changes: of a package mostly in the content of its parts."""
    if sample.startswith(b"PK") and rng.random() < 0.8:
        return _mutate_package(sample, rng)
    return _mutate_bytes(sample, rng)


def _mutate_package(sample: bytes, rng: random.Random) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(sample)) as before, zipfile.ZipFile(buffer, "w") as after:
        names = before.namelist()
        changed = set(rng.choices(names, k=rng.randint(1, 3)))
        for name in names:
            data = before.read(name)
            after.writestr(name, _mutate_bytes(data, rng) if name in changed else data)
    return buffer.getvalue()


def _mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 1, 4, 40, 400)))
        match rng.randrange(7):
            case 0:
                data = data[:start] + rng.randbytes(end - start) + data[end:]
            case 1:
                data = data[:start] + data[end:]
            case 2:
                data = data[:start] + data[start:end] * rng.choice((2, 30, 300)) + data[end:]
            case 3:
                data = data[:start] + rng.choice(_TOKENS) * rng.choice((1, 1, 50, 1_000)) + data[end:]
            case 4:
                data = data[:start]
            case 5:
                other = rng.randrange(len(data) + 1)
                data = data[:start] + data[other : other + 400] + data[start:]
            case _:
                data = data[:start] + rng.choice(_TOKENS) + data[start:]
    return data


# -- valid files

_NOTE = (
    "Lease No. 17\n\nDate: 3 March 2031\nLandlord: Orchard Homes Ltd.\nRent ..... EUR 900.00\n\n"
    "The tenant may end the lease with a notice of three months. Pets are allowed.\n\n## Payment\n\n- by transfer\n"
    "Part | Price | Stock\nPump | 12.50 | 3\n"
)


def _save_package(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def a_word_sample() -> bytes:
    document = docx.Document()
    document.add_heading("Lease", level=1)
    document.add_paragraph(_NOTE)
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text, table.cell(1, 1).text = "Part", "12.50"
    return _save_package(document)


def a_deck_sample() -> bytes:
    deck = pptx.Presentation()
    slide: Any = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Lease", _NOTE
    slide.shapes.add_table(2, 2, 0, 0, 99, 99).table.cell(0, 0).text = "Part"
    return _save_package(deck)


def a_workbook_sample() -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.worksheets[0]
    for row in (["Parts"], ["id", "name", "price"], [1, "Pump", 12.5], [2, "Valve", "=1+1"]):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    return _save_package(book)


def a_pdf_sample() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for _ in range(2):
        for number, line in enumerate(_NOTE.splitlines()):
            canvas.drawString(72, 720 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def a_page_sample() -> bytes:
    table = "<table><tr><th rowspan=2>Part<th>Price<tr><td>Pump<td>12.50</table>"
    return f"<html><title>Lease</title><body><main><h1>Lease</h1><p>{_NOTE}{table}<pre>a  b</pre></main>".encode()


def a_jsonl_sample() -> bytes:
    document = {"doc_id": "d1", "text": _NOTE, "title": "Lease", "page_starts": [0, 5], "readers": ["everyone"]}
    record = {"id": 7, "items": [{"part": "Pump", "qty": 2}], "price": {"amount": 12.5, "currency": "EUR"}}
    return "\n".join(map(json.dumps, (document, record, {"doc_id": "d2", "metadata": {"a": [1, "b"]}}))).encode()


SAMPLES: Mapping[str, Callable[[], bytes]] = {
    "csv": lambda: b'id;name;price\n1;"Pump; large";12,50\n2;Valve;\n3;"a ""b""";1.234,00\n',
    "docx": a_word_sample,
    "html": a_page_sample,
    "jsonl": a_jsonl_sample,
    "md": lambda: f"---\ntitle: Lease\ntags: [a, b]\n---\n# Lease\n\n{_NOTE}".encode(),
    "pdf": a_pdf_sample,
    "pptx": a_deck_sample,
    "txt": lambda: f"From: a@example.com\nSubject: Lease\n\n{_NOTE}\f{_NOTE}".encode(),
    "xlsx": a_workbook_sample,
}
