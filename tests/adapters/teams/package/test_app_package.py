"""The app package: a manifest that Microsoft's schema accepts, and icons in the sizes that Teams wants."""

import io
import json
import shutil
import struct
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import jsonschema
import pytest

from adapters.teams.administration.listener import COMMANDS
from adapters.teams.package.app_package import build_app_package
from adapters.teams.package.icons import draw_colour_icon, draw_outline_icon
from adapters.teams.settings import TeamsSettings
from bot.errors import InvalidSettings
from bot.settings_section import SectionT

SCHEMA_PACKAGE = "@microsoft/app-manifest@1.1.2"
SCHEMA_MEMBER = "package/build/json-schemas/teams/v{version}/MicrosoftTeams.schema.json"
APP_ID = "2f9d7a4e-60cb-4d65-9d3c-7f2d1a0b9c8d"
DEVELOPER = {
    "developer_name": "Contoso",
    "website_url": "https://contoso.example",
    "privacy_url": "https://contoso.example/privacy",
    "terms_url": "https://contoso.example/terms",
}


@dataclass
class PackageTestSettings:
    teams: dict[str, str] = field(default_factory=dict[str, str])
    link_base: str = "https://parley.contoso.example"

    def section(self, section_type: type[SectionT]) -> SectionT:
        assert section_type is TeamsSettings
        return section_type.model_validate({"app_id": APP_ID, **self.teams})


