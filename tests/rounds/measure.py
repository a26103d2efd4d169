"""Measures rounds: `python -m tests.rounds.measure [ROUND …] [--all-in-one] [--one-bucket] [--jobs N] [--wrong] …`.

Each round's program writes documents and questions; the documents are loaded into a scratch home, one bucket for each
file or folder (or one for the round), and the questions are asked as `parley ask` asks them: with the model of
`PARLEY_MODEL`, if it is set.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.application import Application
from bot.bootstrap import open_application
from bot.cli.commands.ask import AskOptions, run_turn
from bot.cli.runtime import settings_for_home
from bot.cli.speaker import new_conversation_id, speaker_for
from bot.ids import ChoiceId, ConversationId
from bot.surface.inbound import ButtonClick, TextMessage
from storage.ingest.pipeline import ingest_files
from storage.search.ids import BucketId, DocId
from storage.search.index import DocumentRequest
from storage.search.scope import Scope
from tests.rounds.scoring import (
    JudgedReply,
    ResultJson,
    RoundQuestion,
    Verdict,
    is_wrong_without_reserve,
    judge_first_reply,
    may_lead_to_truth,
    share_of,
    states_truth,
)

ROUNDS = Path(__file__).parent
_DAYS_LATER = {
    "r32_tours": timedelta(days=4),
    "r33_parts_maker": timedelta(days=4),
    "r34_festival": timedelta(days=5),
    "r35_pharmacy": timedelta(days=5),
    "r36_housing_repairs": timedelta(days=5),
    "r37_ski_area": timedelta(days=5),
    "r38_fair_rental": timedelta(days=5),
    "r39_dental_supplies": timedelta(days=5),
    "r40_town_hall": timedelta(days=5),
    "r41_consultancy": timedelta(days=5),
    "r42_coffee_roaster": timedelta(days=5),
    "r43_bike_shops": timedelta(days=5),
    "r44_language_school": timedelta(days=5),
    "r45_vet_clinics": timedelta(days=5),
    "r46_electricians": timedelta(days=5),
    "r47_software_house": timedelta(days=5),
    "r48_garden_wholesale": timedelta(days=5),
    "r49_food_charity": timedelta(days=5),
    "r50_letting_agents": timedelta(days=5),
    "r51_opticians": timedelta(days=5),
    "r52_it_support": timedelta(days=5),
    "r53_paper_office": timedelta(days=5),
    "r54_tool_hire": timedelta(days=5),
    "r55_sports_centre": timedelta(days=5),
    "r56_brewery": timedelta(days=5),
    "r57_surveyors": timedelta(days=5),
    "r58_nurseries": timedelta(days=5),
}  # after the other rounds
_ACTION_KINDS = frozenset({"export", "web", "anyway", "private", "restart", "more"})
_MAX_TITLES = 60  # no truth lists more names
MAX_CLICKS = 8  # of a reply: so many of its choices are tried


def read_round_clock(days: timedelta = timedelta()) -> datetime:
    """The time at which the questions were written: "overdue" and "next month" mean the same in every run.

    `days`: by which questions of a round were written later.
    """
    return datetime(2026, 11, 22, 12, tzinfo=UTC) + days


def generate_round(name: str, folder: Path) -> Path:
    """Returns a folder with the round's `documents` and `questions.jsonl`, from its program or its own files."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    if (ROUNDS / name / "documents").exists():
        shutil.copytree(ROUNDS / name, target, dirs_exist_ok=True)
        return target
    subprocess.run([sys.executable, str(ROUNDS / name / "generate.py"), str(target)], check=True, capture_output=True)
    return target


def read_round_questions(folder: Path) -> list[RoundQuestion]:
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [RoundQuestion.model_validate_json(line) for line in lines if line.strip()]


async def load_round_documents(bot: Application, folders: Iterable[Path], *, in_one_bucket: bool = False) -> None:
    for folder in folders:
        documents = folder / "documents"
        for path in [documents] if in_one_bucket else sorted(documents.iterdir()):
            report = await ingest_files(bot.index, [path], extractor=bot.extractor, bucket=BucketId(path.stem))
            if report.failed:
                raise RuntimeError(f"{path}: {report.failures[0]}")


