"""Values and fields spoken of become conditions; those on the columns of one row are joined."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from agent.rules.cover import Cover
from agent.rules.language import (
    CONTRACTED_NEGATIONS,
    DISJUNCTIONS,
    ENDED,
    FILLER,
    HAVE,
    LACK,
    MISSING_AFTER,
    STOP,
    YES_NO,
)
from agent.rules.lexicon import Lexicon, Link, Mention, Partly, Valued
from storage.search.conditions import All, Any, Compare, Condition, InRow, Missing, Not, Op, all_of
from storage.search.ids import FieldName
from storage.search.schema import Field, FieldType
from storage.search.text import fold

_MANY_VALUES = 50


def value_conditions(work: Cover) -> Iterator[Condition]:
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


def _use_same_mention(work: Cover, link: Link, meaning: Valued | Partly) -> None:
    for at, other in enumerate(work.links):
        if not isinstance(other.meaning, Mention) or other.meaning.field != meaning.field:
            continue
        if other.meaning.column in (meaning.column, None) and _gap(other, link) <= 3:
            work.used.add(at)


def _gap(one: Link, other: Link) -> int:
    return max(one.first, other.first) - min(one.last, other.last)


def _grouped(
    work: Cover, name: FieldName, column: FieldName | None, links: Sequence[Link], *, denied: bool
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


def _valued(work: Cover, field: Field, link: Link) -> Condition:
    words = work.question[work.tokens[link.first].start : work.tokens[link.last - 1].end]
    single = Op.HAS if field.type is FieldType.LIST else Op.EQ
    if isinstance(link.meaning, Valued):
        return Compare(field=field.name, op=single, value=link.meaning.value, words=words)
    assert isinstance(link.meaning, Partly)  # noqa: S101 - the caller's groups hold no other
    values = link.meaning.values
    written = fold(words)
    if field.type is not FieldType.LIST and all(written in fold(value) for value in values):
        folded = work.lexicon.folded(link.meaning.field, link.meaning.column)
        holding = sum(written in one for one in folded)
        if len(values) > 1 and (holding == len(values) or len(values) > _MANY_VALUES):
            return Compare(field=field.name, op=Op.CONTAINS, value=words, words=words)
    if len(values) == 1:
        return Compare(field=field.name, op=single, value=values[0], words=words)
    return Compare(field=field.name, op=Op.IN, value=values, words=words)


# -- fields spoken of


def mention_conditions(work: Cover) -> Iterator[Condition]:
    yield from _told_by_one_word(work)
    for at, link in enumerate(work.links):
        meaning = link.meaning
        if not isinstance(meaning, Mention) or at in work.used or meaning.column is not None:
            continue
        if meaning.soft and (op := _hints_at_end(work, link, meaning)) is not None:
            work.used.add(at)
            words = work.question[work.tokens[link.first].start : work.tokens[link.last - 1].end]
            yield Compare(field=meaning.field, op=op, value=str(work.today), words=words)
            continue
        if meaning.soft and not (_hints_at_flag(work, link, meaning) or _hints_at_lack(work, link, meaning)):
            continue
        field = work.lexicon.field(meaning.field)
        words = work.question[work.tokens[link.first].start : work.tokens[link.last - 1].end]
        under = any(one in work.negated for one in range(link.first, link.last))
        before = _right_before(work, link)
        lacks = {token.word for token in work.tokens[: link.first]} & (LACK | HAVE | CONTRACTED_NEGATIONS)
        after = [token.word for token in work.tokens[link.last : link.last + 2]]
        if field.type is FieldType.FLAG:
            work.used.add(at)
            yield Compare(field=field.name, op=Op.EQ, value=under == meaning.denied, words=words)
        elif meaning.denied:
            work.used.add(at)
            lacking = Missing(field=field.name, words=words)
            yield Not(lacking) if under else lacking
        elif field.type is FieldType.NUMBER and "out" in {one.word for one in work.tokens[link.first : link.last]}:
            work.used.add(at)
            yield Compare(field=field.name, op=Op.EQ, value=0.0, words=words)  # "sold out", of a number in stock
        elif field.type is FieldType.DATE and (op := _ended_or_lasting(work, link)) is not None:
            work.used.add(at)
            compared = Compare(field=field.name, op=op, value=str(work.today), words=words)
            yield Not(compared) if under else compared
        elif under and lacks and _is_told_apart(work, link):
            continue  # "without a termination clause": that clause, not any
        elif under and lacks and _counts_from_none(work, field):
            work.used.add(at)
            yield Compare(field=field.name, op=Op.EQ, value=0.0, words=words)  # "with no days left"
        elif (under and lacks) or set(after) & MISSING_AFTER:
            work.used.add(at)
            yield Missing(field=field.name, words=words)
        elif set(before) & HAVE and not _is_asked(work, link):
            work.used.add(at)
            yield Not(Missing(field=field.name, words=words))


def _told_by_one_word(work: Cover) -> Iterator[Condition]:
    """ "Undated", "upcoming", "that nobody uses": of the date documents are in order of, and of who has them."""
    order, person = work.lexicon.schema.natural_order, work.lexicon.person_field
    for at, token in enumerate(work.tokens):
        words = work.question[token.start : token.end]
        if token.word == "undated" and order:
            yield Missing(field=order.field, words=words)
        elif token.word in _UPCOMING and order and work.today is not None and _is_day(work, order.field):
            work.spent.add(at)
            yield Compare(field=order.field, op=Op.GTE, value=str(work.today), words=words)
        elif token.word in _NOBODY and person is not None and at not in work.negated:
            work.spent.add(at)
            yield Missing(field=person, words=words)


def _is_day(work: Cover, name: FieldName) -> bool:
    return work.lexicon.field(name).type is FieldType.DATE


_UPCOMING = frozenset("upcoming forthcoming".split())
_NOBODY = frozenset("nobody noone".split())
_LASTING = frozenset("still currently force effect".split())
_OPENS = frozenset("when until since how what".split())


def _ended_or_lasting(work: Cover, link: Link) -> Op | None:
    """How the day of an end compares with today, where no other is told: "that have expired", "still in force"."""
    said = {token.word for token in work.tokens[link.first : link.last]}
    before = {token.word for token in work.tokens[: link.first]}
    if work.today is None or before & _OPENS:
        return None
    if said & _LASTING:
        return Op.GTE
    return Op.LT if said & ENDED else None


def _hints_at_end(work: Cover, link: Link, meaning: Mention) -> Op | None:
    """ "Whose *warranty* has expired", "still under *warranty*": how the day it ends compares with today."""
    field = work.lexicon.field(meaning.field)
    ends = field.type is FieldType.DATE and bool(_ENDS & set(fold(field.label).split()))
    if not ends or work.today is None or work.tokens[0].word in _OPENS:
        return None
    after = [token.word for token in work.tokens[link.last : link.last + 4]]
    before = [token.word for token in work.tokens[max(link.first - 2, 0) : link.first]]
    spent = [at for at in range(link.last, min(link.last + 4, len(work.tokens))) if work.tokens[at].word in ENDED]
    if spent:
        work.spent.update(spent)
        return Op.GTE if set(after) & {"not", "t"} else Op.LT
    return Op.GTE if "under" in before[-1:] or "in" in before[-1:] or set(after) & {"valid", "runs"} else None


_ENDS = frozenset("until till end ends expiry expires expiration to through".split())


def _hints_at_flag(work: Cover, link: Link, meaning: Mention) -> bool:
    """ "May they keep *pets*?": a word of a flag's name asks for it, or stands for it behind "with"."""
    if not work.lexicon.is_flag(meaning) or not work.lexicon.is_named_by(meaning.field, work.tokens[link.first].stem):
        return False
    return work.tokens[0].word in YES_NO or bool(set(_right_before(work, link)[:1]) & HAVE)


