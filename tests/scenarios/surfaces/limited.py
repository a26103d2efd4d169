"""The driver of a surface without the actions that not every surface has."""

from tests.scenarios.surfaces.office import (
    ChatPlace,
    DownloadFailure,
    OfferedFile,
    OfficePerson,
    SentMessage,
)


class ActionNotOffered(Exception):
    """The surface has no such action. The scenario lacks an ability among those that it names."""


class LimitedDriver:
    """The part of `SurfaceDriver` that needs an ability. Each method raises `ActionNotOffered`."""

    async def add_guest(self, place: ChatPlace) -> OfficePerson:
        raise ActionNotOffered

    async def remove_app(self, place: ChatPlace) -> None:
        raise ActionNotOffered

    async def deactivate_person(self, person: OfficePerson) -> None:
        raise ActionNotOffered

    async def upload_file(self, person: OfficePerson, file: OfferedFile) -> OfferedFile:
        raise ActionNotOffered

    async def edit_text(self, message: SentMessage, text: str) -> None:
        raise ActionNotOffered

    async def delete_message(self, message: SentMessage) -> None:
        raise ActionNotOffered

    async def remove_file(self, message: SentMessage, file: OfferedFile) -> None:
        raise ActionNotOffered

    async def load_notices(self, person: OfficePerson) -> list[str]:
        raise ActionNotOffered

    def fail_downloads(self, *failures: DownloadFailure) -> None:
        raise ActionNotOffered

    def count_downloads(self) -> int:
        raise ActionNotOffered
