"""Questions about a folder with documents of several kinds, from its files to the replies."""

from pathlib import Path

from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.scripting import ask_application
from bot.settings import load_settings
from storage.search.ids import EVERYONE, BucketId
from tests.storage.ingest.mixed_folders import MixedFolder
from tests.storage.ingest.runs import ingest_with_rules

SHARED = BucketId("shared")
REPLIES = {
    "invoices from Acme Tools": "**3 invoices** with supplier Acme Tools:",
    "how many policies are there": "**8 policies**.",
    "how many minutes are there": "**6 sets of minutes**.",
    "asset sheets purchased before 2021": "**4 asset sheets** purchased before 2021-01-01:",
    "anything purchased before 2020": "**3 asset sheets** purchased before 2020-01-01:",
    "what is the total of all invoices": "Sum of total: **EUR 56,810.00** (14 invoices).",
    "the most expensive asset": "**Asset sheet A-102** has the highest value of the **8 asset sheets**",
    "documents in the folder archive": "**10 documents** in the folder archive.",
    "rows of the sheet North": "**8 rows of the budget** in the sheet North.",
    "invoices and policies": "**22 documents** of kind invoice or policy. The first 10, and choices by kind:",
}


async def test_the_nouns_of_kinds_are_sets_with_the_fields_of_their_kind(tmp_path: Path) -> None:
    folder = MixedFolder(seed=3).write_into(tmp_path / "shared")
    settings = load_settings(tmp_path / "home", {"PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings) as bot:
        await ingest_with_rules(bot.index, [folder], bucket=SHARED)
        await bot.administration.grant_bucket(SHARED, EVERYONE, by=OPERATOR)

        replies = {question: (await ask_application(bot, question))["text"] for question in REPLIES}

    assert {question: reply[: len(REPLIES[question])] for question, reply in replies.items()} == REPLIES


async def test_a_word_beside_a_kind_is_no_value_of_another_kind(tmp_path: Path) -> None:
    folder = MixedFolder(seed=3).write_into(tmp_path / "shared")
    settings = load_settings(tmp_path / "home", {"PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings) as bot:
        await ingest_with_rules(bot.index, [folder], bucket=SHARED)
        await bot.administration.grant_bucket(SHARED, EVERYONE, by=OPERATOR)

        reply = (await ask_application(bot, "is there a policy on travel"))["text"]

    assert "cost centre" not in reply
