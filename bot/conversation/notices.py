"""The sentences and labels that the application itself says, beside answers and errors. Markdown.

They are translated where they are used.
"""

from typing import Final

from agent.compose.phrases.values import format_number
from agent.translation.message_catalogues import mark_message
from bot.translation import translate_message

NO_BUCKET_NOTICE: Final = mark_message("You may see no documents here that could answer this.")
PARTLY_VISIBLE_NOTICE: Final = mark_message("_Some of it may no longer be seen here; this is the rest._")
NOT_GRANTED_NOTICE: Final = mark_message("What this choice leads to may no longer be seen here.")
EXPORT_ALL_LABEL: Final = mark_message("Export all as CSV")
START_OVER_LABEL: Final = mark_message("Start over")
STARTED_OVER_NOTICE: Final = mark_message("I have forgotten what we talked about here. What would you like to know?")
CONDITIONS_FORGOTTEN_NOTICE: Final = mark_message(
    "_We have gathered more conditions here than I can keep, so I read this question without the earlier ones._"
)
ASK_PRIVATELY_NOTICE: Final = mark_message(
    "Write to me in a direct message and ask there: only you will read the answer."
)
CONTINUES_PRIVATELY_NOTICE: Final = mark_message("This goes on in a direct message, where only you read the answer.")
CONTINUE_PRIVATELY_LABEL: Final = mark_message("Continue in private")
NO_WEB_NOTICE: Final = mark_message(
    "Searching the web is not possible here. You can put your question to the documents in other words."
)
RETRY_NOTICE: Final = mark_message("The documents cannot be reached right now. I will try again in a moment.")
INDEX_DOWN_NOTICE: Final = mark_message("The documents cannot be reached right now. Please ask again a little later.")
INDEX_INCOMPLETE_NOTICE: Final = mark_message(
    "Some of my documents are missing at the moment and have to be loaded again, so I do not answer from the others "
    "alone. Please ask again later."
)
DATABASE_DOWN_NOTICE: Final = mark_message("My database cannot be reached right now. Please ask again a little later.")
TOO_SLOW_NOTICE: Final = mark_message("This took too long, so I stopped. Please ask again, or ask for less at once.")
INDEX_CHANGED_NOTICE: Final = mark_message("The documents changed while I was looking. Please ask again.")
INTERNAL_ERROR_NOTICE: Final = mark_message("Something went wrong here, and I could not answer. Please ask again.")
FILE_NOT_SENT_NOTICE: Final = mark_message("All of it could not be sent as a file. Please press “Show all” again.")
FULL_TEXT_COMING_NOTICE: Final = mark_message("All of it is on its way, as a file.")
FULL_TEXT_SENT_NOTICE: Final = mark_message("All of it is here already, as a file.")
FULL_TEXT_FAILED_NOTICE: Final = mark_message(
    "All of it could not be sent as a file here. Please ask your question again."
)
DEAD_BUTTON_NOTICE: Final = mark_message("This button does nothing any more. Please ask again.")
NOTHING_CHOSEN_NOTICE: Final = mark_message("Choose one of them first.")
NOT_DELIVERED_NOTICE: Final = mark_message("The answer could not be delivered.")
OFFER_EXPIRED_NOTICE: Final = mark_message("This offer has expired; ask again for a new one.")
QUESTION_DELETED_NOTICE: Final = mark_message("The question was deleted, and its answer with it.")
MODEL_UNAVAILABLE_REMARK: Final = mark_message("answered without the language model, which does not answer now")
MODEL_BUDGET_REMARK: Final = mark_message("answered without the language model, since this month's budget is used up")
MODEL_UNPRICED_REMARK: Final = mark_message("answered without the language model, since its price is not set")
MODEL_LOST_REMARK: Final = mark_message("answered in part without the language model, which has stopped answering")
INITIAL_PROGRESS: Final = mark_message("Looking …")


def count_change_note(current: int | None, previous: int | None) -> str:
    """The note for a count that has changed since its button was shown; empty when it has not changed."""
    if current is None or previous is None or current == previous:
        return ""
    return translate_message(
        "_now {current}, was {previous}_", current=format_number(current), previous=format_number(previous)
    )
