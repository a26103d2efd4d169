"""What the prompts that begin a question have in common: the day, the bounds of texts, the likeliest buckets."""

from collections.abc import Sequence
from datetime import date

from agent.decomposition import Decomposition, PlannedQuestion
from storage.search.ids import BucketId

MAX_QUESTION_CHARS = 2_000
MAX_VALUE_LINE_CHARS = 1_200  # of the lines about words that appear in values


def describe_day(today: date) -> str:
    """Returns the day with its weekday, so that "last Friday" can be reckoned: "Monday, 2031-06-02"."""
    return f"{today:%A}, {today.isoformat()}"


def searched_buckets_of(decomposition: Decomposition) -> Sequence[BucketId]:
    """Returns the buckets in the order in which the plan searches them; none for what is not a plan."""
    legs = decomposition.plan.legs if isinstance(decomposition, PlannedQuestion) else ()
    return tuple(dict.fromkeys(bucket for leg in legs for bucket in leg.search.buckets))
