"""Large ordinary files, which the bounds on files must let pass, and the number of documents that each becomes."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.attack.hostile_packages import a_sheet_package, a_text_pdf
from tests.attack.hostile_texts import as_file, invent_words, write_lines

_WORDS = invent_words(8_000, seed=11)
_CSV_ROWS, _SHEET_ROWS, _PAGES, _TEXT_CHARACTERS = 500_000, 100_000, 2_000, 19_900_000
DOCUMENTS_OF_ORDINARY_FILES = {
    "ordinary_500000_rows.csv": _CSV_ROWS,
    "ordinary_100000_rows.xlsx": _SHEET_ROWS,
    "ordinary_20_mb.txt": 1,
    "ordinary_2000_pages.pdf": 1,
    "ordinary_100000_records.jsonl": 100_000,
}
COLUMNS = "id,customer,town,opened,closed,status,amount,discount,product,quantity,manager,note".split(",")
_TOWNS = [word.capitalize() for word in _WORDS[:200]]
_STATES = ("open", "closed", "waiting for parts", "refused")


def make_row(number: int, rng: random.Random) -> list[str]:
    """Returns a row of twelve columns: names, days, categories, amounts, a note."""
    day = f"{rng.randint(2019, 2031)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    return [
        f"C-{number:06}",
        f"{rng.choice(_WORDS).capitalize()} {rng.choice(_WORDS).capitalize()} Ltd",
        rng.choice(_TOWNS),
        day,
        f"2032-{day[5:]}",
        rng.choice(_STATES),
        f"{rng.randint(1, 90_000)}.{rng.randint(10, 99)}",
        f"{rng.randint(0, 30)} %",
        " ".join(rng.choices(_WORDS[:400], k=2)),
        str(rng.randint(1, 500)),
        f"{rng.choice(_TOWNS)} {rng.choice(_TOWNS)}",
        " ".join(rng.choices(_WORDS, k=6)),
    ]


def make_paragraphs(seed: int) -> Iterator[str]:
    """Yields paragraphs of wrapped lines without an end, with a heading now and then."""
    rng, number = random.Random(seed), 0
    while True:
        number += 1
        if number % 40 == 1:
            yield f"## {' '.join(rng.choices(_WORDS, k=3)).capitalize()}\n\n"
        sentences = (
            f"{' '.join(rng.choices(_WORDS, k=rng.randint(6, 20))).capitalize()} {rng.randint(1, 999)}."
            for _ in range(5)
        )
        words = " ".join(sentences).split(" ")
        lines = (" ".join(words[start : start + 14]) for start in range(0, len(words), 14))
        yield "\n".join(lines) + "\n\n"


@as_file("ordinary_500000_rows.csv")
def write_ordinary_csv(path: Path) -> None:
    rng = random.Random(12)
    write_lines(path, [",".join(COLUMNS)])
    with path.open("a", encoding="utf-8") as file:
        file.writelines(",".join(make_row(number, rng)) + "\n" for number in range(_CSV_ROWS))


@as_file("ordinary_100000_rows.xlsx")
def write_ordinary_sheet(path: Path) -> None:
    rng = random.Random(13)

    def sheet_row(cells: Sequence[str]) -> str:
        return "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in cells) + "</row>"

    path.write_bytes(
        a_sheet_package(sheet_row(cells) for cells in [COLUMNS, *(make_row(i, rng) for i in range(_SHEET_ROWS))])
    )


@as_file("ordinary_20_mb.txt")
def write_ordinary_text(path: Path) -> None:
    size = 0
    with path.open("w", encoding="utf-8") as file:
        for paragraph in make_paragraphs(14):
            if (size := size + len(paragraph)) > _TEXT_CHARACTERS:
                return
            file.write(paragraph)


@as_file("ordinary_2000_pages.pdf")
def write_ordinary_pdf(path: Path) -> None:
    paragraphs = make_paragraphs(15)
    pages = ("".join(next(paragraphs) for _ in range(4)).splitlines() for _ in range(_PAGES))
    path.write_bytes(a_text_pdf(pages))


@as_file("ordinary_100000_records.jsonl")
def write_ordinary_records(path: Path) -> None:
    rng = random.Random(16)
    rows = (dict(zip(COLUMNS, make_row(number, rng), strict=True)) for number in range(100_000))
    write_lines(path, map(json.dumps, rows))
