"""`parley doctor`: every setting with its source, and whether what they name answers."""

import asyncio
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import Failed, plainly
from bot.cli.options import Debug, Home, Json
from bot.cli.running import given, is_debug, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.checkup import Finding
    from bot.settings import Loaded, Settings

_PASSWORD = re.compile(r"(://[^/:@\s]*:)[^@\s,]+@")


def doctor(
    slack: Annotated[bool, typer.Option("--slack", help="Ask Slack about its tokens, scopes and addresses.")] = False,
    json_: Json = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """What is set, from where, and what is wrong."""
    with plainly(debug=is_debug(debug)):
        loaded = _surveyed(home)
        wrong = _wrong(loaded)
        if not loaded.wrong:
            wrong += asyncio.run(_unanswered(loaded.settings))
        found = asyncio.run(_found(loaded.settings, "slack")) if slack and not loaded.wrong else ()
        wrong += [finding.fault for finding in found if finding.fault and finding.fault not in wrong]
        rows = _rows(loaded)
        if json_:
            asked = {"slack": [asdict(finding) for finding in found]} if slack else {}
            say(json.dumps({"settings": rows, "problems": wrong, **asked}, ensure_ascii=False))
        else:
            _print(rows)
            for finding in found:
                say(f"Slack: {finding.what}: {finding.fault or finding.found}")
            if not wrong:
                say("Everything answers.")
        if wrong:
            raise Failed("; ".join(wrong))


def _surveyed(home: Path | None) -> "Loaded":
    """Raises `InvalidSettings` for a home or a file that cannot be read."""
    from bot.settings import surveyed_settings

    return surveyed_settings(home or given.get().home)


def _rows(loaded: "Loaded") -> "list[dict[str, str | None]]":
    from bot.settings import written

    values = {written(name): getattr(loaded.settings, name) for name in type(loaded.settings).model_fields}
    wrong = {one.setting: one.reason for one in loaded.wrong}
    return [
        {
            "name": name,
            "value": "" if name in wrong else _shown(values[name]),
            "source": source,
            "problem": wrong.get(name),
        }
        for name, source in loaded.sources.items()
    ]


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
    """Of each address of a list."""
    return _PASSWORD.sub(r"\1********@", text)


def _print(rows: "list[dict[str, str | None]]") -> None:
    wide = max(len(row["name"] or "") for row in rows)
    for row in rows:
        value = row["problem"] or row["value"] or "–"
        say(f"{row['name']:<{wide}}  {value}  ({row['source']})")


def _wrong(loaded: "Loaded") -> list[str]:
    settings = loaded.settings
    wrong = [str(one).removesuffix(".") for one in loaded.wrong]
    wrong += [f"{name} is set, but this version does not read it yet" for name in loaded.unread]
    is_somewhere = bool(settings.slack_bot_token or settings.slack_client_id)
    if is_somewhere != bool(settings.slack_signing_secret or settings.slack_app_token):
        with_ = "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET"
        wrong.append(f"Slack needs SLACK_BOT_TOKEN together with {with_}; set both or neither")
    return wrong


async def _found(settings: "Settings", product: str) -> "Sequence[Finding]":
    from bot.bootstrap import findings
    from bot.checkup import Finding
    from storage.sql.errors import SqlError

    try:
        return await findings(settings, product)
    except SqlError as exc:  # it holds where an app is installed
        return [Finding(what="database", fault=str(exc))]


async def _unanswered(settings: "Settings") -> list[str]:
    from bot.bootstrap import unanswered

    return await unanswered(settings)
