"""How good a result is, by the kind of its question. Every measure lies between 0 and 1, and their means are reported.

`right` is what a question is judged by as a whole:
- list: the expected behaviour and, where there is something to list, exactly the expected documents;
- lookup, yes_no: the answer, titles of cited documents aside; of a lookup also that a gold document is cited;
- aggregate: value, currency and the set behind it;
- compare: both documents among the first ten passages;
- qa: the evidence among the first ten passages, where it was located, else a gold document;
- qrels: nDCG@10, which is no yes or no;
- `…_query`: nothing found where nothing is to be found; else every value of the gold filter and nothing more;
- table_qa: the answer.

Questions without located evidence have no measure of evidence. Documents that are not judged count on neither side.
A passage holds evidence where it overlaps it, or stands on the same page of the same document if pages are known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json

from bot.eval.answers import holds_words, is_short, said, without, words
from bot.eval.filters import same, values_of
from bot.eval.load import Evidence, Question
from bot.eval.rankings import average_precision, ndcg, recall

_BEHAVIOURS = {"no_results": "no_result", "overload": "clarify_too_many"}  # else the outcome's own name
_OVERLOADED = 100  # documents above which a list asks back
_NEAR = 0.005  # of a sum: half a cent
Result = Mapping[str, Json]
Measures = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """`right`: between 0 and 1. `expected` and `got` are behaviours."""

    right: float
    expected: str
    got: str
    measures: Mapping[str, float]


def scored(question: Question, result: Result) -> Score:
    """The result as `parley ask --json` has it."""
    got, expected = _behaviour(question, result), question.gold.behaviour or "answer"
    measures = _measures(question, result, got)
    return Score(right=measures["right"], expected=expected, got=got, measures=measures)


def _measures(question: Question, result: Result, got: str) -> Measures:
    match question.kind:
        case "list":
            return _list(question, result, got)
        case "lookup" | "yes_no":
            return _lookup(question, result)
        case "aggregate":
            return _aggregate(question, result)
        case "compare":
            return _compare(question, result)
        case "qrels":
            return _ranking(question, result)
        case "table_qa":
            return _table(question, result)
        case kind if kind.endswith("_query"):
            return _multihop(question, result, got)
        case _:
            return _qa(question, result)


def _behaviour(question: Question, result: Result) -> str:
    """The outcome in the words of the gold behaviours."""
    outcome = str(result["outcome"])
    if outcome == "answer" and question.kind == "list":
        nothing = question.gold.behaviour == "no_result" and result["doc_ids"] and not _judged(question, result)
        return "no_result" if nothing else "list"
    return _BEHAVIOURS.get(outcome, outcome)


# -- sets


def _judged(question: Question, result: Result) -> set[str]:
    return set(result["doc_ids"]) - set(question.gold.unjudged_doc_ids)


def _gold_set(question: Question) -> set[str]:
    return set(question.gold.doc_ids) - set(question.gold.unjudged_doc_ids)


def _list(question: Question, result: Result, got: str) -> Measures:
    behaves = float(got == question.gold.behaviour)
    measures: Measures = {"behaviour": behaves}
    match question.gold.behaviour:
        case "no_result":
            measures |= {"behaviour@0": behaves, "right": behaves}
        case "clarify_too_many":
            measures |= {f"behaviour@{_OVERLOADED}+": behaves, "right": behaves}
        case _:
            measures |= _set_measures(_gold_set(question), _judged(question, result))
            measures["right"] = measures["exact"]
    if question.gold.filter is not None:
        measures["filter"] = float(same(question.gold.filter, result["filters"]))
    return measures


def _set_measures(gold: set[str], found: set[str]) -> Measures:
    both = len(gold & found)
    return {
        "precision": both / len(found) if found else 0.0,
        "recall": both / len(gold) if gold else 0.0,
        "exact": float(gold == found),
    }


def _aggregate(question: Question, result: Result) -> Measures:
    gold = question.gold
    near = [one for one in result["values"] if _is_value(one["value"], gold.answer)]
    currency = float(gold.currency is None or any(one["unit"] == gold.currency for one in near))
    exact = float(_gold_set(question) == _judged(question, result))
    value = float(bool(near))
    return {"value": value, "currency": currency, "set": exact, "right": value * currency * exact}


def _is_value(value: Json, gold: Json) -> bool:
    return isinstance(value, (int, float)) and isinstance(gold, (int, float)) and abs(value - gold) < _NEAR


# -- passages


def _holds(passage: Mapping[str, Json], evidence: Evidence) -> bool:
    if passage["doc_id"] != evidence.doc_id:
        return False
    if evidence.page is not None and passage["page"] == evidence.page:
        return True
    start, end = passage["start"], passage["end"]
    if None in (start, end, evidence.start, evidence.end):
        return False
    return bool(start < evidence.end and evidence.start < end)


def _evidence(question: Question, result: Result) -> Measures:
    """Any of the located evidence within the first passages, and in what is cited."""
    located = [one for one in question.gold.evidence if one.is_located]
    if not located:
        return {}
    holding = [any(_holds(hit, one) for one in located) for hit in result["hits"]]
    cited = any(_holds(citation, one) for citation in result["citations"] for one in located)
    at = {f"evidence@{depth}": float(any(holding[:depth])) for depth in (1, 3, 10)}
    return at | {"evidence cited": float(cited)}


def _documents(passages: Sequence[Mapping[str, Json]]) -> list[str]:
    """In order, each once."""
    return list(dict.fromkeys(str(one["doc_id"]) for one in passages))


def _document_hits(question: Question, result: Result) -> Measures:
    """A gold document among the documents of the first passages."""
    gold, hits = set(question.gold.doc_ids), result["hits"]
    if not gold:
        return {}
    return {f"document@{depth}": float(bool(gold & set(_documents(hits[:depth])))) for depth in (1, 10)}


def _is_cited(doc_id: str, result: Result) -> bool:
    return any(citation["doc_id"] == doc_id for citation in result["citations"])


# -- questions about documents


def _lookup(question: Question, result: Result) -> Measures:
    gold = question.gold
    cited = any(_is_cited(doc_id, result) for doc_id in gold.doc_ids)
    own_words = without((citation["title"] for citation in result["citations"]), result["text"])
    says = result["outcome"] == "answer" and said(gold.answer, own_words, gold.unit)
    answer = float(says and (cited or question.kind == "yes_no"))
    return {"answer": answer, "right": answer, "document cited": float(cited)} | _evidence(question, result)


def _qa(question: Question, result: Result) -> Measures:
    measures = _document_hits(question, result) | _evidence(question, result)
    if is_short(question.gold.answer):
        measures["answer"] = float(_says_short(question.gold.answer, result))
    found = measures.get("evidence@10", measures.get("document@10", measures.get("answer", 0.0)))
    return measures | {"right": found}


def _says_short(gold: Json, result: Result) -> bool:
    """As `said`, or all words of the gold answer in one sentence's length of reply or citation."""
    told = [str(result["text"]), *(str(one["text"]) for one in result["citations"])]
    return any(said(gold, one) or (isinstance(gold, str) and holds_words(gold, one)) for one in told)


