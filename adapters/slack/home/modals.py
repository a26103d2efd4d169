"""The modals of administration. Their `private_metadata` records the state of the view, and grants no rights.

Slack keeps the value of a field while its block has the same id. A new `version` in the id empties the fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from pydantic import Field

from adapters.slack.home.blocks import (
    MAX_OPTION_UNITS,
    bullet_list_block,
    button_element,
    context_note_block,
    divider_block,
    fit_on_one_line,
    input_block,
    link_element,
    modal_view,
    mrkdwn_note_block,
    mrkdwn_section_block,
    option_object,
    pager_blocks,
    plain_lines_block,
    plain_text_object,
    subject_as_mrkdwn,
)
from adapters.slack.home.home_tab import bucket_lines, past_question_elements
from adapters.slack.home.view_state import ViewMetadata
from adapters.slack.posting.render import Block, Json
from bot.access.limits import MAX_LIMIT
from bot.admin.administration import AdminEntry, AuditEntry, BucketOverview, Grant, LocalGroup, QuestionLimit
from bot.admin.sentences import (
    ADMIN_FROM_SETTINGS,
    CHANNEL_HINT,
    EVERYONE_NAME,
    EXTERNAL_NOTE,
    EXTERNAL_OPTION,
    LIMIT_LABELS,
    NO_CHANGES,
    NO_GRANTS,
    OPEN_PAGE,
    PAGE_LINK_NOTE,
    REMOVE_ADMIN_WARNING,
    REVOKE_WARNING,
    describe_change,
    format_local_time,
    opaque_key_of,
    past_questions_heading,
    stale_notice,
    unknown_action_notice,
)
from bot.conversation.personal_history import PastQuestion
from bot.ids import Subject

BUCKET_VIEW, ADMINS_VIEW, LIMITS_VIEW, QUESTIONS_VIEW, CHANGES_VIEW, NOTICE_VIEW = (
    "admin:bucket",
    "admin:admins",
    "admin:limits",
    "admin:questions",
    "admin:changes",
    "admin:told",
)
GRANTS_PER_PAGE, ADMINS_PER_PAGE, QUESTIONS_PER_LIST, CHANGES_IN_VIEW = 30, 60, 30, 30
MAX_MENU_OPTIONS: Final = 100  # of one menu; for more, the id is typed
TICKED_VALUE: Final = "yes"
ASKING_NOTE: Final = "Asking last month's questions again…"
REOPEN_HOME: Final = "open the Home tab again"

# The names of the fields, which their block ids begin with.
EVERYONE_FIELD, PERSON_FIELD, CHANNEL_FIELD = "everyone", "person", "channel"
GROUP_FIELD, LOCAL_FIELD, EXTERNAL_FIELD = "group", "local", "external"


class ModalState(ViewMetadata):
    bucket: str = ""  # the bucket's opaque key
    first: int = Field(default=0, ge=0, le=1_000_000)
    version: int = 0
    limits: dict[QuestionLimit, int] = Field(default_factory=dict[QuestionLimit, int])

    def with_first_row(self, first: int) -> "ModalState":
        return self.model_copy(update={"first": first})

    def with_empty_fields(self) -> "ModalState":
        """Returns the state with empty fields and the first page of the list."""
        return self.model_copy(update={"version": self.version + 1, "first": 0})

    def block_id_for(self, name: str) -> str:
        return f"{name}:{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsergroupChoice:
    """One of Slack's user groups to choose from."""

    id: str
    name: str


def notice_view(sentence: str) -> Mapping[str, Json]:
    return modal_view(NOTICE_VIEW, "Parley", [plain_lines_block(sentence)])


def stale_view() -> Mapping[str, Json]:
    return notice_view(stale_notice(REOPEN_HOME))


def unknown_action_view() -> Mapping[str, Json]:
    return notice_view(unknown_action_notice(REOPEN_HOME))


def page_link_view(link: str) -> Mapping[str, Json]:
    """Returns the modal with the link to the admin page: a text, since a button would also be sent to Parley."""
    opener = bullet_list_block([[link_element(link, OPEN_PAGE)]])
    return modal_view(NOTICE_VIEW, "Admin page", [plain_lines_block(PAGE_LINK_NOTE), opener])


