"""A query for code: the identifiers and words that it names, and the text by which an index ranks passages for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from agent.retrieval.ranking_terms import FORM_WORDS
from storage.text.code_identifiers import words_of_identifier

_TOKEN: Final = re.compile(r"\w{1,200}")
_MAX_TOKENS: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTerm:
    """A word or identifier of the query as written, and the words that it is made of."""

    text: str
    words: tuple[str, ...]

    @property
    def spelling(self) -> str:
        """The same for all ways to write an identifier: of `parseConfig` and `parse_config`."""
        return "".join(self.words)


@dataclass(frozen=True, kw_only=True)
class CodeQuery:
    terms: tuple[CodeTerm, ...]

    @cached_property
    def compounds(self) -> Sequence[tuple[range, str]]:
        """Two and three terms that follow one another: their positions, and what they are as one identifier."""
        return [
            (range(start, start + size), "".join(term.spelling for term in self.terms[start : start + size]))
            for size in (2, 3)
            for start in range(len(self.terms) - size + 1)
        ]

    @property
    def ranking_text(self) -> str:
        """The terms as written, their words, and all of them as one word, as an index has `parseConfig`."""
        divided = [term for term in self.terms if len(term.words) > 1]
        parts = [word for term in divided for word in (*term.words, term.spelling)]
        return " ".join((*(term.text for term in self.terms), *parts, *(joined for _, joined in self.compounds)))


def read_code_query(text: str) -> CodeQuery:
    """Reads what the query asks for. The little words of a question count only if it has no others."""
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    content = [token for token in tokens if token.lower() not in FORM_WORDS] or tokens
    return CodeQuery(
        terms=tuple(CodeTerm(text=token, words=words_of_identifier(token)) for token in content[:_MAX_TOKENS])
    )
