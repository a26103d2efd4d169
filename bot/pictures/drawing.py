"""Draws pictures with matplotlib. Import it only when there is something to draw: matplotlib takes a second to load.

All lengths are in inches from the top left corner. Nothing is drawn without its number or label beside it, so a picture
needs no scale, and reads without colours.
"""

import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from math import isfinite
from typing import Any, Final, cast
from xml.sax.saxutils import quoteattr

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names
from PIL import Image

from bot.errors import PictureFailed
from bot.pictures.picture_look import PictureLook, measure_picture
from bot.surface.markdown import strip_control_characters
from bot.surface.replies import PictureKind, PicturePart, PicturePoint

PIXELS_PER_INCH: Final = 140  # of a bitmap: chat products show it smaller, and a card of Teams takes 27 KB
_FONT: Final = "DejaVu Sans"  # comes with matplotlib
_FURTHER_FONTS: Final = (  # for what the first has no letters for, where they are installed
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "Hiragino Sans", "PingFang SC", "Noto Sans Devanagari",
    "Noto Sans Thai", "Arial Unicode MS",
)  # fmt: skip
_BROWSER_FONTS: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif'
_BROWSER_STRETCH: Final = 1.05  # the fonts of browsers are that much wider, at most
_FONT_FAMILIES: Final = re.compile(r"font-family: [^;\"]*")
_TITLE_SIZE, _TEXT_SIZE = 10.0, 9.5  # in points
_MARGIN, _GAP = 0.14, 0.08
_TITLE_HEIGHT, _BAR_PITCH, _BAR_HEIGHT = 0.4, 0.28, 0.17
_LABEL_SHARE: Final = 0.42  # of the width, at most
_LEAST_ROOM: Final = 0.5
_SHORTEST_BAR: Final = 0.012  # so that a small number is seen at all
_LINE_TOP, _LINE_HEIGHT, _LABEL_OFFSET = 0.62, 1.2, 0.15
_LINE_PITCH: Final = 0.19  # of two texts, one below the other
_MAX_MARKED_POINTS, _MAX_LABELLED_POINTS = 24, 6
_COLOURS: Final = 8  # of a bitmap, for a small file: the text with its soft edges, the bars and the paper
_ELLIPSIS: Final = "…"
_MAX_CHARACTERS: Final = 200  # of a text; none as long fits
_MAX_DESCRIPTION_CHARACTERS: Final = 2_000
_LOCK = threading.Lock()  # matplotlib's text layout and settings are not made for threads


def draw_picture(picture: PicturePart, look: PictureLook) -> bytes:
    """Returns the file. Raises `PictureFailed`."""
    if not all(isfinite(point.value) for point in picture.points):
        raise PictureFailed()
    try:
        with _LOCK, warnings.catch_warnings(), _file_settings():
            # A letter that no font has is a warning; a browser has other fonts.
            warnings.simplefilter("ignore" if look.is_vector else "error", UserWarning)
            canvas = _PictureCanvas(picture, look)
            return canvas.export_svg(picture) if look.is_vector else canvas.export_png()
    except (ValueError, ArithmeticError, LookupError, OSError, RuntimeError, MemoryError, UserWarning) as exc:
        raise PictureFailed() from exc


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextSpan:
    """Where a text stands: its left and right end, and the middle of its height."""

    start: float
    end: float
    middle: float

    def touches_span(self, other: "_TextSpan") -> bool:
        is_beside = self.end + _GAP < other.start or other.end + _GAP < self.start
        return not is_beside and abs(self.middle - other.middle) < _LINE_PITCH


