"""The app's icons: a speech bubble that asks back with three buttons, each with its count.

Teams wants 192 × 192 pixels in colour without transparency, and 32 × 32 in white on transparent
(https://learn.microsoft.com/microsoftteams/platform/concepts/build-and-test/apps-package).
"""

from functools import cache
from typing import Final

from adapters.teams.package.png import (
    Colour,
    ColouredShape,
    SignedDistance,
    convex_polygon,
    draw_picture,
    join_shapes,
    outline_shape,
    rounded_box,
)

COLOUR_SIZE: Final = 192
OUTLINE_SIZE: Final = 32
ACCENT_COLOUR: Final = "#00796B"
_TEAL: Final[Colour] = (0, 121, 107)
_LIGHT_TEAL: Final[Colour] = (38, 166, 154)
_PALE_TEAL: Final[Colour] = (128, 203, 196)
_AMBER: Final[Colour] = (255, 179, 0)
_WHITE: Final[Colour] = (255, 255, 255)
_SHARP_HEIGHT: Final = 4  # pixels


@cache
def draw_colour_icon() -> bytes:
    """What matters lies within the middle 120 pixels, because Teams may round the corners."""
    size = float(COLOUR_SIZE)
    background = rounded_box((size / 2, size / 2), (size + 4, size + 4), 0)
    bubble = join_shapes(rounded_box((96, 85), (120, 90), 20), _tail(60, 128, 26))
    rows = enumerate(((62, _AMBER), (48, _PALE_TEAL), (34, _PALE_TEAL)))
    buttons = [
        ColouredShape(_button(54, 53 + 25 * row, length, height=14, right=138), colour, colour)
        for row, (length, colour) in rows
    ]
    shapes = [ColouredShape(background, _LIGHT_TEAL, _TEAL), ColouredShape(bubble, _WHITE, _WHITE), *buttons]
    return draw_picture(COLOUR_SIZE, shapes)


@cache
def draw_outline_icon() -> bytes:
    bubble = outline_shape(rounded_box((16, 14), (28, 22), 5), 2)
    buttons = [_button(7, 8 + 5 * row, length, height=2, right=25) for row, length in enumerate((12, 9, 6))]
    shape = join_shapes(bubble, _tail(8, 24, 7), *buttons)
    return draw_picture(OUTLINE_SIZE, [ColouredShape(shape, _WHITE, _WHITE)])


def _tail(left: float, top: float, size: float) -> SignedDistance:
    """The tail of the bubble, which points down on the left."""
    return convex_polygon((left, top), (left + size, top), (left, top + size))


def _button(left: float, top: float, length: float, *, height: float, right: float) -> SignedDistance:
    """A bar for the label, and a dot for the count that ends at `right`. Small ones have corners, to stay sharp."""
    middle, radius = top + height / 2, height / 2 if height > _SHARP_HEIGHT else 0.0
    label = rounded_box((left + length / 2, middle), (length, height), radius)
    return join_shapes(label, rounded_box((right - height / 2, middle), (height, height), radius))
