"""What people call fields and documents: words of ordinary language, looked up by the names of fields and buckets.

They become part of the schema, where they can be read and edited; nothing is looked up when a question is asked.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import yaml

from storage.ingest.names import numbers_of, singular, words_in
from storage.search.schema import Field, FieldType, Schema

_FILE = Path(__file__).with_name("thesaurus.yaml")
_MOST = 18  # synonyms of one field
# How sure: a word of the whole name, of all but a word that adds nothing, of its last words, of its unit
_WHOLE, _NAMED, _HEAD, _UNIT = 16, 12, 8, 4
_SAID = 2  # less for what names no field
_MEASURED = frozenset({FieldType.NUMBER, FieldType.MONEY, FieldType.DATE})  # surer by 1: they can be compared
_COMPOSED = 4  # words in place of the last of a name
_OF_UNIT = {
    "V": "voltage", "A": "current", "W": "power", "ohm": "resistance", "degC": "temperature", "degF": "temperature",
    "Hz": "frequency", "MHz": "frequency", "GHz": "frequency", "kg": "weight", "g": "weight", "F": "capacitance",
    "uF": "capacitance", "nF": "capacitance", "Pa": "pressure", "bar": "pressure", "percent": "percentage",
    "m**2": "area", "ft**2": "area", "hectare": "area", "mohm": "resistance", "kohm": "resistance", "mA": "current",
    "mV": "voltage", "kW": "power",
}  # fmt: skip
_SHORTEST_PART = 3  # letters: "N/A" has no parts
_ADDS_NOTHING = frozenset({"name", "date", "at", "on", "value", "amount", "text", "field", "full"})
_KEPT_IN = frozenset(
    "table tables data dataset list lists sheet sheets docs documents file files records export catalog catalogue "
    "database db csv collection archive all".split()
)
_LEADING = frozenset({"is", "has", "the", "metadata"})
_ANY = frozenset(FieldType)

Phrase = tuple[str, ...]  # words in the singular, abbreviations written out
HasValue = Callable[[str], bool]  # whether some document has that value: it means the value, then


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Words for one thing."""

    names: tuple[str, ...]  # that are said, too
    named: tuple[str, ...]  # names that are not said
    said: tuple[str, ...]
    german: tuple[str, ...]
    types: frozenset[FieldType]
    is_generic: bool  # says too little of a name that it merely ends


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thesaurus:
    abbreviations: Mapping[str, str]
    documents: Sequence[tuple[str, ...]]
    by_name: Mapping[Phrase, Sequence[_Group]]
    values: Mapping[Phrase, Sequence[Sequence[str]]]
    opposites: Mapping[Phrase, Sequence[str]]


def with_synonyms(schema: Schema, has_value: HasValue) -> Schema:
    """The schema with synonyms of its fields, of their columns, and of the bucket's nouns.

    A word goes to the field whose name it fits best, to none where it fits two alike, and to none where it is the name
    of another field, a noun of the bucket, or a value.
    """
    nouns = nouns_for(schema.bucket, schema.language, taken=[one.name for one in schema.fields])
    fields = tuple(
        replace(one, columns=_named(one.columns, schema.language, has_value, ())) if one.columns else one
        for one in _named(schema.fields, schema.language, has_value, nouns)
    )
    return replace(schema, fields=fields, synonyms=nouns)


