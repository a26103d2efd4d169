"""What is refused when a mail folder, a list interface or Confluence is added, and what is stored of the others."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from bot.admin.source_kinds.confluence_kind import ConfluenceKind
from bot.admin.source_kinds.mail_kind import MailKind
from bot.admin.source_kinds.rest_kind import RestKind
from bot.admin.source_kinds.source_kind import CheckedSource, SourceKind, SourceRequest
from bot.errors import InvalidSource

SECRET = SecretStr("horse")
PATHS = {"items": "$.results", "id": "$.id", "text": "$.body"}


def check_request(
    kind: str,
    location: str,
    options: Mapping[str, object] | None = None,
    *,
    secret: SecretStr | None = SECRET,
    allow_private: bool = False,
) -> CheckedSource:
    kinds: tuple[SourceKind, ...] = (
        MailKind(),
        RestKind(lambda: datetime.now(UTC)),
        ConfluenceKind(lambda: datetime.now(UTC)),
    )
    request = SourceRequest(
        kind=kind, location=location, bucket="b", secret=secret, allow_private=allow_private, options=options or {}
    )
    return next(known for known in kinds if known.name == kind).check_request(request)


def refusal_of(
    kind: str, location: str, options: Mapping[str, object] | None = None, *, secret: SecretStr | None = SECRET
) -> str:
    with pytest.raises(InvalidSource) as caught:
        check_request(kind, location, options, secret=secret)
    return str(caught.value)


def test_a_mail_folder_is_named_by_its_user_and_folder() -> None:
    checked = check_request("imap", "imaps://mara@mills.example@imap.mills.example:993/Rechnungen/Über 5")

    assert (checked.name, checked.options) == ("mara-rechnungen-über-5", {})
    assert checked.location == "imaps://mara%40mills.example@imap.mills.example/Rechnungen/%C3%9Cber%205"


def test_a_mail_folder_that_is_not_named_is_the_inbox() -> None:
    checked = check_request("imap", "imap://mara@imap.mills.example:1143/", allow_private=True)

    assert checked.location == "imap://mara@imap.mills.example:1143/INBOX"
    assert checked.options == {"allow_private": True}


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("imaps://mara:horse@mail.example/INBOX", "with a password"),
        ("imaps://mail.example/INBOX", "imaps://mara%40example.com@imap.example.com/INBOX"),
        ("pop3://mara@mail.example/INBOX", "imaps://mara%40example.com@imap.example.com/INBOX"),
        ("imaps://mara@mail.example/a%0D%0Ab", "no control characters"),
    ],
)
def test_an_address_of_no_mail_folder_is_refused(location: str, message: str) -> None:
    assert message in refusal_of("imap", location)
    assert "horse" not in refusal_of("imap", location)


def test_the_readers_of_mails_are_those_of_the_access_list_with_its_principals() -> None:
    options = {"readers": True, "principals": ["$sales=group:sales"]}
    checked = check_request("imap", "imaps://mara@mail.example/INBOX", options)

    assert checked.options == {"readers": "access list", "principals": {"$sales": "group:sales"}}
    assert "add --readers" in refusal_of("imap", "imaps://mara@mail.example/", {"principals": options["principals"]})


def test_a_list_is_stored_with_its_paths_and_principals() -> None:
    checked = check_request("rest", "https://www.a.example/api", {**PATHS, "principals": ["group:staff=everyone"]})

    assert (checked.name, checked.location) == ("a.example", "https://www.a.example/api")
    assert checked.options == {**PATHS, "principals": {"group:staff": "everyone"}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "pdf"}, "txt, html, md"),
        ({"next": "$.["}, "no path such as"),
        ({"next": "$.n", "offset_param": "o"}, "exclude each other"),
        ({"principals": ["staff"]}, "no pair such as"),
        ({"principals": ["staff=people"]}, "'people' is not a subject"),
        ({"header": "X Token: a"}, "no name of an HTTP header"),
        ({"text": ""}, "--text is missing"),
    ],
)
def test_an_option_that_no_list_has_is_refused(options: dict[str, object], message: str) -> None:
    assert message in refusal_of("rest", "https://a.example/", {**PATHS, **options})


def test_a_token_is_not_sent_unencrypted() -> None:
    assert "https:// addresses alone" in refusal_of("rest", "http://a.example/", PATHS)
    assert check_request("rest", "http://a.example/", PATHS, secret=None).options == PATHS


def test_confluence_is_named_by_its_spaces() -> None:
    checked = check_request("confluence", "https://a.example/wiki/", {"spaces": ["HR", "IT", "HR"], "user": "mara"})

    assert (checked.name, checked.location) == ("hr-it", "https://a.example/wiki")
    assert checked.options == {"user": "mara", "spaces": ["HR", "IT"]}


@pytest.mark.parametrize(
    ("location", "secret", "options", "message"),
    [
        ("https://a.example/wiki", None, {}, "needs a token"),
        ("https://a.example/", SECRET, {}, "ends with /wiki"),
        ("https://a.example/wiki", SECRET, {"spaces": ["A B"]}, "the key of a space"),
    ],
)
def test_what_is_no_confluence_is_refused(
    location: str, secret: SecretStr | None, options: dict[str, object], message: str
) -> None:
    assert message in refusal_of("confluence", location, options, secret=secret)
