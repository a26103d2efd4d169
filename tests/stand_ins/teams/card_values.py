"""Checks of single values in Adaptive Cards: texts, flags, numbers, sizes, colours, URLs, and words of a list."""

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from tests.stand_ins.teams.refusals import refuse_call_unless

ValueCheck: TypeAlias = Callable[[Any, str], None]  # takes a value and its place

_PIXELS: Final = re.compile(r"\d+(\.\d+)?px")
_URL: Final = re.compile(r"https?://[^\s/?#]+\S*")
_PICTURE: Final = re.compile(r"(https?://[^\s/?#]+\S*|data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+)")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d\d:\d\d")
_REGION_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}([0-9A-Fa-f]{2})?")


def refuse_card_unless(holds: bool, detail: str) -> None:
    refuse_call_unless(holds, f"card: {detail}", code="BadArgument")


def check_text(value: Any, where: str) -> None:
    refuse_card_unless(isinstance(value, str), f"{where} is no text")


def check_filled_text(value: Any, where: str) -> None:
    refuse_card_unless(isinstance(value, str) and bool(value.strip()), f"{where} is empty, or no text")


def check_flag(value: Any, where: str) -> None:
    refuse_card_unless(isinstance(value, bool), f"{where} is neither true nor false")


def check_number(value: Any, where: str) -> None:
    refuse_card_unless(isinstance(value, int | float) and not isinstance(value, bool), f"{where} is no number")


def check_count(value: Any, where: str) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    refuse_card_unless(is_count, f"{where} is no whole number from 0")


def check_object(value: Any, where: str) -> None:
    refuse_card_unless(isinstance(value, dict), f"{where} is no object")


def list_in(value: Any, where: str) -> list[Any]:
    """Returns the value if it is a list; refuses it otherwise."""
    refuse_card_unless(isinstance(value, list), f"{where} is no list")
    return cast(list[Any], value)


def object_in(value: Any, where: str) -> dict[str, Any]:
    """Returns the value if it is an object; refuses it otherwise."""
    check_object(value, where)
    return cast(dict[str, Any], value)


def words(*allowed: str) -> ValueCheck:
    """Returns a check of a value that is one of the words. Cards ignore their case; the check does not."""

    def check_word(value: Any, where: str) -> None:
        refuse_card_unless(value in allowed, f"{where} is {value!r}, none of {', '.join(allowed)}")

    return check_word


def pattern(expression: re.Pattern[str], name: str) -> ValueCheck:
    def check_pattern(value: Any, where: str) -> None:
        refuse_card_unless(isinstance(value, str) and expression.fullmatch(value) is not None, f"{where} is no {name}")

    return check_pattern


def either(*checks: ValueCheck | re.Pattern[str] | str | type[int]) -> ValueCheck:
    """Returns a check of a value that is a word, a number, or fits an expression."""

    def check_either(value: Any, where: str) -> None:
        fits = any(_fits(value, check) for check in checks)
        refuse_card_unless(fits, f"{where} is {value!r}")

    return check_either


def _fits(value: Any, check: ValueCheck | re.Pattern[str] | str | type[int]) -> bool:
    if isinstance(check, str):
        return value == check
    if isinstance(check, re.Pattern):
        return isinstance(value, str) and check.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


check_url = pattern(_URL, "URL")
check_picture = pattern(_PICTURE, "URL of a picture")
check_pixels = pattern(_PIXELS, "number of pixels")
check_date = pattern(_DATE, "date")
check_time = pattern(_TIME, "time")
check_colour = pattern(_REGION_COLOUR, "colour")
check_width = either("auto", "stretch", _PIXELS, int)
check_height = words("auto", "stretch")
check_picture_height = either("auto", "stretch", _PIXELS)
check_align = words("left", "center", "right")
check_vertical = words("top", "center", "bottom")
check_spacing = words("default", "none", "small", "medium", "large", "extraLarge", "padding")
check_container_style = words("default", "emphasis", "good", "attention", "warning", "accent")
check_colour_name = words("default", "dark", "light", "accent", "good", "warning", "attention")
check_font = words("default", "monospace")
check_text_size = words("default", "small", "medium", "large", "extraLarge")
check_weight = words("default", "lighter", "bolder")
check_picture_size = words("auto", "stretch", "small", "medium", "large")