def nouns_for(bucket: str, language: str = "en", taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Singular and plural of what a bucket is called and of its last word, then what else its documents are called,
    in German as well where the documents are. `parts_table` and `parts_2031` hold parts.

    `taken`: names of fields, which are no nouns.
    """
    words = words_in(bucket)
    while len(words) > 1 and (words[-1] in _KEPT_IN or words[-1].isdigit()):
        words.pop()
    if not words or not words[-1].isalpha():
        return ()
    one, many = numbers_of(words[-1])
    whole = [" ".join([*words[:-1], last]) for last in (one, many)] if len(words) > 1 else []
    reserved = {_phrase(name) for name in taken}
    others = [word for group in _thesaurus().documents if group[0] == one for word in group[1:]]
    if language == "de":
        others += [word for group in _thesaurus().by_name.get((one,), ()) for word in group.german]
    return tuple(dict.fromkeys([*whole, one, many, *(word for word in others if _phrase(word) not in reserved)]))


def value_synonyms(values: Iterable[str], taken: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What else each of a field's values is called, for those that are called anything else: by words of its group, by
    the parts that it writes as one ("Profit/loss sharing"), and by what those are called.

    `taken`: names of fields and documents, which mean those.
    """
    own = {_phrase(value): value for value in values}
    reserved = {_phrase(name) for name in taken} | own.keys()
    found: dict[str, tuple[str, ...]] = {}
    for value in own.values():
        parts = [one for one in _parts_of(value) if len(one) >= _SHORTEST_PART]
        said = [*parts, *(word for one in (value, *parts) for word in _same(one))]
        unlike = {_phrase(word): word for word in reversed(said) if _phrase(word) not in reserved}
        if unlike:
            found[value] = tuple(reversed(unlike.values()))
    claims = Counter(_phrase(word) for said in found.values() for word in said)
    parts = {word for value in found if ", " in value for word in _parts_of(value)}
    alone = {
        value: tuple(one for one in said if one not in parts or claims[_phrase(one)] == 1)
        for value, said in found.items()
    }
    return {value: said for value, said in alone.items() if said}


def flag_synonyms(name: str, has_value: HasValue) -> dict[str, tuple[str, ...]]:
    """What the documents are called of which a flag is true, and those of which it is not, by `true` and `false`:
    resolved ones closed, others open. No word that is a value of another field.
    """
    words = " ".join(written_out(name))
    opposite = next(iter(_thesaurus().opposites.get(_phrase(words), ())), "")
    said = {"true": _same(words), "false": [opposite, *_same(opposite)] if opposite else []}
    kept = {value: tuple(one for one in found if not has_value(one)) for value, found in said.items()}
    return {value: found for value, found in kept.items() if found}


def _same(value: str) -> Sequence[str]:
    phrase = _phrase(value)
    return [word for group in _thesaurus().values.get(phrase, ()) for word in group if _phrase(word) != phrase]


def _parts_of(value: str) -> list[str]:
    """ "Revenue/profit sharing" is a sharing of revenue and one of profit, "Active, not recruiting" is active; "A, B or
    C" and "Paris, France" are left alone.
    """
    state, comma, more = value.partition(", ")
    words = more.split()
    if (
        comma
        and more.islower()
        and "," not in more
        and all(one.isalpha() and one not in ("or", "and") for one in words)
    ):
        return [state, more]
    first, slash, rest = value.partition("/")
    words = re.split(r"\s+or\s+", value, flags=re.IGNORECASE)
    if slash:
        heads = [*first.split()[-1:], *rest.split()[0].split("/")] if first.strip() and rest.strip() else []
        tail = rest.split()[1:]
        return [" ".join([*first.split()[:-1], head, *tail]) for head in heads] if len(heads) > 1 else []
    if len(words) != 2 or not all(words) or "," in value:
        return []
    head, tail = words[0].split(), words[1].split()
    return [" ".join([*head, *tail[1:]]), " ".join([*head[:-1], *tail])] if len(tail) > 1 else words


def _named(fields: Sequence[Field], language: str, has_value: HasValue, nouns: Iterable[str]) -> tuple[Field, ...]:
    suited = {one.name: _suited(one, language) for one in fields}
    best = defaultdict[Phrase, int](int)
    for words in suited.values():
        for word, sure in words.items():
            best[_phrase(word)] = max(best[_phrase(word)], sure)
    claims = Counter(
        phrase
        for words in suited.values()
        for phrase in {_phrase(word) for word, sure in words.items() if sure == best[_phrase(word)]}
    )
    names = {one.name: {_phrase(one.name), _phrase(one.label)} for one in fields}
    reserved = {_phrase(noun) for noun in nouns}

    def kept(word: str, sure: int, mine: Field) -> bool:
        phrase = _phrase(word)
        of_others = any(
            phrase in theirs or _begins(word, name, mine.name) for name, theirs in names.items() if name != mine.name
        )
        is_mine = _singulars(words_in(word)) in (_singulars(words_in(mine.name)), _singulars(words_in(mine.label)))
        best_here = sure == best[phrase] and claims[phrase] == 1
        means_value = has_value(word) and mine.type is not FieldType.DATE  # "paid in July" is a day, "paid" a state
        return best_here and not is_mine and not of_others and phrase not in reserved and not means_value

    def of(one: Field) -> tuple[str, ...]:
        unlike = {_phrase(word): word for word, sure in reversed(suited[one.name].items()) if kept(word, sure, one)}
        return tuple(reversed(unlike.values()))[:_MOST]

    return tuple(replace(one, synonyms=of(one)) for one in fields)


def _begins(word: str, other: str, own: str) -> bool:
    """ "Team" speaks of a `team_size` rather than of a department."""
    return len(words_in(other)) > 1 and words_in(other)[0] == word != words_in(own)[0]


def _suited(one: Field, language: str) -> dict[str, int]:
    """Words that may be said of the field, the surest first, each with how sure."""
    found, measured = dict[str, int](), one.type in _MEASURED
    for sure, word in sorted(_candidates(one, language), key=lambda pair: -pair[0]):
        found.setdefault(word, sure + measured)
    return found


def _candidates(one: Field, language: str) -> Iterator[tuple[int, str]]:
    words = written_out(one.label if one.unit or one.currency else one.name)
    if words != words_in(one.name):
        yield _WHOLE, " ".join(words)
    if one.type is FieldType.DATE and len(words) > 1 and words[-1] in _ADDS_NOTHING:
        yield _WHOLE, " ".join(words[:-1])  # `paid_on`: paid
    yield from _by_name(words, one.type, language)
    for group in _groups((_OF_UNIT.get(one.unit, ""),), one.type):
        yield from ((_UNIT, word) for word in _words(group, (), language))


def _by_name(words: Sequence[str], kind: FieldType, language: str) -> Iterator[tuple[int, str]]:
    phrase = _singulars(words)
    if whole := _groups(phrase, kind):
        for group in whole:
            yield from _said(group, phrase, language, _WHOLE)
        return
    if len(phrase) > 1 and phrase[-1] in _ADDS_NOTHING and (named := _groups(phrase[:-1], kind)):
        for group in named:
            yield from _said(group, phrase[:-1], language, _NAMED)
        return
    for first in range(1, len(phrase)):
        if heads := _groups(phrase[first:], kind):
            for group in heads:
                yield from _by_head(group, words, first, language)
            return


def _by_head(group: _Group, words: Sequence[str], first: int, language: str) -> Iterator[tuple[int, str]]:
    """Of a name whose words from `first` on are of the group."""
    phrase = _singulars(words[first:])
    for word in [one for one in _words(group, phrase, language) if _phrase(one) != phrase][:_COMPOSED]:
        yield _WHOLE, " ".join([*words[:first], word])
    if not group.is_generic:
        yield from _said(group, phrase, language, _HEAD)


def _groups(phrase: Phrase, kind: FieldType) -> list[_Group]:
    return [group for group in _thesaurus().by_name.get(phrase, ()) if kind in group.types]


def _words(group: _Group, phrase: Phrase, language: str) -> Iterator[str]:
    """The nouns: German ones where the bucket, or the name, is German. `phrase`: which of the group's names it was."""
    is_english = not phrase or any(_phrase(word) == phrase for word in (*group.names, *group.named))
    is_german = language == "de" or not is_english
    yield from (*(group.german if is_german else ()), *group.names)


def _said(group: _Group, phrase: Phrase, language: str, sure: int) -> Iterator[tuple[int, str]]:
    yield from ((sure, word) for word in _words(group, phrase, language))
    yield from ((sure - _SAID, word) for word in group.said)


@lru_cache(maxsize=10_000)
def _phrase(name: str) -> Phrase:
    return _singulars(written_out(name))


def _singulars(words: Iterable[str]) -> Phrase:
    return tuple(map(singular, words))


def written_out(name: str) -> list[str]:
    """The words of a name, abbreviations written out, without what says nothing at its start."""
    known, words = _thesaurus().abbreviations, words_in(name)
    while len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    return [part for word in words for part in known.get(word, word).split()]


@lru_cache(maxsize=1)
def _thesaurus() -> _Thesaurus:
    data = cast(dict[str, Any], yaml.load(_FILE.read_text(encoding="utf-8"), Loader=_loader()))  # noqa: S506 - safe
    known = cast(Mapping[str, str], data["abbreviations"])
    groups = [_group(one) for one in data["groups"]]
    by_name = defaultdict[Phrase, list[_Group]](list)
    for group in groups:
        for name in (*group.names, *group.named, *group.german):
            phrase = _written_out(name, known)
            if group not in by_name[phrase]:
                by_name[phrase].append(group)
    documents = [tuple(map(str, one)) for one in data["documents"]]
    values = defaultdict[Phrase, list[Sequence[str]]](list)
    for words in data["values"]:
        for word in words:
            values[_written_out(word, known)].append(words)
    return _Thesaurus(
        abbreviations=known,
        documents=documents,
        by_name=by_name,
        values=values,
        opposites=_opposites(data["opposites"], values, known),
    )


def _opposites(
    pairs: Sequence[Sequence[str]], values: Mapping[Phrase, Sequence[Sequence[str]]], known: Mapping[str, str]
) -> Mapping[Phrase, Sequence[str]]:
    """By each word of a group of values: the words that head the groups of its opposites."""
    found = defaultdict[Phrase, list[str]](list)
    for pair in pairs:
        for one, other in (tuple(pair), tuple(reversed(pair))):
            for group in values.get(_written_out(one, known), ()):
                for word in group:
                    found[_written_out(word, known)].append(other)
    return found


def _written_out(name: str, known: Mapping[str, str]) -> Phrase:
    return _singulars(part for word in words_in(name) for part in known.get(word, word).split())


def _group(entry: Mapping[str, Sequence[str]]) -> _Group:
    types = frozenset(map(FieldType, entry["types"])) if "types" in entry else _ANY
    names, named, said, german = (tuple(entry.get(key, ())) for key in ("words", "named", "said", "de"))
    is_generic = bool(entry.get("generic"))
    return _Group(names=names, named=named, said=said, german=german, types=types, is_generic=is_generic)


def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)
