"""A home with the demo's documents and some invoices, that two people have used: what the pictures show."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bot.admin.administration import QuestionLimit
from bot.application import Application
from bot.bootstrap import open_application
from bot.cli.speaker import new_conversation_id, speaker_for
from bot.demo.corpus import generate_corpus, write_corpus
from bot.ids import OPERATOR, BucketId, PersonId, Subject, TurnId
from bot.settings import load_settings
from bot.surface.inbound import TextMessage
from bot.surface.replies import Reply
from bot.turns.feedback import FeedbackVerdict
from bot.turns.turn_actions import TurnActor
from storage.ingest.pipeline import ingest_files
from storage.search.documents import Document, FieldAnnotation
from storage.search.ids import FieldName
from tests.builders import a_document
from tests.cli.conftest import run_parley

ADA, BEN = PersonId("slack:T1:U1ADA"), PersonId("slack:T1:U2BEN")
TENANT: Final = "7d5f3a52-6a1b-4c1e-9d51-2f60a1c3b8aa"
CARA: Final = PersonId(f"teams:{TENANT}:0a4c8a9e-1f2b-4b7a-8c3d-5e6f7a8b9c0d")
NAMES: Final = {"U1ADA": "Ada", "U2BEN": "Ben", "C1BUYING": "buying", "S1BUY": "buyers"}
PERSON_NAMES: Final = {ADA: "Ada Finch", BEN: "Ben Ridley", CARA: "Cara Holt"}
ADMINS: Final = {"PARLEY_ADMINS": ADA}
WITH_MEANINGS: Final = {"PARLEY_EMBEDDER": "wordllama"}  # which processes that tests start do without
GRANTS: Final = {
    "receipts": (f"user:{ADA}", f"user:{BEN}", "channel:slack:T1:C1BUYING", f"user:{CARA}"),
    "contracts": (f"user:{ADA}", "group:lawyers", f"channel:teams:{TENANT}:19:plant@thread.tacv2"),
    "manuals": ("everyone", f"user:{ADA}"),
    "repairs": (f"user:{ADA}", "group:lawyers"),
    "parts": ("everyone",),
}
QUESTIONS: Final = {
    ADA: (
        "List every tire purchase receipt",
        "How often must the air filter of the battery cabinet B-120 be replaced?",
        "How many contracts per contract type?",
        "Contracts with ACME for 2031",
        "how many repairs are issued by Pillar Rigging?",
        "list the repairs of the flagship Tern",
        "list the bills of the flagship",
        "Tell me when a new contract with ACME arrives",
        "every Monday at 9:00: receipts over 5,000 of last week",
        "list the attorneys",
    ),
    BEN: (
        "How many receipts per vendor?",
        "list the repairs of the flagship Tern",
        "which receipts are above 900 dollars?",
        "list the zeppelins",
        "which lawyers do we use?",
    ),
}
_WORKS: Final = ("hull repair", "engine service", "new rigging", "mast repair")
_BOATS: Final = ("Tern", "Osprey", "Petrel", "Dunlin")
_SCANS: Final = (("Quay Boatworks", "0sprey", 0.58), ("Pillar Rigg1ng", "Tern", 0.64))  # sender, boat, confidence


@dataclass(frozen=True, kw_only=True)
class ExampleTurn:
    """A question that was asked, with its reply and who may act on it."""

    id: TurnId
    question: str
    reply: Reply
    actor: TurnActor


def write_invoices(folder: Path) -> None:
    """Invoices whose fields stand in their texts; in every third, the total stands in a sentence."""
    folder.mkdir()
    for number in range(16):
        total, boat, work = f"{700 + 263 * number:,}.00", _BOATS[number % 4], _WORKS[number % 3]
        head = [
            f"Invoice no.: R-{1000 + number}",
            f"Issued by: {'Pillar Rigging' if number % 2 else 'Quay Boatworks'}",
            f"Boat: {boat}",
            f"Date: {1 + number} November 2031",
            f"Work: {work}",
        ]
        is_plain = number % 3 == 0
        head += [] if is_plain else [f"Total: EUR {total}"]
        sentence = f"The sum of EUR {total} is payable within 30 days." if is_plain else "Payable within 30 days."
        text = "\n".join([*head, "", f"We carried out {work} on the {boat}. {sentence}", "Thank you for your order."])
        (folder / f"invoice-{1000 + number}.txt").write_text(text, encoding="utf-8")


def scanned_invoice(number: int, sender: str, boat: str, confidence: float) -> Document:
    """An invoice that is hard to read: the boat and the sender are not sure."""
    text = f"lnvoice R-{number}\n{sender} has repaired the mast of the {boat}.\nPayable within 30 days."
    read = tuple(
        FieldAnnotation(
            field=FieldName(field),
            value=value,
            confidence=confidence + 0.02 * place,
            start=text.index(value),
            end=text.index(value) + len(value),
        )
        for place, (field, value) in enumerate((("Boat", boat), ("Issued by", sender)))
    )
    document = a_document(f"scan-{number}", text, title=f"scan-{number}")
    return replace(document, annotations=read, values={annotation.field: annotation.value for annotation in read})


async def fill_home(home: Path, scratch: Path) -> None:
    """Loads the demo's documents, and the invoices from a source that is synced."""
    corpus = await asyncio.to_thread(generate_corpus)
    await asyncio.to_thread(write_corpus, corpus, home / "demo")
    async with open_application(load_settings(home, ADMINS).settings) as bot:
        for bucket in corpus.buckets.values():
            files = [home / "demo" / f"{bucket.schema.bucket}.jsonl"]
            await ingest_files(bot.index, files, extractor=bot.extractor, schema=bucket.schema)
        await bot.groups.create_group("lawyers", "Lawyers", by=OPERATOR)
    invoices, notes = scratch / "repairs", scratch / "notes"
    await asyncio.to_thread(write_invoices, invoices)
    await asyncio.to_thread(notes.mkdir)
    for source, bucket in ((invoices, "repairs"), (notes, "notes")):
        command = ("source", "add", "folder", str(source), "--bucket", bucket, "--every", "2h")
        added = await asyncio.to_thread(run_parley, home, *command, **WITH_MEANINGS)
        assert added.status == 0, added
    synced = await asyncio.to_thread(run_parley, home, "source", "sync", "repairs", **WITH_MEANINGS)
    assert synced.status == 0, synced
    async with open_application(load_settings(home, ADMINS).settings) as bot:
        scans = [scanned_invoice(2000 + place, *scan) for place, scan in enumerate(_SCANS)]
        await bot.index.put(BucketId("repairs"), scans)


