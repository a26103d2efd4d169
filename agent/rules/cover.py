"""Which words of a question mean what: the best choice of meanings that do not overlap, and what of it is denied."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import date

from agent.rules.atoms import Literal, Quantity
from agent.rules.language import (
    CONTRACTED_NEGATIONS,
    DISJUNCTIONS,
    FILLER,
    FUNCTION_WORDS,
    NEGATION_PAIRS,
    NEGATIONS,
    STOP,
)
from agent.rules.lexicon import Lexicon, Link, Mention, Noun, Partly, Valued
from agent.rules.tokens import Token
from agent.rules.units import converted
from storage.search.schema import FieldType

LITERAL_WEIGHT = 2.1


@dataclass(slots=True)
class Cover:
    lexicon: Lexicon
    question: str
    tokens: tuple[Token, ...]
    links: list[Link]
    measures: list[Link]  # "wider than" speaks of width, even where it compares
    literals: list[tuple[Literal, int, int]]  # with the tokens first..last that it covers
    negated: set[int]
    used: set[int] = field(default_factory=set[int])  # indexes into `links`, of mentions that gave a condition
    spent: set[int] = field(default_factory=set[int])  # tokens that helped to bind a literal, and say nothing else
    assumed: list[str] = field(default_factory=list[str])  # what was taken for granted, in words
    today: date | None = None  # of who asks; None where it is not known: nothing has ended then, or lasts


def covered_by(literal: Literal, lexicon: Lexicon) -> tuple[int, int]:
    """Where the literal stands, without a word after the number that is no unit here."""
    if isinstance(literal, Quantity) and literal.unit and not unit_fits(literal, lexicon):
        return literal.start, min(literal.end, literal.unit_start)
    return literal.start, literal.end


def unit_fits(literal: Quantity, lexicon: Lexicon) -> bool:
    return any(converted(literal.low, literal.unit, unit) is not None for unit in lexicon.units)


def tokens_within(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    inside = [at for at, token in enumerate(tokens) if token.start >= start and token.end <= end and not token.quoted]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def best_cover(
    size: int, links: Sequence[Link], literals: Sequence[tuple[Literal, int, int]]
) -> tuple[list[Link], list[tuple[Literal, int, int]]]:
    """The choice of links and literals that do not overlap with the greatest weight (weighted interval scheduling)."""
    ending: dict[int, list[tuple[int, float, Link | tuple[Literal, int, int]]]] = defaultdict(list)
    for link in links:
        ending[link.last].append((link.first, link.weight, link))
    for span in literals:
        ending[span[2]].append((span[1], LITERAL_WEIGHT * (span[2] - span[1]), span))
    best: list[tuple[float, tuple[Link | tuple[Literal, int, int], ...]]] = [(0.0, ())]
    for at in range(1, size + 1):
        top = best[at - 1]
        for first, weight, item in ending[at]:
            total = best[first][0] + weight
            if total > top[0] + 1e-9:
                top = (total, (*best[first][1], item))
        best.append(top)
    chosen = best[size][1]
    return [one for one in chosen if isinstance(one, Link)], [one for one in chosen if isinstance(one, tuple)]


def negated_in(tokens: Sequence[Token], links: Sequence[Link], compared: Set[int], lexicon: Lexicon) -> set[int]:
    """The tokens that stand under a negation: from the negating word to the end of its clause or list; one that is
    part of a comparison ("didn't even reach 5", `compared`) denies nothing else.
    """
    covered = {
        at
        for link in links
        if not isinstance(link.meaning, Mention) or link.meaning.denied
        for at in range(link.first, link.last)
    }
    result: set[int] = set()
    for at, token in enumerate(tokens):
        word = token.word
        pair = at + 1 < len(tokens) and (word, tokens[at + 1].word) in NEGATION_PAIRS
        contracted = word in CONTRACTED_NEGATIONS and (
            word == "cannot" or (at + 1 < len(tokens) and tokens[at + 1].word == "t")
        )
        if at in covered or at in compared or not (pair or contracted or word in NEGATIONS):
            continue
        if word == "non" and any(one.first <= at < one.last for one in links):
            continue  # "the non-renewal notice": what a field is called
        if word == "non":
            result.add(at + 1)  # "non-vegetarian French dishes": that word alone
            continue
        if word == "no" and _is_abbreviated(token, tokens[at + 1 :], links, at):
            continue  # "CAS no. of"
        if word == "minus" and at + 1 < len(tokens) and tokens[at + 1].word.isdigit():
            continue  # a sign
        if word in ("no", "not") and at + 2 < len(tokens) and tokens[at + 2].word == "than":
            continue  # "no more than": a comparator
        result.update(_under(at + 1, tokens, links, compared, lexicon))
    return result


def _is_abbreviated(token: Token, after: Sequence[Token], links: Sequence[Link], at: int) -> bool:
    """ "No." for number, behind what is numbered."""
    named = any(isinstance(one.meaning, Mention) and one.last in (at, at + 1) for one in links)
    return named and (not after or after[0].word in ("of", "for", "is", "in"))


_LINKING = frozenset({"a", "an", "the", "any", "by", "from", "in", "with", "at", "of", "for"})
_FARTHEST = 5  # tokens from a negation to what it denies


def _under(
    start: int, tokens: Sequence[Token], links: Sequence[Link], compared: Set[int], lexicon: Lexicon
) -> Iterator[int]:
    """From the negation to the first thing it can deny, and on through a list of its like ("or", "nor")."""
    linked = {
        at
        for one in links
        if not isinstance(one.meaning, Noun) and not _leads_to_value(one, links, tokens, lexicon)
        for at in range(one.first, one.last)
    }
    denied = joining = False
    for at in range(start, len(tokens)):
        word = tokens[at].word
        if denied and not joining and at in compared and at - 1 not in compared:
            return  # "not sold out next month": what is compared is a phrase of its own
        if at in linked or tokens[at].quoted or (_is_content(word) and not _is_spoken(at, links)):
            if denied and not joining and at - 1 not in linked and not _is_content(tokens[at - 1].word):
                return  # another phrase
            denied, joining = True, False
        elif denied and (word in DISJUNCTIONS or word == "nor"):
            joining = True
        elif not (joining and word in _LINKING) if denied else _is_beyond(at - start, word):
            return
        yield at


def _is_beyond(distance: int, word: str) -> bool:
    """Whether a negation reaches no word so far away, or behind a new clause."""
    return distance > _FARTHEST or (word in _ENDS and distance > 0)


def _leads_to_value(link: Link, links: Sequence[Link], tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """ "Not *dated* from 2017", "not *sponsored* by Acme": the field is spoken of, its value is what is denied."""
    after = tokens[link.last].word if link.last < len(tokens) else ""
    if not isinstance(link.meaning, Mention) or lexicon.is_flag(link.meaning):
        return False
    value_at = link.last + (after in _LINKING)
    if any(
        isinstance(one.meaning, (Valued, Partly)) and one.meaning.field == link.meaning.field and one.first == value_at
        for one in links
    ):
        return True
    is_day = lexicon.field(link.meaning.field, link.meaning.column).type is FieldType.DATE
    return after in ("is", "are", "was", "were") or (is_day and after in ("from", "in", "at", "before", "after", "on"))


_ENDS = frozenset({"and", "but", "that", "which", "with"})


def _is_content(word: str) -> bool:
    return word not in STOP and word not in FILLER and word not in FUNCTION_WORDS and len(word) > 1


def _is_spoken(at: int, links: Sequence[Link]) -> bool:
    """Whether the token names documents or a field."""
    return any(isinstance(one.meaning, (Noun, Mention)) and one.first <= at < one.last for one in links)
