"""What the server can be told to reply with: answers and faults."""

import socket
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, kw_only=True)
class CalledTool:
    """A tool call of an answer. `arguments` goes out as it is, also if it is no JSON."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass(frozen=True, kw_only=True)
class TextAnswer:
    """A complete answer. It is streamed in pieces of `piece_chars`, with a pause before each piece."""

    text: str = ""
    tool_calls: tuple[CalledTool, ...] = ()
    finish_reason: str = ""  # empty: `tool_calls` or `stop`
    refusal: str | None = None
    sends_usage: bool = True
    delay_s: float = 0.0
    piece_chars: int = 7
    piece_delay_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CutAnswer:
    """Sends a part of an answer, then ends. `closes_cleanly`: the body ends as if it were whole; else the connection
    breaks. Without streaming, the connection always breaks.
    """

    text: str = ""
    closes_cleanly: bool = False
    piece_chars: int = 7


@dataclass(frozen=True, kw_only=True)
class StalledAnswer:
    """Sends a part of an answer, and then nothing more for `stall_s`; then the connection breaks."""

    text: str = ""
    stall_s: float = 60.0
    piece_chars: int = 7


@dataclass(frozen=True, kw_only=True)
class StreamedError:
    """Streams a part of an answer, then an error as an event of the stream, as vLLM and proxies do."""

    text: str = ""
    message: str = "the engine died"
    piece_chars: int = 7


@dataclass(frozen=True, kw_only=True)
class HttpFault:
    """An error in the form of the API."""

    status: int = 500
    message: str = "the server had an error while processing your request"
    code: str | None = None
    parameter: str | None = None
    retry_after: str | None = None
    delay_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RawAnswer:
    """Any body with status 200, as of a proxy that answers for the server."""

    body: bytes
    content_type: str = "text/html"


ServerReply: TypeAlias = TextAnswer | CutAnswer | StalledAnswer | StreamedError | HttpFault | RawAnswer


def closed_port_url() -> str:
    """The address of an API that refuses connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"