def files_in(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return {name: package.read(name) for name in package.namelist()}


def manifest_for(settings: PackageTestSettings) -> dict[str, Any]:
    return json.loads(files_in(build_app_package(settings).content)["manifest.json"])


@pytest.fixture(scope="session")
def schema_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Microsoft's schemas from the npm registry, or from npm's cache."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("schemas")
    command = [npm, "pack", SCHEMA_PACKAGE, "--prefer-offline", "--silent", "--pack-destination", str(folder)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=90, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"the npm registry does not hand out {SCHEMA_PACKAGE} in time")
    if ended.returncode != 0:
        pytest.skip(f"the npm registry does not hand out {SCHEMA_PACKAGE}")
    [archive] = folder.glob("*.tgz")
    return archive


def schema_of(archive: Path, version: str) -> Mapping[str, Any]:
    with tarfile.open(archive) as package:
        member = package.extractfile(SCHEMA_MEMBER.format(version=version))
        assert member is not None
        return json.load(member)


class SchemaChecker(Protocol):
    """The part of jsonschema's validators that is used here; their own types say less."""

    def iter_errors(self, instance: object) -> Iterator[jsonschema.ValidationError]: ...


def find_schema_errors(manifest: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    checker = cast(SchemaChecker, jsonschema.Draft4Validator(schema))
    return [error.message for error in checker.iter_errors(manifest)]


@pytest.mark.parametrize(
    "settings",
    [
        PackageTestSettings(),
        PackageTestSettings(DEVELOPER),
        PackageTestSettings(link_base="http://127.0.0.1:8080"),
        PackageTestSettings({"app_id": APP_ID.upper(), "developer_name": "x" * 32}),
    ],
)
def test_microsofts_schema_accepts_the_manifest(schema_archive: Path, settings: PackageTestSettings) -> None:
    manifest = manifest_for(settings)
    schema = schema_of(schema_archive, manifest["manifestVersion"])

    assert find_schema_errors(manifest, schema) == []
    assert manifest["manifestVersion"] == schema["properties"]["manifestVersion"]["const"]


def test_the_schema_refuses_a_manifest_with_a_mistake(schema_archive: Path) -> None:
    manifest = manifest_for(PackageTestSettings())
    manifest["bots"][0]["scopes"] = ["personal", "chats"]

    [error] = find_schema_errors(manifest, schema_of(schema_archive, "1.25"))

    assert "'chats' is not one of" in error


def test_the_manifest_names_the_bot_its_places_and_its_host() -> None:
    manifest = manifest_for(PackageTestSettings(DEVELOPER))

    [bot] = manifest["bots"]
    assert manifest["id"] == bot["botId"] == APP_ID
    assert (bot["scopes"], bot["supportsFiles"]) == (["personal", "team", "groupChat"], True)
    assert manifest["validDomains"] == ["parley.contoso.example"]
    assert manifest["developer"] == {
        "name": "Contoso",
        "websiteUrl": "https://contoso.example",
        "privacyUrl": "https://contoso.example/privacy",
        "termsOfUseUrl": "https://contoso.example/terms",
    }
    assert "webApplicationInfo" not in manifest


def test_each_command_of_the_personal_chat_has_its_handler() -> None:
    command_lists = manifest_for(PackageTestSettings())["bots"][0]["commandLists"]
    titles = {tuple(found["scopes"]): [command["title"] for command in found["commands"]] for found in command_lists}

    assert titles[("personal",)] == ["What can you answer?", *COMMANDS]
    assert titles[("team", "groupChat")] == ["What can you answer?"]


def test_missing_settings_are_named_with_what_stands_for_them() -> None:
    complete = build_app_package(PackageTestSettings(DEVELOPER))
    local = build_app_package(PackageTestSettings({"developer_name": "Contoso"}, link_base="http://127.0.0.1:8080"))

    assert complete.notes == ()
    assert "PARLEY_TEAMS_WEBSITE_URL, PARLEY_TEAMS_PRIVACY_URL, PARLEY_TEAMS_TERMS_URL" in local.notes[0]
    assert "PARLEY_TEAMS_DEVELOPER_NAME" not in local.notes[0]
    assert "http://127.0.0.1:8080" in local.notes[1]


@pytest.mark.parametrize("base", ["http://parley.contoso.example", "https://10.0.0.7", "https://localhost:8080"])
def test_a_host_that_the_internet_does_not_reach_is_no_valid_domain(base: str) -> None:
    assert manifest_for(PackageTestSettings(link_base=base))["validDomains"] == []


@pytest.mark.parametrize("app_id", ["", "parley", "2f9d7a4e-60cb-4d65-9d3c", f"{APP_ID}\n"])
def test_an_app_without_a_proper_id_has_no_package(app_id: str) -> None:
    with pytest.raises(InvalidSettings, match="MICROSOFT_APP_ID"):
        build_app_package(PackageTestSettings({"app_id": app_id}))


def test_equal_settings_make_equal_packages() -> None:
    first, second = (build_app_package(PackageTestSettings()).content for _ in range(2))

    assert first == second
    assert sorted(files_in(first)) == ["color.png", "manifest.json", "outline.png"]


def pixels_of(png: bytes) -> list[list[tuple[int, ...]]]:
    """Rows of red, green, blue and alpha. Checks the file's structure and checksums."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, position = dict[bytes, bytes](), 8
    while position < len(png):
        [length] = struct.unpack(">I", png[position : position + 4])
        kind, data = png[position + 4 : position + 8], png[position + 8 : position + 8 + length]
        [checksum] = struct.unpack(">I", png[position + 8 + length : position + 12 + length])
        assert zlib.crc32(kind + data) == checksum
        chunks[kind], position = data, position + 12 + length
    width, height, depth, colour_type, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colour_type, list(chunks)) == (8, 6, [b"IHDR", b"IDAT", b"IEND"])
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[y * (4 * width + 1) + 1 : (y + 1) * (4 * width + 1)] for y in range(height)]
    return [[tuple(row[4 * x : 4 * x + 4]) for x in range(width)] for row in rows]


def test_the_colour_icon_has_192_pixels_and_no_transparency() -> None:
    pixels = pixels_of(draw_colour_icon())

    assert (len(pixels), {len(row) for row in pixels}) == (192, {192})
    assert {pixel[3] for row in pixels for pixel in row} == {255}
    assert pixels[96][45][:3] == (255, 255, 255)  # the bubble
    assert pixels[60][70][:3] == (255, 179, 0)  # its first button


def test_the_outline_icon_has_32_pixels_in_white_on_transparent() -> None:
    pixels = pixels_of(draw_outline_icon())

    assert (len(pixels), {len(row) for row in pixels}) == (32, {32})
    assert {pixel[:3] for row in pixels for pixel in row if pixel[3]} == {(255, 255, 255)}
    assert pixels[0][0][3] == pixels[31][31][3] == 0
    assert pixels[14][3] == (255, 255, 255, 255)  # the bubble's edge
