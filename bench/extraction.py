"""Measures the extraction of values from texts and of rows from a workbook, each against a minimal baseline."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.figures import BenchmarkFigure
from bench.synthetic_data import invent_prose, invent_words
from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.files import SourceFile, find_source_files
from storage.ingest.load import load_records
from storage.ingest.worker import ParserWorker
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

_TARGET_MS = 200  # for 100,000 characters of an agreement
_TEXT_CHARACTERS = 100_000
_ROW_COUNT = 5_000
_AGREEMENT_OPENING = (
    'THIS SUPPLY AGREEMENT is made as of May 4, 2019 by and between Orlo Inc. ("Orlo") and Halden GmbH ("Halden"). '
    "The initial term is three (3) years from the date hereof and renews for successive one (1) year periods unless "
    "either party gives sixty (60) days' prior written notice of non-renewal. It is governed by the laws of Norway. "
)
_FIELDS = (
    SchemaField(name=FieldName("parties"), type=FieldType.LIST, title="Parties"),
    SchemaField(name=FieldName("agreement_date"), type=FieldType.DATE, title="Agreement date"),
    SchemaField(name=FieldName("expiration_date"), type=FieldType.DATE, title="Expiration date"),
    SchemaField(name=FieldName("governing_law"), type=FieldType.LIST, title="Governing law"),
    SchemaField(name=FieldName("notice_days"), type=FieldType.NUMBER, title="Notice period", unit="day"),
    SchemaField(name=FieldName("insured"), type=FieldType.FLAG, title="Insurance"),
    SchemaField(name=FieldName("fee"), type=FieldType.MONEY, title="Annual fee"),
)


def measure_reading(folder: Path, runs: int) -> list[BenchmarkFigure]:
    rng = random.Random(13)
    text = _AGREEMENT_OPENING + invent_prose(rng, invent_words(rng, 4_000), _TEXT_CHARACTERS - len(_AGREEMENT_OPENING))
    file = folder / "parts.xlsx"
    _write_workbook(file, rng)
    return [_measure_extraction(text, runs), _measure_workbook(file, runs)]


def _measure_extraction(text: str, runs: int) -> BenchmarkFigure:
    extractor, analyser = RuleExtractor(), analyser_for("en")
    schema = Schema(bucket=BucketId("agreements"), fields=_FIELDS)
    extraction_input = ExtractionInput(title="Supply agreement", text=text)
    return BenchmarkFigure(
        name="values by the rules, 100,000 characters",
        unit="ms",
        run_values=tuple(
            _time_cpu_ms(lambda: extractor.extract_in_thread(extraction_input, schema)) for _ in range(runs)
        ),
        target=_TARGET_MS,
        baseline=_time_cpu_ms(lambda: analyser.extract_terms(text)),
        note=f"{len(_FIELDS)} fields; bare: the analyser's terms of the same text",
    )


def _measure_workbook(file: Path, runs: int) -> BenchmarkFigure:
    source = next(file_source for file_source in find_source_files([file]) if isinstance(file_source, SourceFile))
    return BenchmarkFigure(
        name="rows of a workbook, wall time per 1,000",
        unit="ms",
        run_values=tuple(_time_wall_ms(lambda: _count_workbook_rows(source)) * 1000 / _ROW_COUNT for _ in range(runs)),
        baseline=_time_wall_ms(lambda: _count_openpyxl_rows(file)) * 1000 / _ROW_COUNT,
        note="with the start of the process that reads it; bare: openpyxl, read only",
    )


def _count_workbook_rows(source: SourceFile) -> int:
    with ParserWorker() as worker:
        return sum(1 for _ in load_records(source, worker))


def _count_openpyxl_rows(file: Path) -> int:
    import openpyxl

    workbook: Any = openpyxl.load_workbook(file, read_only=True, data_only=True)
    try:
        return sum(1 for _ in workbook.worksheets[0].iter_rows(values_only=True))
    finally:
        workbook.close()


def _write_workbook(file: Path, rng: random.Random) -> None:
    import openpyxl

    workbook: Any = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("Parts")
    sheet.append(["id", "name", "power_w", "price", "bought", "note"])
    for number in range(_ROW_COUNT):
        price, power = round(rng.uniform(1, 900), 2), rng.randint(1, 400)
        sheet.append(
            [f"P{number}", f"Pump {number}", power, price, f"2021-03-{number % 28 + 1:02}", "a note of a thing"]
        )
    workbook.save(file)


def _time_cpu_ms(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def _time_wall_ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000
