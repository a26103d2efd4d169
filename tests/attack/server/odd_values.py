"""Values that no chat product and no browser sends: made from sound ones, the same ones for the same seed."""

import copy
import json
from dataclasses import dataclass
from random import Random
from typing import Any, Final, cast
from urllib.parse import quote_from_bytes, urlencode

# Values that no database and no library may be handed: refused wherever they stand.
FORBIDDEN_VALUES: Final[tuple[Any, ...]] = (
    10**400,
    "\0",
    "\ud800",
    "a\udfffb",
    {"id": "\ud800"},
    {"\udfff": 1},
)
ODD_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    1e308,
    2**63,
    "",
    "\u202e",
    "😀",
    "x" * 5_000,
    "0" * 400,
    "٣",
    "null",
    [],
    {},
    [[]],
    [{}],
    [None],
    ["id"],
    [1, 2, 3],
    {"id": None},
    {"id": ["x"]},
    {"id": {"id": "x"}},
    {"": ""},
)
_FORBIDDEN_SHARE: Final = 0.05
ODD_BODIES: Final = (
    b"",
    b"{",
    b"[1]",
    b"nul",
    b"null",
    b'"x"',
    b"\xff",
    b"\x00",
    b"\xef\xbb\xbf{}",
    b'{"a":NaN}',
    b'{"a":1e999}',
    b'{"a":' + b"9" * 5_000 + b"}",
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b'{"a":"\\ud800"}',
    b'{"\\ud800":1}',
    b"payload=",
    b"payload=%",
    b"payload=null",
    b"payload=%ff",
    b"payload=%7B%7D",
    b"=&=&=",
    b"a=1&" * 5_000,
    b"%00=%00",
)
ODD_CONTENT_TYPES: Final = (
    "",
    ";",
    "*/*",
    "a;b=c;;",
    "text/plain",
    "application/json; charset=no-such-charset",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded; charset=no-such-charset",
    "application/x-www-form-urlencoded; charset=idna",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=x",
    'multipart/form-data; boundary="' + "y" * 100 + '"',
    "multipart/mixed; boundary=x",
    "application/json\u00e9",
)
ODD_HEADERS: Final = (
    ("Accept", "\u00e9"),
    ("Accept-Language", "\u00e9" * 40),
    ("Accept-Language", "-" * 4_000),
    ("Authorization", "Bearer \u00ff"),
    ("Authorization", "Bearer " + "." * 4_000),
    ("Content-Encoding", "gzip"),
    ("Content-Encoding", "br, zstd"),
    ("Cookie", "parley_web=\u00ff"),
    ("Cookie", "=;" * 1_000),
    ("Cookie", "parley_slack_install=\u00ff; parley_web="),
    ("Expect", "something"),
    ("Forwarded", "for=\u00ff"),
    ("If-Modified-Since", "not a day"),
    ("If-None-Match", '"\u00ff'),
    ("If-Range", "\u00ff"),
    ("Last-Event-ID", "9" * 5_000),
    ("Last-Event-ID", "٣"),
    ("Origin", "http://[::1"),
    ("Origin", "\u00ff"),
    ("Range", "bytes=9-1"),
    ("Range", "bytes=" + "9" * 5_000 + "-"),
    ("Sec-Fetch-Site", "\u00ff"),
    ("Transfer-Encoding", "gzip"),
    ("Upgrade", "websocket"),
    ("X-Forwarded-For", "\u00ff, " * 100),
    ("X-Forwarded-Proto", "\u00ff"),
    ("X-Slack-Request-Timestamp", "\u00b2"),
    ("X-Slack-Request-Timestamp", "9" * 12),
    ("X-Slack-Signature", "\u00ff"),
)
ODD_HOSTS: Final = (
    "",
    "[",
    "a:b",
    "a:99999",
    "\u00ff",
    "localhost:" + "9" * 400,
    "::1",
    "[::1]",
    "127.0.0.1.",
    "evil.example",
)
_QUERY_BYTES: Final = (
    b"\xed\xa0\x80",
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b" ",
    b"+",
    b"%",
    b"&",
    b"=",
    b"..",
    b"/",
    "é".encode(),
)


