"""The modals of administration. What they carry in `private_metadata` says only what was shown, never who may do it.

Slack keeps what stands in a field as long as its block has the same id: a `version` in the id begins afresh.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from pydantic import BaseModel, Field, ValidationError

from adapters.slack.home.blocks import (
    OPTION,
    bullets,
    button,
    divider,
    field,
    fitting,
    key,
    lines,
    marked,
    modal,
    note,
    option,
    pager,
    plain,
    shown,
)
from adapters.slack.home.tab import LIMITS, bucket_lines, past
from adapters.slack.render import Block, Json
from bot.administration import Admin, Bucket, Grant, Limit, LocalGroup
from bot.ids import Subject
from bot.limits import MOST
from bot.personal import PastQuestion

BUCKET, ADMINS, LIMITS_VIEW, QUESTIONS_VIEW, TOLD = (
    "admin:bucket",
    "admin:admins",
    "admin:limits",
    "admin:questions",
    "admin:told",
)
GRANTS, PEOPLE, QUESTIONS = 30, 60, 30  # shown at once
OPTIONS: Final = 100  # of a menu; where there are more, the id is typed
TICKED: Final = "yes"

# Fields, by the block that they stand in.
EVERYONE_FIELD, PERSON_FIELD, CHANNEL_FIELD = "everyone", "person", "channel"
GROUP_FIELD, LOCAL_FIELD, EXTERNAL_FIELD = "group", "local", "external"


class Kept(BaseModel):
    """What a modal of ours knows of itself."""

    bucket: str = ""  # its key
    first: int = Field(default=0, ge=0, le=1_000_000)
    version: int = 0
    limits: dict[Limit, int] = {}

    @classmethod
    def read(cls, metadata: str) -> "Kept | None":
        """None where it is not ours."""
        try:
            return cls.model_validate_json(metadata)
        except ValidationError:
            return None

    def at(self, first: int) -> "Kept":
        return self.model_copy(update={"first": first})

    def afresh(self) -> "Kept":
        """With empty fields, from the beginning of the list."""
        return self.model_copy(update={"version": self.version + 1, "first": 0})

    def field(self, name: str) -> str:
        return f"{name}:{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usergroup:
    """Of Slack's own."""

    id: str
    name: str


def told_view(sentence: str) -> Mapping[str, Json]:
    return modal(TOLD, "Parley", [lines(sentence)])


def bucket_view(
    bucket: Bucket,
    kept: Kept,
    *,
    usergroups: Sequence[Usergroup],
    groups: Sequence[LocalGroup],
    zone: tzinfo,
    homes: frozenset[str],
    said: str = "",
) -> Mapping[str, Json]:
    """A bucket's grants, with a form to add one as long as the bucket is there."""
    first = kept.first if kept.first < len(bucket.grants) else 0
    kept = kept.at(first).model_copy(update={"bucket": key(bucket.id)})
    blocks = [
        *([marked(f":white_check_mark: {said}"), divider()] if said else []),
        lines(*bucket_lines(bucket, zone)),
        *[_granted(one, homes) for one in bucket.grants[first : first + GRANTS]],
        *([] if bucket.grants else [note("Nobody may see this bucket yet.")]),
        *pager("grant:page", first, GRANTS, len(bucket.grants)),
    ]
    if bucket.documents is None:
        return modal(BUCKET, "Grants", blocks, metadata=kept.model_dump_json())
    blocks += [divider(), *_form(kept, usergroups, groups)]
    return modal(BUCKET, "Grants", blocks, submit="Grant", metadata=kept.model_dump_json())


def _granted(grant: Grant, homes: frozenset[str]) -> Block:
    external = " · guests and other organisations included" if grant.include_external else ""
    asked = "They no longer see this bucket from their next question on."
    return marked(
        f"{shown(grant.subject, homes)}{external}",
        button("Remove", "grant:remove", key(grant.subject), confirm=asked, style="danger"),
    )