async def use_parley(bot: Application) -> dict[str, ExampleTurn]:
    """Grants, limits, questions and ratings, as people make them. Returns Ada's turns by a short name."""
    for bucket, subjects in GRANTS.items():
        for subject in subjects:
            await bot.administration.grant_bucket(BucketId(bucket), Subject(subject), by=ADA)
    for person in (BEN, CARA):
        await bot.administration.add_admin(person, by=ADA)
    limits = {QuestionLimit.PERSON_HOUR: 60, QuestionLimit.TENANT_DAY: 5_000}
    await bot.administration.change_limits({}, limits, by=BEN)
    turns = [await ask_question(bot, person, question) for person in QUESTIONS for question in QUESTIONS[person]]
    await bot.turn_actions.rate_turn(
        turns[1].id, turns[1].actor, FeedbackVerdict.BAD, "It is every 6 months since the new filters"
    )
    return {f"{number}-{'-'.join(turn.question.split()[:3])}".lower().replace(":", ""): turn
            for number, turn in enumerate(turns) if turn.actor.person == ADA}  # fmt: skip


async def ask_question(bot: Application, person: PersonId, question: str) -> ExampleTurn:
    speaker = speaker_for(person)
    inbound = speaker.inbound_for(TextMessage(question), new_conversation_id())
    turn = await bot.accept_inbound(inbound)
    assert turn is not None
    finished = await bot.run_turn(turn)
    actor = TurnActor(
        conversation=inbound.conversation, audience=inbound.audience, person=person, name=inbound.person_name
    )
    return ExampleTurn(id=turn, question=question, reply=finished.reply, actor=actor)
