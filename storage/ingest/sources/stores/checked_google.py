"""A session for Google Cloud Storage whose connections go to checked addresses."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# (fsspec and gcsfs have hardly any type annotations)

from typing import Any

import aiohttp
from fsspec.asyn import get_loop, sync
from gcsfs.retry import NonRetryableError

from storage.ingest.sources.addresses import address_rule_for, find_refused_address, socket_factory_for


class _CheckedConnector(aiohttp.TCPConnector):
    async def connect(self, *arguments: Any, **options: Any) -> Any:
        """Raises `NonRetryableError` for a refused address, which gcsfs would else try six times within a minute."""
        try:
            return await super().connect(*arguments, **options)
        except aiohttp.ClientConnectorError as exc:
            if (refused := find_refused_address(exc)) is not None:
                raise NonRetryableError from refused
            raise


def checked_session_options(*, allow_private: bool) -> dict[str, object]:
    """What gcsfs makes its session with. Blocks."""

    async def open_connector() -> aiohttp.TCPConnector:
        return _CheckedConnector(socket_factory=socket_factory_for(address_rule_for(allow_private=allow_private)))

    return {"connector": sync(get_loop(), open_connector)}