def bucket_grants_view(
    bucket: BucketOverview,
    state: ModalState,
    *,
    usergroups: Sequence[UsergroupChoice],
    groups: Sequence[LocalGroup],
    zone: tzinfo,
    account_ids: frozenset[str],
    notice: str = "",
) -> Mapping[str, Json]:
    """Returns the modal of a bucket's grants, with a form to add one unless the bucket is gone."""
    first = state.first if state.first < len(bucket.grants) else 0
    state = state.with_first_row(first).model_copy(update={"bucket": opaque_key_of(bucket.id)})
    blocks = [
        *([mrkdwn_section_block(f":white_check_mark: {notice}"), divider_block()] if notice else []),
        plain_lines_block(*bucket_lines(bucket, zone)),
        *[_grant_block(grant, account_ids) for grant in bucket.grants[first : first + GRANTS_PER_PAGE]],
        *([] if bucket.grants else [context_note_block(NO_GRANTS)]),
        *pager_blocks("grant:page", first, GRANTS_PER_PAGE, len(bucket.grants)),
    ]
    if bucket.document_count is None:
        return modal_view(BUCKET_VIEW, "Grants", blocks, metadata=state.model_dump_json())
    blocks += [divider_block(), *_grant_form_blocks(state, usergroups, groups)]
    return modal_view(BUCKET_VIEW, "Grants", blocks, submit="Grant", metadata=state.model_dump_json())


def _grant_block(grant: Grant, account_ids: frozenset[str]) -> Block:
    external = f" · {EXTERNAL_NOTE}" if grant.include_external else ""
    return mrkdwn_section_block(
        f"{subject_as_mrkdwn(grant.subject, account_ids)}{external}",
        button_element("Remove", "grant:remove", opaque_key_of(grant.subject), confirm=REVOKE_WARNING, style="danger"),
    )


def _grant_form_blocks(
    state: ModalState, usergroups: Sequence[UsergroupChoice], groups: Sequence[LocalGroup]
) -> list[Block]:
    everyone = option_object(EVERYONE_NAME, TICKED_VALUE)
    external = option_object(EXTERNAL_OPTION, TICKED_VALUE)
    channels: Json = {
        "type": "conversations_select",
        "action_id": CHANNEL_FIELD,
        "placeholder": plain_text_object("Choose a channel"),
        "filter": {"include": ["public", "private"]},
    }
    person: Json = {
        "type": "users_select",
        "action_id": PERSON_FIELD,
        "placeholder": plain_text_object("Choose a person"),
    }
    usergroup_choices = [(usergroup.id, usergroup.name) for usergroup in usergroups]
    group_choices = [(group.id, group.title) for group in groups]
    return [
        input_block(state.block_id_for(EVERYONE_FIELD), "Everyone", _checkbox_element(EVERYONE_FIELD, everyone)),
        input_block(state.block_id_for(PERSON_FIELD), "A person", person, hint="Counts in direct messages only."),
        input_block(state.block_id_for(CHANNEL_FIELD), "A channel", channels, hint=CHANNEL_HINT),
        input_block(state.block_id_for(EXTERNAL_FIELD), "For the channel", _checkbox_element(EXTERNAL_FIELD, external)),
        input_block(
            state.block_id_for(GROUP_FIELD),
            "A Slack user group",
            _group_choice_element(GROUP_FIELD, usergroup_choices, "its id, S…"),
        ),
        *(
            [
                input_block(
                    state.block_id_for(LOCAL_FIELD),
                    "A group of Parley's own",
                    _group_choice_element(LOCAL_FIELD, group_choices, "its id"),
                )
            ]
            if groups
            else []
        ),
    ]


def _checkbox_element(name: str, checkbox_option: Json) -> Json:
    return {"type": "checkboxes", "action_id": name, "options": [checkbox_option]}


def _group_choice_element(name: str, choices: Sequence[tuple[str, str]], placeholder: str) -> Json:
    """Returns a menu of opaque keys if all choices fit, else a text field for the id."""
    if not 1 <= len(choices) <= MAX_MENU_OPTIONS:
        return {
            "type": "plain_text_input",
            "action_id": name,
            "max_length": 200,
            "placeholder": plain_text_object(placeholder),
        }
    options = [option_object(fit_on_one_line(title, MAX_OPTION_UNITS), opaque_key_of(id_)) for id_, title in choices]
    return {
        "type": "static_select",
        "action_id": name,
        "options": options,
        "placeholder": plain_text_object("Choose a group"),
    }


