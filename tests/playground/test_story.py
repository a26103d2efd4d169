"""The demo's story in a real client of Teams: the Agents Playground, used in a headless Chromium.

Pictures go to the folder in `PARLEY_PLAYGROUND_PICTURES`, else they are thrown away.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.demo.corpus import DemoCorpus, generate_corpus
from tests.playground.installation import PlaygroundTools, prepare_tools
from tests.playground.office import BUCKETS, CHANNEL, SLOW_QUESTION, load_corpus, open_playground_office
from tests.playground.teams_client import PlaygroundClient
from tests.scenarios.surfaces.copying import copy_home
from tests.scenarios.truth import plain_records
from tests.servers.missing import ServerMissing, skip_or_fail

pytestmark = pytest.mark.playground
TIRES = "List every tire purchase receipt"
LOOKUP = "How often must the air filter of the battery cabinet B-120 be replaced?"
EMPTY_SET = "Contracts with ACME for 2031"


@pytest.fixture(scope="module")
def tools() -> PlaygroundTools:
    try:
        return prepare_tools()
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture(scope="module")
def corpus() -> DemoCorpus:
    return generate_corpus()


@pytest.fixture(scope="module")
def corpus_home(tools: PlaygroundTools, corpus: DemoCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpus in its index and without grants."""
    home = tmp_path_factory.mktemp("home")
    asyncio.run(load_corpus(corpus, home, tmp_path_factory.mktemp("corpus")))
    return home


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("PARLEY_PLAYGROUND_PICTURES") or tmp_path / "pictures")
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
async def client(
    tools: PlaygroundTools, corpus: DemoCorpus, corpus_home: Path, pictures: Path, tmp_path: Path
) -> AsyncIterator[PlaygroundClient]:
    """With the personal chat open. At the end, everything that the client delivered was accepted."""
    home = copy_home(corpus_home, tmp_path / "home")
    async with open_playground_office(tools, corpus, home) as office:
        client = PlaygroundClient(office=office, pictures=pictures)
        await client.open_client()
        yield client
        assert set(office.proxy.statuses) <= {200, 202}


def check_messages(client: PlaygroundClient) -> None:
    """Each new message has an id: none was split by the client."""
    sent = client.office.proxy.messages_sent()
    assert sent
    assert [call for call in sent if call.method == "POST" and not call.answered_id] == []


async def test_a_question_is_asked_back_chosen_narrowed_and_exported(
    client: PlaygroundClient, corpus: DemoCorpus
) -> None:
    tires = [record for record in plain_records(corpus, "receipts") if record["category"] == "tires"]
    await client.say(TIRES)
    await client.wait_for_button("Export all as CSV · ")
    vendor, count, *_ = (await client.list_button_titles())[0].split(" · ")
    await client.take_picture("overload", height=700)

    assert f"{len(tires):,} receipts" in await client.read_text()
    assert f"Export all as CSV · {len(tires):,}" in await client.list_button_titles()
    of_vendor = [record for record in tires if record.get("vendor") == vendor]
    assert int(count) == len(of_vendor)

    await client.click_button(vendor)
    await client.wait_for_button(f"Export all as CSV · {count}")
    await client.wait_for_text("chosen by Ada")
    await client.take_picture("chosen", height=850)

    titles = await client.list_button_titles()
    assert not any(title.startswith(vendor) for title in titles)
    assert f"{vendor} — chosen by Ada" in await client.read_text()

    of_year = [record for record in of_vendor if str(record.get("date")).startswith("2024")]
    await client.say("only 2024")
    await client.wait_for_button(f"Export all as CSV · {len(of_year)}")

    assert f"10 of {len(of_year)}" in await client.read_text()
    assert await client.count_table_rows() == 11

    await client.click_button(f"Export all as CSV · {len(of_year)}")
    await client.wait_for_sent(lambda: "application/vnd.microsoft.teams.card.file.consent" in client.sent_kinds())
    check_messages(client)


async def test_a_fact_is_cited_streamed_and_rated(client: PlaygroundClient) -> None:
    await client.say(LOOKUP)
    await client.wait_for_text("3 months")
    await client.wait_for_selector('button[aria-label="Like"]')
    await client.office.page.call("hover", target={"selector": ".fai-Citation"})
    await client.wait_for_text("B-120 battery cabinet manual, page ")
    await client.take_picture("answer", height=450)

    assert "AI generated" in await client.read_text()

    earlier = len(stream_types_of(client))  # under load the first answer streams as well
    await client.say(SLOW_QUESTION)
    await client.wait_for_text("Searching the manuals …")
    await client.wait_for_sent(lambda: "final" in stream_types_of(client)[earlier:])

    types = stream_types_of(client)[earlier:]
    assert set(types[:-2]) == {"informative"}
    assert types[-2:] == ["streaming", "final"]

    await client.rate_newest_answer("It names the page.")
    await client.wait_for_delivery("message/submitAction")
    rating = client.office.proxy.activities[-1]["value"]["actionValue"]
    assert rating == {"reaction": "like", "feedback": "It names the page."}  # of which message, the Playground omits
    assert client.office.proxy.statuses[-1] == 200
    check_messages(client)


def stream_types_of(client: PlaygroundClient) -> list[str]:
    """The types of the parts of streams, in order."""
    return [str(part["streamType"]) for part in client.office.proxy.stream_parts()]


async def test_a_group_and_a_channel_are_answered_when_parley_is_mentioned(client: PlaygroundClient) -> None:
    await client.open_place("Shift")
    await client.say(TIRES, mention=True)
    await client.wait_for_button("Export all as CSV · 1,042")

    await client.open_place("Plant - Pumps")
    await client.post_in_channel(EMPTY_SET)
    await client.wait_for_button("Starting at any time")
    await client.take_picture("channel", height=900)
    counts = [int(title.rpartition(" · ")[2]) for title in await client.list_button_titles() if " · " in title]

    assert counts
    assert min(counts) >= 1

    [question] = [activity for activity in client.office.proxy.activities if activity.get("text", "").endswith("2031")]
    thread = question["conversation"]["id"]
    await client.click_button("Starting at any time")
    await client.wait_for_sent(lambda: any("chosen by Ada" in str(call.activity) for call in client.messages_sent()))

    in_channel = [call for call in client.messages_sent() if CHANNEL in call.path]
    assert all(f"/{thread}/" in call.path for call in in_channel)
    check_messages(client)


async def test_an_admin_sees_the_grants(client: PlaygroundClient) -> None:
    await client.say("grants")
    await client.wait_for_button("Show grants")
    await client.take_picture("grants", height=560)

    text = await client.read_text()
    for name in BUCKETS:
        assert f" {name.capitalize()} ·" in text.replace("\n", " ")
    check_messages(client)
