"""The import contracts in pyproject.toml hold."""

from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]


def test_the_import_contracts_hold(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)

    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)

    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out