def admins_view(
    admins: Sequence[AdminEntry], state: ModalState, *, account_ids: frozenset[str], notice: str = ""
) -> Mapping[str, Json]:
    first = state.first if state.first < len(admins) else 0
    person: Json = {
        "type": "users_select",
        "action_id": PERSON_FIELD,
        "placeholder": plain_text_object("Choose a person"),
    }
    blocks = [
        *([mrkdwn_section_block(f":white_check_mark: {notice}"), divider_block()] if notice else []),
        *[_admin_block(admin, account_ids) for admin in admins[first : first + ADMINS_PER_PAGE]],
        *pager_blocks("admin:page", first, ADMINS_PER_PAGE, len(admins)),
        divider_block(),
        input_block(state.block_id_for(PERSON_FIELD), "Another admin", person, optional=False),
    ]
    return modal_view(
        ADMINS_VIEW, "Admins", blocks, submit="Add", metadata=state.with_first_row(first).model_dump_json()
    )


def _admin_block(admin: AdminEntry, account_ids: frozenset[str]) -> Block:
    name = subject_as_mrkdwn(Subject(f"user:{admin.person}"), account_ids)
    if admin.is_from_settings:
        return mrkdwn_section_block(f"{name} · {ADMIN_FROM_SETTINGS}")
    return mrkdwn_section_block(
        name,
        button_element(
            "Remove", "admin:remove", opaque_key_of(admin.person), confirm=REMOVE_ADMIN_WARNING, style="danger"
        ),
    )


def limits_view(limits: Mapping[QuestionLimit, int], state: ModalState, *, notice: str = "") -> Mapping[str, Json]:
    state = state.model_copy(update={"limits": dict(limits)})
    blocks = [
        *([plain_lines_block(notice), divider_block()] if notice else []),
        *[_limit_input_block(limit, label, limits.get(limit), state) for limit, label in LIMIT_LABELS.items()],
    ]
    return modal_view(LIMITS_VIEW, "Limits", blocks, submit="Save", metadata=state.model_dump_json())


def _limit_input_block(limit: QuestionLimit, label: str, value: int | None, state: ModalState) -> Block:
    number_input: Block = {
        "type": "number_input",
        "action_id": limit.value,
        "is_decimal_allowed": False,
        "min_value": "1",
        "max_value": str(MAX_LIMIT),
        "placeholder": plain_text_object("any number"),
    }
    initial: Block = {} if value is None else {"initial_value": str(value)}
    return input_block(state.block_id_for(limit.value), f"Questions {label}", number_input | initial)


def past_questions_view(unanswered: Sequence[PastQuestion], badly_rated: Sequence[PastQuestion]) -> Mapping[str, Json]:
    blocks: list[Block] = []
    for title, questions in (("Without an answer", unanswered), ("Rated badly", badly_rated)):
        blocks.append(context_note_block(past_questions_heading(title, len(questions), QUESTIONS_PER_LIST)))
        blocks += [
            bullet_list_block([past_question_elements(question) for question in questions[start : start + 10]])
            for start in range(0, len(questions), 10)
        ]
    return modal_view(QUESTIONS_VIEW, "Questions", blocks)


def changes_view(entries: Sequence[AuditEntry], zone: tzinfo, *, account_ids: frozenset[str]) -> Mapping[str, Json]:
    """The newest entries of the audit log."""
    blocks: list[Block] = []
    for entry in entries:
        person = subject_as_mrkdwn(Subject(f"user:{entry.by}"), account_ids)
        blocks.append(plain_lines_block(describe_change(entry)))
        blocks.append(mrkdwn_note_block(f"{person} · {format_local_time(entry.at, zone)}"))
    return modal_view(CHANGES_VIEW, "Changes", blocks or [plain_lines_block(NO_CHANGES)])


def field_errors_response(errors_by_block: Mapping[str, str]) -> Mapping[str, Json]:
    """Returns the response that keeps the modal open, with an error under each field, by block."""
    return {"response_action": "errors", "errors": dict(errors_by_block)}


def replace_view_response(view: Mapping[str, Json]) -> Mapping[str, Json]:
    """Returns the response that replaces the modal by another view."""
    return {"response_action": "update", "view": dict(view)}
