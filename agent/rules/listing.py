"""Whether a question is after documents rather than what they say, and in which order."""

from collections.abc import Sequence

from agent.rules.functions import top_of
from agent.rules.language import (
    ALL_WORDS,
    LIST_VERBS,
    QUESTION_WORDS,
    YES_NO,
)
from agent.rules.lexicon import Lexicon, Link, Mention, Noun, Partly, Valued
from agent.rules.reading import Reading
from agent.rules.spoken import EARLY, MEASURED, is_about_one, names_one
from agent.rules.tokens import is_plural
from storage.search.schema import FieldType, SchemaOrder

_SORTED = frozenset({"sorted", "ordered", "order", "sort", "ranked"})


def is_list(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    if not words:
        return False
    lead = words[0]
    if any(words[at] in LIST_VERBS and reading.tokens[at].begins_sentence for at in range(1, len(words))):
        return bool(reading.conditions) or reading.has_noun  # "Where is our liability capped? Give me the contracts."
    if lead == "who" and any(isinstance(link.meaning, Noun) and link.first == 0 for link in reading.links):
        return bool(reading.conditions) and not names_one(reading, lexicon)  # "who works in …": people, not one value
    if "how" in words[:2] or lead in ("when", "where", "who", "why", "whose"):
        return False
    nouns = [link for link in reading.links if isinstance(link.meaning, Noun)]
    if lead in ("which", "what"):
        return _asks_which(words, reading, lexicon)
    if lead in LIST_VERBS or (lead in ("can", "could", "please") and set(words[:5]) & LIST_VERBS):
        return bool(nouns) or bool(reading.conditions) or bool(set(words[:4]) & ALL_WORDS)
    if lead in YES_NO:
        return _asks_for_any(words, reading, lexicon)
    if lead in ALL_WORDS or (set(words[:4]) & {"all", "every"}):
        return True
    if set(words) & QUESTION_WORDS & {"what", "when", "how", "why"} or ("who" in words and not _is_relative(reading)):
        return False
    if reading.asked and is_about_one(words, reading, lexicon):
        return False  # "Supply agreement between … and …: governing law?"
    return (bool(nouns) and (reading.plural_noun or bool(reading.conditions))) or bool(reading.conditions)


def _is_relative(reading: Reading) -> bool:
    """ "People *who* speak …": tells which, and asks nothing."""
    at = next(at for at, token in enumerate(reading.tokens) if token.word == "who")
    return any(link.last <= at for link in reading.links if not isinstance(link.meaning, Mention))


def _asks_for_any(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "Are there …", "do we have any …": documents of a kind, in the plural; else a question about what they say."""
    if any(words[at] in LIST_VERBS and _begins_sentence(at, words, reading) for at in range(1, len(words))):
        return True  # "Are there …? Show them."
    starts = [at + 1 for at, word in enumerate(words[:6]) if word in ("there", "any", "have", "other")]
    heads = [link for link in reading.links if _stands_for_documents(link, lexicon)]
    if any(_plural_run(start, words, reading, heads) is not None for start in starts):
        return True
    exists = "any" in words[:5] or words[1:2] == ["there"] or bool({"anything", "something"} & set(words[:4]))
    about = any(link.first <= EARLY for link in heads) or "anything" in words
    return exists and about and bool(reading.conditions) and not is_about_one(words, reading, lexicon)


def _begins_sentence(at: int, words: Sequence[str], reading: Reading) -> bool:
    """Whether a sentence that is told rather than asked begins at the token."""
    return reading.tokens[at].begins_sentence or (words[at - 1] in ("and", "please", "then") and at > len(words) // 2)


def _stands_for_documents(link: Link, lexicon: Lexicon) -> bool:
    """Nouns, and values of which a document has one and that sort documents into kinds."""
    if isinstance(link.meaning, Noun):
        return True
    if isinstance(link.meaning, Mention):
        return lexicon.field(link.meaning.field, link.meaning.column).type is FieldType.FLAG
    if link.meaning.column is not None:
        return False
    single = lexicon.field(link.meaning.field).type is not FieldType.LIST
    return single and lexicon.tells_kinds(link.meaning.field)


def _is_flag(link: Link, lexicon: Lexicon) -> bool:
    """ "Solvents" are the documents that have the flag."""
    mention = link.meaning
    return isinstance(mention, Mention) and lexicon.field(mention.field, mention.column).type is FieldType.FLAG


def _asks_which(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "Which panels …", "what are the contracts …", "what NPN transistors …": documents, not what they say."""
    within = 4 if set(words[1:2]) & {"are", "were"} else 2
    heads = [
        link for link in reading.links if isinstance(link.meaning, (Noun, Valued, Partly)) or _is_flag(link, lexicon)
    ]
    nouns = [link for link in heads if isinstance(link.meaning, Noun)]
    leading = [link for link in heads if link.first <= within + (link in nouns and link.first <= 6)]
    if _opens_with_kinds(words, reading, heads):
        return True
    direct = any(within > 2 or not _is_owned(words, link.first) for link in leading)
    of_them = "are" in words[1:3] and bool(nouns)
    return (direct or of_them) and (
        reading.plural_noun or "all" in words or (words[0] == "which" and not reading.asked)
    )


def _opens_with_kinds(words: Sequence[str], reading: Reading, heads: Sequence[Link]) -> bool:
    """ "What NPN transistors with …", "what are the bills under 5": kinds and nouns, the last in the plural."""
    after = _plural_run(1, words, reading, heads)
    if after is None:
        return False
    follows = words[after] if after < len(words) else ""
    return follows not in ("is", "was", "of", "for") and (bool(reading.conditions) or words[1] == "are")


def _plural_run(start: int, words: Sequence[str], reading: Reading, heads: Sequence[Link]) -> int | None:
    """Where a run of heads ends that begins at `start` and ends in the plural; None where there is none."""
    at = start
    while at < len(words) and words[at] in ("are", "were", "the", "all", "our", "other", "any", "of"):
        at += 1
    first = at
    while (here := next((link for link in heads if link.first == at), None)) is not None:
        at = here.last
    return at if at > first and is_plural(reading.tokens[at - 1]) else None


def _is_owned(words: Sequence[str], at: int) -> bool:
    """ "What is the law of the contract": the noun stands in a phrase about something else."""
    return "of" in words[:at] or "is" in words[:at] or "was" in words[:at]


def order_asked(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> SchemaOrder | None:
    """ "… sorted by price", "newest first"."""
    text = " ".join(words)
    descending = any(
        word in text for word in ("descending", "highest first", "largest first", "newest first", "latest")
    )
    for link in reading.links:
        if isinstance(link.meaning, Mention) and link.meaning.column is None:
            before = words[max(link.first - 3, 0) : link.first]
            if set(before) & _SORTED:
                return SchemaOrder(field=link.meaning.field, descending=descending)
            if before[-1:] == ["by"] and lexicon.field(link.meaning.field).type in MEASURED and top_of(words, reading):
                return SchemaOrder(field=link.meaning.field, descending=not set(words) & {"bottom", "last"})
    for at, token in enumerate(reading.tokens):
        if at > 1 and words[at - 1] == "by" and words[at - 2] in _SORTED and token.word in reading.leftovers:
            name = lexicon.hinted_field(token.stem)
            return SchemaOrder(field=name, descending=descending) if name is not None else None
    dates = [one.name for one in lexicon.schema.fields if one.type is FieldType.DATE]
    if dates and ("oldest first" in text or "newest first" in text or "latest first" in text):
        return SchemaOrder(field=dates[0], descending="oldest" not in text)
    return None
