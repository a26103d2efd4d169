"""Extracts the text of presentations slide by slide: titles, text, tables, charts, diagrams and notes.

Runs in the worker process.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (lxml has no type annotations, python-pptx has only some)

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pptx
from pptx.exc import PythonPptxError
from pptx.oxml import parse_xml
from pptx.slide import Slide

from storage.ingest.pages.markdown import format_heading, format_list_item, format_table_row, to_single_line
from storage.ingest.pages.office_package import translate_error, unpack_package
from storage.ingest.worker import ParserFrame

_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}pt"
# The XML syntax errors of lxml are SyntaxErrors; a part with the root element of another is an AttributeError.
TRANSLATED_ERRORS = (PythonPptxError, KeyError, ValueError, SyntaxError, AttributeError)
_MAX_DEPTH = 50  # of nested groups
Shape: TypeAlias = Any  # one of several python-pptx classes, distinguished by their attributes


def read_frames(path: Path) -> Iterator[ParserFrame]:
    """Yields a frame with the title, then a frame for each slide, even without text. Raises `UnparsableFile`."""
    try:
        deck = pptx.Presentation(unpack_package(path))
        yield {"title": deck.core_properties.title}
        for slide in deck.slides:
            yield {"page": "\n\n".join(filter(None, _slide_blocks(slide)))}
    except TRANSLATED_ERRORS as exc:
        raise translate_error(exc, "PowerPoint presentation") from exc


def _slide_blocks(slide: Slide) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None:
        yield format_heading(1, title.text_frame.text)
    for shape in _flatten_groups(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_blocks(shape)
    yield from _diagram_blocks(slide)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None and notes.text.strip():
        yield f"Notes: {notes.text.strip()}"


def _flatten_groups(shapes: Iterable[Shape], depth: int = 0) -> Iterator[Shape]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _MAX_DEPTH:
            yield from _flatten_groups(shape.shapes, depth + 1)
        else:
            yield shape


def _shape_blocks(shape: Shape) -> Iterator[str]:
    if getattr(shape, "has_text_frame", False):
        yield "\n".join(filter(None, (_paragraph_text(paragraph) for paragraph in shape.text_frame.paragraphs)))
    elif getattr(shape, "has_table", False):
        yield "\n".join(format_table_row(cell.text for cell in row.cells) for row in shape.table.rows)
    elif getattr(shape, "has_chart", False):
        yield _chart_text(shape.chart)


def _paragraph_text(paragraph: Any) -> str:
    text = paragraph.text.replace("\v", "\n").strip()
    return format_list_item(text) if paragraph.level else text


def _chart_text(chart: Any) -> str:
    """Returns the title, then a row for each category with the value of each series."""
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    lines = [to_single_line(title)]
    for plot in chart.plots:
        series = [(str(line.name), list(line.values)) for line in plot.series]
        lines.append(format_table_row(["", *(name for name, _ in series)]))
        for index, category in enumerate(plot.categories):
            values = [values[index] if index < len(values) else None for _, values in series]
            lines.append(
                format_table_row([str(category), *("" if value is None else f"{value:.15g}" for value in values)])
            )
    return "\n".join(filter(None, lines))


def _diagram_blocks(slide: Slide) -> Iterator[str]:
    """Yields the points of each SmartArt diagram, whose text is stored in a separate part."""
    for relation in slide.part.rels.values():
        if relation.reltype.endswith("/diagramData") and not relation.is_external:
            points = parse_xml(relation.target_part.blob).iter(_POINT)
            texts = (" ".join(element.text or "" for element in point.iter(_TEXT)) for point in points)
            yield "\n".join(format_list_item(text) for text in texts if text.strip())
