"""`parley source add KIND|URL`: a command for each kind of source, and one for all sources with a URL."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, cast

import typer
from typer.core import TyperGroup

from bot.cli.failures import CommandFailed, exit_on_failure
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import is_debug_on, print_line, run_with_bot

if TYPE_CHECKING:
    from pydantic import SecretStr
    from typer._click.core import Command, Context  # Typer's own copy of click

    from bot.application import Application

CommandT = ParamSpec("CommandT")
_INTERVAL_PATTERN = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)", re.IGNORECASE)
_TIMEDELTA_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_URL_START = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_COMMAND_BY_SCHEME = {"imap://": "imap", "imaps://": "imap"}
_MAX_SECRET_CHARACTERS = 100_000  # a key file has some thousands
BucketOption = Annotated[str, typer.Option("--bucket", metavar="NAME", help="The bucket; made where it is not there.")]
IntervalOption = Annotated[
    str | None,
    typer.Option("--every", metavar="TIME", help="How often parley serve syncs it: 30m, 1h, 1d. [default: never]"),
]
PrivateOption = Annotated[bool, typer.Option("--allow-private", help="It may be on this machine or a private network.")]
UserOption = Annotated[str | None, typer.Option("--user", metavar="NAME", help="The user, or the id of the key.")]
PrincipalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--principal",
        metavar="PRINCIPAL=SUBJECT",
        help="Who a person or group of the place is here, such as group:staff=group:employees; may be repeated.",
    ),
]
SecretVariableOption = Annotated[
    str | None,
    typer.Option("--secret-env", metavar="VARIABLE", help="The environment variable with the password, key or token."),
]
AskSecretOption = Annotated[bool, typer.Option("--ask-secret", help="Ask for the password, key or token.")]


@dataclass(frozen=True, kw_only=True)
class SourcePlace:
    """The options that the commands for places on other machines share."""

    bucket: BucketOption
    every: IntervalOption = None
    allow_private: PrivateOption = False
    secret_variable: SecretVariableOption = None
    asks_secret: AskSecretOption = False
    home: HomeOption = None
    debug: DebugOption = False


def add_place_options(command: Callable[Concatenate[SourcePlace, CommandT], None]) -> Callable[..., None]:
    """Gives a command, behind its own options, those of `SourcePlace`, which it receives as its first argument."""
    place_parameters = list(inspect.signature(SourcePlace).parameters.values())
    own_parameters = list(inspect.signature(command).parameters.values())[1:]

    def run_command(**values: Any) -> None:
        place = SourcePlace(**{parameter.name: values.pop(parameter.name) for parameter in place_parameters})
        cast("Callable[..., None]", command)(place, **values)

    run_command.__name__, run_command.__doc__ = command.__name__, command.__doc__
    merged = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in (*own_parameters, *place_parameters)]
    run_command.__signature__ = inspect.Signature(merged)  # pyright: ignore[reportFunctionMemberAccess] - Typer reads it
    return run_command


class _KindOrUrlGroup(TyperGroup):
    """Takes a URL in the place of a command: `parley source add s3://documents/contracts --bucket contracts`."""

    def resolve_command(self, ctx: "Context", args: list[str]) -> "tuple[str | None, Command | None, list[str]]":
        if args and (start := _URL_START.match(args[0])):
            args = [_COMMAND_BY_SCHEME.get(start[0].lower(), "url"), *args]
        return super().resolve_command(ctx, args)


add_app = typer.Typer(
    help="Name a source, by its kind or its URL; its first sync loads what it has.",
    no_args_is_help=True,
    cls=_KindOrUrlGroup,
)


@add_app.command()
def folder(
    path: str, bucket: BucketOption, every: IntervalOption = None, home: HomeOption = None, debug: DebugOption = False
) -> None:
    """A folder, with all that is below it."""
    add_source("folder", path, SourcePlace(bucket=bucket, every=every, home=home, debug=debug))


@add_app.command()
def site(
    url: str,
    bucket: BucketOption,
    every: IntervalOption = None,
    allow_private: PrivateOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """The pages of a site, by its sitemap; URL is the site, a part of it, or a sitemap."""
    place = SourcePlace(bucket=bucket, every=every, allow_private=allow_private, home=home, debug=debug)
    add_source("site", url, place)


@add_app.command()
@add_place_options
def sql(
    place: SourcePlace,
    url: str,
    key: Annotated[str, typer.Option("--key", metavar="COLUMN", help="The column that identifies a row.")],
    query: Annotated[
        str | None, typer.Option("--query", metavar="SELECT", help="Each of its rows is a document.")
    ] = None,
    query_file: Annotated[
        Path | None, typer.Option("--query-file", metavar="FILE", help="A file with the query.")
    ] = None,
    cursor: Annotated[
        str | None,
        typer.Option("--cursor", metavar="COLUMN", help="A column that changes with its row: a time or a version."),
    ] = None,
    readers: Annotated[
        str | None, typer.Option("--readers", metavar="COLUMN", help="The column that names who may read a row.")
    ] = None,
    principals: PrincipalOption = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What the rows are called: orders. [default: the database]")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", help="More rows are not read. [default: 200000]")
    ] = None,
    user: UserOption = None,
    tls: Annotated[
        str | None, typer.Option("--tls", metavar="MODE", help="require, verify-full, …, as libpq's sslmode.")
    ] = None,
) -> None:
    """The rows of a query; URL is postgresql://USER@HOST/DATABASE or sqlite:////FILE."""
    with exit_on_failure(debug=is_debug_on(place.debug)):
        if (query is None) == (query_file is None):
            raise CommandFailed("give the query with --query or --query-file", exit_status=2)
        statement = query if query_file is None else query_file.read_text(encoding="utf-8")
    options: dict[str, object] = {"query": statement, "key": key, "cursor": cursor, "name": name, "max_rows": max_rows}
    options |= {"readers": readers, "principals": principals or None}
    add_source("sql", url, place, options | {"user": user, "tls": tls})


