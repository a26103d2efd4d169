"""A file into a thread, in Slack's three steps (https://docs.slack.dev/messaging/working-with-files)."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from adapters.slack.api import SlackApi


class _UploadAddress(BaseModel):
    upload_url: str
    file_id: str


class _Done(BaseModel):
    ok: bool


async def share_text(api: SlackApi, address: Mapping[str, str], text: str, *, name: str, title: str) -> None:
    """Raises `SlackFailed` and `OSError`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        await share(api, address, path, name=name, title=title)


async def share(api: SlackApi, address: Mapping[str, str], path: Path, *, name: str, title: str) -> None:
    """The last step may be repeated: it names the file. Raises `SlackFailed` and `OSError`."""
    size = (await asyncio.to_thread(path.stat)).st_size
    place = await api.call(_UploadAddress, "files.getUploadURLExternal", {"filename": name, "length": size})
    await api.upload(place.upload_url, path)
    done = {
        "files": [{"id": place.file_id, "title": title}],
        "channel_id": address["channel"],
        "thread_ts": address["thread_ts"],
    }
    await api.call(_Done, "files.completeUploadExternal", done)
