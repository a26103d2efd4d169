"""The text of a message, without the bot's mention."""

import pytest

from adapters.teams.events.message_text import mentions_account, plain_text_of
from adapters.teams.payloads.activities import ActivityEntity

BOT = "28:bot"


def a_mention(name: str, account: str) -> ActivityEntity:
    fields = {"type": "mention", "text": f"<at>{name}</at>", "mentioned": {"id": account, "name": name}}
    return ActivityEntity.model_validate(fields)


BOT_MENTION = a_mention("Docs Bot", BOT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<at>Docs Bot</at> who wrote the Docs Bot manual?", "who wrote the Docs Bot manual?"),
        ("who, <at>Docs Bot</at>, wrote it?", "who, , wrote it?"),
        ("<at>Docs Bot</at>", ""),
        ("<at>Docs Bot</at>\r\nfirst\nsecond", "first\nsecond"),
        ("<at>Docs Bot</at>&nbsp;pressure &lt; 5 bar &amp; hot", "pressure < 5 bar & hot"),
        ("<at>Docs Bot</at> write &amp;lt; here", "write &lt; here"),
        ("<at>Docs Bot</at> is &lt;at&gt;this&lt;/at&gt; a mention?", "is <at>this</at> a mention?"),
        ("<at>Docs Bot</at> ask <at>Bob</at>", "ask @Bob"),
        ("<at>Docs Bot</at> ask <at>Docs Bot</at>", "ask @Docs Bot"),
    ],
)
def test_only_the_bots_mention_is_removed(text: str, expected: str) -> None:
    entities = [BOT_MENTION, a_mention("Bob", "29:bob")]

    assert plain_text_of(text, entities, BOT) == expected


def test_a_person_with_the_bots_name_stays() -> None:
    text = "<at>Docs Bot</at> tell <at>Docs Bot</at>"

    assert plain_text_of(text, [a_mention("Docs Bot", "29:person"), BOT_MENTION], BOT) == "@Docs Bot tell"


def test_each_mention_of_the_bot_is_removed() -> None:
    text = "<at>Docs Bot</at> hello <at>Docs Bot</at>"

    assert plain_text_of(text, [BOT_MENTION, BOT_MENTION], BOT) == "hello"


def test_a_tag_without_an_entity_is_no_mention() -> None:
    assert plain_text_of("<at>Docs Bot</at> hello", [], BOT) == "@Docs Bot hello"
    assert not mentions_account([], BOT)
    assert mentions_account([BOT_MENTION], BOT)
