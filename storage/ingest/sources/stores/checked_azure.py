"""A file system for Azure Blob Storage whose connections go to checked addresses."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false
# (adlfs has hardly any type annotations)

from typing import Any

import aiohttp
from adlfs import AzureBlobFileSystem
from azure.core.exceptions import ServiceRequestError
from azure.core.pipeline.transport import AioHttpTransport
from azure.storage.blob.aio import BlobServiceClient

from storage.ingest.sources.addresses import address_rule_for, find_refused_address, socket_factory_for


class CheckedContainers(AzureBlobFileSystem):
    """Connects by a connection string."""

    def __init__(self, *, connection_string: str, allow_private: bool, **options: Any) -> None:
        self._allow_private, self._connection_text = allow_private, connection_string
        super().__init__(connection_string=connection_string, **options)

    def do_connect(self) -> None:
        """Raises `ValueError` for a connection string that cannot be read."""
        transport = _CheckedAzureTransport(allow_private=self._allow_private)
        self.service_client = BlobServiceClient.from_connection_string(self._connection_text, transport=transport)


class _CheckedAzureTransport(AioHttpTransport):
    def __init__(self, *, allow_private: bool) -> None:
        super().__init__()
        self._is_allowed_address = address_rule_for(allow_private=allow_private)

    async def open(self) -> None:
        if not self.session and not self._has_been_opened:
            self.session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(socket_factory=socket_factory_for(self._is_allowed_address)),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=True,
            )
        await super().open()

    async def send(self, request: Any, **options: Any) -> Any:
        """Raises `AddressRefused`, which is not tried again, beside what the base class raises."""
        try:
            return await super().send(request, **options)
        except ServiceRequestError as exc:
            if (refused := find_refused_address(exc)) is not None:
                raise refused from None
            raise
