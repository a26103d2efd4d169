"""Working through what was read of a file has a bound of CPU time, and a file that meets it is told once."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.errors import UnparsableFile
from storage.ingest.limits import ParserLimits
from storage.ingest.report import IngestReport
from storage.ingest.work_budget import WorkBudget, borrowed_budget, check_work, lend_budget
from storage.search.ids import BucketId, TenantId
from storage.search.index import SearchIndex
from storage.text.snowball_analyser import analyser_for
from tests.storage.ingest.runs import ingest_with_rules

LIMITS = ParserLimits(work_cpu_s=60, work_cpu_s_per_mb=0, work_cpu_ms_per_document=0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU time that advances by a second each time it is read."""
    seconds = count()
    monkeypatch.setattr("storage.ingest.work_budget.thread_time", lambda: float(next(seconds)))


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path / ".home", tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    yield index
    await index.close()


async def ingest_folder(index: SearchIndex, folder: Path, limits: ParserLimits = LIMITS) -> IngestReport:
    return await ingest_with_rules(index, [folder], bucket=BucketId("b"), limits=limits)


def test_more_text_and_more_documents_may_take_more_time() -> None:
    limits = ParserLimits(work_cpu_s=30, work_cpu_s_per_mb=10, work_cpu_ms_per_document=2)
    budget = WorkBudget(limits)
    assert budget.limit_s == 30

    for _ in range(500):
        budget.add_document(2_000)

    assert budget.limit_s == 30 + 10 + 1


@pytest.mark.usefixtures("clock")
def test_work_beyond_the_budget_is_ended_where_it_is_checked() -> None:
    budget, steps = WorkBudget(ParserLimits(work_cpu_s=5, work_cpu_s_per_mb=0)), list[int]()

    def work() -> None:
        with budget:
            for step in range(20):
                check_work()
                steps.append(step)

    with pytest.raises(UnparsableFile, match="more than 5 seconds of CPU"):
        work()
    assert len(steps) == 5
    with pytest.raises(UnparsableFile), budget:
        pytest.fail("the budget is used up")


@pytest.mark.usefixtures("clock")
def test_work_without_a_budget_is_not_limited() -> None:
    for _ in range(100):
        check_work()


@pytest.mark.usefixtures("clock")
async def test_a_thread_counts_its_time_in_the_budget_that_is_lent_to_it() -> None:
    budget = WorkBudget(ParserLimits(work_cpu_s=5, work_cpu_s_per_mb=0))

    def work() -> None:
        with borrowed_budget():
            for _ in range(20):
                check_work()

    await asyncio.to_thread(work)
    assert not budget.is_exceeded
    with lend_budget(budget), pytest.raises(UnparsableFile):
        await asyncio.to_thread(work)
    assert budget.is_exceeded


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("form", ["csv", "jsonl"])
async def test_the_documents_before_the_limit_are_loaded_and_the_rest_is_told_once(
    tmp_path: Path, index: SearchIndex, form: str
) -> None:
    rows = {
        "csv": "name,town\n" + "".join(f"Name {i},Leeds\n" for i in range(300)),
        "jsonl": "".join(json.dumps({"id": i, "name": f"Name {i}", "town": "Leeds"}) + "\n" for i in range(300)),
    }
    (tmp_path / f"rows.{form}").write_text(rows[form], encoding="utf-8")
    (tmp_path / "zz.txt").write_text("Notice period: three months.", encoding="utf-8")

    report = await ingest_folder(index, tmp_path)

    (failure,) = report.failures
    assert failure.where.startswith(f"rows.{form}, line ")
    assert failure.reason == (
        "working through what was read takes more than 60 seconds of CPU, the limit for its size; the rest of the file"
        " is left out: split it into smaller files"
    )
    assert 10 < report.added < 62


@pytest.mark.usefixtures("clock")
async def test_a_document_whose_fields_take_too_long_is_left_out_and_told(tmp_path: Path, index: SearchIndex) -> None:
    fields = {f"field {i}": f"value {i}" for i in range(100)}
    for number in range(3):
        row = {"doc_id": f"d{number}", "text": "words", "metadata": fields}
        (tmp_path / f"a{number}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "letter.txt").write_text("Dear all,\n\nthe rent is due.\n", encoding="utf-8")

    report = await ingest_folder(index, tmp_path)

    (failure,) = report.failures
    assert (failure.where, failure.doc_id) == ("letter.txt", "letter.txt")
    assert failure.reason.endswith("the limit for its size: split it into smaller files")
    assert report.added == 3


async def test_an_ordinary_folder_meets_no_limit(tmp_path: Path, index: SearchIndex) -> None:
    (tmp_path / "rows.csv").write_text("name\n" + "".join(f"Name {i}\n" for i in range(300)), encoding="utf-8")

    report = await ingest_folder(index, tmp_path, ParserLimits())

    assert (report.added, report.failures) == (300, ())
