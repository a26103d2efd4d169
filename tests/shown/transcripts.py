"""Transcripts on docs/shown.md: each is recorded anew by a test, and has to be on the page as it is.

`PARLEY_REWRITE_SHOWN=1` writes what was recorded onto the page. A person reads it before it is committed.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.cli.conftest import environment_for

PAGE: Final = Path(__file__).parents[2] / "docs" / "shown.md"
_TIMEOUT_S: Final = 240
_OF_ONE_RUN: Final = {  # what differs at each run, and what stands for it
    re.compile(r"terminal:[\w-]{12}"): "terminal:…",
    re.compile(r"\d+ rows"): "… rows",
    re.compile(r"revision \d{4}"): "revision …",
    re.compile(r"of \d{4}$", re.MULTILINE): "of …",
    re.compile(r"\d+ to run"): "… to run",
    re.compile(r"SQLite [\d.]+"): "SQLite …",
    re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00"): "…",
}


class RecordedTranscript:
    """What is shown under a name on the page. `hidden`: texts of this run, and what stands for them."""

    def __init__(self, name: str, hidden: Mapping[str, str] | None = None) -> None:
        self.name, self._hidden, self._lines = name, dict(hidden or {}), list[str]()

    def add_lines(self, *lines: str) -> None:
        for line in lines:
            for text, shown in self._hidden.items():
                line = line.replace(text, shown)
            for pattern, shown in _OF_ONE_RUN.items():
                line = pattern.sub(shown, line)
            self._lines += [part.rstrip() for part in line.split("\n")]

    @property
    def text(self) -> str:
        return "\n".join(self._lines).strip("\n") + "\n"

    def check_page(self) -> None:
        """Fails if the page shows something else under this name."""
        page = PAGE.read_text(encoding="utf-8")
        block = re.compile(rf"(<!-- transcript: {self.name} -->\n```text\n)(.*?)(```)", re.DOTALL)
        if os.environ.get("PARLEY_REWRITE_SHOWN") == "1":
            page = block.sub(lambda found: found[1] + self.text + found[3], page)
            PAGE.write_text(page, encoding="utf-8")
        assert [found[1] for found in block.findall(page)] == [self.text]


class RecordedShell:
    """Runs commands in a folder as a person types them, and records them with all that they print."""

    def __init__(self, folder: Path, transcript: RecordedTranscript, **settings: str) -> None:
        self._folder, self._transcript, self._settings = folder, transcript, settings

    def run(self, command: str, *, shown: str | None = None, home: str = "home") -> str:
        """Returns what it prints. `shown`: what stands for the command on the page. Raises if it fails."""
        return self._run(command, command if shown is None else shown, home)

    def run_unshown(self, command: str, *, home: str = "home") -> str:
        return self._run(command, None, home)

    def _run(self, command: str, shown: str | None, home: str) -> str:
        search_path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        environment = environment_for(self._folder / home, PATH=search_path, COLUMNS="120", **self._settings)
        ended = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        assert ended.returncode == 0, f"{command}: {ended.stdout}"
        if shown is not None:
            self._transcript.add_lines(f"$ {shown}", ended.stdout)
        return ended.stdout
