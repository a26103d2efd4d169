"""Asks the OSV database about each locked package, with `uv audit`."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel, Field, ValidationError

_TIMEOUT_S: Final = 120.0
_ENVIRONMENT: Final = {"UV_HTTP_RETRIES": "1", "UV_HTTP_TIMEOUT": "20"}  # s
_FEATURES: Final = "audit-command,json-output"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """`findings`: a sentence for each known vulnerability, and for each package that its index warns about."""

    audited: int
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditUnavailable:
    """The database was not asked: no network, an older uv, or an answer that cannot be read."""

    reason: str


AuditOutcome: TypeAlias = AuditResult | AuditUnavailable


class AuditedDependency(BaseModel):
    name: str
    version: str = ""


class KnownVulnerability(BaseModel):
    dependency: AuditedDependency
    display_id: str
    summary: str | None = None
    fix_versions: tuple[str, ...] = ()

    def as_sentence(self) -> str:
        fixed = f"; mended in {', '.join(self.fix_versions)}" if self.fix_versions else "; no release mends it"
        return f"{self.dependency.name} {self.dependency.version}: {self.display_id}, {self.summary or ''}{fixed}"


class AdverseStatus(BaseModel):
    name: str
    status: str = ""
    reason: str | None = None


class AuditSummary(BaseModel):
    audited_packages: int


class AuditReport(BaseModel):
    summary: AuditSummary
    vulnerabilities: tuple[KnownVulnerability, ...]
    adverse_statuses: tuple[AdverseStatus, ...] = Field(default=())


def audit_dependencies(folder: Path, options: Sequence[str] = ()) -> AuditOutcome:
    """Audits uv.lock in `folder`, the packages for development too. `options`: further ones of `uv audit`.

    Never raises because the database cannot be reached.
    """
    command = ["uv", "audit", "--frozen", "--output-format", "json", "--preview-features", _FEATURES, *options]
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            env=_ENVIRONMENT | os.environ,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        return AuditUnavailable(reason=f"uv audit: {type(exc).__name__}")
    try:
        report = AuditReport.model_validate_json(run.stdout)
    except ValidationError:
        return AuditUnavailable(reason=_first_error_of(run.stderr))
    warnings = (f"{status.name}: {status.status}, {status.reason or ''}" for status in report.adverse_statuses)
    findings = (*(vulnerability.as_sentence() for vulnerability in report.vulnerabilities), *warnings)
    return AuditResult(audited=report.summary.audited_packages, findings=findings)


def _first_error_of(error_output: str) -> str:
    lines = [line.removeprefix("error: ") for line in error_output.splitlines() if line.startswith("error: ")]
    return lines[0] if lines else "uv audit answered nothing that can be read"
