"""Long texts of repeated marks, blanks and function words, which must not hang a text pass."""

from collections.abc import Callable, Iterator
from datetime import date
from time import process_time

import pytest

from agent.english import commands
from agent.new_topic import split_new_topic
from agent.rules.comparison.cues import mask_comparison
from agent.rules.followups.corrections import blank_correction_words, find_dropped_part
from agent.rules.literals.recognition import find_literals
from agent.rules.planning.plain_message import simplify_message
from agent.rules.words.informal_spelling import expand_informal_spelling
from agent.rules.words.language_detection import detect_foreign_language
from agent.rules.words.mark_runs import shorten_mark_runs
from agent.rules.words.misspelt_function_words import correct_function_words
from agent.rules.words.output_wishes import blank_output_wishes
from agent.rules.words.overview_questions import normalize_summary_request
from agent.rules.words.question_splitting import split_questions
from agent.rules.words.request_frames import blank_holder_nouns, blank_request_frames
from agent.rules.words.small_talk import blank_small_talk
from agent.rules.words.tokens import find_quotations
from bot.surface.inbound import MAX_QUESTION_CHARS

HANG_GUARD_S = 5.0  # of CPU time; each pass takes some hundredths of a second
UNITS = (
    "- ",
    "-",
    ". ",
    "; ",
    "! ",
    ", ",
    "\n",
    " \n",
    " ",
    "and ",
    "or ",
    "so. ",
    "a ",
    "no, ",
    "1 ",
    "1.",
    '"',
    "' ",
    "briefly ",
)
TextPass = Callable[[str], object]


def names_nothing(start: int, end: int) -> bool:
    return False


def knows_nothing(word: str) -> bool:
    return False


def read_simplified(read: TextPass) -> TextPass:
    """The pass as the reasoner calls it: for the text that `simplify_message` returns."""
    return lambda text: read(simplify_message(text, {}).text)


PASSES: dict[str, TextPass] = {
    "shorten runs": shorten_mark_runs,
    "simplify": lambda text: simplify_message(text, {}),
    "split questions": split_questions,
    "request frames": lambda text: blank_request_frames(text, names_nothing, names_nothing),
    "holder nouns": lambda text: blank_holder_nouns(text, names_nothing, names_nothing),
    "small talk": lambda text: blank_small_talk(text, names_nothing),
    "output wishes": lambda text: blank_output_wishes(text, names_nothing),
    "new topic": split_new_topic,
    "corrections": blank_correction_words,
    "dropped parts": find_dropped_part,
    "informal spelling": lambda text: expand_informal_spelling(text, knows_nothing),
    "misspelt words": lambda text: correct_function_words(text, knows_nothing),
    "summary requests": normalize_summary_request,
    "language": detect_foreign_language,
    "quotations": find_quotations,
    "file requests": read_simplified(commands.strip_file_request),
    "more results": read_simplified(commands.parse_more_request),
    "comparison": read_simplified(mask_comparison),
    "literals": read_simplified(lambda text: find_literals(text, date(2025, 3, 4))),
}


def adversarial_texts() -> Iterator[str]:
    for unit in UNITS:
        for before in ("", "how many orders", "can you", "for my "):
            repeated = (unit * MAX_QUESTION_CHARS)[: MAX_QUESTION_CHARS - len(before) - 2]
            yield f"{before}{repeated} x"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", PASSES)
def test_a_text_pass_takes_no_long_time_for_repeated_marks_and_words(name: str) -> None:
    read = PASSES[name]
    for text in adversarial_texts():
        start = process_time()

        read(text)

        assert process_time() - start < HANG_GUARD_S, text[:40]


def test_short_runs_of_marks_stay_and_long_ones_keep_their_ends() -> None:
    assert shorten_mark_runs('orders - "rush" ... ?') == 'orders - "rush" ... ?'
    assert shorten_mark_runs("orders" + "-" * 900 + " of May") == "orders---- --- of May"
    assert shorten_mark_runs("orders" + " " * 900 + "\n" + " " * 900 + "parcels") == "orders    \n    parcels"
