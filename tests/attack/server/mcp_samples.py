"""Sound requests of the Model Context Protocol, from which the odd ones are made."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

MODERN_PROTOCOL, LEGACY_PROTOCOL = "2026-07-28", "2025-11-25"
MCP_PATH: Final = "/mcp"
MCP_ACCEPT: Final = "application/json, text/event-stream"
_CLIENT: Final = {"name": "fuzz", "version": "1"}
_META: Final[dict[str, Any]] = {
    "io.modelcontextprotocol/protocolVersion": MODERN_PROTOCOL,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "progressToken": "p1",
}
_TOOL_CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("agentic_search", {"question": "List all receipts", "buckets": ["receipts"], "hits": 5, "limit": 5}),
    ("agentic_search", {"choice": "c1", "conversation": "mcp:none"}),
    ("export", {"question": "List all receipts", "buckets": ["receipts"]}),
    ("export", {"conversation": "mcp:none"}),
    ("search_text", {"bucket": "receipts", "query": "tires"}),
    (
        "annotations_search",
        {
            "bucket": "receipts",
            "filters": [{"field": "vendor", "op": "eq", "value": "Acme"}],
            "sort": [{"field": "date", "descending": True}],
            "limit": 5,
        },
    ),
    ("annotations_aggregate", {"bucket": "receipts", "function": "count", "group_by": "vendor"}),
    ("get_document_metadata", {"bucket": "receipts", "doc_id": "r001"}),
)
_LISTING_CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "parley://documents/r001"}),
    ("resources/read", {"uri": "parley://buckets/receipts/schema"}),
)
_OTHER_CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("server/discover", {}),
    ("resources/list", {"cursor": "1"}),
    ("resources/subscribe", {"uri": "parley://documents/r001"}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    ("prompts/get", {"name": "none"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}}),
    ("logging/setLevel", {"level": "debug"}),
    ("ping", {}),
)


def list_sound_calls() -> list[dict[str, Any]]:
    """Calls of every tool and of what lists and reads, in the newest protocol and in one with a handshake."""
    calls = [
        *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in _TOOL_CALLS),
        *_LISTING_CALLS,
    ]
    return _build_calls(calls)


def list_mcp_messages() -> list[dict[str, Any]]:
    """The sound calls, calls of what is not offered, and messages that are no call."""
    form = {"name": "agentic_search", "arguments": {"question": "x"}, "requestState": "t1", "inputResponses": {}}
    return [
        *list_sound_calls(),
        *_build_calls([("tools/call", form), *_OTHER_CALLS]),
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": LEGACY_PROTOCOL, "capabilities": {}, "clientInfo": _CLIENT},
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"choice": "c1"}}},
    ]


def headers_for(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers that a client sends with a message."""
    params: dict[str, Any] = message.get("params") or {}
    if "_meta" not in params:
        return {"Accept": MCP_ACCEPT, "MCP-Protocol-Version": LEGACY_PROTOCOL}
    name = params.get("name") or params.get("uri")
    named = {"Mcp-Name": str(name)} if name else {}
    return {
        "Accept": MCP_ACCEPT,
        "MCP-Protocol-Version": MODERN_PROTOCOL,
        "Mcp-Method": str(message["method"]),
        **named,
    }


def _build_calls(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | meta}
        for method, params in calls
        for meta in ({"_meta": _META}, {})
    ]