async def judge_questions(
    bot: Application, questions: Sequence[RoundQuestion], *, jobs: int = 1, max_clicks: int = MAX_CLICKS
) -> list[JudgedReply]:
    """Asks the questions, `jobs` at a time, each in a conversation of its own; the replies are in their order."""
    free = asyncio.Semaphore(jobs)

    async def judge(question: RoundQuestion) -> JudgedReply:
        async with free:
            return await _judge_question(bot, question, max_clicks)

    return await asyncio.gather(*map(judge, questions))


async def _judge_question(bot: Application, question: RoundQuestion, max_clicks: int) -> JudgedReply:
    conversation = new_conversation_id()
    result = await _ask_all_turns(bot, question, conversation)
    verdict = judge_first_reply(question.truth, result)
    if verdict is not Verdict.RIGHT and may_lead_to_truth(result):
        verdict = await _judge_choices(bot, question, result, conversation, max_clicks) or verdict
    return JudgedReply(question=question, verdict=verdict, result=result)


async def _ask_all_turns(bot: Application, question: RoundQuestion, conversation: ConversationId) -> ResultJson:
    result: ResultJson = {}
    for turn in question.turns:
        result = await ask_turn(bot, TextMessage(turn), conversation)
    return result


async def _judge_choices(
    bot: Application, question: RoundQuestion, result: ResultJson, conversation: ConversationId, max_clicks: int
) -> Verdict | None:
    """`ASKED_BACK` if the click on a choice leads to the truth; else None.

    A reply takes one click. So each further choice is clicked in a conversation of its own, with the same turns.
    """
    indexes = [index for index, choice in enumerate(result["choices"]) if choice["kind"] not in _ACTION_KINDS]
    for click, index in enumerate(indexes[:max_clicks]):
        if click:
            conversation = new_conversation_id()
            result = await _ask_all_turns(bot, question, conversation)
        clicked = await ask_turn(bot, ButtonClick(ChoiceId(result["choices"][index]["id"])), conversation)
        if states_truth(question.truth, clicked):
            return Verdict.ASKED_BACK
    return None


async def ask_turn(bot: Application, body: TextMessage | ButtonClick, conversation: ConversationId) -> ResultJson:
    """Returns the reply to a message or a click, in the format of `parley ask --json`, with `titles` of its documents.

    Beside a list a person sees these titles, not the ids.
    """
    options = AskOptions(speaker=speaker_for(None), buckets=(), max_hits=10, max_documents=1_000_000, debug=False)
    result = (await run_turn(bot, options, body, conversation)).result
    shown = DocumentRequest(tuple(map(DocId, result["doc_ids"][:_MAX_TITLES])))
    if not shown.doc_ids:
        return {**result, "titles": []}
    everything = Scope(tenant=bot.index.tenant, buckets=await bot.index.load_bucket_names(), ignores_readers=True)
    documents = (await bot.index.within_scope(everything).answer_requests(shown))[shown]
    return {**result, "titles": [document.title for document in documents]}


async def measure_rounds(
    names: Sequence[str],
    home: Path,
    *,
    in_one_home: bool,
    in_one_bucket: bool = False,
    jobs: int = 1,
    sample: int | None = None,
    seen_sample: int = 0,
    max_clicks: int = MAX_CLICKS,
) -> dict[str, list[JudgedReply]]:
    """Judges the questions of each round, with its documents alone in a home or with those of all the others.

    `in_one_bucket`: all documents of a round, as somebody loads a folder without a look at it.
    `sample`: only so many of a round, evenly spread over its questions. `seen_sample`: without those that a sample of
    this size takes: nothing was looked at among the others.
    """
    folders = {name: generate_round(name, home / "rounds") for name in names}
    judged: dict[str, list[JudgedReply]] = {}
    groups = [list(folders)] if in_one_home else [[name] for name in folders]
    for number, group in enumerate(groups):
        settings = settings_for_home(home / f"home{number}").settings
        settings = settings.model_copy(update={"index_url": "embedded:", "database_url": None})
        clock = partial(read_round_clock, max(_DAYS_LATER.get(name, timedelta()) for name in group))
        async with open_application(settings, clock=clock) as bot:
            await load_round_documents(bot, [folders[name] for name in group], in_one_bucket=in_one_bucket)
            for name in group:
                questions = read_round_questions(folders[name])
                seen = _pick_evenly(questions, seen_sample) if seen_sample else ()
                questions = _pick_evenly([question for question in questions if question not in seen], sample)
                judged[name] = await judge_questions(bot, questions, jobs=jobs, max_clicks=max_clicks)
    return judged


