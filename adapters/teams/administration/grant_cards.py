"""The cards of buckets and their grants, for admins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from adapters.teams.administration.card_parts import (
    MAX_NAME_BYTES,
    action_row,
    admin_action,
    card_activity,
    data_line,
    first_on_page,
    fixed_line,
    heading_part,
    menu_input,
    notice_part,
    page_actions,
    page_link_action,
    page_note,
    report_action,
    text_input,
    tick_input,
)
from adapters.teams.administration.submissions import TICKED_VALUE, AdminSubmission
from adapters.teams.payloads.json_values import JsonObject
from bot.admin.administration import BucketOverview, Grant, LocalGroup
from bot.admin.sentences import (
    CHANNEL_HINT,
    EVERYONE_NAME,
    EXTERNAL_NOTE,
    EXTERNAL_OPTION,
    NO_BUCKETS_AT_ALL,
    NO_GRANTS,
    REVOKE_WARNING,
    describe_bucket,
    describe_sync,
    opaque_key_of,
)
from bot.ids import Subject

BUCKETS_PER_PAGE, GRANTS_PER_PAGE, MAX_MENU_GROUPS = 10, 10, 40
PERSON_PLACEHOLDER = "Object ID from Microsoft Entra, or an id such as slack:T1:U1"
CHANNEL_PLACEHOLDER = "Paste the link of the channel, chat or team"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardNotice:
    """What to say above a card: what was done, or why nothing was changed."""

    sentence: str
    is_error: bool = False


def notice_parts(notice: CardNotice | None) -> list[JsonObject]:
    return [] if notice is None else [notice_part(notice.sentence, is_error=notice.is_error)]


def bucket_list_card(
    buckets: Sequence[BucketOverview], first: int, zone: tzinfo, notice: CardNotice | None = None
) -> JsonObject:
    """All buckets, with a menu to open the grants of one."""
    first = first_on_page(first, BUCKETS_PER_PAGE, len(buckets))
    page, pager = buckets[first : first + BUCKETS_PER_PAGE], (first, BUCKETS_PER_PAGE, len(buckets))
    menu = [(bucket.title, opaque_key_of(bucket.id)) for bucket in page]
    show_grants = admin_action("Show grants", "bucket", sends_inputs=True)
    body = [
        *notice_parts(notice),
        heading_part("Administration: buckets"),
        *([bucket_line(bucket, zone) for bucket in page] or [fixed_line(NO_BUCKETS_AT_ALL)]),
        *page_note(*pager),
        *(
            [menu_input("chosen", "Grants of", menu, placeholder="Choose a bucket"), action_row(show_grants)]
            if menu
            else []
        ),
        action_row(report_action(), page_link_action()),  # in the body: six buttons fit below, with those of two pages
    ]
    actions = [
        *page_actions("grants", *pager),
        admin_action("Admins", "admins"),
        admin_action("Limits", "limits"),
        admin_action("Questions", "questions"),
        admin_action("Changes", "changes"),
    ]
    return card_activity(body, summary="Administration: buckets", actions=actions)


def bucket_line(bucket: BucketOverview, zone: tzinfo) -> JsonObject:
    ids = [] if bucket.title.casefold() == bucket.id.casefold() else [bucket.id]
    texts = [*ids, describe_bucket(bucket)]
    return data_line(*texts, title=bucket.title, max_bytes=MAX_NAME_BYTES, notes=describe_sync(bucket, zone))


def bucket_grants_card(
    bucket: BucketOverview,
    first: int,
    *,
    groups: Sequence[LocalGroup],
    names: Mapping[Subject, str],
    zone: tzinfo,
    notice: CardNotice | None = None,
    typed: AdminSubmission | None = None,
) -> JsonObject:
    """A bucket's grants, with a form to add some unless the bucket is gone. `typed`: what a refused form held."""
    key, first = opaque_key_of(bucket.id), first_on_page(first, GRANTS_PER_PAGE, len(bucket.grants))
    page, pager = shown_grants(bucket, first), (first, GRANTS_PER_PAGE, len(bucket.grants))
    menu = [(names[grant.subject], opaque_key_of(grant.subject)) for grant in page]
    remove = admin_action("Remove", "revoke", sends_inputs=True, bucket=key, first=first)
    body = [
        *notice_parts(notice),
        heading_part("Grants"),
        bucket_line(bucket, zone),
        *([_grant_line(grant, names) for grant in page] or [fixed_line(NO_GRANTS)]),
        *page_note(*pager),
        *(
            [menu_input("chosen", "Remove a grant", menu, placeholder="Choose a grant"), action_row(remove)]
            if menu
            else []
        ),
        *([] if bucket.document_count is None else _grant_form(key, groups, typed)),
    ]
    actions = [*page_actions("bucket", *pager, bucket=key), admin_action("Back", "grants")]
    return card_activity(body, summary="Grants", actions=actions)


def shown_grants(bucket: BucketOverview, first: int) -> Sequence[Grant]:
    """The grants of the page, on a list that may have become shorter."""
    first = first_on_page(first, GRANTS_PER_PAGE, len(bucket.grants))
    return bucket.grants[first : first + GRANTS_PER_PAGE]


def confirm_revoke_card(bucket: BucketOverview, subject: Subject, name: str, first: int, zone: tzinfo) -> JsonObject:
    bucket_key = opaque_key_of(bucket.id)
    body = [
        heading_part("Remove this grant?"),
        bucket_line(bucket, zone),
        data_line(name),
        fixed_line(REVOKE_WARNING),
    ]
    actions = [
        {
            **admin_action("Remove", "revoke_confirmed", bucket=bucket_key, key=opaque_key_of(subject), first=first),
            "style": "destructive",
        },
        admin_action("Cancel", "bucket", bucket=bucket_key, first=first),
    ]
    return card_activity(body, summary="Remove this grant?", actions=actions)


def _grant_line(grant: Grant, names: Mapping[Subject, str]) -> JsonObject:
    external = [EXTERNAL_NOTE] if grant.include_external else []
    return data_line(names[grant.subject], *external)


def _grant_form(bucket_key: str, groups: Sequence[LocalGroup], typed: AdminSubmission | None) -> list[JsonObject]:
    everyone = typed is not None and typed.everyone == TICKED_VALUE
    external = typed is not None and typed.external == TICKED_VALUE
    return [
        heading_part("Who may see it"),
        tick_input("everyone", EVERYONE_NAME, is_ticked=everyone),
        text_input(
            "typed_person",
            "A person. Counts in personal chats only.",
            value=typed.typed_person if typed else "",
            placeholder=PERSON_PLACEHOLDER,
        ),
        text_input(
            "typed_channel",
            f"A channel, a group chat or a team. {CHANNEL_HINT}",
            value=typed.typed_channel if typed else "",
            placeholder=CHANNEL_PLACEHOLDER,
        ),
        tick_input("external", EXTERNAL_OPTION, is_ticked=external),
        *_group_inputs(groups),
        action_row(admin_action("Grant", "grant", sends_inputs=True, bucket=bucket_key)),
    ]


def _group_inputs(groups: Sequence[LocalGroup]) -> list[JsonObject]:
    """A menu if all groups fit, else a text field for the id."""
    label = "A group of Parley's own"
    if not groups:
        return []
    if len(groups) > MAX_MENU_GROUPS:
        return [text_input("group", label, placeholder="its id")]
    choices = [(group.title, opaque_key_of(group.id)) for group in groups]
    return [menu_input("group", label, choices, placeholder="Choose a group")]
