"""Formats a report for people: rows of cells, and sentences."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any as Json

from bot.conversation.reasoning_record import format_cost
from bot.eval.model_usage import SetUsage, count_plan_differences, usage_by_set
from bot.eval.report import (
    EarlierReport,
    JudgedQuestion,
    MeasureMean,
    ReportColumn,
    count_confusions,
    measure_means_of,
    time_quantiles_of,
    worst_questions_of,
)

ReportRow = tuple[str, ...]
_MIN_SHOWN_CHANGE = 0.0005  # smaller changes are not shown
_MAX_SHOWN_CHARACTERS = 300  # of a filter or a text


def measure_rows(
    columns: Sequence[ReportColumn], earlier: EarlierReport | None, *, categories: bool
) -> list[ReportRow]:
    """A heading and a row per measure, with a cell per column: the mean, and its change since the earlier report."""
    means_by_column = {
        column.name: {_mean_key_of(measure_mean): measure_mean for measure_mean in measure_means_of(column)}
        for column in columns
    }
    keys = dict.fromkeys(key for means in means_by_column.values() for key in means)
    heading = ("set", "kind", "measure", "n", *(column.name for column in columns))
    rows = [_measure_row(key, [means_by_column[column.name] for column in columns], columns, earlier) for key in keys]
    return [heading, *(row for key, row in zip(keys, rows, strict=True) if categories or key[2] is None)]


_MeanKey = tuple[str, str, str | None, str]


def _mean_key_of(line: MeasureMean) -> _MeanKey:
    return (line.set_name, line.kind, line.category, line.measure)


def _measure_row(
    key: _MeanKey,
    means_by_key: Sequence[Mapping[_MeanKey, MeasureMean]],
    columns: Sequence[ReportColumn],
    earlier: EarlierReport | None,
) -> ReportRow:
    name, kind, category, measure = key
    n = max(by_key[key].question_count for by_key in means_by_key if key in by_key)
    cells = [
        _mean_cell(by_key.get(key), column.name, earlier) for by_key, column in zip(means_by_key, columns, strict=True)
    ]
    return (name, kind, measure if category is None else f"· {category}", str(n), *cells)


def _mean_cell(measure_mean: MeasureMean | None, column: str, earlier: EarlierReport | None) -> str:
    if measure_mean is None:
        return "–"
    mean = f"{measure_mean.mean:.3f}"
    if earlier is None or measure_mean.category is not None:
        return mean
    earlier_mean = earlier.means_by_column.get(column, {}).get(
        (measure_mean.set_name, measure_mean.kind, measure_mean.measure)
    )
    if earlier_mean is None or abs(measure_mean.mean - earlier_mean) < _MIN_SHOWN_CHANGE:
        return mean
    return f"{mean} ({measure_mean.mean - earlier_mean:+.3f})"


def confusion_rows(column: ReportColumn) -> list[ReportRow]:
    counts = count_confusions(column)
    actual_behaviours = list(dict.fromkeys(actual for _, actual in sorted(counts)))
    expected_behaviours = list(dict.fromkeys(expected for expected, _ in sorted(counts)))
    body = [
        (expected, *(str(counts.get((expected, actual), 0)) for actual in actual_behaviours))
        for expected in expected_behaviours
    ]
    return [("expected \\ got", *actual_behaviours), *body]


def usage_rows(column: ReportColumn) -> list[ReportRow]:
    """A heading and a row per set; empty if no model was called."""
    heading = (
        "set",
        "questions",
        "asked",
        "calls",
        "most",
        "tokens in",
        "tokens out",
        "cost",
        "per question",
        "by rules",
    )
    rows = [_usage_row(usage) for usage in usage_by_set(column)]
    return [heading, *rows] if rows else []


def _usage_row(usage: SetUsage) -> ReportRow:
    """The cost per question is over all questions of the set."""
    cost_per_question = None if usage.cost_usd is None else usage.cost_usd / usage.question_count
    counts = (usage.question_count, usage.asked_count, usage.calls, usage.most_calls)
    tokens = (usage.input_tokens, usage.output_tokens)
    costs = (format_cost(usage.cost_usd), format_cost(cost_per_question))
    return (usage.set_name, *(f"{number:,}" for number in (*counts, *tokens)), *costs, f"{usage.fallback_count:,}")


def difference_rows(column: ReportColumn) -> list[ReportRow]:
    """A heading and a row per set and kind of difference; empty if no plans were made by a model."""
    counts = count_plan_differences(column)
    totals: Counter[str] = Counter()
    for count in counts:
        totals[count.set_name] += count.question_count
    rows = [
        (
            count.set_name,
            count.kind,
            f"{count.question_count / totals[count.set_name]:.0%}",
            str(count.question_count),
            str(count.right_count),
        )
        for count in counts
    ]
    return [("set", "difference", "share", "n", "right"), *rows] if rows else []


def time_sentence_for(column: ReportColumn) -> str:
    ms = time_quantiles_of(column)
    cpu = f"CPU ms a question p50 {_format_ms(ms['cpu_p50'])}, p95 {_format_ms(ms['cpu_p95'])}"
    return f"{column.name}: {cpu}; in the agent p50 {_format_ms(ms['agent_p50'])}, p95 {_format_ms(ms['agent_p95'])}"


def _format_ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def change_sentences(earlier: EarlierReport, columns: Sequence[ReportColumn]) -> Iterator[str]:
    for change in earlier.find_changes(columns):
        status = "right now" if change.is_right else "WRONG NOW"
        yield f"{status}: [{change.column}] {change.set_name} {change.query_id}: {change.question}"


def explain_worst_questions(column: ReportColumn) -> Iterator[str]:
    """For each of the worst questions: its plan, the expected result and the actual result."""
    for judged in worst_questions_of(column):
        yield _explain_question(column.name, judged)


def _explain_question(column: str, judged: JudgedQuestion) -> str:
    question, result, gold = judged.question, judged.result, judged.question.gold
    measures = ", ".join(f"{name} {value:.2f}" for name, value in judged.score.measures.items())
    lines = [
        f"[{column}] {judged.set_name} {question.kind} {question.category or ''} {question.query_id}: {question.query}",
        f"  {measures}",
        f"  expected {judged.score.expected}: {_shorten_value(gold.answer)} {len(gold.doc_ids)} documents "
        f"{_shorten_value(gold.filter)}",
        f"  got {judged.score.actual}: {_shorten_value(result['count'])} documents by route {result['route']}; "
        f"filters {_shorten_value(result['filters'])}",
        *(
            f"  leg {leg['question']}: {leg['outcome']}, filters {_shorten_value(leg['filters'])}"
            for leg in result["legs"]
        ),
        f"  said: {_shorten_value(' '.join(str(result['text']).split()))}",
    ]
    return "\n".join(lines)


def _shorten_value(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else text[:_MAX_SHOWN_CHARACTERS] + "…"


def align_rows(rows: Sequence[ReportRow]) -> str:
    """The rows as text with columns aligned by blanks. From the fourth column on, cells are right-aligned."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if index > 2 else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
