"""Pictures as files: their labels and numbers, their alternative text, and what cannot be drawn."""

import io
import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given, settings
from PIL import Image

from bot.errors import PictureFailed
from bot.pictures.drawing import PIXELS_PER_INCH, draw_picture
from bot.pictures.picture_look import CHAT_LOOK, PAGE_LOOKS, measure_picture
from bot.pictures.rendering import render_picture
from bot.surface.replies import PictureKind, PicturePart, PicturePoint
from tests.adapters.reply_strategies import PICTURES

PAGE_LOOK = PAGE_LOOKS["light"]
SVG = "{http://www.w3.org/2000/svg}"
MAX_CARD_IMAGE_BYTES = 19_000  # of a PNG in a card of Teams, where it takes a third more


def a_picture(
    *points: tuple[str, float, str], kind: PictureKind = PictureKind.BARS, title: str = "Sum of volume, by town"
) -> PicturePart:
    return PicturePart(
        kind=kind,
        title=title,
        points=tuple(PicturePoint(label=label, value=value, value_text=text) for label, value, text in points),
        description=f"Bars: {', '.join(f'{label} {text}' for label, _, text in points)}",
    )


BREWERIES = a_picture(("Ghent", 1291.9, "1,291.9 hl"), ("Kortrijk", 633.9, "633.9 hl"))
MONTHS = a_picture(
    *((f"2031-{month:02}", month * 10.0, f"{month * 10}") for month in range(1, 13)), kind=PictureKind.LINE
)


def texts_of(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{SVG}text")]


def bar_widths_of(svg: bytes) -> list[float]:
    """The widths of the filled areas, from top to bottom."""
    colours = ("#0b5d5a", "#9aa0a6")
    paths = [path for path in ET.fromstring(svg).iter(f"{SVG}path") if any(c in path.get("style", "") for c in colours)]
    return [max(places) - min(places) for path in paths if (places := _places_of(path.get("d", "")))]


def _places_of(outline: str) -> list[float]:
    numbers = [word for word in outline.split() if word not in ("M", "L", "z")]
    return [float(number) for number in numbers[::2]]


def test_a_bar_has_its_label_and_its_number_beside_it() -> None:
    svg = draw_picture(BREWERIES, PAGE_LOOK)

    assert sorted(texts_of(svg)) == ["1,291.9 hl", "633.9 hl", "Ghent", "Kortrijk", "Sum of volume, by town"]


def test_the_bars_are_as_long_as_their_values_say() -> None:
    first, second = bar_widths_of(draw_picture(BREWERIES, PAGE_LOOK))

    assert first / second == pytest.approx(1291.9 / 633.9, rel=0.01)


def test_a_line_names_its_ends_and_begins_at_zero_where_that_shows_more() -> None:
    texts = texts_of(draw_picture(MONTHS, PAGE_LOOK))

    assert {"10", "120", "2031-01", "2031-12"} <= set(texts)


def test_a_picture_on_a_page_says_what_it_shows() -> None:
    picture = replace(BREWERIES, description='Bars: "A & B" <1> hl')
    root = ET.fromstring(draw_picture(picture, PAGE_LOOK))

    assert (root.get("role"), root.get("aria-label")) == ("img", 'Bars: "A & B" <1> hl')


def test_a_picture_on_a_dark_page_has_light_text() -> None:
    light, dark = draw_picture(BREWERIES, PAGE_LOOK), draw_picture(BREWERIES, PAGE_LOOKS["dark"])

    assert (b"#1c1f23" in light, b"#e8e6e1" in light) == (True, False)
    assert (b"#1c1f23" in dark, b"#e8e6e1" in dark) == (False, True)


def test_the_same_picture_gives_the_same_file() -> None:
    assert draw_picture(MONTHS, PAGE_LOOK) == draw_picture(MONTHS, PAGE_LOOK)


def test_a_bitmap_is_small_and_has_the_measured_size() -> None:
    twelve = a_picture(*((f"A town with a long name {n}", 10.0 * n, f"EUR {n}0,000,000.00") for n in range(1, 13)))
    for picture in (twelve, MONTHS):
        file = draw_picture(picture, CHAT_LOOK)

        size = measure_picture(picture, CHAT_LOOK)
        assert len(file) < MAX_CARD_IMAGE_BYTES
        with Image.open(io.BytesIO(file)) as image:
            assert image.format == "PNG"
            assert image.size == pytest.approx(
                (size.width * PIXELS_PER_INCH / 96, size.height * PIXELS_PER_INCH / 96), abs=1
            )


def test_a_dollar_sign_begins_no_formula() -> None:
    picture = a_picture(("US$ 5 and US$ 6", 2.0, "$2.00"), ("A_b^c", 1.0, "$1.00"))

    assert {"US$ 5 and US$ 6", "A_b^c", "$2.00"} <= set(texts_of(draw_picture(picture, PAGE_LOOK)))


def test_negative_and_equal_and_empty_values_are_drawn() -> None:
    for values in ((-5.0, 5.0), (-5.0, -1.0), (0.0, 0.0), (3.0, 3.0)):
        for kind in PictureKind:
            picture = a_picture(*((str(value), value, f"{value}") for value in values), kind=kind)

            assert draw_picture(picture, CHAT_LOOK).startswith(b"\x89PNG")


def test_letters_that_no_font_has_fail_in_a_bitmap_and_stay_text_on_a_page() -> None:
    picture = a_picture(("\U00013000", 2.0, "2"), ("b", 1.0, "1"))  # an Egyptian hieroglyph

    assert "\U00013000" in texts_of(draw_picture(picture, PAGE_LOOK))
    with pytest.raises(PictureFailed):
        draw_picture(picture, CHAT_LOOK)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
async def test_a_value_without_a_length_is_an_expected_failure(value: float) -> None:
    with pytest.raises(PictureFailed):
        await render_picture(a_picture(("a", value, "?"), ("b", 1.0, "1")), PAGE_LOOK)


@settings(max_examples=40, deadline=None)
@given(PICTURES)
def test_any_picture_is_a_file_or_an_expected_failure(picture: PicturePart) -> None:
    for look in (PAGE_LOOK, CHAT_LOOK):
        try:
            file = draw_picture(picture, look)
        except PictureFailed:
            continue
        assert file
        if look.is_vector:
            ET.fromstring(file)
