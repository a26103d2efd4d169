"""`python -m bench.topic_pairs DIR OUT SET…`: makes searches for two topics of the questions of evaluation sets.

Each question is paired with another one of its set that other documents answer, and the content words of both become
one search. `parley eval OUT` with and without `--no-decompose` then tells how often the ten passages hold the documents
of both topics (`both@10`).
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from agent.retrieval.ranking_terms import FORM_WORDS
from bot.eval.eval_sets import EvalQuestion, read_suite

_DISTANCE = 11  # questions between the two of a pair; neighbours are often about one document
_MAX_WORDS = 21  # of a question: longer ones are stories
_WORD = re.compile(r"[\w'-]+")


def pair_questions(questions: tuple[EvalQuestion, ...]) -> Iterator[EvalQuestion]:
    """Yields a search for the topics of each question and of another one; always the same for the same questions."""
    short = [question for question in questions if question.gold.doc_ids and len(question.query.split()) <= _MAX_WORDS]
    for index, first in enumerate(short):
        second = short[(index * 7 + _DISTANCE) % len(short)]
        doc_ids = {*first.gold.doc_ids, *second.gold.doc_ids}
        if len(doc_ids) < len(first.gold.doc_ids) + len(second.gold.doc_ids):
            continue
        topics = f"{_content_words(first.query)} and {_content_words(second.query)}"
        yield first.model_copy(
            update={
                "query": f"What do the documents say about {topics}?",
                "kind": "compare",
                "gold": first.gold.model_copy(
                    update={"doc_ids": tuple(sorted(doc_ids)), "answer": None, "evidence": ()}
                ),
            }
        )


def _content_words(question: str) -> str:
    return " ".join(word for word in _WORD.findall(question) if word.casefold() not in FORM_WORDS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.topic_pairs", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("sets", nargs="+", metavar="SET")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for eval_set in read_suite(options.folder, options.sets, None).selected_sets:
        lines = [json.dumps(question.model_dump()) for question in pair_questions(eval_set.questions)]
        questions_path = options.out / f"{eval_set.name}_queries.jsonl.gz"
        questions_path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
        documents_path = options.out / eval_set.documents_path.name
        documents_path.write_bytes(eval_set.documents_path.read_bytes())


if __name__ == "__main__":
    main()
