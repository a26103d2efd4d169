"""The cards of admins, limits, questions and changes, for admins."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from adapters.teams.administration.card_parts import (
    action_row,
    admin_action,
    card_activity,
    data_line,
    first_on_page,
    fixed_line,
    heading_part,
    menu_input,
    page_actions,
    page_note,
    text_input,
)
from adapters.teams.administration.grant_cards import PERSON_PLACEHOLDER, CardNotice, notice_parts
from adapters.teams.administration.submissions import LIMIT_PREFIX, AdminSubmission
from adapters.teams.payloads.json_values import JsonObject
from bot.admin.administration import AdminEntry, AuditEntry, QuestionLimit
from bot.admin.sentences import (
    ADMIN_FROM_SETTINGS,
    LIMIT_LABELS,
    NO_ADMINS,
    NO_CHANGES,
    REMOVE_ADMIN_WARNING,
    describe_change,
    describe_limits,
    ending_label_of,
    format_local_time,
    opaque_key_of,
    past_questions_heading,
)
from bot.conversation.personal_history import PastQuestion
from bot.ids import Subject

ADMINS_PER_PAGE, QUESTIONS_PER_LIST, CHANGES_IN_CARD = 15, 15, 20


def subject_of_change(entry: AuditEntry) -> Subject:
    """Who made the change."""
    return Subject(f"user:{entry.by}")


def subject_of_admin(admin: AdminEntry) -> Subject:
    return Subject(f"user:{admin.person}")


def shown_admins(admins: Sequence[AdminEntry], first: int) -> Sequence[AdminEntry]:
    """The admins of the page, on a list that may have become shorter."""
    first = first_on_page(first, ADMINS_PER_PAGE, len(admins))
    return admins[first : first + ADMINS_PER_PAGE]


def admins_card(
    admins: Sequence[AdminEntry],
    first: int,
    names: Mapping[Subject, str],
    *,
    notice: CardNotice | None = None,
    typed: AdminSubmission | None = None,
) -> JsonObject:
    first = first_on_page(first, ADMINS_PER_PAGE, len(admins))
    page, pager = shown_admins(admins, first), (first, ADMINS_PER_PAGE, len(admins))
    removable = [admin for admin in page if not admin.is_from_settings]
    menu = [(names[subject_of_admin(admin)], opaque_key_of(admin.person)) for admin in removable]
    remove = admin_action("Remove", "remove_admin", sends_inputs=True, first=first)
    value = typed.typed_person if typed else ""
    body = [
        *notice_parts(notice),
        heading_part("Administration: admins"),
        *([_admin_line(admin, names) for admin in page] or [fixed_line(NO_ADMINS)]),
        *page_note(*pager),
        *(
            [menu_input("chosen", "Remove an admin", menu, placeholder="Choose an admin"), action_row(remove)]
            if menu
            else []
        ),
        text_input("typed_person", "Another admin", value=value, placeholder=PERSON_PLACEHOLDER),
        action_row(admin_action("Add", "add_admin", sends_inputs=True)),
    ]
    actions = [*page_actions("admins", *pager), admin_action("Back", "grants")]
    return card_activity(body, summary="Administration: admins", actions=actions)


def confirm_removal_card(admin: AdminEntry, name: str, first: int) -> JsonObject:
    body = [heading_part("Remove this admin?"), data_line(name), fixed_line(REMOVE_ADMIN_WARNING)]
    actions = [
        {
            **admin_action("Remove", "remove_admin_confirmed", key=opaque_key_of(admin.person), first=first),
            "style": "destructive",
        },
        admin_action("Cancel", "admins", first=first),
    ]
    return card_activity(body, summary="Remove this admin?", actions=actions)


def limits_card(
    limits: Mapping[QuestionLimit, int],
    *,
    notice: CardNotice | None = None,
    typed: AdminSubmission | None = None,
) -> JsonObject:
    """`typed`: what a refused form held."""
    inputs = [
        text_input(
            LIMIT_PREFIX + limit.value,
            f"Questions {label}",
            value=typed.typed_limit_of(limit) if typed else str(limits.get(limit, "")),
            placeholder="any number",
        )
        for limit, label in LIMIT_LABELS.items()
    ]
    shown = {limit.value: number for limit, number in limits.items()}
    body = [
        *notice_parts(notice),
        heading_part("Administration: limits"),
        *[fixed_line(line) for line in describe_limits(limits)],
        *inputs,
        action_row(admin_action("Save", "save_limits", sends_inputs=True, limits=shown)),
    ]
    return card_activity(body, summary="Administration: limits", actions=[admin_action("Back", "grants")])


def past_questions_card(unanswered: Sequence[PastQuestion], badly_rated: Sequence[PastQuestion]) -> JsonObject:
    body = [
        heading_part("Administration: questions of the last 30 days"),
        *_question_list("Without an answer", unanswered),
        *_question_list("Rated badly", badly_rated),
    ]
    return card_activity(body, summary="Administration: questions", actions=[admin_action("Back", "grants")])


def changes_card(entries: Sequence[AuditEntry], names: Mapping[Subject, str], zone: tzinfo) -> JsonObject:
    """The newest entries of the audit log."""
    lines = [
        data_line(describe_change(entry), names[subject_of_change(entry)], format_local_time(entry.at, zone))
        for entry in entries
    ]
    body = [heading_part("Administration: the newest changes"), *(lines or [fixed_line(NO_CHANGES)])]
    return card_activity(body, summary="Administration: changes", actions=[admin_action("Back", "grants")])


def _question_list(title: str, questions: Sequence[PastQuestion]) -> list[JsonObject]:
    """Without the names of the people who asked."""
    return [
        fixed_line(f"**{past_questions_heading(title, len(questions), QUESTIONS_PER_LIST)}**"),
        *[_question_line(question) for question in questions],
    ]


def _question_line(question: PastQuestion) -> JsonObject:
    reason = [question.reason] if question.reason.strip() else []
    return data_line(question.text, ending_label_of(question), *reason)


def _admin_line(admin: AdminEntry, names: Mapping[Subject, str]) -> JsonObject:
    note = [ADMIN_FROM_SETTINGS] if admin.is_from_settings else []
    return data_line(names[subject_of_admin(admin)], *note)