@add_app.command("url", hidden=True)  # `_KindOrUrlGroup` comes here
@add_place_options
def add_url(
    place: SourcePlace,
    url: str,
    user: UserOption = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="It is public; use no credentials.")] = False,
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="URL", help="An own server for S3, GCS or Azure.")
    ] = None,
    region: Annotated[str | None, typer.Option("--region", metavar="NAME", help="The region of S3.")] = None,
    host_key: Annotated[
        str | None, typer.Option("--host-key", metavar="SHA256:…", help="The key of an SFTP server.")
    ] = None,
    readers: Annotated[
        bool, typer.Option("--readers", help="A file is read by those whom its access list allows; see --principal.")
    ] = False,
    principals: PrincipalOption = None,
) -> None:
    """A store of files: s3://, gs://, abfs://, sftp://, smb://, webdav+https://."""
    options = {"user": user, "anonymous": anonymous or None, "endpoint": endpoint, "region": region}
    options |= {"host_key": host_key, "readers": readers or None, "principals": principals or None}
    add_source(url.partition("://")[0].partition("+")[0].lower(), url, place, options)


def add_source(kind: str, location: str, place: SourcePlace, options: Mapping[str, object] | None = None) -> None:
    """Adds the source and prints what it is called. `options` that are None are left out. Raises `typer.Exit`."""
    with exit_on_failure(debug=is_debug_on(place.debug)):
        secret = read_secret(place.secret_variable, asks_secret=place.asks_secret)
        interval = _parse_interval(place.every)

    async def add_with_bot(bot: "Application") -> None:
        from bot.admin.source_kinds.source_kind import SourceRequest
        from bot.errors import InvalidSource

        request = SourceRequest(
            kind=kind,
            location=location,
            bucket=place.bucket,
            sync_interval=interval,
            allow_private=place.allow_private,
            options={name: value for name, value in (options or {}).items() if value is not None},
            secret=secret,
        )
        try:
            source = await bot.sources.add_source(request)
        except InvalidSource as exc:
            raise CommandFailed(str(exc), exit_status=2) from exc
        schedule = f"; parley serve syncs it every {format_interval(source.every)}" if source.every else ""
        print_line(f"added {source.id} for {source.bucket}{schedule}; now: parley source sync {source.id}")

    run_with_bot(add_with_bot, home=place.home, debug=place.debug)


def read_secret(variable: str | None, *, asks_secret: bool) -> "SecretStr | None":
    """The secret of the environment variable, or what a person types or pipes in. Raises `CommandFailed`."""
    from pydantic import SecretStr

    if variable is None and not asks_secret:
        return None
    if variable is None:
        typed = typer.prompt("Password, key or token", hide_input=True, err=True) if sys.stdin.isatty() else ""
        text = typed or sys.stdin.read(_MAX_SECRET_CHARACTERS + 1).removesuffix("\n")
    else:
        text = os.environ.get(variable, "")  # the value is sealed now, and the variable is not needed later
    if not text:
        raise CommandFailed(f"the variable {variable} is not set" if variable else "nothing was given", exit_status=2)
    if len(text) > _MAX_SECRET_CHARACTERS:
        raise CommandFailed("that is too long for a password, key or token", exit_status=2)
    return SecretStr(text)


def _parse_interval(interval_text: str | None) -> timedelta | None:
    """The interval of `30m`, `1h` or `1d`. Raises `CommandFailed`."""
    if interval_text is None:
        return None
    match = _INTERVAL_PATTERN.fullmatch(interval_text.strip())
    if match is None or int(match[1]) == 0:
        raise CommandFailed(f"--every {interval_text!r} is no time such as 30m, 1h or 1d", exit_status=2)
    return timedelta(**{_TIMEDELTA_UNITS[match[2].lower()]: int(match[1])})


def format_interval(interval: timedelta) -> str:
    minutes = int(interval.total_seconds()) // 60
    for unit, size in (("d", 24 * 60), ("h", 60)):
        if minutes % size == 0:
            return f"{minutes // size}{unit}"
    return f"{minutes}m"
