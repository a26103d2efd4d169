"""Reading: values out of texts by the rules, and rows out of a workbook, beside the least that either can take."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.inventing import prose, words
from storage.analysis import analyser_for
from storage.ingest.extract.candidates import Material
from storage.ingest.extract.rules import RuleExtractor
from storage.ingest.files import SourceFile, sources
from storage.ingest.load import records
from storage.ingest.worker import Worker
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType, Schema

_AIM_MS = 200  # for 100,000 characters of an agreement
_CHARACTERS = 100_000
_ROWS = 5_000
_HEAD = (
    'THIS SUPPLY AGREEMENT is made as of May 4, 2019 by and between Orlo Inc. ("Orlo") and Halden GmbH ("Halden"). '
    "The initial term is three (3) years from the date hereof and renews for successive one (1) year periods unless "
    "either party gives sixty (60) days' prior written notice of non-renewal. It is governed by the laws of Norway. "
)
_FIELDS = (
    Field(name=FieldName("parties"), type=FieldType.LIST, title="Parties"),
    Field(name=FieldName("agreement_date"), type=FieldType.DATE, title="Agreement date"),
    Field(name=FieldName("expiration_date"), type=FieldType.DATE, title="Expiration date"),
    Field(name=FieldName("governing_law"), type=FieldType.LIST, title="Governing law"),
    Field(name=FieldName("notice_days"), type=FieldType.NUMBER, title="Notice period", unit="day"),
    Field(name=FieldName("insured"), type=FieldType.FLAG, title="Insurance"),
    Field(name=FieldName("fee"), type=FieldType.MONEY, title="Annual fee"),
)


def reading(folder: Path, runs: int) -> list[Figure]:
    rng = random.Random(13)
    text = _HEAD + prose(rng, words(rng, 4_000), _CHARACTERS - len(_HEAD))
    file = folder / "parts.xlsx"
    _write(file, rng)
    return [_extracting(text, runs), _opening(file, runs)]


def _extracting(text: str, runs: int) -> Figure:
    extractor, analyser = RuleExtractor(), analyser_for("en")
    schema = Schema(bucket=BucketId("agreements"), fields=_FIELDS)
    material = Material(title="Supply agreement", text=text)
    return Figure(
        name="values by the rules, 100,000 characters",
        unit="ms",
        runs=tuple(_cpu(lambda: extractor.read(material, schema)) for _ in range(runs)),
        aim=_AIM_MS,
        bare=_cpu(lambda: analyser.terms(text)),
        note=f"{len(_FIELDS)} fields; bare: the analyser's terms of the same text",
    )


def _opening(file: Path, runs: int) -> Figure:
    source = next(one for one in sources([file]) if isinstance(one, SourceFile))
    return Figure(
        name="rows of a workbook, wall time per 1,000",
        unit="ms",
        runs=tuple(_wall(lambda: _read(source)) * 1000 / _ROWS for _ in range(runs)),
        bare=_wall(lambda: _parsed(file)) * 1000 / _ROWS,
        note="with the start of the process that reads it; bare: openpyxl, read only",
    )


def _read(source: SourceFile) -> int:
    with Worker() as worker:
        return sum(1 for _ in records(source, worker))


def _parsed(file: Path) -> int:
    import openpyxl

    book: Any = openpyxl.load_workbook(file, read_only=True, data_only=True)
    try:
        return sum(1 for _ in book.worksheets[0].iter_rows(values_only=True))
    finally:
        book.close()


def _write(file: Path, rng: random.Random) -> None:
    import openpyxl

    book: Any = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Parts")
    sheet.append(["id", "name", "power_w", "price", "bought", "note"])
    for number in range(_ROWS):
        price, power = round(rng.uniform(1, 900), 2), rng.randint(1, 400)
        sheet.append(
            [f"P{number}", f"Pump {number}", power, price, f"2021-03-{number % 28 + 1:02}", "a note of a thing"]
        )
    book.save(file)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def _wall(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000
