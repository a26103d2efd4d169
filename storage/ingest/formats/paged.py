"""Files that the worker gives the text of, page by page or all of a piece: one document a file."""

from collections.abc import Iterator
from itertools import accumulate

from storage.ingest.errors import Unparsable
from storage.ingest.files import SourceFile
from storage.ingest.records import Loaded, Origin, Record, Remark
from storage.ingest.titles import title_of
from storage.ingest.unicode import whole
from storage.ingest.worker import Pages, Worker

_GAP = "\n\n"


def with_pages(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    """PDF pages and slides: each is a place to cite."""
    pages = _pages(source, worker)
    texts = [whole(text) for text in pages.texts]
    if not any(texts):
        raise Unparsable(f"it has no text on any of its {len(texts)} pages (a scan? it needs text recognition first)")
    blank = texts.count("")
    if 2 * blank >= len(texts):
        yield Remark(origin=Origin(file=source.name), text=f"pages without text (scans?): {blank} of {len(texts)}")
    starts = accumulate((len(text) + len(_GAP) for text in texts[:-1]), initial=0)
    text = _GAP.join(texts)
    yield _record(source, pages, text, tuple(min(start, len(text)) for start in starts))


def without_pages(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    """Text that flows; its headings are the places to cite."""
    pages = _pages(source, worker)
    text = whole(_GAP.join(pages.texts))
    if not text.strip():
        raise Unparsable("it has no text (only pictures?)")
    yield _record(source, pages, text, ())


def _pages(source: SourceFile, worker: Worker) -> Pages:
    source.path.open("rb").close()  # here, where what is wrong with it has a name
    return worker.pages(source.path, source.kind)


def _record(source: SourceFile, pages: Pages, text: str, starts: tuple[int, ...]) -> Record:
    return Record(
        doc_id=source.name,
        title=whole(title_of(pages.title, text, source.path)),
        text=text,
        source=source.name,
        origin=Origin(file=source.name, read=source.size),
        page_starts=starts,
    )
