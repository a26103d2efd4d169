"""`parley doctor` about the search server."""

from pathlib import Path

from bot.bootstrap import list_unreachable_backends
from bot.settings import load_settings
from tests.stand_ins.searxng import serve_searxng


async def list_problems(home: Path, url: str, web: str = "ask") -> list[str]:
    environ = {"PARLEY_WEB": web, "PARLEY_SEARXNG_URL": url, "PARLEY_EMBEDDER": "none"}
    return await list_unreachable_backends(load_settings(home, environ).settings)


async def test_doctor_says_what_the_search_server_lacks(tmp_path: Path) -> None:
    async with serve_searxng() as server:
        assert await list_problems(tmp_path, server.url) == []

        server.formats = ("html",)
        [problem] = await list_problems(tmp_path, server.url)

    assert problem == (
        "PARLEY_SEARXNG_URL: it does not allow the JSON format; add json to search.formats in its settings.yml"
    )
    [problem] = await list_problems(tmp_path, "http://127.0.0.1:9")
    assert problem == "PARLEY_SEARXNG_URL: it cannot be reached, or its answer cannot be read"


async def test_a_server_that_is_not_used_is_not_asked(tmp_path: Path) -> None:
    assert await list_problems(tmp_path, "http://127.0.0.1:9", web="off") == []
