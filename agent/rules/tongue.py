"""Whether a question is written in English, which alone is read here; any other is searched for its words."""

import re
import unicodedata

_LETTERS = re.compile(r"[^\W\d_]+")
# Words of form that a question in the language can hardly do without, and that mean nothing in English.
_WORDS = {
    "German": """der die das ein eine einen einem einer und oder nicht ist sind war waren wie viele welche welcher
        welches wer wo wann warum mit von vom zu zum zur auf aus bei nach über unter für alle gibt es ich wir haben hat
        kosten zeige zeig liste mir""",
    "French": """le la les un une des du et ou est sont était combien quel quelle quels quelles qui où quand pourquoi
        avec dans sur pour par entre tous toutes il y nous avons ont montre montrez liste moi aux cette ces""",
    "Spanish": """el los las un una unos unas y es son fue cuántos cuántas cuanto cuánto cuál cuáles quién dónde cuándo
        por qué con para de del sobre entre todos todas hay tenemos muestra lista que""",
    "Italian": """il lo gli uno una di e è sono era quanti quante quanto quale quali chi dove quando perché con per
        tra tutti tutte ci abbiamo mostra elenca che della delle dei""",
    "Portuguese": """os uma um e é são foi quantos quantas quanto qual quais quem onde quando por que com para de do da
        dos das sobre entre todos todas há temos mostre liste""",
    "Dutch": """de het een en of niet is zijn was waren hoe veel hoeveel welke wie waar wanneer waarom met van naar
        voor alle er wij hebben toon lijst""",
}  # fmt: skip
_ENGLISH = frozenset(
    """the a an and or not is are was were how many much which what who where when why with of to from on in at by for
    all any every there we have has show list find me that this these those does do did it its""".split()
)
_FOREIGN = {name: frozenset(_LETTERS.findall(words)) - _ENGLISH for name, words in _WORDS.items()}
_LEAST = 2  # words of form by which another language is known


def foreign_language(question: str) -> str | None:
    """The language the question is in, by its words of form or its script; None for English, or where none tells."""
    words = [word.casefold() for word in _LETTERS.findall(question)]
    if not words:
        return None
    letters = "".join(words)
    if sum(_is_latin(letter) for letter in letters) < len(letters) / 2:
        return "another language"
    english = sum(word in _ENGLISH for word in words)
    name, count = max(((name, sum(word in said for word in words)) for name, said in _FOREIGN.items()), key=_by_count)
    return name if count >= _LEAST and (not english or count >= english + _LEAST) else None


def _by_count(pair: tuple[str, int]) -> int:
    return pair[1]


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")
