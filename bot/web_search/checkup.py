"""Whether the search server answers, for `parley doctor`."""

from bot.web_search.errors import WebSearchUnavailable
from bot.web_search.searxng_client import open_searxng_client
from bot.web_search.settings import WebSearchSettings

_TEST_QUERY = "weather"


async def find_server_problem(settings: WebSearchSettings) -> str | None:
    """Asks the server one question. Returns what is wrong; None if it answers, or if the web is not searched."""
    if not settings.is_allowed:
        return None
    try:
        async with open_searxng_client(settings.searxng_url or "") as client:
            await client.find_pages(_TEST_QUERY)
    except WebSearchUnavailable as exc:
        return f"PARLEY_SEARXNG_URL: {exc.reason}"
    return None
