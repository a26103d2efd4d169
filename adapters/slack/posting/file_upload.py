"""Uploads a file into a thread in Slack's three steps (https://docs.slack.dev/messaging/working-with-files)."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from adapters.slack.payloads.responses import OkResponse, UploadAddress
from adapters.slack.posting.api import SlackApi


async def share_text_in_thread(api: SlackApi, address: Mapping[str, str], text: str, *, name: str, title: str) -> None:
    """Upload the text as a file. Raises `SlackError` and `OSError`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        await share_file_in_thread(api, address, path, name=name, title=title)


async def share_file_in_thread(api: SlackApi, address: Mapping[str, str], path: Path, *, name: str, title: str) -> None:
    """Upload the file. Raises `SlackError` and `OSError`.

    The last step is safe to repeat because it names the file.
    """
    size = (await asyncio.to_thread(path.stat)).st_size
    upload_address = await api.call_method(
        UploadAddress, "files.getUploadURLExternal", {"filename": name, "length": size}
    )
    await api.upload_file(upload_address.upload_url, path)
    completion = {
        "files": [{"id": upload_address.file_id, "title": title}],
        "channel_id": address["channel"],
        "thread_ts": address["thread_ts"],
    }
    await api.call_method(OkResponse, "files.completeUploadExternal", completion)
