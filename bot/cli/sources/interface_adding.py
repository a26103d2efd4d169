"""`parley source add imap|rest|confluence`: mail folders, list interfaces, and spaces of Confluence."""

from typing import Annotated

import typer

from bot.cli.sources.source_adding import PrincipalOption, SourcePlace, add_app, add_place_options, add_source

BasicUserOption = Annotated[
    str | None, typer.Option("--user", metavar="NAME", help="The user whose password or token it is.")
]


def _path_option(name: str, help_text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="PATH", help=help_text)
    return option


@add_app.command()
@add_place_options
def imap(
    place: SourcePlace,
    url: str,
    readers: Annotated[
        bool, typer.Option("--readers", help="The mails are read by those whom the folder's access list allows.")
    ] = False,
    principals: PrincipalOption = None,
) -> None:
    """The mails of a folder; URL is imaps://USER@HOST/FOLDER, or imap:// for STARTTLS."""
    add_source("imap", url, place, {"readers": readers or None, "principals": principals or None})


@add_app.command()
@add_place_options
def rest(
    place: SourcePlace,
    url: str,
    items: Annotated[str, _path_option("--items", "The list in an answer: $.results")],
    id_: Annotated[str, _path_option("--id", "The id within an item: $.id")],
    text: Annotated[str, _path_option("--text", "The text within an item, or within its content.")],
    title: Annotated[str | None, _path_option("--title", "The title within an item.")] = None,
    updated: Annotated[str | None, _path_option("--updated", "The time of its last change.")] = None,
    readers: Annotated[
        str | None, _path_option("--readers", "Who may read it: mail addresses, subjects, or names of --principal.")
    ] = None,
    link: Annotated[str | None, _path_option("--link", "The address that citations lead to.")] = None,
    content_url: Annotated[
        str | None, _path_option("--content-url", "The address of its content, where the list has none.")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="KIND", help="What the texts are: txt, html, md.")
    ] = "txt",
    next_: Annotated[str | None, _path_option("--next", "The next page in an answer: an address or a cursor.")] = None,
    cursor_param: Annotated[
        str | None, typer.Option("--cursor-param", metavar="NAME", help="The parameter that takes the cursor.")
    ] = None,
    offset_param: Annotated[
        str | None, typer.Option("--offset-param", metavar="NAME", help="The parameter that says how many to skip.")
    ] = None,
    header: Annotated[
        str | None, typer.Option("--header", metavar="NAME", help="The header of the token. [default: Authorization]")
    ] = None,
    user: BasicUserOption = None,
    principals: PrincipalOption = None,
) -> None:
    """The items of a JSON interface, page by page; PATHs are those of RFC 9535, such as $.fields.title."""
    paths = {"items": items, "id": id_, "text": text, "title": title, "updated": updated, "readers": readers}
    paths |= {"link": link, "content_url": content_url, "next": next_}
    names = {"format": format_, "cursor_param": cursor_param, "offset_param": offset_param}
    credential = {"header": header, "user": user}
    add_source("rest", url, place, paths | names | credential | {"principals": principals or None})


@add_app.command()
@add_place_options
def confluence(
    place: SourcePlace,
    url: str,
    space: Annotated[
        list[str] | None,
        typer.Option("--space", metavar="KEY", help="A space; may be repeated. [default: all that the user sees]"),
    ] = None,
    user: BasicUserOption = None,
    principals: PrincipalOption = None,
) -> None:
    """The pages of Confluence Cloud with their read restrictions; URL is https://NAME.atlassian.net/wiki."""
    options = {"spaces": space or None, "user": user, "principals": principals or None}
    add_source("confluence", url, place, options)
