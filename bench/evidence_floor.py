"""`python -m bench.evidence_floor DIR [SET…] [--fit] [--limit N]`: how well the evidence score tells what is answered.

Each question of a set is asked twice: over all documents of its set, and without the documents that hold its answer and
those that repeat them (they are hidden by their readers). Questions of other sets, questions of the set that have no
answer, and questions for what no document tells about a document that exists are asked too. The table says how many
answerable questions get an answer, and how many of the replies "I did not find it" are true, with and without the
floor. Documents are divided into two halves: `--fit` prints coefficients for `agent.evidence.evidence_score`, which are
fitted on one half; the table is of the other half.
"""

import argparse
import asyncio
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.context import AgentContext
from agent.evidence.evidence_score import AssessedSentence, EvidenceFeatures, score_evidence
from agent.loop import answer
from agent.outcome import Clarify, OutcomeKind
from agent.reasoning_log import ReasoningLog
from agent.rules.reasoner import RuleReasoner
from bot.eval.eval_sets import EvalQuestion, EvalSet, read_json_lines, read_suite
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.search.analyser import fold_text
from storage.search.ids import Subject, TenantId
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

Matrix: TypeAlias = NDArray[np.floating]
_TENANT = TenantId("default")
_NOW = datetime(2026, 11, 22, tzinfo=UTC)
_OTHER_QUESTIONS = 60  # of each other set
_MIN_REPEATED_SHARE = 0.5  # of the long words of an answer, that another document holds if it repeats it
_MIN_LETTERS = 5  # of a long word
_FITTING_STEPS = 40
_MAX_NEAR_MISSES = 120
_MAX_NAME_LETTERS = 60  # of a title that is a name and no headline
_WORD = re.compile(r"[^\W_]+")
# What may be asked of a document, and words of texts that may tell it.
_ATTRIBUTES = {
    "What is the parking fee at {title}?": "park",
    "What is the fax number of {title}?": "fax",
    "What is the share price of {title}?": "share stock",
    "Who is the chief lawyer for {title}?": "law legal counsel attorney",
    "When is the next fire drill of {title}?": "drill",
    "How many employees work for {title}?": "employ staff headcount workforce team",
    "What is the dress code of {title}?": "dress uniform wear cloth",
    "How much caffeine does {title} contain?": "caffeine coffee",
    "Which vaccination does {title} require?": "vaccin",
    "What does {title} say about beekeeping?": "bee",
    "When was {title} last audited?": "audit",
    "What is the annual turnover of {title}?": "turnover revenue sale income",
    "Who painted the portrait in {title}?": "paint portrait",
    "What is the noise level of {title}?": "noise decibel loud quiet sound",
    "How is {title} insured against floods?": "flood",
    "How long is the strike at {title} expected to last?": "strike",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorQuestion:
    """A question, with the documents that are hidden for it; `gold` is empty if nothing answers it."""

    set_name: str
    kind: str
    text: str
    group: str  # documents and questions of one group are in one half
    gold: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    @property
    def is_for_fitting(self) -> bool:
        return zlib.crc32(self.group.encode()) % 2 == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorReply:
    question: FloorQuestion
    is_not_found: bool  # it says that it found nothing, or no answer
    best: AssessedSentence | None  # None: no sentence was assessed

    @property
    def features(self) -> EvidenceFeatures | None:
        return None if self.best is None else self.best.features

    @property
    def doc_id(self) -> str:
        return "" if self.best is None else self.best.doc_id

    @property
    def is_found(self) -> bool:
        """Whether the reply answers, asks back, or shows evidence that does not settle a yes-or-no question."""
        return not self.is_not_found or (self.best is not None and self.best.is_enough)

    @property
    def is_found_without_floor(self) -> bool:
        return not self.is_not_found or self.features is not None


def build_questions(
    eval_set: EvalSet, others: Sequence[EvalSet], documents: Sequence[dict[str, str]], limit: int | None
) -> list[FloorQuestion]:
    """Builds all questions for one set. Those that a gold document answers are asked with and without it."""
    words = {document["doc_id"]: _long_words_of(document["text"]) for document in documents}
    own = [question for question in eval_set.questions if _is_about_texts(question)][:limit]
    questions = list[FloorQuestion]()
    for question in own:
        gold = frozenset(question.gold.doc_ids)
        group = min(gold, default=question.query_id)
        if not gold:
            questions.append(FloorQuestion(set_name=eval_set.name, kind="no answer", text=question.query, group=group))
            continue
        hidden = gold | _repeating_documents(question, words)
        questions += [
            FloorQuestion(set_name=eval_set.name, kind="answerable", text=question.query, group=group, gold=gold),
            FloorQuestion(set_name=eval_set.name, kind="hidden", text=question.query, group=group, hidden=hidden),
        ]
    for other in others:
        questions += [
            FloorQuestion(set_name=eval_set.name, kind="other set", text=question.query, group=question.query_id)
            for question in other.questions[:_OTHER_QUESTIONS]
        ]
    return [*questions, *_near_misses(eval_set.name, documents)]


def _is_about_texts(question: EvalQuestion) -> bool:
    return question.kind in ("qa", "lookup", "inference_query", "null_query")


def _near_misses(name: str, documents: Sequence[dict[str, str]]) -> list[FloorQuestion]:
    """Returns questions for what neither the document nor another one of its set tells."""
    stems = {question: stems.split() for question, stems in _ATTRIBUTES.items()}
    texts = [fold_text(document["text"]) for document in documents]
    unknown = [
        question for question, stems in stems.items() if not any(stem in text for text in texts for stem in stems)
    ]
    patterns = unknown or [min(stems, key=lambda question: sum(s in text for text in texts for s in stems[question]))]
    documents = [document for document in documents if len(document["title"]) <= _MAX_NAME_LETTERS]
    texts = [fold_text(document["text"]) for document in documents]
    chosen = documents[:: max(len(documents) // _MAX_NEAR_MISSES, 1)]
    return [
        FloorQuestion(
            set_name=name,
            kind="near miss",
            text=patterns[position % len(patterns)].format(title=document["title"]),
            group=document["doc_id"],
        )
        for position, document in enumerate(chosen[:_MAX_NEAR_MISSES])
        if not any(stem in texts[documents.index(document)] for stem in stems[patterns[position % len(patterns)]])
    ]


def _long_words_of(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(fold_text(text)) if len(word) >= _MIN_LETTERS)


def _repeating_documents(question: EvalQuestion, words: dict[str, frozenset[str]]) -> frozenset[str]:
    told = _long_words_of(" ".join(evidence.text for evidence in question.gold.evidence))
    if not told:
        return frozenset()
    return frozenset(doc_id for doc_id, held in words.items() if len(told & held) >= _MIN_REPEATED_SHARE * len(told))


async def ask_questions(
    documents: Sequence[dict[str, str]], questions: Sequence[FloorQuestion], folder: Path
) -> list[FloorReply]:
    """Loads the documents, each for a reader of its own, and asks each question as one who may read the others."""
    path, embedder = folder / "documents.jsonl", WordLlamaEmbedder()
    lines = (json.dumps({**document, "readers": [_reader_of(document["doc_id"])]}) for document in documents)
    path.write_text("\n".join(lines), encoding="utf-8")
    index = await EmbeddedIndex.open(folder / "index", tenant=_TENANT, analysers=analyser_for, embedder=embedder)
    try:
        await ingest_files(index, [path], extractor=RuleExtractor())
        buckets = frozenset(await index.load_bucket_states())
        reasoner, replies = RuleReasoner(embedder), list[FloorReply]()
        for question in questions:
            subjects = frozenset(
                _reader_of(document["doc_id"]) for document in documents if document["doc_id"] not in question.hidden
            )
            log = ReasoningLog()
            context = AgentContext(
                index=index.within_scope(Scope(tenant=_TENANT, buckets=buckets, subjects=subjects)),
                reasoner=reasoner,
                embedder=embedder,
                now=_NOW,
                reasoning_log=log,
            )
            outcome = await answer(question.text, context)
            best = max(log.evidence, key=lambda assessed: score_evidence(assessed.features), default=None)
            replies.append(
                FloorReply(
                    question=question,
                    is_not_found=isinstance(outcome, Clarify) and outcome.kind is OutcomeKind.NO_RESULTS,
                    best=best,
                )
            )
        return replies
    finally:
        await index.close()


def _reader_of(doc_id: str) -> Subject:
    return Subject(f"user:local:{doc_id}")


def fit_weights(replies: Sequence[FloorReply]) -> tuple[float, EvidenceFeatures]:
    """Returns intercept and weights of a logistic regression with a small penalty (Newton's method).

    An answerable question whose best sentence is not of a gold document says nothing of either class. Both classes
    weigh the same.
    """
    used = [
        (reply.features, bool(reply.question.gold))
        for reply in replies
        if reply.features is not None and (not reply.question.gold or reply.doc_id in reply.question.gold)
    ]
    inputs: Matrix = np.array([(1.0, *astuple(features)) for features, _ in used], dtype=np.float64)
    labels: Matrix = np.array([float(is_answered) for _, is_answered in used], dtype=np.float64)
    share = sum(is_answered for _, is_answered in used) / len(used)
    balance: Matrix = labels * (0.5 / share) + (1 - labels) * (0.5 / (1 - share))
    penalty: Matrix = np.diag([0.0] + [1.0] * (inputs.shape[1] - 1))
    weights: Matrix = np.array([0.0] * inputs.shape[1])
    for _ in range(_FITTING_STEPS):
        weights = _step_of_newton(weights, inputs, labels, balance, penalty)
    intercept, *others = map(float, weights)
    names = [field.name for field in fields(EvidenceFeatures)]
    return intercept, EvidenceFeatures(**dict(zip(names, others, strict=True)))


def _step_of_newton(weights: Matrix, inputs: Matrix, labels: Matrix, balance: Matrix, penalty: Matrix) -> Matrix:
    predicted: Matrix = 1 / (1 + np.exp(-(inputs @ weights)))
    gradient: Matrix = inputs.T @ (balance * (predicted - labels)) + penalty @ weights
    curvature: Matrix = (inputs * (balance * predicted * (1 - predicted))[:, None]).T @ inputs + penalty
    step: Matrix = np.linalg.solve(curvature, gradient)
    return weights - step


def describe_replies(replies: Sequence[FloorReply]) -> Iterator[str]:
    """Yields a table in Markdown: by set, with and without the floor."""
    yield "| set | floor | answerable | answered | unanswerable | not found | precision of “not found” |"
    yield "|---|---|---|---|---|---|---|"
    for name in dict.fromkeys((*(reply.question.set_name for reply in replies), "all")):
        own = [reply for reply in replies if name in (reply.question.set_name, "all")]
        for floor in ("without", "with"):
            yield _describe_row(name, floor, own)
    kinds = dict.fromkeys(reply.question.kind for reply in replies if not reply.question.gold)
    yield ""
    yield "| unanswerable | questions | not found without the floor | with it |"
    yield "|---|---|---|---|"
    for kind in kinds:
        own = [reply for reply in replies if reply.question.kind == kind]
        without = sum(not reply.is_found_without_floor for reply in own) / len(own)
        yield f"| {kind} | {len(own)} | {without:.3f} | {sum(not reply.is_found for reply in own) / len(own):.3f} |"


def _describe_row(name: str, floor: str, replies: Sequence[FloorReply]) -> str:
    def is_found(reply: FloorReply) -> bool:
        return reply.is_found if floor == "with" else reply.is_found_without_floor

    answerable = [reply for reply in replies if reply.question.gold]
    unanswerable = [reply for reply in replies if not reply.question.gold]
    lost, told = sum(not is_found(reply) for reply in answerable), sum(not is_found(reply) for reply in unanswerable)
    answered = 1 - lost / len(answerable) if answerable else 0.0
    rejected = told / len(unanswerable) if unanswerable else 0.0
    precision = told / (told + lost) if told else 0.0
    return (
        f"| {name} | {floor} | {len(answerable)} | {answered:.3f} | {len(unanswerable)} | {rejected:.3f} "
        f"| {precision:.3f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.evidence_floor", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("sets", nargs="*", metavar="SET", default=["companies", "manuals", "multihop"])
    parser.add_argument("--fit", action="store_true", help="print coefficients fitted on the other half")
    parser.add_argument("--limit", type=int, help="questions of each set")
    parser.add_argument("--out", type=Path, help="write each question with its features, a JSON object a line")
    options = parser.parse_args()
    sets = read_suite(options.folder, [*options.sets], None).selected_sets
    replies = list[FloorReply]()
    for eval_set in sets:
        documents = [document for _, document in read_json_lines(eval_set.documents_path)]
        others = [other for other in sets if other is not eval_set]
        questions = build_questions(eval_set, others, documents, options.limit)
        with TemporaryDirectory(prefix="parley-floor-") as folder:
            replies += asyncio.run(ask_questions(documents, questions, Path(folder)))
    if options.out is not None:
        lines = (json.dumps(_reply_to_json(reply)) for reply in replies)
        options.out.write_text("\n".join(lines), encoding="utf-8")
    if options.fit:
        intercept, weights = fit_weights([reply for reply in replies if reply.question.is_for_fitting])
        print(f"intercept {intercept:.2f}", {name: round(value, 2) for name, value in asdict(weights).items()})  # noqa: T201
    print("\n".join(describe_replies([reply for reply in replies if not reply.question.is_for_fitting])))  # noqa: T201


def _reply_to_json(reply: FloorReply) -> dict[str, object]:
    question = reply.question
    return {
        "set": question.set_name,
        "kind": question.kind,
        "question": question.text,
        "is_for_fitting": question.is_for_fitting,
        "is_not_found": reply.is_not_found,
        "is_gold": reply.doc_id in question.gold,
        "features": None if reply.features is None else asdict(reply.features),
    }


if __name__ == "__main__":
    main()
