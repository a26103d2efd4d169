"""The newest service URL of each conversation, on every database."""

from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import ServiceUrlStore


async def test_the_newest_url_of_a_conversation_counts(database: SqlDatabase) -> None:
    service_urls = ServiceUrlStore(database)
    await service_urls.replace_url("teams:t:1", "https://smba.example/amer/")
    await service_urls.replace_url("teams:t:2", "https://smba.example/in/")
    await service_urls.replace_url("teams:t:1", "https://smba.example/emea/")

    assert await service_urls.find_url("teams:t:1") == "https://smba.example/emea/"
    assert await service_urls.find_url("teams:t:2") == "https://smba.example/in/"


async def test_an_unknown_conversation_has_no_url(database: SqlDatabase) -> None:
    assert await ServiceUrlStore(database).find_url("teams:t:1") is None
