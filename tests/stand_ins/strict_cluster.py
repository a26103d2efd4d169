"""A stand-in for OpenSearch's answers to a checkup, for states that are hard to bring about on a real node."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any as Json

from aiohttp import web
from aiohttp.test_utils import TestServer

_GIGABYTE = 10**9


def disk_of(available_gb: float, total_gb: float = 100) -> dict[str, int]:
    return {"total_in_bytes": round(total_gb * _GIGABYTE), "available_in_bytes": round(available_gb * _GIGABYTE)}


def refusal_of(permission: str) -> tuple[int, Json]:
    """The answer of the security plugin to a request that the user may not make."""
    cause = {"type": "security_exception", "reason": f"no permissions for [{permission}] and User [name=parley]"}
    return 403, {"error": {**cause, "root_cause": [cause]}, "status": 403}


@dataclass(kw_only=True)
class StrictCluster:
    """Answers as a complete cluster of one node does. `answers`: other answers, by the method and the end of the path.

    A request that it does not know is answered with 400 and kept in `unknown_requests`.
    """

    answers: dict[str, tuple[int, Json]] = field(default_factory=dict[str, tuple[int, Json]])
    unknown_requests: list[str] = field(default_factory=list[str])
    indexes: set[str] = field(default_factory=set[str])  # that were created and not deleted

    async def answer(self, request: web.Request) -> web.Response:
        words = f"{request.method} {request.path}"
        for end, (status, body) in self.answers.items():
            method, _, path = end.partition(" ")
            if request.method == method and request.path.endswith(path) and (path != "/" or request.path == "/"):
                return web.json_response(body, status=status)
        body = self._answer_known(request.method, request.path, await request.text())
        if body is None:
            self.unknown_requests.append(words)
            return web.json_response({"error": {"type": "unknown", "reason": words}}, status=400)
        return web.json_response(body)

    def _answer_known(self, method: str, path: str, text: str) -> Json:
        name = path.strip("/")
        if method == "PUT" and "/" not in name and "mappings" in json.loads(text):
            self.indexes.add(name)
            return {"acknowledged": True}
        if method == "DELETE" and name in self.indexes:
            self.indexes.remove(name)
            return {"acknowledged": True}
        if name.partition("/")[0] in self.indexes:
            return {"pit_id": "p"} if name.endswith("point_in_time") else {"acknowledged": True}
        return _FIXED_ANSWERS.get(f"{method} {path}" if "*" not in path else f"{method} *{path.rpartition('*')[2]}")


_NODE: Mapping[str, Json] = {
    "name": "n1",
    "roles": ["data"],
    "fs": {"total": disk_of(50)},
    "plugins": [{"name": "opensearch-knn"}],
    "modules": [{"name": "parent-join"}, {"name": "lang-painless"}],
}
_DISK_SETTINGS = {"threshold_enabled": "true", "watermark": {"low": "85%", "high": "90%", "flood_stage": "95%"}}
_FIXED_ANSWERS: Mapping[str, Json] = {
    "GET /": {"version": {"distribution": "opensearch", "number": "3.6.0"}},
    "GET /_nodes/plugins": {"nodes": {"a": _NODE}},
    "GET /_nodes/stats/fs": {"nodes": {"a": _NODE}},
    "GET /_cluster/settings": {"defaults": {"cluster": {"routing": {"allocation": {"disk": _DISK_SETTINGS}}}}},
    "GET /_cluster/health": {"active_shards": 3, "number_of_data_nodes": 1},
    "POST /_bulk": {"items": [{"index": {"status": 201}}]},
    "POST /_msearch": {"responses": [{"status": 200}]},
    "POST /_mget": {"docs": [{"found": True}]},
    "POST /_aliases": {"acknowledged": True},
    "DELETE /_search/point_in_time": {"pits": []},
    "GET */_settings": {},
    "GET *": {},
}


def a_node(**changes: Json) -> dict[str, Json]:
    return {"nodes": {"a": {**_NODE, **changes}}}


@asynccontextmanager
async def running_cluster(cluster: StrictCluster) -> AsyncGenerator[str]:
    """Runs the stand-in; gives its address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", cluster.answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")
