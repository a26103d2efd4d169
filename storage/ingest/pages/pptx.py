"""The text of a presentation, slide by slide: titles, text, tables, charts, diagrams, notes. Runs in the worker."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (lxml has no annotations, python-pptx has them in part)

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pptx
from pptx.exc import PythonPptxError
from pptx.oxml import parse_xml
from pptx.slide import Slide

from storage.ingest.pages.markdown import heading, item, line, row
from storage.ingest.pages.package import unpacked, unparsable
from storage.ingest.worker import Frame

_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_PARAGRAPH = "{http://schemas.openxmlformats.org/drawingml/2006/main}p"
_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}pt"
BROKEN = (PythonPptxError, KeyError, ValueError, SyntaxError)  # lxml's errors of syntax are SyntaxErrors
_DEEPEST = 50  # groups within groups
Shape: TypeAlias = Any  # which of python-pptx's classes it is shows by its attributes


def frames(path: Path) -> Iterator[Frame]:
    """The title, and each slide, one without text as well. Raises `Unparsable`."""
    try:
        deck = pptx.Presentation(unpacked(path))
        yield {"title": deck.core_properties.title}
        for slide in deck.slides:
            yield {"page": "\n\n".join(filter(None, _blocks(slide)))}
    except BROKEN as exc:
        raise unparsable(exc, "PowerPoint presentation") from exc


def _blocks(slide: Slide) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None:
        yield heading(1, title.text_frame.text)
    for shape in _flat(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shown(shape)
    yield from _diagrams(slide)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None and notes.text.strip():
        yield f"Notes: {notes.text.strip()}"


def _flat(shapes: Iterable[Shape], depth: int = 0) -> Iterator[Shape]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEEPEST:
            yield from _flat(shape.shapes, depth + 1)
        else:
            yield shape


def _shown(shape: Shape) -> Iterator[str]:
    if getattr(shape, "has_text_frame", False):
        yield "\n".join(filter(None, (_paragraph(one) for one in shape.text_frame.paragraphs)))
    elif getattr(shape, "has_table", False):
        yield "\n".join(row(cell.text for cell in one.cells) for one in shape.table.rows)
    elif getattr(shape, "has_chart", False):
        yield _chart(shape.chart)


def _paragraph(paragraph: Any) -> str:
    text = paragraph.text.replace("\v", "\n").strip()
    return item(text) if paragraph.level else text


def _chart(chart: Any) -> str:
    """Its title, and a row for each category with the value of each series."""
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    lines = [line(title)]
    for plot in chart.plots:
        series = [(str(one.name), list(one.values)) for one in plot.series]
        lines.append(row(["", *(name for name, _ in series)]))
        for at, category in enumerate(plot.categories):
            values = [values[at] if at < len(values) else None for _, values in series]
            lines.append(row([str(category), *("" if value is None else f"{value:.15g}" for value in values)]))
    return "\n".join(filter(None, lines))


def _diagrams(slide: Slide) -> Iterator[str]:
    """The points of SmartArt, whose text lies in a part of its own."""
    for relation in slide.part.rels.values():
        if relation.reltype.endswith("/diagramData") and not relation.is_external:
            points = parse_xml(relation.target_part.blob).iter(_POINT)
            words = (" ".join(one.text or "" for one in point.iter(_TEXT)) for point in points)
            yield "\n".join(item(one) for one in words if one.strip())