def _pick_evenly(questions: Sequence[RoundQuestion], count: int | None) -> Sequence[RoundQuestion]:
    if count is None or count >= len(questions):
        return questions
    return [questions[index * len(questions) // count] for index in range(count)]


def print_figures(judged: dict[str, list[JudgedReply]]) -> None:
    header = (
        f"{'round':<22}{'n':>4}"
        + "".join(f"{verdict:>12}" for verdict in Verdict)
        + f"{'right+asked':>13}{'wrong, sure':>13}"
    )
    lines = [header]
    for name, replies in judged.items():
        shares = [share_of(verdict, replies) for verdict in Verdict]
        both = shares[0] + shares[1]
        sure = sum(map(is_wrong_without_reserve, replies)) / len(replies)
        cells = "".join(f"{share:>12.3f}" for share in shares)
        lines.append(f"{name:<22}{len(replies):>4}{cells}{both:>13.3f}{sure:>13.3f}")
    print("\n".join(lines))  # noqa: T201


def _print_replies(judged: dict[str, list[JudgedReply]]) -> None:
    for name, replies in judged.items():
        kinds = Counter((reply.question.kind, str(reply.verdict)) for reply in replies)
        print(f"\n== {name}: {dict(sorted(kinds.items()))}")  # noqa: T201
        for reply in replies:
            if reply.verdict is not Verdict.RIGHT:
                print(describe_reply(reply))  # noqa: T201


def describe_reply(reply: JudgedReply) -> str:
    question, result = reply.question, reply.result
    truth = question.truth.model_dump_json(exclude_defaults=True)
    filters = json.dumps(result["filters"], ensure_ascii=False)[:400]
    text = str(result["text"]).replace("\n", " / ")
    choices = [f"{choice['label']}={choice['count']}" for choice in result["choices"]]
    return (
        f"\n[{question.id} {question.kind} {reply.verdict.upper()}] {' >> '.join(question.turns)}\n"
        f"   truth: {truth[:300]}\n   {result['outcome']} n={result['count']}: {text[:400]}\n"
        f"   filters: {filters} assumptions: {result['assumptions']} choices: {choices[:8]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all-in-one", action="store_true", help="load the documents of all rounds into one home")
    parser.add_argument("--one-bucket", action="store_true", help="load all documents of a round into one bucket")
    parser.add_argument("--wrong", action="store_true", help="print every reply that is not right")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="questions at a time")
    parser.add_argument("--sample", type=int, help="only so many questions of a round, evenly spread")
    parser.add_argument("--except-sample", type=int, default=0, help="without the questions of `--sample N`")
    options = parser.parse_args()
    names = options.names or sorted(path.parent.name for path in ROUNDS.glob("*/generate.py"))
    started = time.perf_counter()
    with TemporaryDirectory(prefix="parley-rounds-") as folder:
        judged = asyncio.run(
            measure_rounds(
                names,
                Path(folder),
                in_one_home=options.all_in_one,
                in_one_bucket=options.one_bucket,
                jobs=options.jobs,
                sample=options.sample,
                seen_sample=options.except_sample,
            )
        )
    print_figures(judged)
    if options.wrong:
        _print_replies(judged)
    if options.out is not None:
        replies = {
            name: [{"id": r.question.id, "verdict": r.verdict, "result": dict(r.result)} for r in all_replies]
            for name, all_replies in judged.items()
        }
        options.out.write_text(json.dumps(replies, ensure_ascii=False), encoding="utf-8")
    print(f"{time.perf_counter() - started:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