def _hints_at_lack(work: Cover, link: Link, meaning: Mention) -> bool:
    """ "Without an *approver*": a word of a field's name is lacked as the field is."""
    under = any(one in work.negated for one in range(link.first, link.last))
    before = {token.word for token in work.tokens[: link.first]}
    return under and bool(before & LACK) and work.lexicon.is_named_by(meaning.field, work.tokens[link.first].stem)


def _counts_from_none(work: Cover, field: Field) -> bool:
    """Whether the field is a number that is none in some documents."""
    known = work.lexicon.vocabulary(field.name)
    return field.type is FieldType.NUMBER and known is not None and known.low == 0.0


def _right_before(work: Cover, link: Link) -> list[str]:
    """The words before a mention that speak of it: back to the first that means something else."""
    covered = {at for one in work.links if one is not link for at in range(one.first, one.last)}
    before: list[str] = []
    for at in range(link.first - 1, max(link.first - 4, -1), -1):
        if at in covered:
            break
        before.append(work.tokens[at].word)
    return before


def _is_told_apart(work: Cover, link: Link) -> bool:
    """Whether a word that means nothing else here says which of what the field holds."""
    before = link.first - 1
    covered = any(one.first <= before < one.last for one in work.links)
    return before in work.negated and not covered and work.tokens[before].word not in STOP | FILLER


def _is_asked(work: Cover, link: Link) -> bool:
    """ "Which part has the highest current" speaks of a field without demanding that there be a value."""
    before = {token.word for token in work.tokens[: link.first]}
    return bool(before & {"what", "how", "highest", "lowest", "most", "least", "largest", "smallest", "greatest"})


def in_rows(lexicon: Lexicon, conditions: Sequence[Condition]) -> list[Condition]:
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
