"""The pages about grants: who may see which bucket, with forms to grant and to revoke."""

from collections.abc import Sequence

from adapters.web.admin.layout import PageContext, admin_page, count_text, link_html, post_form, table_html, time_html
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.administration import BucketOverview, Grant
from bot.admin.sentences import EXTERNAL_NOTE, EXTERNAL_OPTION, NO_GRANTS, REVOKE_WARNING, name_subject

_MAX_SUBJECT_CHARACTERS = "300"
_SUBJECT_HINT = (
    "everyone, user:local:NAME, user:slack:TEAM:USER, channel:slack:TEAM:CHANNEL, team:teams:TENANT:ID, group:ID"
)
_OFFERED_SUBJECTS = ("everyone",)


def grants_page(context: PageContext, buckets: Sequence[BucketOverview], group_ids: Sequence[str]) -> str:
    granted = [(bucket, grant) for bucket in buckets for grant in bucket.grants]
    rows = [
        (link_html(bucket.title, "/admin/bucket", b=bucket.id), *_cells_of_grant(context, grant))
        for bucket, grant in granted
    ]
    columns = ("Bucket", "Who", "Since", "By", "")
    existing = [bucket for bucket in buckets if bucket.document_count is not None]
    nobody = html_element("p", "Nothing is granted: only the operator of the machine sees its buckets.")
    return admin_page(
        context,
        "Grants",
        table_html(count_text(len(rows), "grant"), columns, rows) if rows else nobody,
        *([_grant_form(context, existing, group_ids)] if existing else []),
    )


def bucket_grants_html(context: PageContext, bucket: BucketOverview, group_ids: Sequence[str]) -> SafeHtml:
    """Returns the grants of one bucket, with the forms."""
    rows = [_cells_of_grant(context, grant) for grant in bucket.grants]
    grants = table_html(count_text(len(rows), "grant"), ("Who", "Since", "By", ""), rows)
    form = [] if bucket.document_count is None else [_grant_form(context, [bucket], group_ids)]
    return join_html(grants if rows else html_element("p", NO_GRANTS), *form)


def _cells_of_grant(context: PageContext, grant: Grant) -> tuple[str, ...]:
    name = name_subject(grant.subject)
    notes = [html_element("small", grant.subject)] if name != grant.subject else []
    notes += [html_element("small", EXTERNAL_NOTE)] if grant.include_external else []
    button = html_element("button", "Revoke", type="submit", aria_label=f"Revoke {grant.bucket} from {name}")
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
    return join_html(name, *notes), time_html(grant.granted_at, ""), grant.granted_by, revoke


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
