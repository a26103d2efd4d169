"""Checks uv.lock without a network: the origin and the hashes of each package, who requires it, and bad releases."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field

PACKAGE_INDEX: Final = "https://pypi.org/simple"
FILE_HOST: Final = "https://files.pythonhosted.org/"
# Uploads that were malicious, by package. The index removed them; a mirror or a cache may still have them.
MALICIOUS_RELEASES: Final[Mapping[str, Collection[str]]] = {
    "litellm": ("1.82.7", "1.82.8"),  # March 2026: both stole credentials, the second one at each start of Python
}


class LockedFile(BaseModel):
    url: str = ""
    hash: str = ""


class LockedRequirement(BaseModel):
    name: str


class LockedPackage(BaseModel):
    """A package of the lock file. `source` of a package from an index is `{"registry": URL}`."""

    name: str
    version: str = ""
    source: dict[str, str]
    sdist: LockedFile | None = None
    wheels: tuple[LockedFile, ...] = ()
    dependencies: tuple[LockedRequirement, ...] = ()
    optional_dependencies: dict[str, tuple[LockedRequirement, ...]] = Field({}, alias="optional-dependencies")
    dev_dependencies: dict[str, tuple[LockedRequirement, ...]] = Field({}, alias="dev-dependencies")

    @property
    def files(self) -> tuple[LockedFile, ...]:
        return (*([self.sdist] if self.sdist else []), *self.wheels)

    def required_names(self) -> set[str]:
        groups = (self.dependencies, *self.optional_dependencies.values(), *self.dev_dependencies.values())
        return {requirement.name for group in groups for requirement in group}


class LockFile(BaseModel):
    package: tuple[LockedPackage, ...]


def read_lock_file(path: Path) -> LockFile:
    return LockFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def find_lock_faults(lock: LockFile, project: str, direct_names: Collection[str]) -> list[str]:
    """Returns a sentence for each fault. `direct_names`: the packages that the project may require itself."""
    root = next(package for package in lock.package if package.name == project)
    others = [package for package in lock.package if package is not root]
    unlisted = sorted(root.required_names() - {*direct_names})
    unneeded = sorted({package.name for package in others} - _names_needed_by(root.required_names(), others))
    return [
        *(f"{name} is required, but docs/dependencies.md does not name it" for name in unlisted),
        *(f"{name} is locked, but no package requires it" for name in unneeded),
        *(fault for package in others for fault in _faults_of(package)),
    ]


def _names_needed_by(names: set[str], packages: list[LockedPackage]) -> set[str]:
    needed, waiting = set[str](), {*names}
    while waiting:
        needed |= waiting
        required = (package.required_names() for package in packages if package.name in waiting)
        waiting = set[str]().union(*required) - needed
    return needed


def _faults_of(package: LockedPackage) -> Iterator[str]:
    title = f"{package.name} {package.version}"
    if package.source != {"registry": PACKAGE_INDEX}:
        yield f"{title} comes from {package.source}, not from {PACKAGE_INDEX}"
    if not package.files:
        yield f"{title} has no file"
    for file in package.files:
        if not file.hash.startswith("sha256:"):
            yield f"{title} has a file without a SHA-256 hash: {file.url}"
        if not file.url.startswith(FILE_HOST):
            yield f"{title} has a file elsewhere than on {FILE_HOST}: {file.url}"
    if package.version in MALICIOUS_RELEASES.get(package.name, ()):
        yield f"{title} was a malicious upload"
