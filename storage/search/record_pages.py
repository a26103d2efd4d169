"""Reads the pages of a set, one page ahead of the code that uses them."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

from storage.search.index import RecordPage, RecordPageRequest, ScopedIndex


async def load_pages_ahead(index: ScopedIndex, request: RecordPageRequest) -> AsyncGenerator[RecordPage]:
    """Yield the page of the request and all later ones. While a page is decoded and used, the next is loaded.

    Read the records of a page outside the event loop: their values may be decoded then.

    Raises what the index raises. Close it at the end of the block that reads it.
    """

    async def load_page(cursor: str | None) -> RecordPage:
        page_request = replace(request, cursor=cursor, decodes_later=True)
        return (await index.answer_requests(page_request))[page_request]

    page = await load_page(request.cursor)
    while page.cursor is not None:
        loading = asyncio.create_task(load_page(page.cursor))
        try:
            yield page
            page = await loading
        finally:
            loading.cancel()
            await asyncio.wait({loading})
            if not loading.cancelled():
                loading.exception()  # it counts only if the page is wanted
    yield page
