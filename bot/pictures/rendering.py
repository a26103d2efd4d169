"""Renders pictures in a thread, and keeps the latest files."""

import asyncio
from typing import Final

from cachetools import LRUCache

from bot.errors import PictureFailed
from bot.pictures.picture_look import PictureLook
from bot.surface.replies import PicturePart

_MAX_KEPT: Final = 200  # files of some kilobytes
_FILES: LRUCache[tuple[PicturePart, PictureLook], bytes] = LRUCache(_MAX_KEPT)


async def render_picture(picture: PicturePart, look: PictureLook) -> bytes:
    """Returns the file. Raises `PictureFailed`."""
    file = _FILES.get((picture, look))
    if file is None:
        file = await asyncio.to_thread(_draw_in_thread, picture, look)
        _FILES[picture, look] = file
    return file


def _draw_in_thread(picture: PicturePart, look: PictureLook) -> bytes:
    try:
        from bot.pictures.drawing import draw_picture
    except (ImportError, OSError) as exc:
        raise PictureFailed() from exc
    return draw_picture(picture, look)
