"""`parley doctor`: every setting with its source, and whether what they name answers."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.failures import Failed, plainly
from bot.cli.options import Debug, Home, Json
from bot.cli.running import is_debug, say, settings_of

if TYPE_CHECKING:
    from bot.settings import Loaded, Settings


def doctor(json_: Json = False, home: Home = None, debug: Debug = False) -> None:
    """What is set, from where, and what is wrong."""
    with plainly(debug=is_debug(debug)):
        loaded = settings_of(home)
        wrong = _wrong(loaded) + asyncio.run(_unanswered(loaded.settings))
        rows = _rows(loaded)
        if json_:
            say(json.dumps({"settings": rows, "problems": wrong}, ensure_ascii=False))
        else:
            _print(rows)
            say("Everything answers." if not wrong else "")
        if wrong:
            raise Failed("; ".join(wrong))


def _rows(loaded: "Loaded") -> list[dict[str, str]]:
    from bot.settings import written

    values = {written(name): getattr(loaded.settings, name) for name in type(loaded.settings).model_fields}
    return [{"name": name, "value": _shown(values[name]), "source": source} for name, source in loaded.sources.items()]


def _shown(value: object) -> str:
    """Secrets by their length at most, addresses without passwords."""
    from pydantic import SecretStr

    match value:
        case None | ():
            return ""
        case SecretStr():
            return "********"
        case tuple():
            return ",".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case Path():
            return str(value)
        case _:
            return _without_password(str(value))


def _without_password(text: str) -> str:
    from urllib.parse import urlsplit

    if "://" not in text:
        return text
    parts = urlsplit(text)
    if parts.password is None:
        return text
    return parts._replace(netloc=f"{parts.username}:********@{parts.netloc.rpartition('@')[2]}").geturl()


def _print(rows: list[dict[str, str]]) -> None:
    wide = max(len(row["name"]) for row in rows)
    for row in rows:
        say(f"{row['name']:<{wide}}  {row['value'] or '–'}  ({row['source']})")


def _wrong(loaded: "Loaded") -> list[str]:
    settings = loaded.settings
    wrong = [f"{name} is set, but this version does not read it yet" for name in loaded.unread]
    if bool(settings.slack_bot_token) != bool(settings.slack_signing_secret or settings.slack_app_token):
        wrong.append("Slack needs SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET together; set both or neither")
    return wrong


async def _unanswered(settings: "Settings") -> list[str]:
    """What cannot be opened or does not answer, each in a sentence."""
    from bot.bootstrap import build_bot
    from storage.search.errors import SearchError
    from storage.sql.errors import SqlError

    try:
        async with build_bot(settings) as bot:
            await bot.answers()
    except (SqlError, SearchError, OSError) as exc:
        return [str(exc)]
    return []
