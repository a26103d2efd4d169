"""The text of a message as a person reads it, without the mention of the bot."""

import html
import re
from collections.abc import Sequence

from adapters.teams.payloads.activities import ActivityEntity

_MENTION_TAG = re.compile(r"<at\b[^<>]*>(?P<name>[^<>]*)</at>", re.IGNORECASE)


def mentions_account(entities: Sequence[ActivityEntity], account: str) -> bool:
    return any(_mentioned_id_of(entity) == account for entity in entities)


def plain_text_of(text: str, entities: Sequence[ActivityEntity], bot_id: str) -> str:
    """Returns the text without the bot's mentions, with `@name` for other people's, unescaped.

    Only the entity says whom a tag mentions: a person may have the bot's name. The name in the text itself stays.
    """
    unused_mentions = [entity for entity in entities if entity.type == "mention"]

    def visible_mention(tag: re.Match[str]) -> str:
        entity = next((entity for entity in unused_mentions if entity.text == tag[0]), None)
        if entity is not None:
            unused_mentions.remove(entity)
            if _mentioned_id_of(entity) == bot_id:
                return " "
        return f"@{tag['name']}"

    visible = html.unescape(_MENTION_TAG.sub(visible_mention, text))
    return "\n".join(" ".join(line.split()) for line in visible.splitlines()).strip()


def _mentioned_id_of(entity: ActivityEntity) -> str | None:
    return entity.mentioned.id if entity.type == "mention" and entity.mentioned is not None else None
