"""Words that a question for a value leaves over."""

from collections.abc import Sequence

from agent.rules.words.tokens import QuestionToken

_ASKING_WORDS = frozenset({"which", "what"})


def telling_words(words: Sequence[str], tokens: Sequence[QuestionToken]) -> tuple[str, ...]:
    """Returns the words if they say more than how the question for a value is put; else nothing.

    A single word is often the verb of the value ("since when has it been *rented*"). One that names what is asked for
    ("which *driver*") or is a name says more, and so do several words.
    """
    if len(words) != 1:
        return tuple(words)
    word = words[0].casefold()
    index = next((index for index, token in enumerate(tokens) if token.word == word), 0)
    is_asked_for = index > 0 and tokens[index - 1].word in _ASKING_WORDS
    return tuple(words) if is_asked_for or (index > 0 and tokens[index].is_name) else ()