def _form(kept: Kept, usergroups: Sequence[Usergroup], groups: Sequence[LocalGroup]) -> list[Block]:
    everyone = option("Everyone in the organisation, guests not included", TICKED)
    external = option("Also where guests or other organisations read along", TICKED)
    channels: Json = {
        "type": "conversations_select",
        "action_id": CHANNEL_FIELD,
        "placeholder": plain("Choose a channel"),
        "filter": {"include": ["public", "private"]},
    }
    person: Json = {"type": "users_select", "action_id": PERSON_FIELD, "placeholder": plain("Choose a person")}
    by_name = [(one.id, one.name) for one in usergroups]
    local = [(one.id, one.title) for one in groups]
    return [
        field(kept.field(EVERYONE_FIELD), "Everyone", _ticks(EVERYONE_FIELD, everyone)),
        field(kept.field(PERSON_FIELD), "A person", person, hint="Counts in direct messages alone."),
        field(kept.field(CHANNEL_FIELD), "A channel", channels, hint="Whoever can read it may ask there."),
        field(kept.field(EXTERNAL_FIELD), "For the channel", _ticks(EXTERNAL_FIELD, external)),
        field(kept.field(GROUP_FIELD), "A Slack user group", _menu(GROUP_FIELD, by_name, "its id, S…")),
        *(
            [field(kept.field(LOCAL_FIELD), "A group of Parley's own", _menu(LOCAL_FIELD, local, "its id"))]
            if groups
            else []
        ),
    ]


def _ticks(name: str, ticked: Json) -> Json:
    return {"type": "checkboxes", "action_id": name, "options": [ticked]}


def _menu(name: str, choices: Sequence[tuple[str, str]], typed: str) -> Json:
    """A menu where all fit in one, with keys as values; else the id is typed."""
    if not 1 <= len(choices) <= OPTIONS:
        return {"type": "plain_text_input", "action_id": name, "max_length": 200, "placeholder": plain(typed)}
    options = [option(fitting(title, OPTION), key(id_)) for id_, title in choices]
    return {"type": "static_select", "action_id": name, "options": options, "placeholder": plain("Choose a group")}


def admins_view(admins: Sequence[Admin], kept: Kept, *, homes: frozenset[str], said: str = "") -> Mapping[str, Json]:
    first = kept.first if kept.first < len(admins) else 0
    person: Json = {"type": "users_select", "action_id": PERSON_FIELD, "placeholder": plain("Choose a person")}
    blocks = [
        *([marked(f":white_check_mark: {said}"), divider()] if said else []),
        *[_admin(one, homes) for one in admins[first : first + PEOPLE]],
        *pager("admin:page", first, PEOPLE, len(admins)),
        divider(),
        field(kept.field(PERSON_FIELD), "Another admin", person, optional=False),
    ]
    return modal(ADMINS, "Admins", blocks, submit="Add", metadata=kept.at(first).model_dump_json())


def _admin(admin: Admin, homes: frozenset[str]) -> Block:
    name = shown(Subject(f"user:{admin.person}"), homes)
    if admin.by_settings:
        return marked(f"{name} · named in PARLEY_ADMINS")
    asked = "They can no longer change who may see what."
    return marked(name, button("Remove", "admin:remove", key(admin.person), confirm=asked, style="danger"))


def limits_view(limits: Mapping[Limit, int], kept: Kept, *, said: str = "") -> Mapping[str, Json]:
    kept = kept.model_copy(update={"limits": dict(limits)})
    blocks = [
        *([lines(said), divider()] if said else []),
        *[_limit(one, words, limits.get(one), kept) for one, words in LIMITS.items()],
    ]
    return modal(LIMITS_VIEW, "Limits", blocks, submit="Save", metadata=kept.model_dump_json())


def _limit(limit: Limit, named: str, value: int | None, kept: Kept) -> Block:
    box: Block = {
        "type": "number_input",
        "action_id": limit.value,
        "is_decimal_allowed": False,
        "min_value": "1",
        "max_value": str(MOST),
        "placeholder": plain("any number"),
    }
    initial: Block = {} if value is None else {"initial_value": str(value)}
    return field(kept.field(limit.value), f"Questions {named}", box | initial)


def questions_view(unanswered: Sequence[PastQuestion], badly: Sequence[PastQuestion]) -> Mapping[str, Json]:
    blocks: list[Block] = []
    for title, questions in (("Without an answer", unanswered), ("Rated badly", badly)):
        newest = f", the newest {QUESTIONS}" if len(questions) >= QUESTIONS else ""
        blocks.append(note(f"{title} in the last 30 days{newest}" if questions else f"{title}: none"))
        blocks += [bullets([past(one) for one in questions[at : at + 10]]) for at in range(0, len(questions), 10)]
    return modal(QUESTIONS_VIEW, "Questions", blocks)


def errors(found: Mapping[str, str]) -> Mapping[str, Json]:
    """The answer to a submission that keeps the modal, with a sentence under each field by its block."""
    return {"response_action": "errors", "errors": dict(found)}


def instead(view: Mapping[str, Json]) -> Mapping[str, Json]:
    """The answer to a submission that shows another view in its place."""
    return {"response_action": "update", "view": dict(view)}