class _PictureCanvas:
    """A figure with one coordinate system: inches from the top left corner."""

    def __init__(self, picture: PicturePart, look: PictureLook) -> None:
        self._look, self._theme = look, look.theme
        size = measure_picture(picture, look)
        self._width, self._height = size.width / 96, size.height / 96
        self._figure = Figure(figsize=(self._width, self._height), dpi=PIXELS_PER_INCH)
        self._renderer = FigureCanvasAgg(self._figure).get_renderer()
        self._axes = cast(Any, self._figure).add_axes((0, 0, 1, 1))
        self._axes.set_xlim(0, self._width)
        self._axes.set_ylim(self._height, 0)
        self._axes.set_axis_off()
        self._draw_text(picture.title, _MARGIN, _TITLE_HEIGHT / 2, size=_TITLE_SIZE, weight="bold")
        match picture.kind:
            case PictureKind.BARS:
                self._draw_bars(picture.points)
            case PictureKind.LINE:
                self._draw_line(picture.points)

    def export_svg(self, picture: PicturePart) -> bytes:
        """Returns the figure with text as text, in the fonts of the browser, and with the alternative text."""
        file = BytesIO()
        cast(Any, self._figure).savefig(
            file, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
        markup = file.getvalue().decode()
        markup = _FONT_FAMILIES.sub(lambda _: f"font-family: {_BROWSER_FONTS}".replace('"', "'"), markup)
        label = quoteattr(_clean_text(picture.description, _MAX_DESCRIPTION_CHARACTERS))
        return markup.replace("<svg ", f'<svg role="img" aria-label={label} ', 1).encode()

    def export_png(self) -> bytes:
        """Returns the figure in few colours, which makes a small file."""
        file, small_file = BytesIO(), BytesIO()
        cast(Any, self._figure).savefig(file, format="png", facecolor=self._theme.paper)
        with Image.open(file) as image:
            image.convert("RGB").quantize(_COLOURS).save(small_file, format="png", optimize=True)
        return small_file.getvalue()

    # Bars

    def _draw_bars(self, points: Sequence[PicturePoint]) -> None:
        value_width = max(self._measure_text(point.value_text) for point in points)
        room = self._width - value_width - 2 * (_MARGIN + _GAP)
        _check_room(room - 2 * _LEAST_ROOM)
        room = min(self._width * _LABEL_SHARE, room - 2 * _LEAST_ROOM)
        labels = [self._shorten_text(point.label, room) for point in points]
        label_width = max(map(self._measure_text, labels))
        left, right = _MARGIN + label_width + _GAP, self._width - _MARGIN - value_width - _GAP
        _check_room(right - left)
        low, high = min(0.0, *(point.value for point in points)), max(0.0, *(point.value for point in points))
        scale = (right - left) / ((high - low) or 1)
        zero = left - low * scale
        for row, (label, point) in enumerate(zip(labels, points, strict=True)):
            middle = _TITLE_HEIGHT + _BAR_PITCH * (row + 0.5)
            length = point.value * scale
            length = length if abs(length) >= _SHORTEST_BAR or not point.value else _SHORTEST_BAR * (-1) ** (length < 0)
            colour = self._theme.rest if point.is_rest else self._theme.accent
            self._axes.barh(middle, length, height=_BAR_HEIGHT, left=zero, color=colour, linewidth=0)
            self._draw_text(label, left - _GAP, middle, align="right")
            self._draw_text(point.value_text, zero + max(length, 0) + _GAP, middle)
        bottom = _TITLE_HEIGHT + _BAR_PITCH * len(points)
        self._axes.plot([zero, zero], [_TITLE_HEIGHT, bottom], color=self._theme.rule, linewidth=1, zorder=1)

    # Lines

    def _draw_line(self, points: Sequence[PicturePoint]) -> None:
        values = [point.value for point in points]
        low, high = min(values), max(values)
        has_zero = 0 <= low <= high / 2  # the line then shows how much, and not only how it changes
        low = 0.0 if has_zero else low
        ends = [self._measure_end(point) for point in (points[0], points[-1])]
        left, right = _MARGIN + ends[0], self._width - _MARGIN - ends[1]
        _check_room(right - left)
        step = (right - left) / (len(points) - 1)
        places = [left + step * index for index in range(len(points))]
        base = _LINE_TOP + _LINE_HEIGHT
        scale = (_LINE_HEIGHT - (0 if has_zero else 0.1 + _LABEL_OFFSET)) / ((high - low) or 1)
        heights = [_LINE_TOP + (high - value) * scale for value in values]
        self._axes.plot([_MARGIN, self._width - _MARGIN], [base, base], color=self._theme.rule, linewidth=1, zorder=1)
        for start, end in _unbroken_runs(points):
            run = slice(start, end)
            is_marked = len(points) <= _MAX_MARKED_POINTS or end - start == 1
            if has_zero:
                self._axes.fill_between(
                    places[run], heights[run], base, color=self._theme.accent, alpha=0.1, linewidth=0
                )
            self._axes.plot(
                places[run],
                heights[run],
                color=self._theme.accent,
                linewidth=2,
                marker="o" if is_marked else None,
                markersize=4,
                solid_joinstyle="round",
            )
        self._draw_line_values(points, places, heights, base)
        for index in self._choose_period_labels(points, step):
            self._draw_text(points[index].label, places[index], base + 0.15, align="center", colour=self._theme.quiet)

    def _measure_end(self, point: PicturePoint) -> float:
        """Returns the room beside the line for the value of its end, or for the half of its label below."""
        return max(self._measure_text(point.value_text) + _GAP, self._measure_text(point.label) / 2)

    def _draw_line_values(
        self, points: Sequence[PicturePoint], places: Sequence[float], heights: Sequence[float], base: float
    ) -> None:
        """Draws the values of the ends beside the line, and others where the line does not pass, as far as there is
        room: all of few points, else the highest and the lowest.
        """
        last = len(points) - 1
        drawn = [
            self._draw_value(points[0], places[0] - _GAP, heights[0], "right"),
            self._draw_value(points[last], places[last] + _GAP, heights[last], "left"),
        ]
        order = sorted(range(last + 1), key=heights.__getitem__)
        chosen = range(1, last) if last < _MAX_LABELLED_POINTS else sorted({order[0], order[-1]} - {0, last})
        for index in chosen:
            before, height, after = heights[index - 1 : index + 2]
            is_valley = height >= before and height >= after and (height > before or height > after)
            align = "center" if is_valley or height <= min(before, after) else "right" if after < height else "left"
            middle = height + _LABEL_OFFSET if is_valley else height - _LABEL_OFFSET
            span = self._span_of(points[index].value_text, places[index], middle, align)
            is_inside = span.start >= _MARGIN and span.end <= self._width - _MARGIN and middle <= base - _GAP
            if is_inside and not any(map(span.touches_span, drawn)):
                drawn.append(self._draw_value(points[index], places[index], middle, align))

    def _draw_value(self, point: PicturePoint, x: float, y: float, align: str) -> "_TextSpan":
        self._draw_text(point.value_text, x, y, align=align)
        return self._span_of(point.value_text, x, y, align)

    def _span_of(self, text: str, x: float, y: float, align: str) -> "_TextSpan":
        width = self._measure_text(text)
        start = x - {"left": 0.0, "center": width / 2, "right": width}[align]
        return _TextSpan(start=start, end=start + width, middle=y)

    def _choose_period_labels(self, points: Sequence[PicturePoint], step: float) -> Iterator[int]:
        """Yields the first and the last, and between them as many at equal distances as do not touch."""
        widest = max(self._measure_text(point.label) for point in points) + 2 * _GAP
        last = len(points) - 1
        least = max(int(-(-widest // step)), 1)
        distance = next((number for number in range(least, 2 * least) if last % number == 0), least)
        yield from (index for index in range(0, last, distance) if last - index >= distance)
        yield last

    # Text

    def _draw_text(
        self,
        text: str,
        x: float,
        y: float,
        *,
        align: str = "left",
        size: float = _TEXT_SIZE,
        weight: str = "normal",
        colour: str | None = None,
    ) -> None:
        room = self._width - 2 * _MARGIN
        self._axes.text(
            x,
            y,
            self._shorten_text(text, room, size=size, weight=weight),
            horizontalalignment=align,
            verticalalignment="center_baseline",
            fontsize=size,
            fontweight=weight,
            fontfamily=_font_families(),
            color=colour or self._theme.ink,
            parse_math=False,  # a currency sign begins no formula
            zorder=5,
        )

    def _shorten_text(self, text: str, room: float, *, size: float = _TEXT_SIZE, weight: str = "normal") -> str:
        text = _clean_text(text)
        while len(text) > 2 and self._measure_text(text, size=size, weight=weight) > room:
            text = text[: max(len(text) * 9 // 10 - 1, 1)].rstrip(f" {_ELLIPSIS}") + _ELLIPSIS
        return text

    def _measure_text(self, text: str, *, size: float = _TEXT_SIZE, weight: str = "normal") -> float:
        shown = cast(Any, self._figure).text(
            0,
            0,
            _clean_text(text),
            fontsize=size,
            fontweight=weight,
            fontfamily=_font_families(),
            parse_math=False,
        )
        width = float(shown.get_window_extent(self._renderer).width) / PIXELS_PER_INCH
        shown.remove()
        return width * (_BROWSER_STRETCH if self._look.is_vector else 1)


def _check_room(width: float) -> None:
    """Raises `PictureFailed` where the numbers leave no room for what they measure. A number is never shortened."""
    if width < _LEAST_ROOM:
        raise PictureFailed()


def _file_settings() -> AbstractContextManager[None]:
    """Text stays text in an SVG, and the same picture gives the same file."""
    return cast(Any, mpl).rc_context({"svg.fonttype": "none", "svg.hashsalt": "parley"})


def _unbroken_runs(points: Sequence[PicturePoint]) -> Iterator[tuple[int, int]]:
    """Yields the start and the end of each piece of the line."""
    starts = [0, *(index for index, point in enumerate(points) if index and point.follows_gap)]
    yield from zip(starts, [*starts[1:], len(points)], strict=True)


def _clean_text(text: str, characters: int = _MAX_CHARACTERS) -> str:
    """Returns the text on one line, without what a font or XML has no sign for."""
    line = " ".join(strip_control_characters(text[: 2 * characters]).split())[:characters]
    return line.encode("utf-8", errors="replace").decode()


@cache
def _font_families() -> list[str]:
    installed = set(get_font_names())
    return [_FONT, *(name for name in _FURTHER_FONTS if name in installed)]
