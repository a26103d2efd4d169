"""The pages about buckets as a whole: all of them with counts and health, and one of them with its fields."""

from collections.abc import Sequence

from adapters.web.admin.grant_pages import bucket_grants_html
from adapters.web.admin.layout import (
    PageContext,
    admin_page,
    count_text,
    link_html,
    list_html,
    section_html,
    table_html,
    time_html,
)
from adapters.web.admin.retention.retention_pages import bucket_retention_html
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.admin_page.bucket_status import BucketStatus, PartStatus, ReadinessProblem
from bot.admin.admin_page.grant_counts import GrantCounts
from bot.admin.admin_page.retention_edits import KeptBucket
from bot.admin.sentences import NO_BUCKETS_AT_ALL

CLOSED_BUCKET = (
    "What is in its documents is open to you only with a grant, also as an admin; you can give yourself one, and the "
    "audit log keeps who did."
)


def buckets_page(context: PageContext, buckets: Sequence[BucketStatus], problems: Sequence[ReadinessProblem]) -> str:
    rows = [_row_of_bucket(status) for status in buckets]
    columns = ("Bucket", "Documents", "Passages", "Grants", "Synced", "Health")
    documents = sum(status.overview.document_count or 0 for status in buckets)
    caption = f"{count_text(len(buckets), 'bucket')}, {count_text(documents, 'document')}"
    table = table_html(caption, columns, rows, numeric=frozenset({1, 2, 3}))
    nothing = "The buckets are shown again when the index can be read." if problems else NO_BUCKETS_AT_ALL
    return admin_page(context, "Buckets", _health_html(problems), table if rows else html_element("p", nothing))


def bucket_page(
    context: PageContext,
    status: BucketStatus,
    counts: GrantCounts,
    group_ids: Sequence[str],
    kept: Sequence[KeptBucket],
) -> str:
    """`kept`: how long its documents are kept, of each part that is open to the admin."""
    overview = status.overview
    return admin_page(
        context,
        overview.title,
        html_element("p", _facts_of(status), class_="facts"),
        *([list_html(status.problems, "problems")] if status.problems else []),
        _contents_links(status) if status.is_readable else html_element("p", CLOSED_BUCKET, class_="quiet"),
        *(
            section_html(_part_title_of(part, status), _fields_html(part))
            for part in (status.parts if status.is_readable else ())
        ),
        *([bucket_retention_html(kept)] if kept else []),
        section_html("Who may see it", bucket_grants_html(context, overview, counts, group_ids), id_="grants"),
        trail=[("/admin", "Buckets")],
    )


def _contents_links(status: BucketStatus) -> SafeHtml:
    """Returns links to what is in the bucket, and in each of its parts."""
    lines = [
        html_element(
            "p",
            *([f"{part.id}: "] if len(status.parts) > 1 else []),
            link_html("Documents", "/admin/documents", b=part.id),
            link_html("Review of values", "/admin/review", b=part.id),
            link_html("Schema", "/admin/schema", b=part.id),
            class_="pages",
        )
        for part in status.parts
    ]
    return join_html(*lines)


def _row_of_bucket(status: BucketStatus) -> Sequence[str]:
    overview = status.overview
    name = [link_html(overview.title, "/admin/bucket", b=overview.id)]
    if overview.title != overview.id:
        name.append(html_element("small", overview.id))
    return (
        join_html(*name),
        "–" if overview.document_count is None else f"{overview.document_count:,}",
        f"{status.passage_count:,}",
        f"{len(overview.grants):,}" if overview.grants else "nobody",
        time_html(overview.sync.succeeded_at, "not yet") if overview.sync else "no source",
        list_html(status.problems, "problems") if status.problems else html_element("span", "fine", class_="fine"),
    )


def _health_html(problems: Sequence[ReadinessProblem]) -> SafeHtml:
    if not problems:
        return html_element("p", "The disk, the database and the index work.", class_="fine")
    lines = [f"{problem.summary}: {problem.detail}" if problem.detail else problem.summary for problem in problems]
    return list_html(lines, "problems")


def _facts_of(status: BucketStatus) -> str:
    overview = status.overview
    name = "" if overview.title == overview.id else f"{overview.id}: "
    if overview.document_count is None:
        return f"{name}this bucket no longer exists" if overview.sync is None else f"{name}nothing is loaded"
    return f"{name}{count_text(overview.document_count, 'document')}, {count_text(status.passage_count, 'passage')}"


def _part_title_of(part: PartStatus, status: BucketStatus) -> str:
    return "Fields" if part.id == status.overview.id else f"Fields of {part.id}"


def _fields_html(part: PartStatus) -> SafeHtml:
    if not part.fields:
        return html_element("p", "Its documents have no fields; their texts are searched.")
    rows = [
        (
            join_html(field.label, *([html_element("small", field.name)] if field.label != field.name else [])),
            field.kind,
            f"{field.document_count:,}",
            _share_html(field.document_count, part.document_count),
        )
        for field in part.fields
    ]
    columns = ("Field", "Type", "In documents", "Share")
    return table_html(f"{count_text(len(rows), 'field')}", columns, rows, numeric=frozenset({2}))


def _share_html(count: int, total: int) -> SafeHtml:
    """Returns the share as a bar, with its number beside."""
    share = count / total if total else 0.0
    bar = html_element("meter", min="0", max="1", value=f"{share:.3f}", aria_label=f"{share:.0%}")
    return html_element("span", bar, f" {share:.0%}", class_="share")
