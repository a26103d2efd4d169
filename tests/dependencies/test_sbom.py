"""The software bill of materials lists what the image installs, each package with its hashes."""

import re
import shutil
import subprocess
from functools import cache

import pytest
from pydantic import BaseModel, Field

from tests.dependencies.__main__ import ROOT
from tests.test_house import runtime_dependencies


class ComponentHash(BaseModel):
    alg: str


class DistributionReference(BaseModel):
    hashes: tuple[ComponentHash, ...] = ()


class BomComponent(BaseModel):
    name: str
    external_references: tuple[DistributionReference, ...] = Field((), alias="externalReferences")


class BillOfMaterials(BaseModel):
    components: tuple[BomComponent, ...]


@cache
def make_bill() -> BillOfMaterials:
    """What the line of the Dockerfile writes."""
    if shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    command = re.findall(r"(?:RUN|&&) (uv export .*cyclonedx.*) --output-file", dockerfile)[0].split()
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(f"this uv writes no bill of materials: {run.stderr.splitlines()[-1]}")
    return BillOfMaterials.model_validate_json(run.stdout)


def test_the_bill_lists_what_runs_and_no_tool_of_development() -> None:
    names = {component.name for component in make_bill().components}

    assert {*runtime_dependencies()} <= names
    assert names.isdisjoint({"pytest", "ruff", "mkdocs-material"})


def test_each_component_has_hashes() -> None:
    without_hash = [
        component.name
        for component in make_bill().components
        if not any(
            digest.alg == "SHA-256" for reference in component.external_references for digest in reference.hashes
        )
    ]

    assert without_hash == []


def test_the_image_installs_what_the_bill_lists() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert re.findall(r"RUN uv sync --frozen (\S+)", dockerfile) == ["--no-default-groups"] * 2
    assert re.findall(r"export --frozen (\S+)", dockerfile + makefile) == ["--no-default-groups"] * 2
