"""`python -m tests.dependencies`: checks uv.lock, then asks the OSV database about known vulnerabilities.

Fails for what is found. A database that cannot be reached is one line that begins with `not audited:`, and no failure.
"""

import re
import sys
from pathlib import Path
from typing import assert_never

from rich.console import Console

from tests.dependencies.advisories import AuditOutcome, AuditResult, AuditUnavailable, audit_dependencies
from tests.dependencies.lock_file import find_lock_faults, read_lock_file

ROOT = Path(__file__).parents[2]
PROJECT = "parley"


def names_on_page() -> list[str]:
    """The packages that docs/dependencies.md says the project requires."""
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE)


def lines_for(outcome: AuditOutcome) -> list[str]:
    match outcome:
        case AuditUnavailable(reason=reason):
            return [f"not audited: {reason}"]
        case AuditResult(audited=audited, findings=()):
            return [f"audited: {audited} packages, no known vulnerability"]
        case AuditResult(audited=audited, findings=findings):
            return [f"audited: {audited} packages, {len(findings)} findings", *(f"  {line}" for line in findings)]
        case _:
            assert_never(outcome)


def main() -> None:
    lock = read_lock_file(ROOT / "uv.lock")
    faults = find_lock_faults(lock, PROJECT, names_on_page())
    lines = [f"lock file: {len(lock.package)} packages, {len(faults)} faults", *(f"  {fault}" for fault in faults)]
    outcome = audit_dependencies(ROOT)
    Console(soft_wrap=True, markup=False, highlight=False).print("\n".join((*lines, *lines_for(outcome))))
    sys.exit(1 if faults or (isinstance(outcome, AuditResult) and outcome.findings) else 0)


if __name__ == "__main__":
    main()
