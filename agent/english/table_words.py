"""English words that say what to do with the rows of a table: order them, compare them, count them, step among them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScaleWord:
    """A superlative or a comparative: whether it asks for the largest value, and the columns that it measures by."""

    largest: bool
    columns: frozenset[str] = frozenset()  # words in their names; empty: the noun beside it says the column
    is_day: bool = False  # it orders by days: a column of days is meant


def _scale(largest: bool, columns: str = "", *, is_day: bool = False) -> ScaleWord:
    return ScaleWord(largest, frozenset(columns.split()), is_day)


_SIZE = "size area population number total seats capacity enrollment enrolment employees"
_LENGTH = "length duration distance time term tenure weeks days reign"
_AGE = "date year born founded completed opened built age established introduced released first"
_SPEED_TIME = "time result finish final speed mark"
SUPERLATIVES: Mapping[str, ScaleWord] = {
    "most": _scale(True), "highest": _scale(True), "largest": _scale(True, _SIZE), "greatest": _scale(True),
    "biggest": _scale(True, _SIZE), "maximum": _scale(True), "max": _scale(True), "longest": _scale(True, _LENGTH),
    "tallest": _scale(True, "height elevation"), "heaviest": _scale(True, "weight mass"),
    "deepest": _scale(True, "depth"), "widest": _scale(True, "width"), "strongest": _scale(True, "strength power"),
    "richest": _scale(True, "wealth worth income gdp"), "farthest": _scale(True, "distance"),
    "oldest": _scale(False, _AGE, is_day=True), "youngest": _scale(True, _AGE, is_day=True),
    "newest": _scale(True, _AGE, is_day=True), "latest": _scale(True, _AGE, is_day=True),
    "earliest": _scale(False, _AGE, is_day=True),
    "fastest": _scale(False, _SPEED_TIME), "quickest": _scale(False, _SPEED_TIME), "slowest": _scale(True, _SPEED_TIME),
    "lowest": _scale(False), "least": _scale(False), "fewest": _scale(False), "smallest": _scale(False, _SIZE),
    "minimum": _scale(False), "min": _scale(False), "shortest": _scale(False, _LENGTH + " height"),
    "lightest": _scale(False, "weight mass"), "cheapest": _scale(False, "price cost fee"),
    "nearest": _scale(False, "distance"), "closest": _scale(False, "distance"),
}  # fmt: skip
COMPARATIVES: Mapping[str, ScaleWord] = {
    "more": _scale(True), "higher": _scale(True), "larger": _scale(True, _SIZE), "greater": _scale(True),
    "bigger": _scale(True, _SIZE), "longer": _scale(True, _LENGTH), "taller": _scale(True, "height elevation"),
    "heavier": _scale(True, "weight mass"), "deeper": _scale(True, "depth"), "wider": _scale(True, "width"),
    "older": _scale(False, _AGE, is_day=True), "younger": _scale(True, _AGE, is_day=True),
    "newer": _scale(True, _AGE, is_day=True), "later": _scale(True, _AGE, is_day=True),
    "earlier": _scale(False, _AGE, is_day=True), "first": _scale(False, _AGE, is_day=True),
    "faster": _scale(False, _SPEED_TIME), "slower": _scale(True, _SPEED_TIME), "lower": _scale(False),
    "less": _scale(False), "fewer": _scale(False), "smaller": _scale(False, _SIZE),
    "shorter": _scale(False, _LENGTH + " height"), "lighter": _scale(False, "weight mass"),
    "cheaper": _scale(False, "price cost fee"),
} | SUPERLATIVES  # fmt: skip
BEST_WORDS: Mapping[str, bool] = {"best": True, "better": True, "worst": False, "worse": False}  # of a rank, if any
RANK_COLUMN_WORDS = frozenset("rank ranking place position pos finish placing standing seed no".split())
RANK_WORDS = frozenset("rank ranks ranking place places position positions placed ranked finish finished".split())
DAY_COLUMN_WORDS = frozenset("date year season day month years dates seasons".split())

# What a cell begins with where a game, a vote or a match was won, lost or drawn, by what questions say of it.
_WON = ("w", "win", "won", "winner", "victory", "pass", "passed")
_LOST = ("l", "loss", "lost", "lose", "defeat", "defeated")
_DRAWN = ("d", "t", "draw", "drawn", "tie", "tied")
OUTCOME_CELLS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys("win won wins winning victory victories beat".split(), _WON),
    **dict.fromkeys("lose lost loses losing loss losses defeat defeats".split(), _LOST),
    **dict.fromkeys("draw draws drawn tie ties tied".split(), _DRAWN),
}

FIRST_WORDS = frozenset("first top earliest initial".split())
LAST_WORDS = frozenset("last bottom final".split())
NEXT_WORDS = frozenset("after next following below under beneath".split())
PREVIOUS_WORDS = frozenset("before previous preceding above prior".split())

# Phrases of comparisons with a number or a day, longest first.
OVER, UNDER, AT_LEAST, AT_MOST = ">", "<", ">=", "<="
COMPARISON_PHRASES: Mapping[tuple[str, ...], str] = {
    ("greater", "than", "or", "equal", "to"): AT_LEAST, ("less", "than", "or", "equal", "to"): AT_MOST,
    ("no", "less", "than"): AT_LEAST, ("no", "fewer", "than"): AT_LEAST, ("no", "more", "than"): AT_MOST,
    ("not", "more", "than"): AT_MOST, ("at", "least"): AT_LEAST, ("at", "most"): AT_MOST,
    ("more", "than"): OVER, ("greater", "than"): OVER, ("higher", "than"): OVER, ("larger", "than"): OVER,
    ("longer", "than"): OVER, ("bigger", "than"): OVER, ("taller", "than"): OVER, ("later", "than"): OVER,
    ("older", "than"): OVER,
    ("less", "than"): UNDER, ("fewer", "than"): UNDER, ("lower", "than"): UNDER, ("smaller", "than"): UNDER,
    ("shorter", "than"): UNDER, ("earlier", "than"): UNDER, ("faster", "than"): UNDER, ("prior", "to"): UNDER,
    ("over",): OVER, ("above",): OVER, ("exceeding",): OVER, ("exceeds",): OVER, ("exceeded",): OVER, ("past",): OVER,
    ("under",): UNDER, ("below",): UNDER, ("after",): OVER, ("before",): UNDER, ("since",): AT_LEAST,
    ("until",): AT_MOST, ("minimum", "of"): AT_LEAST, ("maximum", "of"): AT_MOST,
}  # fmt: skip
COMPARISON_SUFFIXES: Mapping[tuple[str, ...], str] = {  # after the number: "10 or more"
    ("or", "more"): AT_LEAST, ("or", "higher"): AT_LEAST, ("or", "above"): AT_LEAST, ("or", "over"): AT_LEAST,
    ("or", "greater"): AT_LEAST, ("or", "later"): AT_LEAST, ("and", "above"): AT_LEAST, ("and", "over"): AT_LEAST,
    ("or", "less"): AT_MOST, ("or", "fewer"): AT_MOST, ("or", "lower"): AT_MOST, ("or", "below"): AT_MOST,
    ("or", "under"): AT_MOST, ("or", "earlier"): AT_MOST, ("and", "under"): AT_MOST, ("plus",): AT_LEAST,
}  # fmt: skip

PERSON_COLUMNS = frozenset(
    """name names player players driver drivers artist artists athlete athletes person people candidate candidates
    winner winners champion rider riders swimmer skipper coach manager director president author writer actor actress
    performer singer wrestler competitor competitors contestant captain nominee recipient member members scorer
    goalscorer partner opponent husband wife owner employee contact judge mayor minister leader pilot""".split()
)
PLACE_COLUMNS = frozenset(
    """location locations venue venues site place city town country nation state region county province address stadium
    arena track circuit area district hometown birthplace""".split()
)
# Words about the table itself or about any question: they need not be linked.
TABLE_WORDS = frozenset(
    """table chart list listed lists listing shown show shows row rows column entry entries recorded appear appears
    appeared represented displayed according included here given name tell named called mentioned total number amount
    many much times time ever overall all each every only just single exactly also both based combined
    different distinct unique separate individual various""".split()
)
QUESTION_FRAME = frozenset(
    """a an the of in on at for to from by with and or is are was were be been being do does did has have had having
    what which who whom whose when where how why that this these those there their they them he she it its his her him
    as than if so not no did can could would will should may might must i me my we our us you your please about into
    out up off over between among during through per s t was does don didn most least more less name tell find give
    other besides same""".split()
)
VERBS_OF_ROWS = frozenset(
    """come came comes play plays played win won wins lose lost go went make made take took get got receive received
    earn earned score scored finish finished place placed rank ranked hold held serve served attend attended occur
    occurred happen happened take release released appear use used held achieve achieved compete competed have had
    star starred get gets become became begin began end ended start started produce produced record recorded see saw
    locate located list reach reached belong contain contains win known last lasted""".split()
)
COUNT_NOUNS_OF_ROWS = frozenset("times time entries rows items occasions".split())
MOST_COMMON_WORDS = frozenset("common commonly frequent frequently often popular".split())
AVERAGE_WORDS = frozenset("average mean".split())
SUM_WORDS = frozenset("total combined altogether sum together overall".split())
DISTINCT_WORDS_OF_ROWS = frozenset("different distinct unique separate various".split())
EXCEPT_PHRASES = (("other", "than"), ("besides",), ("apart", "from"), ("aside", "from"), ("except",), ("excluding",))
# Words that make a question another one: a reading that makes no use of them does not answer the question.
OPERATOR_WORDS = (
    frozenset(
        """consecutive consecutively straight difference between besides except excluding without no not never only
        both same than percent percentage half increase increased decrease decreased change changed average mean per
        either neither nor least""".split()
    )
    | FIRST_WORDS
    | LAST_WORDS
    | NEXT_WORDS
    | PREVIOUS_WORDS
    | frozenset(SUPERLATIVES)
    | frozenset(BEST_WORDS)
)
RUN_WORDS = frozenset("consecutive consecutively straight".split())
QUESTION_VERBS = frozenset("is are was were do does did has have had can could will would".split())  # of yes or no
YES_WORD, NO_WORD = "Yes", "No"
