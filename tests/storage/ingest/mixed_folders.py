"""Writes folders of mixed documents as companies have them, from a seed: invoices, policies, minutes, asset sheets,
letters and budgets, in the formats and notations that different people use.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random

import docx
import openpyxl

from tests.storage.ingest.test_pdf import a_pdf

SUPPLIERS = ("Acme Tools", "Brightwater Supplies", "Corvid Paper", "Dunmore Electric")
_PEOPLE = ("Ann Poe", "Idris Vale", "Marta Lindqvist", "Sol Abara", "Tess Oakley")
_TOPICS = ("Travel", "Remote work", "Data protection", "Leave", "Purchasing", "Visitor", "Expense", "Security")
_PLACES = ("Leeds", "Harwich", "Bremen")
_DECISIONS = ("the roof is repaired", "two vans are leased", "the canteen stays open", "the audit is postponed")
REGIONS = ("North", "South", "East")


@dataclass(frozen=True, kw_only=True)
class MixedFile:
    """A text of the folder: its kind in the singular, its labelled lines and its words, before a format is chosen."""

    kind: str
    name: str
    title: str
    facts: Sequence[tuple[str, str]]
    words: str = ""


@dataclass(kw_only=True)
class MixedFolder:
    """Writes the folder. `truth` then has the kind of each text, and `facts` what it says, by its path."""

    seed: int = 1
    has_subfolders: bool = True
    has_titles: bool = True
    truth: dict[str, str] = field(default_factory=dict[str, str])
    facts: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def write_into(self, folder: Path) -> Path:
        rng = Random(self.seed)
        folder.mkdir(parents=True)
        for number, file in enumerate(_texts_of(rng)):
            name = file.name if self.has_titles else f"{rng.choice('abcdefgh')}{number:03}"
            parent = folder / self._place_of(file, number)
            parent.mkdir(parents=True, exist_ok=True)
            path = _write_text(parent / name, file, self.has_titles, number)
            relative = path.relative_to(folder).as_posix()
            self.truth[relative], self.facts[relative] = file.kind, dict(file.facts)
        budgets = folder / ("budgets" if self.has_subfolders else "")
        budgets.mkdir(exist_ok=True)
        for year in (2031, 2032):
            _write_budget(budgets / f"budget-{year}.xlsx", rng)
        return folder

    def _place_of(self, file: MixedFile, number: int) -> str:
        if not self.has_subfolders:
            return ""
        place = {"minutes": "minutes", "policy": "policies"}.get(file.kind, f"{file.kind}s")
        return f"archive/{place}" if number % 4 == 0 else place


def _texts_of(rng: Random) -> Iterator[MixedFile]:
    for number in range(1, 15):
        day, total = _day(rng, 2031), rng.randint(20, 900) * 10
        supplier = SUPPLIERS[number % len(SUPPLIERS)]
        facts = [
            ("Invoice number", f"INV-{2000 + number}"),
            ("Supplier", supplier),
            ("Date", _written(day)),
            ("Due", _written(day + timedelta(days=30))),
            ("Total", f"EUR {total}.00"),
        ]
        words = f"Thank you for your order. Goods were purchased on {_written(day - timedelta(days=9))}."
        yield MixedFile(
            kind="invoice", name=f"INV-{2000 + number}", title=f"Invoice INV-{2000 + number}", facts=facts, words=words
        )
    for topic in _TOPICS:
        facts = [
            ("Owner", rng.choice(_PEOPLE)),
            ("Version", f"{rng.randint(1, 4)}.{rng.randint(0, 9)}"),
            ("In force from", _written(_day(rng, 2030))),
        ]
        words = f"This policy is for all staff. {topic} needs the consent of the manager. Invoices go to finance."
        yield MixedFile(kind="policy", name=f"{topic} policy", title=f"{topic} policy", facts=facts, words=words)
    for month in (1, 2, 3, 4, 5, 6):
        day = date(2031, month, rng.randint(2, 27))
        facts = [
            ("Date", _written(day)),
            ("Chair", rng.choice(_PEOPLE)),
            ("Present", ", ".join(rng.sample(_PEOPLE, 3))),
        ]
        words = f"It was decided that {rng.choice(_DECISIONS)}. The next meeting follows in four weeks."
        title = f"Minutes of the works meeting, {_written(day)}"
        yield MixedFile(kind="minutes", name=f"minutes-{day:%Y-%m}", title=title, facts=facts, words=words)
    for number in range(101, 109):
        facts = [
            ("Asset no", f"A-{number}"),
            ("Location", rng.choice(_PLACES)),
            ("Purchased", _written(_day(rng, rng.choice((2018, 2019, 2020, 2022, 2023))))),
            ("Value", f"EUR {rng.randint(5, 90) * 100}"),
        ]
        yield MixedFile(kind="asset sheet", name=f"asset-{number}", title=f"Asset sheet A-{number}", facts=facts)
    for number in range(1, 5):
        name = rng.choice(_PEOPLE)
        words = (
            f"Leeds, {_written(_day(rng, 2031))}\n\nDear Ms Holt,\n\nthe parking spaces behind the hall are "
            f"closed in week {number}. Please use the street.\n\nKind regards\n{name}"
        )
        yield MixedFile(kind="letter", name=f"scan {number}", title="", facts=(), words=words)


def _day(rng: Random, year: int) -> date:
    return date(year, 1, 1) + timedelta(days=rng.randint(0, 364))


def _written(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _write_text(stem: Path, file: MixedFile, has_title: bool, number: int) -> Path:
    title = file.title if has_title else ""
    suffix = "txt" if not file.facts else ("txt", "md", "docx", "pdf")[number % 4]
    path = stem.with_name(f"{stem.name}.{suffix}")
    match suffix:
        case "docx":
            _write_word_file(path, file, title)
        case "pdf":
            a_pdf(path, "\n".join([title, *(f"{label}: {value}" for label, value in file.facts), file.words]).strip())
        case "md":
            head = f"# {title}\n\n" if title else ""
            facts = "\n".join(f"- **{label}:** {value}" for label, value in file.facts)
            path.write_text(f"{head}{facts}\n\n{file.words}\n")
        case _:
            head = f"{title.upper()}\n\n" if title else ""
            facts = "\n".join(f"{label}: {value}" for label, value in file.facts)
            path.write_text(f"{head}{facts}\n\n{file.words}\n".lstrip())
    return path


def _write_word_file(path: Path, file: MixedFile, title: str) -> None:
    document = docx.Document()
    if title:
        document.add_heading(title, 1)
    table = document.add_table(rows=0, cols=2)
    for label, value in file.facts:
        cells = table.add_row().cells
        cells[0].text, cells[1].text = label, value
    document.add_paragraph(file.words)
    document.save(str(path))


def _write_budget(path: Path, rng: Random) -> None:
    workbook = openpyxl.Workbook()
    for sheet in workbook.worksheets:
        workbook.remove(sheet)
    for region in REGIONS:
        sheet = workbook.create_sheet(region)
        sheet.append(["Cost centre", "Planned", "Actual"])
        for item in ("Wages", "Rent", "Travel", "Energy"):
            sheet.append([item, rng.randint(10, 90) * 100, rng.randint(10, 90) * 100])
    workbook.save(path)