def _compare(question: Question, result: Result) -> Measures:
    gold, answer = question.gold, question.gold.answer
    found = set(_documents(result["hits"][:10]))
    both = float(set(gold.doc_ids) <= found)
    measures = {
        "both@10": both,
        "both cited": float(all(_is_cited(one, result) for one in gold.doc_ids)),
        "sub_questions": likeness(gold.sub_questions, result["sub_questions"]),
        "right": both,
    }
    if isinstance(answer, dict):
        measures["answer"] = float(all(said(one, result["text"]) for one in answer.values()))  # pyright: ignore
    located = [one for one in gold.evidence if one.is_located]
    if {one.doc_id for one in located} == set(gold.doc_ids):
        holding = {one.doc_id for one in located for hit in result["hits"][:10] if _holds(hit, one)}
        measures["evidence both@10"] = float(holding == set(gold.doc_ids))
    return measures


def likeness(gold: Sequence[str], got: Sequence[str]) -> float:
    """Mean over the gold questions of the best overlap of words (F1) with one that was made."""
    best = [max((_overlap(one, other) for other in got), default=0.0) for one in gold]
    return sum(best) / len(best) if best else 0.0


def _overlap(one: str, other: str) -> float:
    mine, theirs = set(words(one)), set(words(other))
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine and theirs else 0.0


def _ranking(question: Question, result: Result) -> Measures:
    ranking, relevant = _documents(result["hits"]), set(question.gold.doc_ids)
    gain = ndcg(ranking, relevant)
    return {
        "nDCG@10": gain,
        "MAP": average_precision(ranking, relevant),
        "recall@100": recall(ranking, relevant, 100),
        "right": gain,
    }


def _table(question: Question, result: Result) -> Measures:
    answer = float(result["outcome"] == "answer" and said(question.gold.answer, result["text"]))
    return _document_hits(question, result) | {"answer": answer, "right": answer}


def _multihop(question: Question, result: Result, got: str) -> Measures:
    gold = question.gold
    if gold.behaviour == "no_result":
        return {"no answer": float(got == "no_result"), "right": float(got == "no_result")}
    ranking = _documents(result["hits"])
    answer = float(got == "answer" and _says(gold.answer, result))
    measures: Measures = {"recall@10": recall(ranking, set(gold.doc_ids), 10), "answer": answer}
    extracted = _filter_extraction(question, result)
    return measures | extracted | {"right": extracted.get("filter", answer)}


def _says(gold: Json, result: Result) -> bool:
    if isinstance(gold, str) and gold.casefold() in ("yes", "no"):
        return said(gold, result["text"])
    return _says_short(gold, result)


def _filter_extraction(question: Question, result: Result) -> Measures:
    """The values that the question sets fields equal to, against those of all legs, field by field."""
    members: Sequence[Mapping[str, Json]] = (question.gold.filter or {}).get("all", [])
    fields = sorted({str(one["field"]) for one in members})
    if not fields:
        return {}
    trees = [result["filters"], *(leg["filters"] for leg in result["legs"])]
    wanted = {(field, value) for field in fields for value in values_of(question.gold.filter, field)}
    found = {(field, value) for field in fields for tree in trees for value in values_of(tree, field)}
    both = len(wanted & found)
    return {
        "filter": float(wanted == found),
        "filter precision": both / len(found) if found else 0.0,
        "filter recall": both / len(wanted) if wanted else 0.0,
    }
