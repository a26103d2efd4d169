"""Uploads a file into a thread in Slack's three steps (https://docs.slack.dev/messaging/working-with-files)."""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFile:
    """An image, as Slack shows it."""

    name: str
    title: str
    alternative_text: str
    content: bytes


async def share_text_in_thread(api: SlackApi, address: Mapping[str, str], text: str, *, name: str, title: str) -> None:
    """Upload the text as a file. Raises `SlackError` and `OSError`."""
    file = await _upload_content(api, text.encode("utf-8"), _FileNames(name=name, title=title))
    await _complete_upload(api, address, [file])


async def share_pictures_in_thread(api: SlackApi, address: Mapping[str, str], pictures: Sequence[PictureFile]) -> None:
    """Upload the pictures as files of one message, which shows them as images. Raises `SlackError` and `OSError`."""
    files = [
        await _upload_content(
            api,
            picture.content,
            _FileNames(name=picture.name, title=picture.title, alternative_text=picture.alternative_text),
        )
        for picture in pictures
    ]
    await _complete_upload(api, address, files)


async def share_file_in_thread(api: SlackApi, address: Mapping[str, str], path: Path, *, name: str, title: str) -> None:
    """Upload the file. Raises `SlackError` and `OSError`."""
    file = await _upload_file(api, path, _FileNames(name=name, title=title))
    await _complete_upload(api, address, [file])


async def _upload_content(api: SlackApi, content: bytes, names: _FileNames) -> Mapping[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "content"
        await asyncio.to_thread(path.write_bytes, content)
        return await _upload_file(api, path, names)


async def _upload_file(api: SlackApi, path: Path, names: _FileNames) -> Mapping[str, str]:
    """Returns the id and the title of the uploaded file, which nobody sees yet."""
    request = {"filename": names.name, "length": (await asyncio.to_thread(path.stat)).st_size}
    if names.alternative_text:
        request["alt_txt"] = names.alternative_text[:MAX_ALTERNATIVE_CHARACTERS]
    upload_address = await api.call_method(UploadAddress, "files.getUploadURLExternal", request)
    await api.upload_file(upload_address.upload_url, path)
    return {"id": upload_address.file_id, "title": names.title}


async def _complete_upload(api: SlackApi, address: Mapping[str, str], files: Sequence[Mapping[str, str]]) -> None:
    """Share the files in the thread. The call is safe to repeat because it names the files."""
    completion = {"files": files, "channel_id": address["channel"], "thread_ts": address["thread_ts"]}
    await api.call_method(OkResponse, "files.completeUploadExternal", completion)
