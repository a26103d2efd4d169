"""How large a picture is, its file format and its colours."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from bot.surface.replies import PictureKind, PicturePart


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureTheme:
    """Colours as #rrggbb: one hue for all figures and gray for the rest, so that nobody has to tell hues apart."""

    ink: str
    quiet: str
    rule: str
    accent: str
    rest: str
    paper: str  # of a bitmap; a vector picture is transparent


LIGHT_THEME: Final = PictureTheme(
    ink="#1c1f23", quiet="#5d646d", rule="#c3c0ba", accent="#0b5d5a", rest="#9aa0a6", paper="#ffffff"
)
DARK_THEME: Final = PictureTheme(
    ink="#e8e6e1", quiet="#a2a8af", rule="#565d64", accent="#6cc7bd", rest="#6b7279", paper="#1d2125"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureLook:
    width: int  # in CSS pixels, of 1/96 inch
    is_vector: bool  # SVG, else PNG
    theme: PictureTheme = LIGHT_THEME


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSize:
    """In CSS pixels, of 1/96 inch."""

    width: int
    height: int


PAGE_LOOKS: Final[Mapping[str, PictureLook]] = {
    "light": PictureLook(width=720, is_vector=True),
    "dark": PictureLook(width=720, is_vector=True, theme=DARK_THEME),
    "narrow": PictureLook(width=360, is_vector=True),
    "narrow-dark": PictureLook(width=360, is_vector=True, theme=DARK_THEME),
}
CHAT_LOOK: Final = PictureLook(width=480, is_vector=False)  # chat products show images at this width or less
_TITLE_HEIGHT, _BAR_PITCH, _LINE_HEIGHT, _BOTTOM = 38, 27, 212, 14


def measure_picture(picture: PicturePart, look: PictureLook) -> PictureSize:
    match picture.kind:
        case PictureKind.BARS:
            height = _TITLE_HEIGHT + _BAR_PITCH * len(picture.points) + _BOTTOM
        case PictureKind.LINE:
            height = _LINE_HEIGHT
        case _:
            assert_never(picture.kind)
    return PictureSize(width=look.width, height=height)
