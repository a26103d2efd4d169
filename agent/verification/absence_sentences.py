"""Recognises composed sentences that say that there is none of something, in the languages of replies."""

import re
from collections.abc import Iterator

_ABSENCE_OPENINGS = {
    "en": re.compile(r"(?:I found no (?!value for )|No (?!difference)|None of |Nobody )"),
    "de": re.compile(r"(?:[Ii]ch finde keine |Ich habe keine?[nrms]? |Keine?[nrms]? (?!Unterschied)|Niemand )"),
    "fr": re.compile(
        r"(?:[Jj]e n['’]ai pas trouvé (?:de (?!réponse)|d['’])|Je n['’]ai trouvé aucune? |Personne )"
        r"|Aucune? (?!différence)"
    ),
    "es": re.compile(
        r"(?:[Nn]o he encontrado (?!una respuesta|nada|(?:ahí )?el dato)|No (?:encontré|hay) ning[uú]n|Nadie )"
        r"|Ning[uú]n[ao]? (?!diferencia)"
    ),
}
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+|\n+|(?<=:)\s+")
_QUOTED = re.compile(r"[“„«]([^“”„»]+)[“”»]")


def find_absence_claims(text: str, language: str) -> Iterator[tuple[str, ...]]:
    """Yields, for each sentence of the text that denies something, the words that it quotes.

    "I found no value for …" only counts what was not read: its count is checked as a figure.
    """
    opening = _ABSENCE_OPENINGS.get(language, _ABSENCE_OPENINGS["en"])
    for sentence in _SENTENCE_BREAK.split(text):
        if opening.match(sentence.lstrip(" *-_")):
            yield tuple(word.strip() for word in _QUOTED.findall(sentence))
