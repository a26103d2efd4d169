"""The story of the demo on every surface: question, clarification, click, follow-up, export."""

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.bootstrap import open_application
from bot.demo.corpus import DemoCorpus, generate_corpus, write_corpus
from bot.ids import EVERYONE
from bot.settings import load_settings
from storage.ingest.pipeline import ingest_files
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.copying import copy_home
from tests.scenarios.surfaces.office import BotSetup, ChatOffice, ChatProduct
from tests.scenarios.surfaces.selection import needs
from tests.scenarios.truth import plain_records

BUCKETS = ("receipts", "contracts")
EXPORT = "Export all as CSV"
TIRES = "List every tire purchase receipt"
EMPTY_SET = "Contracts with ACME for 2031"


@pytest.fixture(scope="module")
def corpus() -> DemoCorpus:
    return generate_corpus()


@pytest.fixture(scope="module")
def corpus_home(corpus: DemoCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpus in its index and without grants."""
    folder, home = tmp_path_factory.mktemp("corpus"), tmp_path_factory.mktemp("home")
    write_corpus(corpus, folder)

    async def load() -> None:
        async with open_application(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
            for name in BUCKETS:
                schema = corpus.buckets[name].schema
                await ingest_files(
                    bot.index, [folder / f"{schema.bucket}.jsonl"], extractor=bot.extractor, schema=schema
                )

    asyncio.run(load())
    return home


@pytest.fixture
async def office(product: ChatProduct, corpus_home: Path, tmp_path: Path) -> AsyncIterator[ChatOffice]:
    """`general` may see both buckets; nobody may see anything elsewhere."""
    async with product.connect_bot(copy_home(corpus_home, tmp_path / "home"), BotSetup()) as office:
        for bucket in await office.bot.index.load_bucket_states():
            await office.grant(bucket, office.general)
        yield office


async def test_a_list_that_is_too_long_gets_choices_and_is_narrowed_and_exported(
    office: ChatOffice, corpus: DemoCorpus
) -> None:
    tires = [record for record in plain_records(corpus, "receipts") if record["category"] == "tires"]

    offer = await office.ask(TIRES)
    count_by_label = offer.count_by_label
    export = count_by_label.pop(EXPORT)

    assert export == len(tires) == 1_042
    assert sum(count_by_label.values()) == export
    assert f"{export:,}" in offer.text

    vendor = next(iter(count_by_label))
    narrowed = await office.click(offer, vendor, by=office.colleague)
    of_vendor = [record for record in tires if record.get("vendor") == vendor]

    assert narrowed.count_by_label[EXPORT] == count_by_label[vendor] == len(of_vendor)

    follow_up = await office.ask("only 2024", in_thread_of=narrowed)
    of_year = [record for record in of_vendor if str(record.get("date")).startswith("2024")]

    assert follow_up.count_by_label[EXPORT] == len(of_year)

    exported = await office.click(follow_up, EXPORT)
    [file] = await office.list_files()
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))

    assert f"{len(of_year)} rows" in exported.text
    assert len(rows) == len(of_year)
    assert {answer.conversation for answer in await office.list_answers()} == {narrowed.conversation}


@needs(SurfaceAbility.CHANGED_MESSAGES)
async def test_an_offer_shows_in_place_of_its_choices_what_was_chosen_and_by_whom(office: ChatOffice) -> None:
    offer = await office.ask(TIRES)
    vendor = next(iter(offer.count_by_label))

    await office.click(offer, vendor, by=office.colleague)

    clicked_offer = await office.reload(offer)
    assert clicked_offer is not None
    assert clicked_offer.choices == ()
    assert re.search(rf"{re.escape(vendor)}.{{1,3}}chosen by {office.colleague.name}", clicked_offer.text)


async def test_an_empty_set_offers_refinements_that_find_documents(office: ChatOffice) -> None:
    offer = await office.ask(EMPTY_SET)
    count_by_label = offer.count_by_label

    assert count_by_label
    assert all(count >= 1 for count in count_by_label.values())

    label = min(count_by_label, key=lambda label: count_by_label[label])
    answer = await office.click(offer, label)

    assert str(count_by_label[label]) in answer.text


@needs(SurfaceAbility.REPEATED_DELIVERIES)
async def test_a_message_delivered_eleven_times_is_answered_once(office: ChatOffice) -> None:
    await office.send(EMPTY_SET, deliveries=11)
    await office.wait_until_quiet()

    assert len(await office.list_answers()) == 1


@needs(SurfaceAbility.CHANGED_MESSAGES)
async def test_a_second_click_changes_nothing(office: ChatOffice) -> None:
    offer = await office.ask(EMPTY_SET)
    first_choice = offer.choices[0]
    await office.click(offer, first_choice.label)
    answers = await office.list_answers()

    await office.driver.click_choice(office.colleague, offer, first_choice)
    await office.wait_until_quiet()

    assert (await office.list_answers())[: len(answers)] == answers
    assert sum(bool(answer.choices) for answer in await office.list_answers()) == sum(
        bool(answer.choices) for answer in answers
    )


@needs(SurfaceAbility.CHANNELS, SurfaceAbility.PRIVATE_NOTICES)
async def test_a_second_clicker_alone_learns_who_clicked_first(office: ChatOffice) -> None:
    offer = await office.ask(EMPTY_SET)
    first_choice = offer.choices[0]
    await office.click(offer, first_choice.label)
    answer_count = len(await office.list_answers())

    async def is_noticed() -> bool:
        return bool(await office.driver.load_notices(office.bob))

    await office.driver.click_choice(office.bob, offer, first_choice)
    await office.wait_until(is_noticed)

    notices = await office.driver.load_notices(office.bob)
    assert notices == [f"A choice was already made here: {first_choice.label}, by Ada."]
    assert len(await office.list_answers()) == answer_count


@needs(SurfaceAbility.PEOPLE)
async def test_a_person_without_grants_learns_nothing(office: ChatOffice) -> None:
    private = office.private_place_of(office.bob)

    refused = await office.ask(TIRES, by=office.bob, place=private)

    assert refused.place == private
    assert refused.choices == ()
    assert not re.search(r"\d|vendor|category", refused.text)


@needs(SurfaceAbility.CHANNELS, SurfaceAbility.GUESTS)
async def test_a_guest_in_the_channel_closes_it(office: ChatOffice) -> None:
    await office.driver.add_guest(office.general)

    refused = await office.ask(TIRES)

    assert refused.choices == ()
    assert not re.search(r"\d", refused.text)


@needs(SurfaceAbility.GUESTS)
async def test_a_grant_to_everyone_does_not_include_a_guest_in_private(office: ChatOffice) -> None:
    guest = await office.driver.add_guest(office.general)
    for bucket in await office.bot.index.load_bucket_states():
        await office.bot.grants.grant_bucket_access(bucket, EVERYONE, by="operator")

    for_guest = await office.ask(TIRES, by=guest, place=office.private_place_of(guest))
    for_ada = await office.ask(TIRES, place=office.private_place_of(office.ada))

    assert for_guest.count_by_label == {}
    assert for_ada.count_by_label[EXPORT] == 1_042


@needs(SurfaceAbility.CHANNELS, SurfaceAbility.PRIVATE_CONTINUATION)
async def test_a_question_goes_on_in_private_with_the_persons_own_rights(office: ChatOffice) -> None:
    private = office.private_place_of(office.ada)
    for bucket in await office.bot.index.load_bucket_states():
        await office.grant(bucket, private)
    refused = await office.ask(TIRES, place=office.lobby)

    answer = await office.click(refused, "Continue in private")
    private_answer = await office.wait_for_answer_with("1,042")

    assert not re.search(r"\d", refused.text + answer.text)
    assert (answer.place, private_answer.place) == (office.lobby, private)
    assert private_answer.count_by_label[EXPORT] == 1_042


@needs(SurfaceAbility.EDITS)
async def test_an_edited_question_is_answered_in_the_message_of_its_answer(office: ChatOffice) -> None:
    private = office.private_place_of(office.ada)
    for bucket in await office.bot.index.load_bucket_states():
        await office.grant(bucket, private)
    question = await office.send(EMPTY_SET, place=private)
    await office.wait_until_quiet()
    [first_answer] = await office.list_answers()

    await office.driver.edit_text(question, TIRES)
    await office.wait_until_quiet()

    [answer] = await office.list_answers()
    assert answer.id == first_answer.id
    assert answer.count_by_label[EXPORT] == 1_042


@needs(SurfaceAbility.EDITS)
async def test_a_deleted_question_takes_its_answer_with_it(office: ChatOffice) -> None:
    private = office.private_place_of(office.ada)
    for bucket in await office.bot.index.load_bucket_states():
        await office.grant(bucket, private)
    question = await office.send(TIRES, place=private)
    await office.wait_until_quiet()
    [offer] = await office.list_answers()

    await office.driver.delete_message(question)
    await office.wait_until_quiet()

    assert offer.count_by_label[EXPORT] == 1_042
    assert await office.list_answers() == []
