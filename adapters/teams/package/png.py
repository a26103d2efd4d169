"""Draws shapes with smooth edges, and writes them as PNG (https://www.w3.org/TR/png-3/)."""

import math
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Point: TypeAlias = tuple[float, float]
SignedDistance: TypeAlias = Callable[[Point], float]  # to the edge of a shape in pixels; negative inside
Colour: TypeAlias = tuple[float, float, float]  # red, green, blue from 0 to 255
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _RED_GREEN_BLUE_ALPHA = 8, 6


@dataclass(frozen=True, slots=True)
class ColouredShape:
    """A shape in a colour that may change from the top to the bottom of the picture."""

    distance: SignedDistance
    top: Colour
    bottom: Colour


def rounded_box(centre: Point, size: Point, radius: float) -> SignedDistance:
    """The distance as in https://iquilezles.org/articles/distfunctions2d/."""
    half_width, half_height = size[0] / 2 - radius, size[1] / 2 - radius

    def measure(point: Point) -> float:
        x, y = abs(point[0] - centre[0]) - half_width, abs(point[1] - centre[1]) - half_height
        return math.hypot(max(x, 0.0), max(y, 0.0)) + min(max(x, y), 0.0) - radius

    return measure


def convex_polygon(*corners: Point) -> SignedDistance:
    """The corners clockwise, as seen with y pointing down. Exact at the edges, an estimate beyond the corners."""
    edges = [_edge_distance(start, end) for start, end in zip(corners, (*corners[1:], corners[0]), strict=True)]
    return lambda point: max(edge(point) for edge in edges)


def join_shapes(*shapes: SignedDistance) -> SignedDistance:
    return lambda point: min(shape(point) for shape in shapes)


def outline_shape(shape: SignedDistance, width: float) -> SignedDistance:
    """The edge of a shape, `width` pixels wide, inside of it."""
    return lambda point: abs(shape(point) + width / 2) - width / 2


def draw_picture(size: int, shapes: Sequence[ColouredShape]) -> bytes:
    """A square PNG with a transparent background. Later shapes cover earlier ones."""
    rows = (b"\0" + bytes(_row_bytes(y, size, shapes)) for y in range(size))
    header = struct.pack(">IIBBBBB", size, size, _EIGHT_BITS, _RED_GREEN_BLUE_ALPHA, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk_bytes(kind, data) for kind, data in chunks)


def _edge_distance(start: Point, end: Point) -> SignedDistance:
    length = math.dist(start, end)
    normal = ((end[1] - start[1]) / length, (start[0] - end[0]) / length)
    return lambda point: (point[0] - start[0]) * normal[0] + (point[1] - start[1]) * normal[1]


def _row_bytes(y: int, size: int, shapes: Sequence[ColouredShape]) -> Iterable[int]:
    for x in range(size):
        colour, alpha = (0.0, 0.0, 0.0), 0.0
        for shape in shapes:
            coverage = min(max(0.5 - shape.distance((x + 0.5, y + 0.5)), 0.0), 1.0)
            if coverage:
                own_colour = _mix_colours(shape.top, shape.bottom, y / (size - 1))
                total = coverage + alpha * (1 - coverage)
                colour, alpha = _mix_colours(colour, own_colour, coverage / total), total
        yield from (round(channel) for channel in (*colour, 255 * alpha))


def _mix_colours(first: Colour, second: Colour, share: float) -> Colour:
    """`share` of the second colour."""
    red, green, blue = (start + (end - start) * share for start, end in zip(first, second, strict=True))
    return red, green, blue


def _chunk_bytes(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
