"""The pages about grants: who may see which bucket, with forms to grant and to revoke."""

from collections.abc import Sequence

from adapters.web.admin.layout import (
    PageContext,
    admin_page,
    count_text,
    link_html,
    person_html,
    post_form,
    section_html,
    subject_html,
    table_html,
    time_html,
)
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.admin_page.grant_counts import GrantCounts
from bot.admin.administration import BucketOverview, Grant
from bot.admin.sentences import EXTERNAL_NOTE, EXTERNAL_OPTION, NO_GRANTS, REVOKE_WARNING, name_subject
from bot.ids import PersonId, Subject

_MAX_SUBJECT_CHARACTERS = "300"
_SUBJECT_HINT = (
    "everyone, user:local:NAME, user:slack:TEAM:USER, channel:slack:TEAM:CHANNEL, team:teams:TENANT:ID, group:ID"
)
_GRANT_COLUMNS = ("Who", "Documents", "Since", "By", "")
_COUNT_HINT = (
    "Documents that name other readers are not counted. Groups, and what everyone may see, can add more for a person."
)
_OFFERED_SUBJECTS = ("everyone",)


def grants_page(
    context: PageContext, buckets: Sequence[BucketOverview], counts: GrantCounts, group_ids: Sequence[str]
) -> str:
    granted = [(bucket, grant) for bucket in buckets for grant in bucket.grants]
    rows = [
        (link_html(bucket.title, "/admin/bucket", b=bucket.id), *_cells_of_grant(context, bucket, grant, counts))
        for bucket, grant in granted
    ]
    columns = ("Bucket", *_GRANT_COLUMNS)
    existing = [bucket for bucket in buckets if bucket.document_count is not None]
    nobody = html_element("p", "Nothing is granted: only the operator of the machine sees its buckets.")
    return admin_page(
        context,
        "Grants",
        table_html(count_text(len(rows), "grant"), columns, rows, numeric=frozenset({2})) if rows else nobody,
        *([section_html("What each may see", _subjects_table(context, buckets, counts))] if rows else []),
        *([_grant_form(context, existing, group_ids)] if existing else []),
    )


def bucket_grants_html(
    context: PageContext, bucket: BucketOverview, counts: GrantCounts, group_ids: Sequence[str]
) -> SafeHtml:
    """Returns the grants of one bucket, with the forms."""
    rows = [_cells_of_grant(context, bucket, grant, counts) for grant in bucket.grants]
    grants = table_html(count_text(len(rows), "grant"), _GRANT_COLUMNS, rows, numeric=frozenset({1}))
    form = [] if bucket.document_count is None else [_grant_form(context, [bucket], group_ids)]
    return join_html(grants if rows else html_element("p", NO_GRANTS), *form)


def _subjects_table(context: PageContext, buckets: Sequence[BucketOverview], counts: GrantCounts) -> SafeHtml:
    """Returns a line for each subject, with the documents that all of its grants open."""
    titles: dict[Subject, list[str]] = {}
    for bucket in buckets:
        for grant in bucket.grants:
            titles.setdefault(grant.subject, []).append(bucket.title)
    rows = [
        (subject_html(context, subject), ", ".join(titles[subject]), _count_or_dash(counts.by_subject.get(subject)))
        for subject in sorted(titles)
    ]
    columns = ("Who", "Buckets", "Documents")
    return join_html(
        table_html("By the grants to them alone", columns, rows, numeric=frozenset({2})),
        html_element("p", _COUNT_HINT, class_="hint"),
    )


def _documents_text_of(bucket: BucketOverview, grant: Grant, counts: GrantCounts) -> str:
    """Returns how many documents the grant opens; of how many, where it does not open all."""
    opened = counts.by_grant.get((bucket.id, grant.subject))
    if bucket.document_count is None or opened is None:
        return _count_or_dash(bucket.document_count)
    return f"{opened:,}" if opened == bucket.document_count else f"{opened:,} of {bucket.document_count:,}"


def _count_or_dash(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def _cells_of_grant(context: PageContext, bucket: BucketOverview, grant: Grant, counts: GrantCounts) -> tuple[str, ...]:
    label = f"Revoke {grant.bucket} from {name_subject(grant.subject)}"
    button = html_element("button", "Revoke", type="submit", aria_label=label)
    form = post_form(
        context.visitor,
        "/admin/revoke",
        html_element("p", REVOKE_WARNING),
        button,
        bucket=grant.bucket,
        subject=grant.subject,
        back=context.path,
    )
    revoke = html_element("details", html_element("summary", "Revoke…"), form, class_="confirm")
    return (
        subject_html(context, grant.subject, *([EXTERNAL_NOTE] if grant.include_external else [])),
        _documents_text_of(bucket, grant, counts),
        time_html(grant.granted_at, ""),
        person_html(context, PersonId(grant.granted_by)),
        revoke,
    )


def _grant_form(context: PageContext, buckets: Sequence[BucketOverview], group_ids: Sequence[str]) -> SafeHtml:
    offered = (*_OFFERED_SUBJECTS, *(f"group:{group}" for group in group_ids))
    return post_form(
        context.visitor,
        "/admin/grant",
        html_element(
            "h2", f"Let somebody see {buckets[0].title}" if len(buckets) == 1 else "Let somebody see a bucket"
        ),
        *_bucket_choice_html(buckets),
        html_element("label", "Who", for_="grant-subject"),
        html_element(
            "input",
            id="grant-subject",
            name="subject",
            required=True,
            maxlength=_MAX_SUBJECT_CHARACTERS,
            list="subjects",
            aria_describedby="subject-hint",
            spellcheck="false",
        ),
        html_element("datalist", *(html_element("option", value=subject) for subject in offered), id="subjects"),
        html_element("p", _SUBJECT_HINT, id="subject-hint", class_="hint"),
        html_element(
            "label",
            html_element("input", type="checkbox", name="include_external", value="yes"),
            EXTERNAL_OPTION,
            class_="tick",
        ),
        html_element("button", "Grant", type="submit", class_="main"),
        class_="fields",
        back=context.path,
    )


def _bucket_choice_html(buckets: Sequence[BucketOverview]) -> list[SafeHtml]:
    if len(buckets) == 1:
        return [html_element("input", type="hidden", name="bucket", value=buckets[0].id)]
    options = [html_element("option", f"{bucket.title} ({bucket.id})", value=bucket.id) for bucket in buckets]
    label = html_element("label", "Bucket", for_="grant-bucket")
    return [label, html_element("select", *options, id="grant-bucket", name="bucket")]
