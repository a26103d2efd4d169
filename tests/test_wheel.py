"""The wheel, installed into an empty environment, has everything that Parley needs."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("adapters", "agent", "bot", "prompts", "storage")
UV = shutil.which("uv")

pytestmark = [
    pytest.mark.wheel,
    pytest.mark.skipif(UV is None, reason="no uv to build and install the wheel with"),
    pytest.mark.timeout(600),
]


def run_command(*command: str | Path, folder: Path, **environment: str) -> str:
    """Run the command and return its output, without the environment variables that point to the checkout."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PARLEY_", "PYTHON", "VIRTUAL_"))
    }
    inherited.pop("UV_PROJECT_ENVIRONMENT", None)
    process = subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, timeout=500, check=False
    )
    assert process.returncode == 0, f"{command} ended with {process.returncode}:\n{process.stdout}\n{process.stderr}"
    return process.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run_command(str(UV), "build", "--quiet", "--wheel", "--out-dir", folder, ROOT, folder=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment with the wheel and its locked dependencies."""
    uv, folder = str(UV), tmp_path_factory.mktemp("installed")
    locked = ("export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--output-file", folder / "locked.txt")
    run_command(uv, *locked, folder=ROOT)
    run_command(uv, "venv", "--quiet", "--python", sys.executable, folder / "venv", folder=folder)
    install = ("pip", "install", "--quiet", "--python", folder / "venv" / "bin" / "python")
    run_command(uv, *install, "--requirements", folder / "locked.txt", folder=folder)
    run_command(uv, *install, "--no-deps", wheel, folder=folder)
    return folder / "venv" / "bin"


def test_every_file_of_the_rooms_is_in_the_wheel(wheel: Path) -> None:
    files = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed_files = set(archive.namelist())

    assert files - packed_files == set()
    assert {name.partition("/")[0] for name in packed_files} - {*ROOMS} == {
        f"parley-{wheel.name.split('-')[1]}.dist-info"
    }


def test_the_installed_program_ingests_and_finds_documents(programs: Path, tmp_path: Path) -> None:
    vendors = ["Acme", "Acme", "Bolt"]
    documents = [
        {
            "doc_id": f"r{number}",
            "title": f"Receipt {number}",
            "text": f"Receipt {number} of {vendor}.\nThe total is {number}0.00 USD.",
            "metadata": {"vendor": vendor, "date": f"2024-05-0{number}"},
            "source": "test",
            "page_starts": None,
            "bucket": "receipts",
        }
        for number, vendor in enumerate(vendors, start=1)
    ]
    file = tmp_path / "receipts.jsonl"
    file.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")
    home = {"PARLEY_HOME": str(tmp_path / "home")}

    assert "ask" in run_command(programs / "parley", "--help", folder=tmp_path, **home)
    run_command(programs / "parley", "ingest", file, folder=tmp_path, **home)
    output = run_command(
        programs / "parley", "ask", "List every receipt with vendor Acme", "--json", folder=tmp_path, **home
    )

    result: dict[str, Any] = json.loads(output)
    assert (result["outcome"], result["count"], result["doc_ids"]) == ("answer", 2, ["r2", "r1"])
