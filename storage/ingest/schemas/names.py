"""Splits the names of fields and buckets into words."""

import re

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_TITLE_WORD_BOUNDARY = re.compile(r"(?<=[a-z][a-z])(?=[A-Z][a-z])")  # but not in `pH`

_UNCOUNTABLE_NOUNS = frozenset("personnel staff equipment furniture inventory stock fleet people software".split())


def words_in_name(name: str) -> list[str]:
    """Returns the lower-case words of a name: `dueDate`, `due_date` and `Due date` have two."""
    return [word for word in re.split(r"[\W_]+", _WORD_BOUNDARY.sub(" ", name).lower()) if word]


def word_forms_of(name: str) -> frozenset[str]:
    """Returns the words of a name, and each word without a final `s`."""
    return frozenset(form for word in words_in_name(name) for form in (word, word.removesuffix("s")))


def title_from_name(name: str) -> str:
    """Returns a name as people write it, with a capital letter and blanks."""
    words = " ".join(re.split(r"[_\s]+", _TITLE_WORD_BOUNDARY.sub(" ", name))).strip()
    return words[:1].upper() + words[1:]


def singular_of(noun: str) -> str:
    return singular_and_plural_of(noun)[0]


def singular_and_plural_of(noun: str) -> tuple[str, str]:
    """Returns the singular and plural of an English noun that is given in either form."""
    if noun in _UNCOUNTABLE_NOUNS:
        return noun, noun
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y", noun
    if re.search(r"(ss|x|z|ch|sh)es$", noun):
        return noun[:-2], noun
    if noun.endswith("s") and not re.search(r"(ss|us|is)$", noun):
        return noun[:-1], noun
    if re.search(r"[^aeiou]y$", noun):
        return noun, noun[:-1] + "ies"
    return noun, noun + ("es" if re.search(r"(s|x|z|ch|sh)$", noun) else "s")
