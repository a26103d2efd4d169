"""The terminal as the scenarios use it: people type lines into `parley chat --as NAME` and read what it prints."""

import io
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console

from adapters.terminal.app import TerminalSurface
from bot.application import Application
from bot.bootstrap import open_application
from bot.cli.speaker import new_conversation_id, speaker_for
from bot.ids import ConversationId, PersonId, Subject
from bot.settings import load_settings
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.limited import ActionNotOffered, LimitedDriver
from tests.scenarios.surfaces.office import (
    BotSetup,
    ChatOffice,
    ChatPlace,
    OfferedFile,
    OfficePerson,
    ReceivedFile,
    SentMessage,
    ShownAnswer,
    ShownChoice,
)

ADA: Final = OfficePerson(id=PersonId("local:ada"), name="ada", key="ada")
BOB: Final = OfficePerson(id=PersonId("local:bob"), name="bob", key="bob")
ABILITIES: Final = frozenset({SurfaceAbility.PEOPLE, SurfaceAbility.PRIVATE_THREADS})
WIDTH: Final = 160  # characters of a line
CHOICE_LINE: Final = re.compile(r" *(?P<number>\d+)  (?P<label>.*?)(?:  +(?P<count>[\d,]+))?")
CHOICES_END: Final = "Type a number or the words, or ask something else."
EXPORT_LINE: Final = re.compile(r"/.*\.csv")


@dataclass(frozen=True, kw_only=True)
class PrintedAnswer:
    """What the terminal printed for one line that a person typed."""

    person: OfficePerson
    conversation: ConversationId
    text: str


@dataclass(kw_only=True)
class TypingHand:
    """Types lines, each of which `input` reads once. Then the input ends."""

    lines: list[str] = field(default_factory=list[str])

    def read_line(self, prompt: str) -> str:
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


@dataclass(kw_only=True)
class TerminalDriver(LimitedDriver):
    """Fulfils `SurfaceDriver`. A thread is the conversation's id, as in `parley chat --conversation ID`."""

    surface: TerminalSurface
    output: io.StringIO
    hand: TypingHand
    answers: list[PrintedAnswer]

    def private_place_of(self, person: OfficePerson) -> ChatPlace:
        return ChatPlace(key=person.key, owner=person)

    def subject_of(self, place: ChatPlace) -> Subject | None:
        return None if place.owner is None else Subject(f"user:{place.owner.id}")

    async def send_text(
        self,
        person: OfficePerson,
        place: ChatPlace,
        text: str,
        *,
        thread: str | None = None,
        files: Sequence[OfferedFile] = (),
        deliveries: int = 1,
    ) -> SentMessage:
        """The turn has ended when this returns: the terminal has no workers."""
        if files or deliveries != 1:
            raise ActionNotOffered
        conversation = new_conversation_id() if thread is None else ConversationId(thread)
        start = len(self.output.getvalue())
        self.hand.lines.append(text)
        speaker = speaker_for(person.id)
        await self.surface.run_conversation(partial(speaker.inbound_for, conversation=conversation))
        printed = self.output.getvalue()[start:]
        self.answers.append(PrintedAnswer(person=person, conversation=conversation, text=printed))
        return SentMessage(
            id=str(len(self.answers)), place=self.private_place_of(person), thread=conversation, author=person
        )

    async def click_choice(self, person: OfficePerson, answer: ShownAnswer, choice: ShownChoice) -> None:
        """Types the number of the choice."""
        await self.send_text(person, answer.place, choice.handle, thread=answer.thread)

    async def load_answers(self) -> list[ShownAnswer]:
        return [
            ShownAnswer(
                id=str(number),
                place=self.private_place_of(answer.person),
                thread=answer.conversation,
                conversation=answer.conversation,
                text=" ".join(answer.text.split()),
                choices=tuple(choices_in(answer.text)),
            )
            for number, answer in enumerate(self.answers, start=1)
        ]

    async def load_files(self) -> list[ReceivedFile]:
        """The files whose paths were printed."""
        lines = [line.strip() for answer in self.answers for line in answer.text.splitlines()]
        paths = [Path(line) for line in lines if EXPORT_LINE.fullmatch(line)]
        return [ReceivedFile(name=path.name, content=path.read_bytes()) for path in paths]


@dataclass(kw_only=True)
class TerminalProduct:
    """Fulfils `ChatProduct`."""

    name: str = "terminal"
    abilities: frozenset[SurfaceAbility] = ABILITIES
    answers: list[PrintedAnswer] = field(default_factory=list[PrintedAnswer])

    @asynccontextmanager
    async def connect_bot(self, home: Path, setup: BotSetup) -> AsyncGenerator[ChatOffice]:
        async with AsyncExitStack() as stack:
            settings = load_settings(home, {"PARLEY_EMBEDDER": "none", **setup.environ}).settings
            bot = await stack.enter_async_context(
                open_application(settings, agent=setup.agent, reasoner=setup.reasoner, clock=setup.clock)
            )
            output, hand = io.StringIO(), TypingHand()
            surface = _open_surface(bot, output, hand.read_line)
            stack.push_async_callback(surface.close)
            driver = TerminalDriver(surface=surface, output=output, hand=hand, answers=self.answers)
            place = driver.private_place_of(ADA)
            yield ChatOffice(
                driver=driver, bot=bot, ada=ADA, bob=BOB, general=place, lobby=place, attaching_place=place
            )


def _open_surface(bot: Application, output: io.StringIO, read_line: Callable[[str], str]) -> TerminalSurface:
    console = Console(file=output, width=WIDTH, highlight=False, emoji=False, markup=False)
    surface = TerminalSurface(bot, console, read_line)
    bot.register_surface(surface)
    return surface


def choices_in(printed: str) -> list[ShownChoice]:
    """The numbered choices above the line that says how to choose."""
    lines = printed.splitlines()
    if CHOICES_END not in lines:
        return []
    choices: list[ShownChoice] = []
    for line in reversed(lines[: lines.index(CHOICES_END)]):
        match = CHOICE_LINE.fullmatch(line)
        if match is None:
            break
        count = int(match["count"].replace(",", "")) if match["count"] else None
        choices.insert(0, ShownChoice(label=match["label"].strip(), count=count, handle=match["number"]))
        if match["number"] == "1":
            break
    return choices
