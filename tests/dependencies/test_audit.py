"""The audit of the dependencies finds what it looks for, and never fails because a database cannot be reached."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any as Json

import pytest
from pydantic import TypeAdapter

from tests.dependencies.__main__ import PROJECT, ROOT, lines_for, names_on_page
from tests.dependencies.advisories import AuditResult, AuditUnavailable, audit_dependencies
from tests.dependencies.lock_file import LockFile, find_lock_faults, read_lock_file

HASHED = {"url": "https://files.pythonhosted.org/packages/a.whl", "hash": "sha256:00"}
JSON: TypeAdapter[Json] = TypeAdapter(Json)


def lock_with(**changes: Json) -> LockFile:
    """A lock file of a project that requires the package `dependency`, with these entries changed."""
    package = {"name": "dependency", "version": "1", "source": {"registry": "https://pypi.org/simple"}}
    root = {"name": "project", "source": {"editable": "."}, "dependencies": [{"name": "dependency"}]}
    return LockFile.model_validate({"package": [root, package | {"wheels": [HASHED]} | changes]})


def faults_of(lock: LockFile) -> list[str]:
    return find_lock_faults(lock, "project", ["dependency", "litellm"])


def test_the_lock_file_of_the_project_has_no_fault() -> None:
    assert find_lock_faults(read_lock_file(ROOT / "uv.lock"), PROJECT, names_on_page()) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"source": {"git": "https://example.org/a.git"}}, "comes from"),
        ({"source": {"registry": "https://mirror.example/simple"}}, "comes from"),
        ({"wheels": [HASHED | {"hash": ""}]}, "without a SHA-256 hash"),
        ({"wheels": [HASHED | {"hash": "md5:00"}]}, "without a SHA-256 hash"),
        ({"wheels": [HASHED | {"url": "https://files.pythonhosted.org.example/a.whl"}]}, "elsewhere"),
        ({"wheels": []}, "has no file"),
        ({"name": "extra-package"}, "no package requires it"),
    ],
)
def test_a_faulty_package_is_named(changes: dict[str, Json], fault: str) -> None:
    assert [sentence for sentence in faults_of(lock_with(**changes)) if fault in sentence] != []


def test_a_malicious_release_is_named() -> None:
    lock = lock_with(dependencies=[{"name": "litellm"}])
    release = {"name": "litellm", "version": "1.82.8", "source": {"registry": "https://pypi.org/simple"}}
    malicious = LockFile.model_validate(
        {"package": [*lock.package, release | {"wheels": [HASHED]}]}, from_attributes=True
    )

    assert faults_of(malicious) == ["litellm 1.82.8 was a malicious upload"]


def test_a_direct_dependency_that_the_page_does_not_name_is_a_fault() -> None:
    assert find_lock_faults(lock_with(), "project", []) == [
        "dependency is required, but docs/dependencies.md does not name it"
    ]


class VulnerabilityDatabase(BaseHTTPRequestHandler):
    """Answers as OSV does: one vulnerability in jinja2, none in others."""

    def do_POST(self) -> None:
        queries = JSON.validate_json(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        found = {"vulns": [{"id": "GHSA-1", "modified": "2026-01-01T00:00:00Z"}]}
        self._send_json({"results": [found if query["package"]["name"] == "jinja2" else {} for query in queries]})

    def do_GET(self) -> None:
        events = [{"introduced": "0"}, {"fixed": "99"}]
        affected = {
            "package": {"name": "jinja2", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": events}],
        }
        times = {"modified": "2026-01-01T00:00:00Z", "published": "2026-01-01T00:00:00Z"}
        self._send_json({"id": "GHSA-1", "summary": "Sandbox escape", "affected": [affected], **times})

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Writes nothing."""

    def _send_json(self, value: Json) -> None:
        body = JSON.dump_json(value)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve_database() -> Generator[str]:
    with HTTPServer(("127.0.0.1", 0), VulnerabilityDatabase) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_a_known_vulnerability_is_a_finding() -> None:
    with serve_database() as address:
        outcome = audit_dependencies(ROOT, ["--service-url", address])
    if isinstance(outcome, AuditUnavailable):
        pytest.skip(f"uv audit cannot run here: {outcome.reason}")

    assert [finding.partition(": ")[2] for finding in outcome.findings] == ["GHSA-1, Sandbox escape; mended in 99"]


def test_a_database_that_cannot_be_reached_is_one_line_and_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")

    outcome = audit_dependencies(ROOT, ["--service-url", "http://127.0.0.1:9/"])

    assert isinstance(outcome, AuditUnavailable)
    assert len(lines_for(outcome)) == 1
    assert lines_for(outcome)[0].startswith("not audited: ")


def test_a_machine_without_uv_audits_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert isinstance(audit_dependencies(ROOT), AuditUnavailable)


def test_the_lines_of_an_audit_count_packages_and_findings() -> None:
    assert lines_for(AuditResult(audited=3, findings=())) == ["audited: 3 packages, no known vulnerability"]
    assert lines_for(AuditResult(audited=3, findings=("a 1: X",)))[1:] == ["  a 1: X"]
