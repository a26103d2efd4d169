"""`parley report`: how the installation was used, and what it did not understand."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import count_phrase_for, print_line, run_with_bot

if TYPE_CHECKING:
    from bot.admin.usage.usage_report import QuestionGroup, SlowQuestion, UnknownWord, UsageReport
    from bot.application import Application

_MAX_WORDINGS = 3


def report(
    days: Annotated[int, typer.Option(min=1, max=36_500, help="How far to look back.")] = 30,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Entries of each list.")] = 10,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """What was asked, answered, asked back, not found, rated badly and slow, and what models and web searches cost.

    Words that no bucket knows come with what they may mean: parley bucket synonym adds it. No person is named.
    """

    async def print_report(bot: "Application") -> None:
        from bot.admin.usage.usage_report import UsageReports

        embedder = None
        if bot.settings.embedder != "none":
            from storage.embedder import WordLlamaEmbedder

            embedder = WordLlamaEmbedder()
        reports = UsageReports(database=bot.database, index=bot.index, access=bot.access, embedder=embedder)
        loaded = await reports.load_report(days=days, limit=limit)
        if json_:
            print_line(json.dumps(_report_to_json(loaded), ensure_ascii=False))
        else:
            _print_report(loaded)

    run_with_bot(print_report, home=home, debug=debug)


def _stage_phrase_for(slow: "SlowQuestion") -> str:
    from bot.conversation.reasoning_record import label_of_stage

    if not slow.slowest_stage:
        return ""
    return f", the longest step {label_of_stage(slow.slowest_stage)} ({slow.stage_ms:,.0f} ms)"


def _report_to_json(loaded: "UsageReport") -> dict[str, object]:
    return json.loads(json.dumps(asdict(loaded), default=_text_of_value))


def _text_of_value(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _print_report(loaded: "UsageReport") -> None:
    from bot.admin.sentences import label_of_ending
    from bot.admin.usage.report_wording import label_of_choice

    counts = loaded.counts
    print_line(f"The last {count_phrase_for(loaded.days, 'day')}: {count_phrase_for(counts.asked, 'question')}")
    parts = {
        "answered": counts.answered,
        "asked back": counts.asked_back,
        "nothing found": counts.nothing_found,
        "refused": counts.refused,
        "failed": counts.failed,
        "stopped, edited or put off": counts.other,
        "clicks": loaded.clicks,
    }
    line = ", ".join(f"{count:,} {name}" for name, count in parts.items() if count)
    if counts.asked:
        print_line(f"  {line}; of {_people_phrase_for(loaded.people)}")
    _print_section(
        "Choices, by kind",
        [f"{label_of_choice(use.kind)}: {use.clicked:,} of {use.offered:,} clicked" for use in loaded.choices],
    )
    _print_section("Nothing was found", [_line_of_group(group) for group in loaded.nothing_found])
    _print_section(
        "Words that no bucket knows", [line for word in loaded.unknown_words for line in _lines_of_word(word)]
    )
    _print_section(
        "Rated badly",
        [f"“{rating.question}”{f': {rating.reason}' if rating.reason else ''}" for rating in loaded.rated_badly],
    )
    _print_section(
        "The slowest",
        [
            f"{slow.seconds:,.1f} s, {label_of_ending(slow.ending)}{_stage_phrase_for(slow)} (turn {slow.turn})"
            for slow in loaded.slowest
        ],
    )
    _print_section(
        "Models, by group",
        [
            f"{cost.model}, {cost.group}: {count_phrase_for(cost.calls, 'call')}, {cost.input_tokens:,} tokens in, "
            f"{cost.output_tokens:,} out, ${cost.cost_usd:.4f}"
            + (f" ({cost.unpriced_calls:,} without a known price)" if cost.unpriced_calls else "")
            for cost in loaded.costs
        ],
    )
    _print_section(
        "Web searches, by group",
        [
            f"{cost.group}: {count_phrase_for(cost.searches, 'question')}, "
            f"{count_phrase_for(cost.requests, 'request')}, {count_phrase_for(cost.pages, 'page')}, "
            f"{cost.bytes_read / 1_000_000:,.1f} MB"
            for cost in loaded.web_costs
        ],
    )
    _print_section("Buckets that nobody found anything in", list(loaded.unasked_buckets))
    if not loaded.is_complete:
        print_line("There are more questions than are read one by one; the lists are of the newest.")


def _print_section(title: str, lines: list[str]) -> None:
    if lines:
        print_line(f"{title}:")
    for line in lines:
        print_line(f"  {line}")


def _line_of_group(group: "QuestionGroup") -> str:
    wordings = ", ".join(f"“{question}”" for question in group.questions[:_MAX_WORDINGS])
    more = f" and {len(group.questions) - _MAX_WORDINGS} more" if len(group.questions) > _MAX_WORDINGS else ""
    words = f"; unknown: {', '.join(group.words)}" if group.words else ""
    return f"{group.count}×, {_people_phrase_for(group.people)}: {wordings}{more}{words}"


def _lines_of_word(word: "UnknownWord") -> list[str]:
    from bot.admin.sentences import describe_likeness

    where = f", in {', '.join(word.buckets)}" if word.buckets else ""
    phrase = f"{count_phrase_for(word.questions, 'question')} of {_people_phrase_for(word.people)}"
    lines = [f"“{word.word}”: {phrase}{where}"]
    lines += [
        f"  {describe_likeness(suggestion.clicks, suggestion.likeness)}: parley bucket synonym {suggestion.bucket} "
        f"{suggestion.field}"
        f" '{word.word}' '{suggestion.value}'"
        for suggestion in word.suggestions
    ]
    if not word.suggestions and word.buckets:
        lines.append(f"  if you know what it means: parley bucket synonym {word.buckets[0]} FIELD '{word.word}' VALUE")
    return lines


def _people_phrase_for(people: int) -> str:
    return "1 person" if people == 1 else f"{people:,} people"
