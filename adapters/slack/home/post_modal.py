"""The modal in which an admin chooses where and when the report is posted. Its submission is a message to Parley."""

from collections.abc import Mapping
from typing import Final

from adapters.slack.home.blocks import input_block, modal_view, option_object, plain_lines_block, plain_text_object
from adapters.slack.posting.render import Block, Json

POST_VIEW, POST_ACTION = "report:post", "report:post"
CHANNEL_FIELD, SCHEDULE_FIELD = "channel", "schedule"
POST_SCHEDULES: Final = (
    ("Every Monday at 9:00", "every Monday at 09:00"),
    ("Every weekday at 9:00", "every weekday at 09:00"),
    ("Every month on the 1st at 9:00", "every month on the 1st at 09:00"),
)  # label and schedule
_EXPLANATION: Final = (
    "I post the numbers of the last 7 days in a thread of the channel, for whoever reads it: no questions, and only "
    "words that several people used. It ends with your right as an admin."
)


def post_view() -> Mapping[str, Json]:
    channel: Block = {
        "type": "conversations_select",
        "action_id": CHANNEL_FIELD,
        "placeholder": plain_text_object("Choose a channel"),
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }
    options = [option_object(label, schedule) for label, schedule in POST_SCHEDULES]
    when: Block = {
        "type": "static_select",
        "action_id": SCHEDULE_FIELD,
        "options": [*options],
        "initial_option": options[0],
    }
    blocks = [
        plain_lines_block(_EXPLANATION),
        input_block(CHANNEL_FIELD, "Channel", channel, optional=False),
        input_block(SCHEDULE_FIELD, "When", when, optional=False),
    ]
    return modal_view(POST_VIEW, "Post the report", blocks, submit="Post it")


def posting_view() -> Mapping[str, Json]:
    sentence = "I say in the channel when the first report is due. “Your saved searches” above lists it, with Stop."
    return modal_view(POST_VIEW, "Post the report", [plain_lines_block(sentence)])