@dataclass
class OddValueMaker:
    """Makes odd variants of a sound value. `random` decides, so that a seed repeats a run."""

    random: Random

    def change_json(self, value: Any) -> Any:
        """A copy with one to four values replaced, added or left out, at any depth."""
        changed = copy.deepcopy(value)
        for _ in range(self.random.randrange(1, 5)):
            place = changed
            while self.random.random() < 0.6:
                inner: list[Any] = [part for part in _parts_of(place) if isinstance(part, (dict, list)) and part]
                if not inner:
                    break
                place = self.random.choice(inner)
            self._change_place(place)
        return changed

    def make_json_body(self, value: Any) -> bytes:
        """The JSON of an odd variant, or what is not JSON at all."""
        match self.random.randrange(8):
            case 0:
                return self.random.choice(ODD_BODIES)
            case 1:
                return self.damage_bytes(json.dumps(value).encode())
            case 2:
                return self.random.randbytes(self.random.randrange(200))
            case _:
                return json.dumps(self.change_json(value)).encode()

    def make_form_body(self, fields: dict[str, str]) -> bytes:
        """A form with odd values, fields too many or too few, or no form at all."""
        match self.random.randrange(8):
            case 0:
                return self.random.choice(ODD_BODIES)
            case 1:
                return self.damage_bytes(urlencode(fields).encode())
            case 2:
                return b"&".join(b"%s=%s" % (self.make_query_bytes(), self.make_query_bytes()) for _ in range(3))
            case _:
                changed = {name: value.encode() for name, value in fields.items() if self.random.random() < 0.8}
                for name in self.random.sample(sorted(fields), self.random.randrange(len(fields) + 1)):
                    changed[name] = self.make_text_bytes()
                parts = [f"{name}={quote_from_bytes(value)}".encode() for name, value in changed.items()]
                return b"&".join(parts + parts[: self.random.randrange(2)])

    def make_multipart_body(self, fields: dict[str, str], boundary: str = "x") -> bytes:
        """Parts with files where fields are expected, without names, of odd encodings, and without an end."""
        parts = [self._make_part(name, value.encode(), boundary) for name, value in fields.items()]
        end = f"--{boundary}--\r\n".encode() if self.random.random() < 0.7 else b""
        return b"".join(parts) + end

    def make_text_bytes(self) -> bytes:
        """The bytes of a text that may be none in UTF-8."""
        value = self._choose_value()
        text = value if isinstance(value, str) else json.dumps(value)
        if self.random.random() < _FORBIDDEN_SHARE * 2:
            return self.make_query_bytes()
        return text.encode("utf-8", "surrogatepass")

    def make_query_bytes(self) -> bytes:
        return b"".join(self.random.choice((*_QUERY_BYTES, b"a", b"9" * 30)) for _ in range(self.random.randrange(6)))

    def make_query(self, names: tuple[str, ...]) -> str:
        """A query string with these and other names; sometimes with bytes that should have been escaped."""
        pairs = [
            f"{self.random.choice((*names, 'x', ''))}={self._escape_or_not(self.make_text_bytes()[:2_000])}"
            for _ in range(self.random.randrange(4))
        ]
        return "&".join(pairs)

    def _choose_value(self) -> Any:
        """Seldom a forbidden value, so that the others come further than the parser."""
        is_forbidden = self.random.random() < _FORBIDDEN_SHARE
        return self.random.choice(FORBIDDEN_VALUES if is_forbidden else ODD_VALUES)

    def damage_bytes(self, body: bytes) -> bytes:
        damaged = bytearray(body)
        for _ in range(self.random.randrange(1, 5)):
            damaged[self.random.randrange(len(damaged))] = self.random.randrange(256)
        return bytes(damaged)

    def _escape_or_not(self, text: bytes) -> str:
        if self.random.random() < 0.8:
            return quote_from_bytes(text)
        return "".join(chr(byte) for byte in text if byte > 0x20 and byte != 0x7F)

    def _make_part(self, name: str, value: bytes, boundary: str) -> bytes:
        disposition = self.random.choice(
            (
                f'form-data; name="{name}"',
                f'form-data; name="{name}"; filename="a.txt"',
                f"form-data; name={name}; filename*=utf-16''%ff",
                "form-data",
                "attachment",
                "",
            )
        )
        encoding = self.random.choice(
            (
                "",
                "Content-Transfer-Encoding: base64\r\n",
                "Content-Transfer-Encoding: odd\r\n",
                "Content-Encoding: gzip\r\n",
            )
        )
        kind = self.random.choice(
            ("", "Content-Type: text/plain; charset=odd\r\n", "Content-Type: multipart/mixed\r\n")
        )
        content = self.random.choice((value, self.make_text_bytes()))
        return (
            f"--{boundary}\r\nContent-Disposition: {disposition}\r\n{encoding}{kind}\r\n".encode() + content + b"\r\n"
        )

    def _change_place(self, place: Any) -> None:
        value = copy.deepcopy(self._choose_value())
        if isinstance(place, list):
            items = cast(list[Any], place)
            items.insert(self.random.randrange(len(items) + 1), value)
            return
        fields = cast(dict[str, Any], place)
        name = self.random.choice([*fields, "type", "id", "user", "team", "text", "value"])
        if self.random.random() < 0.2:
            fields.pop(name, None)
        else:
            fields[name] = value


def _parts_of(place: Any) -> list[Any]:
    if isinstance(place, dict):
        return [*cast(dict[str, Any], place).values()]
    return [*cast(list[Any], place)] if isinstance(place, list) else []
