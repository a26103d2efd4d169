"""What a question costs on a small bucket and on one of hundreds of fields and a dictionary of 200,000 values."""

import time
from pathlib import Path

from bench.figures import Figure
from bench.home import everything
from bench.inventing import Invention, Wide
from bench.overhead import agent_alone
from bot.settings import Settings
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import TenantId

_SMALL = Wide(fields=20, names=2, documents=6_000)
_WIDE = Wide(fields=300, names=20, documents=10_000)
_QUESTIONS = 40
_BATCH = 1_000
_PAGE_BYTES = 4096


async def scale(settings: Settings, folder: Path, runs: int) -> list[Figure]:
    return [
        *await _measured(_SMALL, settings, folder / "small", runs, aim=5.0),
        *await _measured(_WIDE, settings, folder / "wide", runs, aim=15.0),
    ]


async def _measured(wide: Wide, settings: Settings, folder: Path, runs: int, aim: float) -> list[Figure]:
    name = f"{wide.documents:,} documents, {wide.fields} fields, {wide.values:,} names"
    invented = Invention(wide)
    index = await EmbeddedIndex.open(folder, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=None)
    try:
        await _load(index, invented)
        scope, questions = await everything(index, settings), invented.questions(_QUESTIONS)
        await index.within(scope).vocabulary()  # its own time is the index's
        before, started = _resident_mb(), time.process_time()
        alone, _ = await agent_alone(index, scope, questions[:1], 1, name=name, aim=aim)
        first = Figure(
            name=f"{name}: the first question, CPU",
            unit="s",
            runs=(time.process_time() - started - alone[0].median / 1000,),
            note=f"{_resident_mb() - before:,.0f} MB for what the dictionary means",
        )
        figures, _ = await agent_alone(index, scope, questions, runs, name=name, aim=aim)
        return [first, *figures]
    finally:
        await index.close()


async def _load(index: EmbeddedIndex, invented: Invention) -> None:
    await index.set_schema(invented.schema)
    waiting = list(invented.documents())
    for start in range(0, len(waiting), _BATCH):
        await index.put(invented.schema.bucket, waiting[start : start + _BATCH])


def _resident_mb() -> float:
    """Of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * _PAGE_BYTES / 1e6
