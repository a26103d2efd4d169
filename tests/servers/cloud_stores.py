"""Emulators of Google Cloud Storage (of PyPI) and of Azure Blob Storage (of npm), each with an empty bucket."""

import json
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, cast
from urllib.parse import quote
from urllib.request import Request, urlopen
from uuid import uuid4

from storage.ingest.sources.stores.open_store import StoreLocation
from tests.servers.artefacts import cache_folder
from tests.servers.file_stores import wait_for_log
from tests.servers.missing import ServerMissing
from tests.servers.process import free_port, run_server, scratch_folder

_AZURE_ACCOUNT: Final = "devstoreaccount1"
_AZURE_KEY: Final = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Published with the emulator: it takes no other."""


class CloudBucket(Protocol):
    """A bucket, read by `location` from the folder `in`."""

    @property
    def location(self) -> StoreLocation: ...

    def write(self, name: str, text: str) -> None: ...

    def remove(self, name: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class GoogleBucket:
    location: StoreLocation
    bucket: str

    def write(self, name: str, text: str) -> None:
        self._request("POST", f"/upload/storage/v1/b/{self.bucket}/o?uploadType=media&name=in/{name}", text.encode())

    def remove(self, name: str) -> None:
        self._request("DELETE", f"/storage/v1/b/{self.bucket}/o/{quote(f'in/{name}', safe='')}")

    def set_access(self, name: str, role_by_entity: Mapping[str, str]) -> None:
        entries = [{"entity": entity, "role": role} for entity, role in role_by_entity.items()]
        path = f"/storage/v1/b/{self.bucket}/o/{quote(f'in/{name}', safe='')}"
        self._request("PATCH", path, json.dumps({"acl": entries}).encode(), media_type="application/json")

    def _request(self, method: str, path: str, body: bytes | None = None, *, media_type: str = "text/plain") -> None:
        headers = {"Content-Type": media_type}
        with urlopen(Request(self.location.endpoint + path, data=body, method=method, headers=headers)):
            pass


@contextmanager
def google_bucket() -> Generator[GoogleBucket]:
    import gcp_storage_emulator.server  # pyright: ignore[reportMissingTypeStubs]

    port, bucket = free_port(), f"b{uuid4().hex}"
    server = cast(Any, gcp_storage_emulator.server).create_server(
        "127.0.0.1", port, in_memory=True, default_bucket=bucket
    )
    server.start()
    location = StoreLocation(
        url=f"gs://{bucket}/in", endpoint=f"http://127.0.0.1:{port}", is_anonymous=True, allow_private=True
    )
    try:
        yield GoogleBucket(location=location, bucket=bucket)
    finally:
        server.stop()


@dataclass(frozen=True, kw_only=True)
class AzureContainer:
    location: StoreLocation
    client: Any

    def write(self, name: str, text: str) -> None:
        self.client.upload_blob(f"in/{name}", text.encode(), overwrite=True)

    def remove(self, name: str) -> None:
        self.client.delete_blob(f"in/{name}")


@contextmanager
def azure_container() -> Generator[AzureContainer]:
    """Raises `ServerMissing`."""
    from azure.storage.blob import ContainerClient

    port, container = free_port(), f"b{uuid4().hex}"
    endpoint = f"http://127.0.0.1:{port}/{_AZURE_ACCOUNT}"
    with scratch_folder("azure") as scratch:
        log = scratch / "server.log"
        command = [str(_find_azurite()), "--location", str(scratch), "--blobPort", str(port), "--skipApiVersionCheck"]
        with run_server([*command, "--disableTelemetry"], folder=scratch, log=log) as process:
            wait_for_log("azurite", process, log, "successfully listen")
            connection = f"AccountName={_AZURE_ACCOUNT};AccountKey={_AZURE_KEY};BlobEndpoint={endpoint}"
            with ContainerClient.from_connection_string(connection, container) as client:
                client.create_container()
                location = StoreLocation(
                    url=f"abfs://{container}/in",
                    user=_AZURE_ACCOUNT,
                    secret=_AZURE_KEY,
                    endpoint=endpoint,
                    allow_private=True,
                )
                yield AzureContainer(location=location, client=client)


def _find_azurite() -> Path:
    """Returns Microsoft's emulator. It takes 190 MB, so the tests do not fetch it."""
    installed = cache_folder() / "azurite" / "node_modules" / ".bin" / "azurite-blob"
    found = shutil.which("azurite-blob") or (str(installed) if installed.exists() else None)
    if found is None:
        reason = f"no azurite-blob; npm install --prefix {installed.parents[2]} azurite gets it"
        raise ServerMissing("azurite", reason, required=False)
    return Path(found)
