"""One bucket's reading of a question: which words give which condition, and which are left over.

Every run of words may mean several things (`lexicon`), every literal may belong to any field of its dimension. The best
set of meanings that do not overlap is picked; then literals find their fields, values group into conditions, negations
and lacks are applied.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.rules.language import (
    CONTRACTED_NEGATIONS,
    DISJUNCTIONS,
    FILLER,
    FUNCTION_WORDS,
    GROUP_BEFORE,
    HAVE,
    LACK,
    MEASURES,
    MISSING_AFTER,
    NEGATION_PAIRS,
    NEGATIONS,
    PERIODS,
    STOP,
    SUMMARISE,
)
from agent.rules.lexicon import Lexicon, Link, Mention, Noun, Partly, Valued
from agent.rules.literals import Days, Literal, Quantity
from agent.rules.tokens import Quotation, Token, tokens_of
from agent.rules.units import converted
from storage.search.conditions import All, Any, Compare, Condition, InRow, Missing, Not, Op, all_of, contains_text
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Bare, Field, FieldType
from storage.search.text import fold

_ALIKE = 0.35  # readings of a literal whose scores differ by less are an ambiguity
_MANY_VALUES = 50
_LITERAL_WEIGHT = 2.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another reading of one constraint: `instead` for `condition`, and all conditions as they then are."""

    condition: Condition
    instead: Condition
    conditions: tuple[Condition, ...] = ()


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


@dataclass(slots=True)
class _Work:
    lexicon: Lexicon
    question: str
    tokens: tuple[Token, ...]
    links: list[Link]
    measures: list[Link]  # "wider than" speaks of width, even where it compares
    literals: list[tuple[Literal, int, int]]  # with the tokens first..last that it covers
    negated: set[int]
    used: set[int]  # indexes into `links`, of mentions that gave a condition


def read(lexicon: Lexicon, question: str, literals: Sequence[Literal], quotations: Sequence[Quotation]) -> Reading:
    """The best reading of `question` in the lexicon's bucket. Pure; costs some tenths of a millisecond."""
    tokens = tokens_of(question, lexicon.analyser, quotations)
    links = [link for link in lexicon.links(tokens) if not _is_grouping(link, tokens)]
    measures = list(_measure_links(lexicon, tokens))
    links += measures
    links = [_beside_its_field(link, links) for link in links]
    spans = [(literal, *_tokens_within(tokens, *_covered(literal, lexicon))) for literal in literals]
    nouns_at = {at for link in links if isinstance(link.meaning, Noun) for at in (link.first, -link.last)}
    bindable = [
        span
        for span in spans
        if span[1] < span[2] and not _is_numbering(span, nouns_at) and _may_bind(span, lexicon, links)
    ]
    picked, kept = _best_cover(len(tokens), links, bindable)
    work = _Work(lexicon, question, tokens, picked, measures, kept, _negated(tokens, picked), set())
    alike: list[Alternative] = []
    wider: list[Alternative] = []
    conditions = [*_literal_conditions(work, alike, wider)]
    conditions = [*_value_conditions(work), *conditions]
    conditions += _mention_conditions(work)
    leftovers, quoted, denied = _leftovers(work, quotations)
    unsaid = [Not(contains_text(words)) for words in denied]

    def together(parts: Sequence[Condition]) -> tuple[Condition, ...]:
        return tuple(dict.fromkeys([*_in_rows(lexicon, parts), *unsaid]))

    def whole(one: Alternative) -> Alternative:
        return replace(one, conditions=together([one.instead if c == one.condition else c for c in conditions]))

    nouns = [link for link in picked if isinstance(link.meaning, Noun)]
    exact = bool(kept) or any(isinstance(link.meaning, Valued) for link in picked) or bool(work.used)
    score = sum(link.weight for link in picked) + _LITERAL_WEIGHT * len(kept) - 0.6 * len(leftovers)
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
    candidates = _candidates(literal, lexicon)
    if (
        isinstance(literal, Days)
        or not literal.bare
        or literal.currency
        or (literal.unit and _unit_fits(literal, lexicon))
    ):
        return bool(candidates)
    near = {
        (one.meaning.field, one.meaning.column)
        for one in links
        if isinstance(one.meaning, Mention) and min(abs(first - one.last), abs(one.first - last)) <= 4
    }
    return any(_key(field, row) in near for field, row, _ in candidates)


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


