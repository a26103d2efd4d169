"""One bucket's reading of a question: which words give which condition, and which are left over.

Every run of words may mean several things (`lexicon`), every literal may belong to any field of its dimension. The best
set of meanings that do not overlap is picked (`cover`); then literals find their fields (`binding`), values group into
conditions, negations and lacks are applied (`valued`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.rules.atoms import Days, Literal, Quantity
from agent.rules.binding import Alternative, candidates_for, key_of, literal_conditions
from agent.rules.cover import LITERAL_WEIGHT, Cover, best_cover, covered_by, negated_in, tokens_within, unit_fits
from agent.rules.language import GROUP_BEFORE, MEASURES, PERIODS
from agent.rules.leftovers import leftovers_of
from agent.rules.lexicon import Lexicon, Link, Mention, Noun, Partly, Valued
from agent.rules.tokens import Quotation, Token, tokens_of
from agent.rules.valued import in_rows, mention_conditions, value_conditions
from storage.search.conditions import Condition, Not, all_of, contains_text
from storage.search.ids import BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a question says to one bucket."""

    bucket: BucketId
    conditions: tuple[Condition, ...]
    asked: tuple[Mention, ...]  # fields spoken of that give no condition, in order
    leftovers: tuple[str, ...]  # content words and phrases that mean nothing here, as written
    quoted: tuple[str, ...]  # phrases in quotation marks that are no value
    alike: tuple[Alternative, ...]  # readings that score as well as the one taken
    wider: tuple[Alternative, ...]  # "at least" beside a bare value
    has_noun: bool
    plural_noun: bool
    exact: bool  # a condition rests on a whole value or on a literal
    score: float
    tokens: tuple[Token, ...]
    links: tuple[Link, ...]
    in_literals: frozenset[int]  # tokens that stand in a literal, or name the field of one

    @property
    def condition(self) -> Condition:
        return all_of(*self.conditions)


def read(lexicon: Lexicon, question: str, literals: Sequence[Literal], quotations: Sequence[Quotation]) -> Reading:
    """The best reading of `question` in the lexicon's bucket. Pure; costs some tenths of a millisecond."""
    tokens = tokens_of(question, lexicon.analyser, quotations)
    links = [link for link in lexicon.links(tokens) if not _is_grouping(link, tokens)]
    measures = list(_measure_links(lexicon, tokens))
    links += measures
    links = [_beside_its_field(link, links) for link in links]
    spans = [(literal, *tokens_within(tokens, *covered_by(literal, lexicon))) for literal in literals]
    nouns_at = {at for link in links if isinstance(link.meaning, Noun) for at in (link.first, -link.last)}
    bindable = [
        span
        for span in spans
        if span[1] < span[2] and not _is_numbering(span, nouns_at) and _may_bind(span, lexicon, links)
    ]
    picked, kept = best_cover(len(tokens), links, bindable)
    work = Cover(lexicon, question, tokens, picked, measures, kept, negated_in(tokens, picked), set())
    alike: list[Alternative] = []
    wider: list[Alternative] = []
    conditions = [*literal_conditions(work, alike, wider)]
    conditions = [*value_conditions(work), *conditions]
    conditions += mention_conditions(work)
    leftovers, quoted, denied = leftovers_of(work, quotations)
    unsaid = [Not(contains_text(words)) for words in denied]

    def together(parts: Sequence[Condition]) -> tuple[Condition, ...]:
        return tuple(dict.fromkeys([*in_rows(lexicon, parts), *unsaid]))

    def whole(one: Alternative) -> Alternative:
        return replace(one, conditions=together([one.instead if c == one.condition else c for c in conditions]))

    nouns = [link for link in picked if isinstance(link.meaning, Noun)]
    exact = bool(kept) or any(isinstance(link.meaning, Valued) for link in picked) or bool(work.used)
    score = sum(link.weight for link in picked) + LITERAL_WEIGHT * len(kept) - 0.6 * len(leftovers)
    return Reading(
        bucket=lexicon.bucket,
        conditions=together(conditions),
        asked=tuple(
            link.meaning for at, link in enumerate(picked) if isinstance(link.meaning, Mention) and at not in work.used
        ),
        leftovers=leftovers,
        quoted=quoted,
        alike=tuple(map(whole, alike)),
        wider=tuple(map(whole, wider)),
        has_noun=bool(nouns),
        plural_noun=any(_is_plural(tokens[link.last - 1]) for link in nouns),
        exact=exact,
        score=score + (0.5 if nouns else 0.0),
        tokens=tokens,
        links=tuple(picked),
        in_literals=frozenset(at for _, first, last in kept for at in range(first, last))
        | {at for used in work.used for at in range(picked[used].first, picked[used].last)},
    )


# -- which words mean what


def _is_numbering(span: tuple[Literal, int, int], nouns_at: set[int]) -> bool:
    """ "Contract 17" names a document, "5 contracts" how many of them: neither compares a field."""
    literal, first, last = span
    bare = isinstance(literal, Quantity) and literal.bare and not literal.currency
    return bare and ((first > 0 and -first in nouns_at) or last in nouns_at)


def _beside_its_field(link: Link, links: Sequence[Link]) -> Link:
    """ "Group 3": a number that is a value counts as one where its field is named right before it."""
    meaning = link.meaning
    if not isinstance(meaning, Valued) or link.weight >= 1.5:
        return link
    named = any(
        isinstance(one.meaning, Mention) and one.meaning.field == meaning.field and one.last == link.first
        for one in links
    )
    return replace(link, weight=3.0) if named else link


def _is_grouping(link: Link, tokens: Sequence[Token]) -> bool:
    """ "By month": a period to group by, not a word of some value."""
    lone = link.last - link.first == 1 and isinstance(link.meaning, Partly) and tokens[link.first].word in PERIODS
    return lone and link.first > 0 and tokens[link.first - 1].word in GROUP_BEFORE


def _may_bind(span: tuple[Literal, int, int], lexicon: Lexicon, links: Sequence[Link]) -> bool:
    """A bare number without a unit belongs to a field that has none, or that is spoken of near it."""
    literal, first, last = span
    candidates = candidates_for(literal, lexicon)
    if (
        isinstance(literal, Days)
        or not literal.bare
        or literal.currency
        or (literal.unit and unit_fits(literal, lexicon))
    ):
        return bool(candidates)
    near = {
        (one.meaning.field, one.meaning.column)
        for one in links
        if isinstance(one.meaning, Mention) and min(abs(first - one.last), abs(one.first - last)) <= 4
    }
    return any(key_of(field, row) in near for field, row, _ in candidates)


def _measure_links(lexicon: Lexicon, tokens: Sequence[Token]) -> Iterator[Link]:
    for at, token in enumerate(tokens):
        noun = MEASURES.get(token.word)
        if noun is None:
            continue
        for stand_in in (noun, noun.split()[0]):
            parts = tokens_of(stand_in, lexicon.analyser)
            for link in lexicon.links(parts):
                if isinstance(link.meaning, Mention) and link.first == 0 and link.last == len(parts):
                    yield Link(first=at, last=at + 1, meaning=link.meaning, weight=1.0)


def _is_plural(token: Token) -> bool:
    return token.word != token.stem and token.word.endswith("s")
