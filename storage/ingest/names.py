"""Names of fields and buckets taken apart into words."""

import re

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_HUMP = re.compile(r"(?<=[a-z][a-z])(?=[A-Z][a-z])")  # but not in `pH`


def words_in(name: str) -> list[str]:
    """In small letters: `dueDate`, `due_date` and `Due date` are two words."""
    return [word for word in re.split(r"[\W_]+", _CAMEL.sub(" ", name).lower()) if word]


def words_of(name: str) -> frozenset[str]:
    """In the singular as well."""
    return frozenset(one for word in words_in(name) for one in (word, word.removesuffix("s")))


def titled(name: str) -> str:
    """As people write it, with a capital."""
    words = " ".join(re.split(r"[_\s]+", _HUMP.sub(" ", name))).strip()
    return words[:1].upper() + words[1:]


def singular(noun: str) -> str:
    return numbers_of(noun)[0]


def numbers_of(noun: str) -> tuple[str, str]:
    """Singular and plural of an English noun, of which it is either."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y", noun
    if re.search(r"(ss|x|z|ch|sh)es$", noun):
        return noun[:-2], noun
    if noun.endswith("s") and not re.search(r"(ss|us|is)$", noun):
        return noun[:-1], noun
    if re.search(r"[^aeiou]y$", noun):
        return noun, noun[:-1] + "ies"
    return noun, noun + ("es" if re.search(r"(s|x|z|ch|sh)$", noun) else "s")