def _covered(literal: Literal, lexicon: Lexicon) -> tuple[int, int]:
    """Where the literal stands, without a word after the number that is no unit here."""
    if isinstance(literal, Quantity) and literal.unit and not _unit_fits(literal, lexicon):
        return literal.start, min(literal.end, literal.unit_start)
    return literal.start, literal.end


def _unit_fits(literal: Quantity, lexicon: Lexicon) -> bool:
    fields = [*lexicon.schema.fields, *(column for one in lexicon.schema.fields for column in one.columns)]
    return any(one.unit and converted(literal.low, literal.unit, one.unit) is not None for one in fields)


def _tokens_within(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    inside = [at for at, token in enumerate(tokens) if token.start >= start and token.end <= end and not token.quoted]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def _best_cover(
    size: int, links: Sequence[Link], literals: Sequence[tuple[Literal, int, int]]
) -> tuple[list[Link], list[tuple[Literal, int, int]]]:
    """The choice of links and literals that do not overlap with the greatest weight (weighted interval scheduling)."""
    ending: dict[int, list[tuple[int, float, Link | tuple[Literal, int, int]]]] = defaultdict(list)
    for link in links:
        ending[link.last].append((link.first, link.weight, link))
    for span in literals:
        ending[span[2]].append((span[1], _LITERAL_WEIGHT * (span[2] - span[1]), span))
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


def _negated(tokens: Sequence[Token], links: Sequence[Link]) -> set[int]:
    """The tokens that stand under a negation: from the negating word to the end of its clause or list."""
    covered = {at for link in links if not isinstance(link.meaning, Mention) for at in range(link.first, link.last)}
    result: set[int] = set()
    for at, token in enumerate(tokens):
        word = token.word
        pair = at + 1 < len(tokens) and (word, tokens[at + 1].word) in NEGATION_PAIRS
        contracted = word in CONTRACTED_NEGATIONS and (
            word == "cannot" or (at + 1 < len(tokens) and tokens[at + 1].word == "t")
        )
        if at in covered or not (pair or contracted or word in NEGATIONS):
            continue
        if word in ("no", "not") and at + 2 < len(tokens) and tokens[at + 2].word == "than":
            continue  # "no more than": a comparator
        result.update(_under(at + 1, tokens, links))
    return result


_LISTING = DISJUNCTIONS | frozenset({"nor", "a", "an", "the", "any", "by", "from", "in", "with", "at"})


def _under(start: int, tokens: Sequence[Token], links: Sequence[Link]) -> Iterator[int]:
    """From the negation to the first thing it can deny, and on through a list of its like ("or", "nor", commas)."""
    denied = False
    for at in range(start, len(tokens)):
        linked = [link for link in links if link.first <= at < link.last and not isinstance(link.meaning, Noun)]
        if linked or tokens[at].quoted:
            denied = True
        elif (
            (denied and tokens[at].word not in _LISTING)
            or (not denied and at - start > 5)
            or (not denied and tokens[at].word in ("and", "but", "that", "which", "with") and at > start)
        ):
            return
        yield at


# -- literals


def _literal_conditions(work: _Work, alike: list[Alternative], wider: list[Alternative]) -> Iterator[Condition]:
    taken: dict[tuple[FieldName, FieldName | None], list[Op]] = defaultdict(list)
    for literal, first, last in work.literals:
        ranked = sorted(
            (
                (
                    score
                    + _nearness(work, field, row, first, last)
                    - _repeated(taken[_key(field, row)], literal)
                    - _miscounted(work, literal, field, last),
                    at,
                )
                for at, (field, row, score) in enumerate(_candidates(literal, work.lexicon))
            ),
            key=lambda pair: (-pair[0], pair[1]),
        )
        candidates = _candidates(literal, work.lexicon)
        field, row, _ = candidates[ranked[0][1]]
        taken[_key(field, row)].append(literal.op)
        _use_mention(work, field, row, first, last)
        condition = _literal_condition(literal, field, row, work)
        under = any(at in work.negated for at in range(first, last))
        yield Not(condition) if under else condition
        for score, at in ranked[1:2]:
            other, other_row, _ = candidates[at]
            if ranked[0][0] - score < _ALIKE and not under:
                alike.append(
                    Alternative(condition=condition, instead=_literal_condition(literal, other, other_row, work))
                )
        if isinstance(literal, Quantity) and literal.bare and field.type is FieldType.NUMBER and not under:
            more = _literal_condition(replace(literal, op=Op.GTE, bare=False), field, row, work)
            if more != condition:
                wider.append(Alternative(condition=condition, instead=more))


def _key(field: Field, row: FieldName | None) -> tuple[FieldName, FieldName | None]:
    return (field.name, None) if row is None else (row, field.name)


def _repeated(ops: Sequence[Op], literal: Literal) -> float:
    """A field is rarely compared twice, but for the two ends of a range."""
    ends = ({Op.GT, Op.GTE}, {Op.LT, Op.LTE})
    fits = any(literal.op in ends[side] and all(op in ends[1 - side] for op in ops) for side in (0, 1))
    return 0.0 if not ops or fits else 1.5


def _miscounted(work: _Work, literal: Literal, field: Field, last: int) -> float:
    """ "4 winter tires" counts things: no money, nothing in kilograms, unless a currency, unit or field is named."""
    if not isinstance(literal, Quantity) or literal.currency:
        return 0.0
    things = any(link.first == last and isinstance(link.meaning, (Valued, Partly)) for link in work.links)
    measured = field.type is FieldType.MONEY or (
        field.unit and not (literal.unit and _unit_fits(literal, work.lexicon))
    )
    return 1.0 if things and measured else 0.0


def _candidates(literal: Literal, lexicon: Lexicon) -> list[tuple[Field, FieldName | None, float]]:
    """The fields a literal may belong to, in the schema's order, each with how well its dimension and range fit."""
    fields = [(one, None) for one in lexicon.schema.fields]
    fields += [(column, one.name) for one in lexicon.schema.fields for column in one.columns]
    return [
        (field, row, score - (0.7 if row else 0.0))
        for field, row in fields
        if (score := _fit(literal, field, row, lexicon)) is not None
    ]


def _fit(literal: Literal, field: Field, row: FieldName | None, lexicon: Lexicon) -> float | None:
    vocabulary = lexicon.vocabulary(*_key(field, row))
    filled = vocabulary.documents / max(lexicon.documents, 1) if vocabulary else 0.0
    if isinstance(literal, Days):
        if field.type is FieldType.DATE:
            natural = lexicon.schema.natural_order
            return 1.0 + 0.3 * filled + (0.5 if natural and natural.field == field.name and row is None else 0.0)
        if field.type is FieldType.NUMBER and literal.year_only and not field.unit and vocabulary:
            low, high = vocabulary.low, vocabulary.high
            if isinstance(low, float) and isinstance(high, float) and 1800 <= low <= high <= 2200:
                return 2.0 + 0.3 * filled
        return None
    if field.type is FieldType.MONEY:
        return _money_fit(literal, field, filled, lexicon)
    if field.type is not FieldType.NUMBER or literal.currency:
        return None
    score = 0.3 * filled
    if literal.unit and _unit_fits(literal, lexicon):
        value = converted(literal.low, literal.unit, field.unit) if field.unit else None
        if value is None:
            return None
        score += 3.0
    else:
        value = float(literal.low)
        score += 0.5 if not field.unit else 0.0
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    inside = isinstance(low, float) and isinstance(high, float) and low <= value <= high
    return score + (1.0 if inside else 0.0)


def _money_fit(literal: Quantity, field: Field, filled: float, lexicon: Lexicon) -> float | None:
    if literal.unit and _unit_fits(literal, lexicon):
        return None
    if literal.currency and field.currency and field.currency != literal.currency:
        return None
    return 0.3 * filled + (3.0 if literal.currency else 1.0)


def _nearness(work: _Work, field: Field, row: FieldName | None, first: int, last: int) -> float:
    """How close the field is spoken of: the nearest mention, before the literal rather than after it."""
    best = 0.0
    for link in (*work.links, *work.measures):
        if isinstance(link.meaning, Mention) and (link.meaning.field, link.meaning.column) == _key(field, row):
            distance = first - link.last if link.last <= first else link.first - last + 0.5
            best = max(best, 4.0 / (1.0 + 0.35 * max(distance, 0)))
    return best


def _use_mention(work: _Work, field: Field, row: FieldName | None, first: int, last: int) -> None:
    for at, link in enumerate(work.links):
        own = isinstance(link.meaning, Mention) and (link.meaning.field, link.meaning.column) == _key(field, row)
        if own and min(abs(first - link.last), abs(link.first - last)) <= 6:
            work.used.add(at)


def _literal_condition(literal: Literal, field: Field, row: FieldName | None, work: _Work) -> Condition:
    words = work.question[slice(*_covered(literal, work.lexicon))].strip()
    name = field.name
    condition = (
        _days_condition(literal, field, words) if isinstance(literal, Days) else _number(literal, field, words, work)
    )
    return condition if row is None else InRow(row=row, condition=condition, words=words or name)


def _days_condition(literal: Days, field: Field, words: str) -> Condition:
    first: float | str = literal.first.isoformat()
    last: float | str = literal.last.isoformat()
    if field.type is FieldType.NUMBER:
        first = last = float(literal.first.year)
    match literal.op:
        case Op.GT:
            op, value = Op.GT, last
        case Op.GTE:
            op, value = Op.GTE, first
        case Op.LT:
            op, value = Op.LT, first
        case Op.LTE:
            op, value = Op.LTE, last
        case _ if first == last:
            op, value = Op.EQ, first
        case _:
            return Compare(field=field.name, op=Op.BETWEEN, value=(first, last), words=words)
    return Compare(field=field.name, op=op, value=value, words=words)


def _number(literal: Quantity, field: Field, words: str, work: _Work) -> Condition:
    def value_of(number: float | None, fallback: float) -> float:
        return fallback if number is None else number

    unit = literal.unit if field.unit and literal.unit else ""
    low = value_of(converted(literal.low, unit, field.unit) if unit else None, float(literal.low))
    op = literal.op
    if literal.bare and field.bare is not Bare.EXACTLY:
        op = Op.GTE if field.bare is Bare.AT_LEAST else Op.LTE
    if literal.high is not None:
        high = value_of(converted(literal.high, unit, field.unit) if unit else None, float(literal.high))
        compared = Compare(field=field.name, op=Op.BETWEEN, value=(min(low, high), max(low, high)), words=words)
    else:
        compared = Compare(field=field.name, op=op, value=low, words=words)
    if literal.currency and field.currency_field is not None:
        currency = Compare(field=field.currency_field, op=Op.EQ, value=literal.currency, words=literal.currency)
        return All((compared, currency))
    return compared


# -- values


def _value_conditions(work: _Work) -> Iterator[Condition]:
    groups: dict[tuple[FieldName, FieldName | None, bool], list[Link]] = defaultdict(list)
    for link in work.links:
        meaning = link.meaning
        if isinstance(meaning, (Valued, Partly)):
            under = any(at in work.negated for at in range(link.first, link.last))
            groups[meaning.field, meaning.column, under].append(link)
            _use_same_mention(work, link, meaning)
    for (name, column, under), links in groups.items():
        condition = _grouped(work, name, column, links, denied=under)
        yield Not(condition) if under else condition


def _use_same_mention(work: _Work, link: Link, meaning: Valued | Partly) -> None:
    for at, other in enumerate(work.links):
        if not isinstance(other.meaning, Mention) or other.meaning.field != meaning.field:
            continue
        if other.meaning.column in (meaning.column, None) and _gap(other, link) <= 3:
            work.used.add(at)


def _gap(one: Link, other: Link) -> int:
    return max(one.first, other.first) - min(one.last, other.last)


def _grouped(
    work: _Work, name: FieldName, column: FieldName | None, links: Sequence[Link], *, denied: bool
) -> Condition:
    field = work.lexicon.field(name, column)
    parts = [_valued(work, field, link) for link in links]
    if len(parts) > 1:
        between = range(links[0].last, links[-1].first)
        either = denied or any(work.tokens[at].word in DISJUNCTIONS for at in between)
        several = field.type is FieldType.LIST or column is not None
        merged = _one_of(field, parts) if not several else (Any(tuple(parts)) if either else All(tuple(parts)))
        if column is not None and not either:
            return All(tuple(InRow(row=name, condition=part, words=_words(part)) for part in parts))
        parts = [merged]
    return parts[0] if column is None else InRow(row=name, condition=parts[0], words=_words(parts[0]))


def _words(condition: Condition) -> str:
    match condition:
        case Compare(words=words) | Missing(words=words) | InRow(words=words):
            return words
        case All(members) | Any(members):
            return " ".join(filter(None, map(_words, members)))
        case Not(inner):
            return _words(inner)


def _one_of(field: Field, parts: Sequence[Condition]) -> Condition:
    values: list[str] = []
    for part in parts:
        if not isinstance(part, Compare) or part.op is Op.CONTAINS:
            return Any(tuple(parts))
        values += [str(one) for one in (part.value if isinstance(part.value, tuple) else (part.value,))]
    words = ", ".join(filter(None, (_words(part) for part in parts)))
    return Compare(field=field.name, op=Op.IN, value=tuple(dict.fromkeys(values)), words=words)


def _valued(work: _Work, field: Field, link: Link) -> Condition:
    words = work.question[work.tokens[link.first].start : work.tokens[link.last - 1].end]
    single = Op.HAS if field.type is FieldType.LIST else Op.EQ
    if isinstance(link.meaning, Valued):
        return Compare(field=field.name, op=single, value=link.meaning.value, words=words)
    assert isinstance(link.meaning, Partly)  # noqa: S101 - the caller's groups hold no other
    values = link.meaning.values
    written = fold(words)
    if field.type is not FieldType.LIST and all(written in fold(value) for value in values):
        vocabulary = work.lexicon.vocabulary(link.meaning.field, link.meaning.column)
        holding = sum(written in fold(one.value) for one in vocabulary.values) if vocabulary else 0
        if len(values) > 1 and (holding == len(values) or len(values) > _MANY_VALUES):
            return Compare(field=field.name, op=Op.CONTAINS, value=words, words=words)
    if len(values) == 1:
        return Compare(field=field.name, op=single, value=values[0], words=words)
    return Compare(field=field.name, op=Op.IN, value=values, words=words)


# -- fields spoken of


def _mention_conditions(work: _Work) -> Iterator[Condition]:
    for token in work.tokens:
        if token.word == "undated" and (order := work.lexicon.schema.natural_order):
            yield Missing(field=order.field, words=work.question[token.start : token.end])
    for at, link in enumerate(work.links):
        if not isinstance(link.meaning, Mention) or at in work.used or link.meaning.column is not None:
            continue
        field = work.lexicon.field(link.meaning.field)
        words = work.question[work.tokens[link.first].start : work.tokens[link.last - 1].end]
        under = any(one in work.negated for one in range(link.first, link.last))
        before = [token.word for token in work.tokens[max(link.first - 3, 0) : link.first]]
        lacks = {token.word for token in work.tokens[: link.first]} & (LACK | HAVE | CONTRACTED_NEGATIONS)
        after = [token.word for token in work.tokens[link.last : link.last + 2]]
        if field.type is FieldType.FLAG:
            work.used.add(at)
            yield Compare(field=field.name, op=Op.EQ, value=not under, words=words)
        elif (under and lacks) or set(after) & MISSING_AFTER:
            work.used.add(at)
            yield Missing(field=field.name, words=words)
        elif set(before) & HAVE and not _is_asked(work, link):
            work.used.add(at)
            yield Not(Missing(field=field.name, words=words))


def _is_asked(work: _Work, link: Link) -> bool:
    """ "Which part has the highest current" speaks of a field without demanding that there be a value."""
    before = {token.word for token in work.tokens[: link.first]}
    return bool(before & {"what", "how", "highest", "lowest", "most", "least", "largest", "smallest", "greatest"})


def _in_rows(lexicon: Lexicon, conditions: Sequence[Condition]) -> list[Condition]:
    """Row conditions on one rows field hold within one row together, as a person means "4 tires"."""
    numbers: dict[FieldName, list[InRow]] = defaultdict(list)
    texts: dict[FieldName, list[InRow]] = defaultdict(list)
    rest: list[Condition] = []
    for condition in conditions:
        if isinstance(condition, InRow):
            columns = {one.name: one.type for one in lexicon.field(condition.row).columns}
            inner = condition.condition
            numeric = isinstance(inner, Compare) and columns[inner.field] in (FieldType.NUMBER, FieldType.MONEY)
            (numbers if numeric else texts)[condition.row].append(condition)
        else:
            rest.append(condition)
    for row in dict.fromkeys((*texts, *numbers)):
        if len(texts[row]) <= 1:
            together = [*texts[row], *numbers[row]]
            inside = all_of(*(one.condition for one in together))
            rest.append(InRow(row=row, condition=inside, words=" ".join(one.words for one in together)))
        else:
            rest += [*texts[row], *numbers[row]]
    return rest


# -- what is left


def _leftovers(
    work: _Work, quotations: Sequence[Quotation]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Words left over, phrases in quotation marks, and what of both stands under a negation."""
    denied: list[str] = []
    covered = {at for link in work.links for at in range(link.first, link.last)}
    covered |= {at for _, first, last in work.literals for at in range(first, last)}
    quoted: list[str] = []
    for quotation in quotations:
        inside = [at for at, t in enumerate(work.tokens) if quotation.start <= t.start < quotation.end]
        if not set(inside) <= covered:
            (denied if set(inside) & work.negated else quoted).append(quotation.text)
        covered |= set(inside)
    spoken = _spoken_of(work)
    runs: list[tuple[int, int]] = []
    for at, token in enumerate(work.tokens):
        if at in covered or (token.stem in spoken and at not in work.negated):
            continue
        if (
            runs
            and runs[-1][1] == at
            and work.question[work.tokens[at - 1].end : token.start] in ("-", "/", ".", "'", "’", "&")
        ):
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    kept: list[str] = []
    for first, last in runs:
        if _is_how_many(work, first, last):
            continue
        if any(_is_content(token) for token in work.tokens[first:last]):
            written = work.question[work.tokens[first].start : work.tokens[last - 1].end]
            (denied if first in work.negated else kept).append(written)
    return tuple(dict.fromkeys(kept)), tuple(quoted), tuple(dict.fromkeys(denied))


def _spoken_of(work: _Work) -> frozenset[str]:
    """Words that speak of a field which gave a condition: "governed by Texas law" adds nothing to the law of Texas."""
    fields = {link.meaning.field for link in work.links if isinstance(link.meaning, (Valued, Partly))}
    fields |= {
        one.meaning.field for at, one in enumerate(work.links) if at in work.used and isinstance(one.meaning, Mention)
    }
    return frozenset[str]().union(*(work.lexicon.stems_of(name) for name in fields))


def _is_how_many(work: _Work, first: int, last: int) -> bool:
    """ "5 panels", "top 3", "how long": how many are wanted, or what is asked, and no word of the documents."""
    before = work.tokens[first - 1].word if first else ""
    if before == "how" or (before in GROUP_BEFORE and work.tokens[first].word in PERIODS):
        return True
    if last - first != 1 or not work.tokens[first].word.isdigit():
        return False
    noun_follows = any(isinstance(link.meaning, Noun) and link.first == last for link in work.links)
    after = work.tokens[last].word if last < len(work.tokens) else ""
    return noun_follows or after in FUNCTION_WORDS or before in ("top", "first", "last", "bottom")


def _is_content(token: Token) -> bool:
    if token.word in FUNCTION_WORDS:
        return False
    said = STOP | FILLER | SUMMARISE  # what kind of answer is wanted is no word of the documents
    return token.word not in said and (len(token.word) > 1 or token.word.isdigit())


def _is_plural(token: Token) -> bool:
    return token.word != token.stem and token.word.endswith("s")
