"""What a question names, by kind: values, kinds of documents, days, numbers, identifiers, and words not known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent.rules.atoms import Days, Literal
from agent.rules.comparing import Masked
from agent.rules.language import FILLER, FUNCTION_WORDS, MEASURES, PERIODS, STOP, SUMMARISE
from agent.rules.lexicon import Mention, Noun, Partly, Valued
from agent.rules.reading import Reading
from agent.rules.tokens import Token
from storage.search.conditions import Op
from storage.search.ids import FieldName

WORD_WEIGHT = 0.6
JOINS = frozenset({"and", "or", "nor", "&"})
SETS_AGAINST = frozenset({"with", "to", "against", "from", "than", "versus", "vs", "v"})
_FORM = STOP | FILLER | FUNCTION_WORDS | SUMMARISE | SETS_AGAINST | MEASURES.keys() | PERIODS.keys()
Kind: TypeAlias = str | tuple[FieldName, FieldName | None]  # the values of a field, or one of those below
NOUN, DAYS, NUMBER, ID, WORD = "noun", "days", "number", "identifier", "word"


@dataclass(frozen=True, slots=True)
class Anchor:
    """`tokens[first:last]` name something of a kind."""

    first: int
    last: int
    kind: Kind
    weight: float


def anchors_of(question: Masked, readings: Sequence[Reading], literals: Sequence[Literal]) -> list[Anchor]:
    """Values, nouns, numbers and days, and words that mean nothing yet; in order."""
    best, tokens = readings[0], readings[0].tokens
    found: list[Anchor] = []
    covered: set[int] = set()
    for link in best.links:
        covered |= set(range(link.first, link.last))
        match link.meaning:
            case Valued(field=field, column=column) | Partly(field=field, column=column):
                found.append(Anchor(link.first, link.last, (field, column), 1.0))
            case Noun():
                found.append(Anchor(link.first, link.last, NOUN, 0.4))
            case Mention():
                pass
    for literal in literals:
        span = [at for at, one in enumerate(tokens) if one.start >= literal.number_start and one.end <= literal.end]
        if span and not set(span) & covered:
            covered |= set(span)
            if _is_side(literal):
                found.append(Anchor(span[0], span[-1] + 1, DAYS if isinstance(literal, Days) else NUMBER, 1.0))
    found += [Anchor(at, at + 1, NOUN, 0.4) for at in _ones(tokens, found)]
    for first, last in _words(tokens, covered, question):
        identifies = any(c.isdigit() for one in tokens[first:last] for c in one.word)
        found.append(Anchor(first, last, ID if identifies else WORD, 1.0 if identifies else WORD_WEIGHT))
    return sorted(found, key=lambda one: one.first)


def _ones(tokens: Sequence[Token], named: Sequence[Anchor]) -> Iterator[int]:
    """ "The A agreement and the B *one*": stands for the noun."""
    ends = {one.last for one in named}
    for at, token in enumerate(tokens):
        after = tokens[at + 1].word if at + 1 < len(tokens) else ""
        if token.word in ("one", "ones") and at in ends and after != "of":
            yield at


def _is_side(literal: Literal) -> bool:
    """A number that compares ("over 50") restricts; it is no side of a comparison."""
    return literal.op is Op.EQ or (isinstance(literal, Days) and literal.op is Op.BETWEEN)


def _words(tokens: Sequence[Token], covered: set[int], question: Masked) -> Iterator[tuple[int, int]]:
    """Runs of content words that nothing is known of."""
    run: list[int] = []
    for at, token in enumerate(tokens):
        plain = token.word in _FORM or (at == 0 and _only_opens(tokens))
        if at in covered or (plain and not token.quoted):
            if run:
                yield run[0], run[-1] + 1
            run = []
            continue
        if run and _is_apart(tokens[run[-1]].end, token.start, question):
            yield run[0], run[-1] + 1
            run = []
        run.append(at)
    if run:
        yield run[0], run[-1] + 1


def _is_apart(end: int, start: int, question: Masked) -> bool:
    """Whether what stands between two words sets them apart."""
    gap = question.text[end:start]
    return any(mark in gap for mark in (",", ";", ":", " /", "/ ")) or any(
        end <= first and last <= start for first, last in question.cues
    )


def _only_opens(tokens: Sequence[Token]) -> bool:
    """ "Put the one beside the other": a verb of asking, whatever it is."""
    return len(tokens) > 1 and tokens[1].word in STOP and tokens[1].word not in JOINS


def in_plural(reading: Reading) -> bool:
    """Whether documents are spoken of in the plural."""
    nouns = (reading.tokens[link.last - 1].word for link in reading.links if isinstance(link.meaning, Noun))
    return any(word.endswith("s") and not word.endswith("ss") for word in nouns)
