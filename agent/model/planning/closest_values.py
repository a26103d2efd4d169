"""Finds the values of the visible documents that words of the question may mean, so that a model need not guess."""

from collections.abc import Iterator, Mapping, Sequence

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.words.tokens import tokenize_question
from prompts.data_texts import quote_value
from storage.search.ids import BucketId

_MAX_LINES = 24
_MAX_VALUES = 4  # of one span and field
_MAX_VALUE_CHARS = 60


def describe_closest_values(question: str, lexicons: Mapping[BucketId, BucketLexicon]) -> tuple[str, ...]:
    """Returns lines such as `"acme" may be receipts.vendor "ACME Corporation" (23 documents)`, the longest words first.

    The links are those that the rules read questions with: by stems, synonyms, parts of names, and spelling.
    """
    lines: dict[str, None] = {}  # in order, each once
    ranked = sorted(_value_links(question, lexicons), key=lambda entry: -entry[0])
    for _, line in ranked:
        lines.setdefault(line, None)
        if len(lines) >= _MAX_LINES:
            break
    return tuple(lines)


def _value_links(question: str, lexicons: Mapping[BucketId, BucketLexicon]) -> Iterator[tuple[float, str]]:
    for bucket, lexicon in lexicons.items():
        tokens = tokenize_question(question, lexicon.analyser)
        linked = set[int]()
        links = lexicon.find_links(tokens)
        whole_values = {(link.first, link.last) for link in links if isinstance(link.meaning, ValueMatch)}
        for link in links:
            if isinstance(link.meaning, PartialMatch) and (link.first, link.last) in whole_values:
                continue
            line = _describe_link(link, question[tokens[link.first].start : tokens[link.last - 1].end], bucket, lexicon)
            if line:
                linked.update(range(link.first, link.last))
                yield link.weight * (link.last - link.first), line
        for index, token in enumerate(tokens):
            is_unknown_name = index not in linked and token.is_name and not (token.is_quoted or token.begins_sentence)
            corrected = lexicon.correct_spelling(token) if is_unknown_name else None
            if corrected is not None:
                yield (
                    0.1,
                    f"{quote_value(question[token.start : token.end])} may be the misspelt word {_quote(corrected[0])}"
                    f" of {bucket}",
                )


def _describe_link(link: SpanLink, words: str, bucket: BucketId, lexicon: BucketLexicon) -> str:
    match link.meaning:
        case ValueMatch(field=name, column=column, value=value):
            path = f"{name}.{column}" if column else name
            count = 0 if column else lexicon.count_documents_with(name, value)
            documents = f" ({count} {'document' if count == 1 else 'documents'})" if count else ""
            return f"{quote_value(words)} may be {bucket}.{path} {_quote(value)}{documents}"
        case PartialMatch(field=name, column=column, values=values):
            path = f"{name}.{column}" if column else name
            shown = ", ".join(_quote(value) for value in values[:_MAX_VALUES])
            more = f" and {len(values) - _MAX_VALUES} more" if len(values) > _MAX_VALUES else ""
            return f"{quote_value(words)} is part of {bucket}.{path} {shown}{more}"
        case BucketNoun() | FieldMention():
            return ""


def _quote(value: str) -> str:
    line = " ".join(value.split())
    return quote_value(line if len(line) <= _MAX_VALUE_CHARS else f"{line[: _MAX_VALUE_CHARS - 1].rstrip()}…")


def remaining_lines(lines: Sequence[str], budget_chars: int) -> list[str]:
    """Returns as many of the first lines as fit."""
    kept: list[str] = []
    for line in lines:
        budget_chars -= len(line) + 1
        if budget_chars < 0:
            break
        kept.append(line)
    return kept
