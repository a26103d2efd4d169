"""Uploads a file into a thread in Slack's three steps (https://docs.slack.dev/messaging/working-with-files)."""

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adapters.slack.payloads.responses import OkResponse, UploadAddress
from adapters.slack.posting.api import SlackApi

MAX_ALTERNATIVE_CHARACTERS: Final = 1_000  # https://docs.slack.dev/reference/methods/files.getUploadURLExternal


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileNames:
    """What Slack calls the file. `alternative_text`: of an image, for screen readers."""

    name: str
    title: str
    alternative_text: str = ""


async def share_text_in_thread(api: SlackApi, address: Mapping[str, str], text: str, *, name: str, title: str) -> None:
    """Upload the text as a file. Raises `SlackError` and `OSError`."""
    await _share_content(api, address, text.encode("utf-8"), _FileNames(name=name, title=title))


async def share_picture_in_thread(
    api: SlackApi, address: Mapping[str, str], content: bytes, *, name: str, title: str, alternative_text: str
) -> None:
    """Upload the picture as a file, which Slack shows as an image. Raises `SlackError` and `OSError`."""
    names = _FileNames(name=name, title=title, alternative_text=alternative_text)
    await _share_content(api, address, content, names)


async def share_file_in_thread(api: SlackApi, address: Mapping[str, str], path: Path, *, name: str, title: str) -> None:
    """Upload the file. Raises `SlackError` and `OSError`."""
    await _share_file(api, address, path, _FileNames(name=name, title=title))


async def _share_content(api: SlackApi, address: Mapping[str, str], content: bytes, names: _FileNames) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "content"
        await asyncio.to_thread(path.write_bytes, content)
        await _share_file(api, address, path, names)


async def _share_file(api: SlackApi, address: Mapping[str, str], path: Path, names: _FileNames) -> None:
    """The last step is safe to repeat because it names the file."""
    size = (await asyncio.to_thread(path.stat)).st_size
    request = {"filename": names.name, "length": size}
    if names.alternative_text:
        request["alt_txt"] = names.alternative_text[:MAX_ALTERNATIVE_CHARACTERS]
    upload_address = await api.call_method(UploadAddress, "files.getUploadURLExternal", request)
    await api.upload_file(upload_address.upload_url, path)
    completion = {
        "files": [{"id": upload_address.file_id, "title": names.title}],
        "channel_id": address["channel"],
        "thread_ts": address["thread_ts"],
    }
    await api.call_method(OkResponse, "files.completeUploadExternal", completion)
