"""A report as people read it: rows of cells, and sentences."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any as Json

from bot.eval.report import Column, Earlier, Judged, Line, confusion, lines_of, times, worst

Row = tuple[str, ...]
_SAME = 0.0005  # below which a change is none
_LONGEST = 300  # characters of a filter or a text


def measure_rows(columns: Sequence[Column], earlier: Earlier | None, *, categories: bool) -> list[Row]:
    """A heading and a row a measure, with a cell for each column: the mean, and what it gained or lost."""
    found = {column.name: {_key(line): line for line in lines_of(column)} for column in columns}
    keys = dict.fromkeys(key for lines in found.values() for key in lines)
    heading = ("set", "kind", "measure", "n", *(column.name for column in columns))
    rows = [_row(key, [found[column.name] for column in columns], columns, earlier) for key in keys]
    return [heading, *(row for key, row in zip(keys, rows, strict=True) if categories or key[2] is None)]


_Key = tuple[str, str, str | None, str]


def _key(line: Line) -> _Key:
    return (line.set, line.kind, line.category, line.measure)


def _row(key: _Key, lines: Sequence[Mapping[_Key, Line]], columns: Sequence[Column], earlier: Earlier | None) -> Row:
    name, kind, category, measure = key
    n = max(by_key[key].n for by_key in lines if key in by_key)
    cells = [_cell(by_key.get(key), column.name, earlier) for by_key, column in zip(lines, columns, strict=True)]
    return (name, kind, measure if category is None else f"· {category}", str(n), *cells)


def _cell(line: Line | None, column: str, earlier: Earlier | None) -> str:
    if line is None:
        return "–"
    mean = f"{line.mean:.3f}"
    if earlier is None or line.category is not None:
        return mean
    before = earlier.means.get(column, {}).get((line.set, line.kind, line.measure))
    if before is None or abs(line.mean - before) < _SAME:
        return mean
    return f"{mean} ({line.mean - before:+.3f})"


def confusion_rows(column: Column) -> list[Row]:
    counts = confusion(column)
    got = list(dict.fromkeys(one for _, one in sorted(counts)))
    expected = list(dict.fromkeys(one for one, _ in sorted(counts)))
    body = [(one, *(str(counts.get((one, other), 0)) for other in got)) for one in expected]
    return [("expected \\ got", *got), *body]


def time_sentence(column: Column) -> str:
    ms = times(column)
    cpu = f"CPU ms a question p50 {_ms(ms['cpu_p50'])}, p95 {_ms(ms['cpu_p95'])}"
    return f"{column.name}: {cpu}; in the agent p50 {_ms(ms['agent_p50'])}, p95 {_ms(ms['agent_p95'])}"


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def changed_sentences(earlier: Earlier, columns: Sequence[Column]) -> Iterator[str]:
    for one in earlier.changes(columns):
        now = "right now" if one.is_right else "WRONG NOW"
        yield f"{now}: [{one.column}] {one.set} {one.query_id}: {one.question}"


def explanations(column: Column) -> Iterator[str]:
    """The worst questions, each with its plan, what was expected and what came."""
    for one in worst(column):
        yield _explained(column.name, one)


def _explained(column: str, one: Judged) -> str:
    question, result, gold = one.question, one.result, one.question.gold
    measures = ", ".join(f"{name} {value:.2f}" for name, value in one.score.measures.items())
    lines = [
        f"[{column}] {one.set} {question.kind} {question.category or ''} {question.query_id}: {question.query}",
        f"  {measures}",
        f"  expected {one.score.expected}: {_short(gold.answer)} {len(gold.doc_ids)} documents {_short(gold.filter)}",
        f"  got {one.score.got}: {_short(result['count'])} documents by route {result['route']}; "
        f"filters {_short(result['filters'])}",
        *(f"  leg {leg['question']}: {leg['outcome']}, filters {_short(leg['filters'])}" for leg in result["legs"]),
        f"  said: {_short(' '.join(str(result['text']).split()))}",
    ]
    return "\n".join(lines)


def _short(value: Json) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _LONGEST else written[:_LONGEST] + "…"


def plain(rows: Sequence[Row]) -> str:
    """Aligned by blanks; cells from the fourth on to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at > 2 else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
