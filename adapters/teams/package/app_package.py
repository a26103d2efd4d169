"""The package with which an admin installs the app: the manifest and two icons in a zip file."""

import io
import json
import zipfile
from typing import Final, Protocol

from adapters.teams.package.icons import draw_colour_icon, draw_outline_icon
from adapters.teams.package.manifest import COLOUR_FILE, OUTLINE_FILE, build_manifest, public_hosts_of
from adapters.teams.settings import TeamsSettings
from bot.settings_section import SectionT
from bot.surface.checkup import AppPackage

FILE_NAME: Final = "parley-teams.zip"
MANIFEST_FILE: Final = "manifest.json"
_FIXED_TIME: Final = (2026, 1, 1, 0, 0, 0)  # equal settings make equal packages


class PackageSettings(Protocol):
    """The settings that the package is made from."""

    @property
    def link_base(self) -> str: ...

    def section(self, section_type: type[SectionT]) -> SectionT: ...


def build_app_package(settings: PackageSettings) -> AppPackage:
    """Fulfils `bot.surface.checkup.AppPackager`."""
    manifest = build_manifest(settings.section(TeamsSettings), settings.link_base)
    files = {
        MANIFEST_FILE: json.dumps(manifest.content, indent=2, ensure_ascii=False).encode() + b"\n",
        COLOUR_FILE: draw_colour_icon(),
        OUTLINE_FILE: draw_outline_icon(),
    }
    return AppPackage(
        content=_zip_files(files), file_name=FILE_NAME, notes=_notes_for(manifest.placeholders, settings.link_base)
    )


def _notes_for(placeholders: tuple[str, ...], link_base: str) -> tuple[str, ...]:
    notes: list[str] = []
    if placeholders:
        notes.append(f"Placeholders stand for {', '.join(placeholders)}, which Teams shows to people: set them.")
    if not public_hosts_of(link_base):
        notes.append(
            f"PARLEY_PUBLIC_URL is {link_base}, which people's browsers cannot reach: set it, or links to files fail."
        )
    return tuple(notes)


def _zip_files(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(zipfile.ZipInfo(name, _FIXED_TIME), content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()
