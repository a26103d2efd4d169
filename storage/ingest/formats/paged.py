"""Reads files whose text the worker extracts, page by page or in one piece: one document for each file."""

from collections.abc import Iterator
from itertools import accumulate

from storage.ingest.documents.surrogates import replace_surrogates
from storage.ingest.documents.titles import add_file_number, title_of
from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.records import LoadedItem, LoadRemark, RecordOrigin, SourceRecord
from storage.ingest.worker import ParsedPages, ParserWorker

_PAGE_SEPARATOR = "\n\n"


def read_paged_document(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    """Reads PDF files and presentations. Citations name the page or slide."""
    pages = _parse_pages(source, worker)
    texts = [replace_surrogates(text) for text in pages.texts]
    if not any(texts):
        raise UnparsableFile(
            f"it has no text on any of its {len(texts)} pages (a scan? it needs text recognition first)"
        )
    blank = texts.count("")
    if 2 * blank >= len(texts):
        yield LoadRemark(
            origin=RecordOrigin(file=source.name), text=f"pages without text (scans?): {blank} of {len(texts)}"
        )
    starts = accumulate((len(text) + len(_PAGE_SEPARATOR) for text in texts[:-1]), initial=0)
    text = _PAGE_SEPARATOR.join(texts)
    yield _record_of_pages(source, pages, text, tuple(min(start, len(text)) for start in starts))


def read_flowing_document(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    """Reads Word and HTML files, which have no pages. Citations name the heading."""
    pages = _parse_pages(source, worker)
    text = replace_surrogates(_PAGE_SEPARATOR.join(pages.texts))
    if not text.strip():
        raise UnparsableFile("it has no text (only pictures?)")
    yield _record_of_pages(source, pages, text, ())


def _parse_pages(source: SourceFile, worker: ParserWorker) -> ParsedPages:
    source.path.open("rb").close()  # raises the precise OSError here, which the worker could not report
    return worker.read_pages(source)


def _record_of_pages(source: SourceFile, pages: ParsedPages, text: str, starts: tuple[int, ...]) -> SourceRecord:
    title = title_of(pages.title, text, source.path)
    has_own_name = source.name.endswith(source.path.name)  # a page of a site has a temporary one
    return SourceRecord(
        doc_id=source.name,
        title=replace_surrogates(add_file_number(title, source.path) if has_own_name else title),
        text=text,
        source=source.name,
        origin=RecordOrigin(file=source.name, bytes_read=source.size_bytes),
        page_starts=starts,
    )
